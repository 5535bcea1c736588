//! The first event of a run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    plan::{Draft, Pinned, PinnedExecutors, Plan, SecretRef},
    problem::{Noted, Problem},
    tree::Tree,
    value::{Map, Value},
};

use super::Rerun;

/// The first event of a run: everything it depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Submitted {
    /// The run's id.
    pub run_id: Arc<str>,
    /// The document.
    pub document: Value,
    /// `spec.arguments`, bound.
    pub parameters: Arc<Map>,
    /// What expressions read of the host.
    pub facts: Facts,
    /// What the executor types of the document stood for.
    #[serde(default, skip_serializing_if = "PinnedExecutors::is_empty")]
    pub executors: PinnedExecutors,
    /// The secrets that the plan names and the host had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretRef>,
    /// The earlier run that this is another of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun: Option<Arc<Rerun>>,
    /// What was doubtful about the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Noted>,
    /// Of journals from before `executors` was recorded: by type, the default policies that manifests gave the plan.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub defaults: Map,
}

impl Submitted {
    /// The plan that the run was submitted with, whatever this engine would say of the document by now.
    ///
    /// # Errors
    /// The problems of a document that holds what cannot be read at all.
    pub fn plan(&self) -> Result<Plan, Vec<Problem>> {
        let mut executors = self.executors.clone();
        for (executor_type, defaults) in &self.defaults {
            let defaults = defaults.as_object().cloned().unwrap_or_default();
            executors.entry(executor_type.clone()).or_insert_with(|| Pinned::with_defaults(defaults));
        }
        Draft::read(&Tree::from(&self.document)).assemble(&executors, &self.warnings)
    }
}

/// What expressions read of the host; recorded, so that a run on another machine reads the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// `system.os`: linux, darwin or windows.
    pub os: Arc<str>,
    /// `system.arch`: amd64 or arm64.
    pub arch: Arc<str>,
    /// `vars`: an object of the operator's variables, which are roots of their own too.
    pub vars: Value,
}
