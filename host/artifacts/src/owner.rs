//! Owners of artifacts.

use std::sync::Arc;

/// Holder of artifacts that were uploaded and that no run names yet. No run has this id.
pub(crate) const UPLOADS: &str = "+uploads";

/// Owner of artifacts: a run, and the namespace that it belongs to.
#[derive(Clone, Debug)]
pub struct ArtifactOwner {
    /// Namespace of the run.
    pub namespace: Arc<str>,
    /// Id of the run.
    pub run_id: Arc<str>,
}

impl ArtifactOwner {
    /// Returns a run of a namespace.
    pub(crate) fn new(namespace: &str, run_id: &str) -> Self {
        Self { namespace: namespace.into(), run_id: run_id.into() }
    }
}
