//! Error of an attempt that reached a limit: which one, and the party that set it.

use std::{fmt, time::Duration};

use phasm_files::Size;
use serde::{Deserialize, Serialize};

use super::{Ceiling, Limit, SetBy};

/// Limit that an attempt reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LimitError {
    pub(crate) limit: Limit,
    pub(crate) ceiling: Ceiling,
}

/// Tenant and plugin that messages name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    pub(crate) tenant: &'a str,
    pub(crate) plugin: &'a str,
}

impl LimitError {
    /// Returns the message, which says where the limit is set.
    pub(crate) fn message(self, Owner { tenant, plugin }: Owner<'_>) -> String {
        let key = self.limit.key();
        let whose = match self.ceiling.by {
            SetBy::Operator => match key.strip_prefix("http-") {
                Some(key) => format!(" (`{key}`) under `[http]`"),
                None => format!(" (limits.{key})"),
            },
            SetBy::Host => {
                ", the most that one attempt gets of the shared memory (limits.all-memory)".to_owned()
            }
            SetBy::Tenant => format!(", set for tenant {tenant} ([tenants.{tenant}] limits.{key})"),
            SetBy::Plugin => format!(", set for plugin {plugin} ([grants.{plugin}] limits.{key})"),
            SetBy::Manifest => format!(", set by the manifest of plugin {plugin} (limits.{key})"),
            SetBy::Task => format!(" (resources.{key} of the task)"),
        };
        format!("{self}{whose}")
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.ceiling.most;
        let size = Size(most);
        match self.limit {
            Limit::Memory => write!(f, "memory limit of {size} reached"),
            Limit::Cpu => write!(f, "CPU time limit of {:?} reached", Duration::from_micros(most)),
            Limit::Output => write!(f, "output over its limit of {size}"),
            Limit::OutputValues => write!(f, "output over its limit of {most} JSON values"),
            Limit::Log => write!(f, "log over its limit of {size}"),
            Limit::TableElements => write!(f, "table limit of {most} elements reached"),
            Limit::Random => write!(f, "more random bytes in one call than the limit of {size}"),
            Limit::Descriptors => {
                write!(f, "more than {most} files, directories and streams open at once")
            }
            Limit::HttpRequests => write!(f, "limit of {most} requests reached"),
            Limit::HttpSent => write!(f, "limit of {size} to send reached"),
            Limit::HttpReceived => write!(f, "limit of {size} to receive reached"),
            Limit::HttpConnections | Limit::TcpConnections => {
                write!(f, "limit of {most} connections at once reached")
            }
            Limit::TcpConnects => write!(f, "limit of {most} TCP connections and look-ups reached"),
            Limit::TcpSent => write!(f, "limit of {size} to send by TCP reached"),
            Limit::TcpReceived => write!(f, "limit of {size} to receive by TCP reached"),
        }
    }
}

impl std::error::Error for LimitError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I40.
    #[test]
    fn the_party_that_set_a_limit_is_named() {
        let owner = Owner { tenant: "acme", plugin: "jq" };
        let rows = [
            (Limit::Memory, 1 << 20, SetBy::Operator, "memory limit of 1 MiB reached (limits.memory)"),
            (
                Limit::Memory,
                1 << 20,
                SetBy::Tenant,
                "memory limit of 1 MiB reached, set for tenant acme ([tenants.acme] limits.memory)",
            ),
            (
                Limit::Cpu,
                1_500_000,
                SetBy::Plugin,
                "CPU time limit of 1.5s reached, set for plugin jq ([grants.jq] limits.cpu)",
            ),
            (
                Limit::Log,
                100,
                SetBy::Manifest,
                "log over its limit of 100 bytes, set by the manifest of plugin jq (limits.log)",
            ),
            (Limit::Memory, 9, SetBy::Task, "memory limit of 9 bytes reached (resources.memory of the task)"),
            (
                Limit::HttpRequests,
                3,
                SetBy::Operator,
                "limit of 3 requests reached (`requests`) under `[http]`",
            ),
        ];
        for (limit, most, by, text) in rows {
            assert_eq!(LimitError { limit, ceiling: Ceiling { most, by } }.message(owner), text);
        }
    }
}
