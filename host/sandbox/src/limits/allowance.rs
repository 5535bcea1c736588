//! Limits that several parties may set for an attempt. The smallest of them counts, and its origin is kept.

use std::collections::BTreeMap;

use phasm_files::Size;
use serde::{Deserialize, Serialize};

use super::{LimitError, Limits, UNLIMITED};
use crate::capability::http::HttpLimits;

/// Resource of which an attempt may use a limited amount. Sizes are in bytes, times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Limit {
    /// Linear memory of all of a guest's memories.
    Memory,
    /// Time that its guest computes, and the host on its behalf.
    Cpu,
    /// Message, detail, names and values of the outcome together.
    Output,
    /// JSON values in outputs and detail.
    OutputValues,
    /// Log text.
    Log,
    /// Elements of a table.
    TableElements,
    /// Random bytes of one call.
    Random,
    /// Files, directories and streams of them open at once.
    Descriptors,
    /// HTTP requests.
    HttpRequests,
    /// Bytes that requests send.
    HttpSent,
    /// Bytes that responses bring.
    HttpReceived,
    /// Connections at once.
    HttpConnections,
    /// TCP connections that are begun, and look-ups of names for them.
    TcpConnects,
    /// Bytes sent by TCP.
    TcpSent,
    /// Bytes received by TCP.
    TcpReceived,
    /// TCP connections at once.
    TcpConnections,
}

/// Number of resources.
const COUNT: usize = Limit::ALL.len();

impl Limit {
    /// All resources.
    pub const ALL: [Self; 16] = [
        Self::Memory,
        Self::Cpu,
        Self::Output,
        Self::OutputValues,
        Self::Log,
        Self::TableElements,
        Self::Random,
        Self::Descriptors,
        Self::HttpRequests,
        Self::HttpSent,
        Self::HttpReceived,
        Self::HttpConnections,
        Self::TcpConnects,
        Self::TcpSent,
        Self::TcpReceived,
        Self::TcpConnections,
    ];

    /// Returns the amount that every attempt may use by these limits; `None` if they do not bound it.
    #[must_use]
    pub fn most(self, limits: &Limits, http: &HttpLimits) -> Option<u64> {
        Some(Ceilings::of(limits, http).most(self)).filter(|most| *most != UNLIMITED)
    }

    /// Formats an amount of it for people.
    #[must_use]
    pub fn shown(self, amount: u64) -> String {
        match self {
            Self::Memory
            | Self::Output
            | Self::Log
            | Self::Random
            | Self::HttpSent
            | Self::HttpReceived
            | Self::TcpSent
            | Self::TcpReceived => Size(amount).to_string(),
            Self::Cpu => format!("{:?}", std::time::Duration::from_micros(amount)),
            Self::OutputValues
            | Self::TableElements
            | Self::Descriptors
            | Self::HttpRequests
            | Self::HttpConnections
            | Self::TcpConnects
            | Self::TcpConnections => amount.to_string(),
        }
    }

    /// Returns the key in tables of limits.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Output => "output",
            Self::OutputValues => "output-values",
            Self::Log => "log",
            Self::TableElements => "table-elements",
            Self::Random => "random",
            Self::Descriptors => "descriptors",
            Self::HttpRequests => "http-requests",
            Self::HttpSent => "http-sent",
            Self::HttpReceived => "http-received",
            Self::HttpConnections => "http-connections",
            Self::TcpConnects => "tcp-connects",
            Self::TcpSent => "tcp-sent",
            Self::TcpReceived => "tcp-received",
            Self::TcpConnections => "tcp-connections",
        }
    }
}

/// Limits that one party sets; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance(BTreeMap<Limit, u64>);

impl Allowance {
    /// Adds a limit, in bytes, microseconds, or as a number.
    #[must_use]
    pub fn with(mut self, limit: Limit, most: u64) -> Self {
        self.0.insert(limit, most);
        self
    }

    /// Lowers each limit to that of `other`.
    #[must_use]
    pub fn within(mut self, other: &Self) -> Self {
        for (limit, most) in &other.0 {
            self.0.entry(*limit).and_modify(|own| *own = (*own).min(*most)).or_insert(*most);
        }
        self
    }

    /// Returns the limit on a resource, if one is set.
    #[must_use]
    pub fn get(&self, limit: Limit) -> Option<u64> {
        self.0.get(&limit).copied()
    }

