//! What executor types stood for when a run was submitted.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::value::{Map, Value};

/// What an executor type stood for when a run was submitted; recorded with the run, which keeps to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pinned {
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
    /// What it was granted, as the host describes it to itself.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub grants: Value,
}

/// What the types in use stood for; part of the plan.
pub type PinnedExecutors = BTreeMap<Arc<str>, Pinned>;

impl Pinned {
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
