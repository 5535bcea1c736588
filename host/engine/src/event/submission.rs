//! The first event of a run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    json_text::JsonText,
    plan::{Draft, PinnedExecutor, PinnedExecutors, Plan, SecretRef},
    problem::{DocumentWarning, Problem},
    time::Timestamp,
    value::{Map, Value},
};

use super::{Requester, Rerun};

/// The first event of a run: everything it depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubmissionRecord {
    /// The run's id.
    pub run_id: Arc<str>,
    /// The document; null where [`basis`](Self::basis) names where it is.
    #[serde(default, skip_serializing_if = "JsonText::is_null")]
    pub document: JsonText,
    /// `spec.arguments`, bound.
    pub parameters: Arc<Map>,
    /// Facts about the host that expressions can read.
    pub facts: Facts,
    /// The executors that the document's executor types resolved to.
    #[serde(default, skip_serializing_if = "PinnedExecutors::is_empty")]
    pub executors: PinnedExecutors,
    /// The secrets that the plan names and the host had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretRef>,
    /// Text that the submitter leaves for the host that later drives the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Arc<str>>,
    /// The trace that the run belongs to, as recorded by the submitter; it is shown, and has no influence on the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Arc<str>>,
    /// The caller that submitted the run, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Requester>,
    /// The earlier run that this is another of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun: Option<Arc<Rerun>>,
    /// The values of settings that the document writes as expressions, by their paths.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map,
    /// Warnings about the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<DocumentWarning>,
    /// Default policies that manifests gave the plan, by executor type. Only journals from before `executors` was recorded have
    /// them.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub defaults: Map,
    /// The digest of the [`Basis`] that is kept apart from the journal, in place of what it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Arc<str>>,
}

/// Data that all runs of one document with the same executors share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Basis {
    /// The document.
    pub document: JsonText,
    /// The executors that the document's executor types resolved to.
    #[serde(default, skip_serializing_if = "PinnedExecutors::is_empty")]
    pub executors: PinnedExecutors,
    /// Warnings about the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<DocumentWarning>,
}

impl Basis {
    /// Returns the basis shared by all runs of the plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        Self {
            document: plan.document.clone(),
            executors: plan.executors.clone(),
            warnings: plan.warnings.iter().map(DocumentWarning::from).collect(),
        }
    }
}

impl SubmissionRecord {
    /// The same without what is kept under that digest.
    #[must_use]
    pub fn apart(&self, digest: &Arc<str>) -> Self {
        Self {
            run_id: Arc::clone(&self.run_id),
            document: JsonText::default(),
            parameters: Arc::clone(&self.parameters),
            facts: self.facts.clone(),
            executors: PinnedExecutors::new(),
            secrets: self.secrets.clone(),
            origin: self.origin.clone(),
            trace: self.trace.clone(),
            by: self.by.clone(),
            rerun: self.rerun.clone(),
            settings: self.settings.clone(),
            warnings: Vec::new(),
            defaults: self.defaults.clone(),
            basis: Some(Arc::clone(digest)),
        }
    }

    /// Takes in what was kept apart.
    pub fn join(&mut self, Basis { document, executors, warnings }: Basis) {
        self.basis = None;
        self.document = document;
        self.executors = executors;
        self.warnings = warnings;
    }

    /// The plan that the run was submitted with, whatever this engine would say of the document by now.
    ///
    /// # Errors
    /// The problems of a document that holds what cannot be read at all.
    pub fn plan(&self) -> Result<Plan, Vec<Problem>> {
        let mut executors = self.executors.clone();
        for (executor_type, defaults) in &self.defaults {
            let defaults = defaults.as_object().cloned().unwrap_or_default();
            executors.entry(executor_type.clone()).or_insert_with(|| PinnedExecutor::with_defaults(defaults));
        }
        Draft::recorded(&self.document.value(), &self.settings).assemble(&executors, &self.warnings)
    }
}

/// Facts about the host that expressions can read; recorded, so that a run on another machine reads the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// `system.os`: linux, darwin or windows.
    pub os: Arc<str>,
    /// `system.arch`: amd64 or arm64.
    pub arch: Arc<str>,
    /// `vars`: an object of the operator's variables, which are roots of their own too.
    pub vars: Value,
    /// `workflow.scheduledTime`: of a run that a schedule has fired, the instant that it was fired for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<Timestamp>,
}
