//! Origin of work: its tenant and plugin.

use std::sync::Arc;

/// The tenant and the plugin that an attempt works for. Fairness and the record of long computations go by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Namespace of the workflow.
    pub namespace: Arc<str>,
    /// Plugin that does the work: `executor.type`.
    pub executor: Arc<str>,
}