    /// Returns whether it sets no limit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Party that set a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SetBy {
    /// The operator, for every attempt.
    Operator,
    /// The host's memory, of which one guest gets a part.
    Host,
    /// A tenant, for its attempts.
    Tenant,
    /// A plugin's grants, for its attempts.
    Plugin,
    /// The plugin's manifest.
    Manifest,
    /// The task in the workflow.
    Task,
}

/// An effective limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ceiling {
    pub(crate) most: u64,
    pub(crate) by: SetBy,
}

/// The limits of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ceilings([Ceiling; COUNT]);

impl Ceilings {
    /// Returns the operator's limits, for every attempt.
    pub(crate) fn of(limits: &Limits, http: &HttpLimits) -> Self {
        let cpu = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(UNLIMITED);
        let most = |limit| match limit {
            Limit::Memory => limits.memory,
            Limit::Cpu => limits.cpu.map_or(UNLIMITED, cpu),
            Limit::Output => limits.output,
            Limit::OutputValues => limits.output_values.into(),
            Limit::Log => limits.log,
            Limit::TableElements => limits.table_elements.into(),
            Limit::Random => limits.random,
            Limit::Descriptors => limits.descriptors.into(),
            Limit::HttpRequests => http.requests.into(),
            Limit::HttpSent => http.sent,
            Limit::HttpReceived => http.received,
            Limit::HttpConnections => http.connections.into(),
            Limit::TcpConnects => limits.tcp_connects.into(),
            Limit::TcpSent => limits.tcp_sent,
            Limit::TcpReceived => limits.tcp_received,
            Limit::TcpConnections => limits.tcp_connections.into(),
        };
        Self(Limit::ALL.map(|limit| Ceiling { most: most(limit), by: SetBy::Operator }))
    }

    /// Lowers each limit to that of `allowance`.
    #[must_use]
    pub(crate) fn within(mut self, allowance: &Allowance, by: SetBy) -> Self {
        for (limit, most) in &allowance.0 {
            self.lower(*limit, *most, by);
        }
        self
    }

    /// Lowers a limit. An equal limit does not replace the one that is there.
    pub(crate) fn lower(&mut self, limit: Limit, most: u64, by: SetBy) {
        if let Some(ceiling) = self.0.get_mut(limit as usize).filter(|ceiling| most < ceiling.most) {
            *ceiling = Ceiling { most, by };
        }
    }

    /// Returns the effective limit.
    pub(crate) fn ceiling(&self, limit: Limit) -> Ceiling {
        self.0.get(limit as usize).copied().unwrap_or(Ceiling { most: 0, by: SetBy::Operator })
    }

    /// Returns the effective limit as a number.
    pub(crate) fn most(&self, limit: Limit) -> u64 {
        self.ceiling(limit).most
    }

    /// Returns the error for a limit that was reached.
    pub(crate) fn exceeded(&self, limit: Limit) -> LimitError {
        LimitError { limit, ceiling: self.ceiling(limit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I40.
    #[test]
    fn the_smallest_limit_counts_with_its_party() {
        let operator = Ceilings::of(&Limits::default(), &HttpLimits::default());
        for (place, limit) in Limit::ALL.into_iter().enumerate() {
            assert_eq!(limit as usize, place, "{limit:?}");
            let most = operator.most(limit);
            let allow = |most| Allowance::default().with(limit, most);
            let rows = [
                (vec![], most, SetBy::Operator),
                (vec![(most, SetBy::Tenant)], most, SetBy::Operator),
                (vec![(most.saturating_add(1), SetBy::Tenant)], most, SetBy::Operator),
                (vec![(7, SetBy::Tenant), (8, SetBy::Plugin)], 7, SetBy::Tenant),
                (vec![(8, SetBy::Tenant), (7, SetBy::Plugin), (7, SetBy::Manifest)], 7, SetBy::Plugin),
                (vec![(5, SetBy::Tenant), (4, SetBy::Plugin), (3, SetBy::Manifest)], 3, SetBy::Manifest),
                (vec![(0, SetBy::Task)], 0, SetBy::Task),
            ];
            for (said, most, by) in rows {
                let lowered = said.into_iter().fold(operator, |all, (most, by)| all.within(&allow(most), by));
                assert_eq!(lowered.ceiling(limit), Ceiling { most, by }, "{limit:?}");
                let others = Limit::ALL.into_iter().filter(|other| *other != limit);
                others.for_each(|other| assert_eq!(lowered.ceiling(other), operator.ceiling(other)));
            }
        }
    }
}
