//! The data that events carry besides the task they belong to.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    phase::Phase,
    plan::{HookId, HookType, RuleMatch, Verdict},
    time::{Millis, Timestamp},
    usage::ResourceUsage,
    value::{Map, Value},
};

use super::{Bindings, Fence, Outputs, Reason, Requester, TaskId};

/// A container opened: its inputs are bound and its children exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeOpening {
    /// The container.
    pub task: TaskId,
    /// Its bound inputs.
    pub inputs: Bindings,
    /// Items that a loop runs over; null for every iteration where it repeats on a condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Arc<Vec<Value>>>,
}

/// A task run went from one phase to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseChange {
    /// The task run.
    pub task: TaskId,
    /// Where it was.
    pub from: Phase,
    /// Where it is.
    pub to: Phase,
    /// Why, where the phase alone does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Data that came with the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Box<PhaseData>>,
}

/// Data that comes with a change of phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum PhaseData {
    /// To Ready for the first time: inputs and configuration are bound, once.
    Bound {
        /// The bound inputs.
        inputs: Bindings,
        /// `executor.config`.
        config: Value,
    },
    /// To Suspended: the partial outputs.
    Partial {
        /// The executor's message.
        message: Arc<str>,
        /// Named outputs.
        outputs: Outputs,
    },
    /// To Suspended again: the executor has refused the response, and the task is as it was before it.
    Refused {
        /// Why, in a sentence.
        reason: Arc<str>,
        /// The caller that gave the response, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Requester>,
    },
    /// To a terminal phase without an attempt of its own, or of a container: what is shown.
    Result {
        /// A sentence for people.
        message: Arc<str>,
        /// A container's outputs.
        outputs: Outputs,
    },
}

/// One attempt's result, after phaseConditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AttemptEnd {
    /// Which one.
    pub fence: Fence,
    /// The attempt's phase.
    pub phase: Phase,
    /// The executor's code.
    pub code: i32,
    /// The executor's message.
    pub message: Arc<str>,
    /// Outputs, the whitelist applied.
    pub outputs: Outputs,
    /// From the start, or null if the executor never started.
    pub duration_ms: Option<Millis>,
    /// The phase whose `phaseConditions` held; none if the code decided, or a clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Phase>,
    /// Resources that the attempt used.
    #[serde(default, skip_serializing_if = "ResourceUsage::is_nothing")]
    pub metered: ResourceUsage,
}

/// Another attempt will follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RetrySchedule {
    /// The task run.
    pub task: TaskId,
    /// The attempt to come.
    pub attempt: u32,
    /// The delay before it.
    pub delay_ms: Millis,
    /// When the delay ends.
    pub wake_at: Timestamp,
}

/// The decision of a policy about one attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyEvaluation {
    /// The attempt.
    pub fence: Fence,
    /// Which rule decided.
    pub rule: RuleMatch,
    /// The decision.
    pub verdict: Verdict,
    /// Values of `iter` that the rule set.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub iter: Map,
    /// Values of `ctx` that the rule set.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub ctx: Map,
}

/// A hook was fired: its run exists, bound to what it was to see at that moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookFiring {
    /// The hook run that exists from now on.
    pub run: TaskId,
    /// The task run that the hook belongs to; the root for spec.hooks.
    pub of: TaskId,
    /// The kind of phase change that fired it.
    pub kind: HookType,
    /// Which of the plan's hooks.
    pub hook: HookId,
    /// The bound inputs.
    pub inputs: Bindings,
    /// `executor.config`.
    pub config: Value,
}

/// A hook could not be fired, or its run did not succeed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookFailure {
    /// The task run that the hook belongs to; the root for spec.hooks.
    pub of: TaskId,
    /// The kind of phase change that fired it.
    pub kind: HookType,
    /// The hook run, if it came to one.
    pub run: Option<TaskId>,
    /// A sentence for people about the failure.
    pub message: Arc<str>,
}

/// Something doubtful that a run met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// The task run it is about.
    pub task: Option<TaskId>,
    /// A stable word for programs.
    pub code: Arc<str>,
    /// The doubtful fact, and how the engine treated it.
    pub message: Arc<str>,
}

/// A quota that is used up: the tenant has as many attempts with slots as it may have, and further leaves wait until some of
/// these have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunningQuota {
    /// The tenant.
    pub tenant: Arc<str>,
    /// How many.
    pub running: u32,
}
