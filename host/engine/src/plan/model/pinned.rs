//! Executors as they were when a run was submitted.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    plan::schema,
    value::{Map, Value},
};

/// The executor that a type resolved to when a run was submitted. It is recorded with the run, which keeps to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PinnedExecutor {
    /// The plugin's name, by which it is granted what it may touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<Arc<str>>,
    /// The digest of its bytes; none where nothing was pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Arc<str>>,
    /// `retry`, `maxRuntime`, `maxInactivity` and `deadline`, written as in a document: they apply where neither template
    /// nor call has its own.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub defaults: Map,
    /// The JSON Schema of its inputs, an object.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub inputs: Value,
    /// The JSON Schema of its outputs, an object.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub outputs: Value,
    /// Settings in `config` that it has next to its inputs; empty where its manifest does not list them. Only a workflow that is submitted
    /// is compared with them, so that they are not recorded.
    #[serde(skip)]
    pub settings: Vec<Arc<str>>,
    /// Whether it waits for people: its attempts may suspend.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspends: bool,
    /// Grants of the executor, in the host's own description.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub grants: Value,
    /// Whether the type stood for nothing that could be used, which was allowed: its attempts end with an error, and none
    /// follows the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

/// The executors of the types in use, by type; part of the plan.
pub type PinnedExecutors = BTreeMap<Arc<str>, PinnedExecutor>;

impl PinnedExecutor {
    /// Returns the fault of the inputs that a call was bound to: the first that does not fit, and the expected value. Required
    /// inputs may be in `config` instead. None of the values is repeated.
    pub fn check_inputs<'v>(
        &self,
        config: &Value,
        inputs: impl Iterator<Item = (&'v Arc<str>, &'v Value)> + Clone,
    ) -> Option<String> {
        schema::check_inputs(&self.inputs, config, inputs)
    }

    /// Returns the fault of the outputs of a successful attempt: the first that does not fit its manifest, and the expected value.
    #[must_use]
    pub fn check_outputs(&self, outputs: &Value) -> Option<String> {
        schema::check_outputs(&self.outputs, outputs)
    }

    /// The outputs that its manifest declares.
    pub(crate) fn output_names(&self) -> Vec<&str> {
        schema::properties(&self.outputs)
    }

    /// The type that stands for these very bytes, with what their plugin is granted: `name@sha256:…`.
    #[must_use]
    pub fn reference(&self) -> Option<String> {
        let (plugin, digest) = (self.plugin.as_ref()?, self.digest.as_ref()?);
        Some(format!("{plugin}@{digest}"))
    }

    /// An executor with these default policies.
    #[must_use]
    pub fn with_defaults(defaults: Map) -> Self {
        Self { defaults, ..Self::default() }
    }
}
