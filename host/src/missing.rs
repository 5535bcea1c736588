//! What a run was submitted with, and is not there.

use std::{fmt, sync::Arc};

use phasm_engine::plan::SecretRef;

/// Something that a run was submitted with, and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// What an executor type stood for.
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
        /// What it was granted.
        what: String,
    },
    /// A secret.
    Secret(SecretRef),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Executor { executor_type, why } => write!(f, "executor `{executor_type}`: {why}"),
            Self::Grant { plugin, what } => write!(f, "plugin `{plugin}` was granted {what}"),
            Self::Secret(SecretRef { name, key }) => write!(f, "secret {name} with key {key}"),
        }
    }
}
