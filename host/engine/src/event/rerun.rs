//! Results that a run takes over from an earlier run of its document.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::value::Value;

use super::{Bindings, Outputs, Requester};

/// The earlier run that a run is another of, and what it may take over from it: recorded as a whole, so that the run
/// goes on whatever becomes of the earlier one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rerun {
    /// The earlier run's id.
    #[serde(rename = "runID")]
    pub run_id: Arc<str>,
    /// The parameters whose values are others than there.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub changed: BTreeSet<Arc<str>>,
    /// Results of the earlier run that may be taken over, by `scope/taskName`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub results: BTreeMap<Arc<str>, PastResult>,
    /// Items that the loops around them ran over, by `scope/taskName` of the loop.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub items: BTreeMap<Arc<str>, Arc<Vec<Value>>>,
}

/// Bound inputs and result of a task run that succeeded in the earlier run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PastResult {
    /// The bound inputs.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub inputs: Bindings,
    /// `executor.config`; null where there is none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub config: Value,
    /// The last attempt's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// A sentence for people.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub message: Arc<str>,
    /// The outputs it returned.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub outputs: Outputs,
    /// Retries made.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u32,
    /// The caller whose response it has, if it was suspended and the caller is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_by: Option<Requester>,
}

fn is_empty<T>(list: &Arc<Vec<T>>) -> bool {
    list.is_empty()
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
