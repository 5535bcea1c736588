//! Requirements of a run that this host does not meet.

use std::{fmt, sync::Arc};

use phasm_engine::plan::SecretRef;

/// Something that a run was submitted with, and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnmetRequirement {
    /// An executor that is missing or differs.
    Executor {
        /// The type.
        executor_type: Arc<str>,
        /// Why it cannot be had.
        why: String,
    },
    /// A grant of a plugin's.
    Grant {
        /// The plugin.
        plugin: Arc<str>,
        /// The missing grant.
        what: String,
        /// The line of the configuration that grants it, under the plugin's grants.
        line: String,
    },
    /// A secret.
    Secret(SecretRef),
}

impl fmt::Display for UnmetRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Executor { executor_type, why } => write!(f, "executor `{executor_type}`: {why}"),
            Self::Grant { plugin, what, line } => {
                write!(
                    f,
                    "plugin `{plugin}` was granted {what}; `{line}` under `[grants.{plugin}]` in the configuration grants it"
                )
            }
            Self::Secret(SecretRef { name, key }) => {
                let line = format!("{} = {{ {} = {{ env = \"…\" }} }}", bare(name), bare(key));
                write!(f, "secret {name} with key {key}; `{line}` under `[secrets]` says where it is")
            }
        }
    }
}

/// A key of TOML.
fn bare(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { format!("{key:?}") }
}
