//! What goes into a run and what comes out: inputs, events (decided, past tense) and commands (imperative).
//!
//! All three are closed. Events are the journal: applying them in order rebuilds a run exactly.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    outcome::{Outcome, Output},
    phase::Phase,
    plan::{Draft, HookId, HookType, Matched, Pinned, PinnedExecutors, Plan, SecretRef, Verdict},
    problem::{Noted, Problem},
    time::{Millis, Timestamp},
    tree::Tree,
    value::{Map, Value},
};

/// A task run's number within its run, in creation order; the root's is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub u32);

impl TaskId {
    /// The run's root.
    pub const ROOT: Self = Self(0);

    /// Its position in tables of task runs.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which dispatch a message from the executor's side speaks of; any but the current one is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fence {
    /// The task run.
    pub task: TaskId,
    /// Its attempt, from 1.
    pub attempt: u32,
    /// Its dispatch, from 1.
    pub dispatch: u32,
}

/// Everything that can happen to a run from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The host lets so many leaves be dispatched; what the run cannot use it leaves.
    Granted(u32),
    /// The executor has started.
    Started(Fence),
    /// The executor has returned, or the host reports in its place.
    Finished(Fence, Outcome),
    /// The executor's side stopped the attempt at its deadline before the engine's own clock was heard.
    Interrupted(Fence),
    /// The dispatcher's clock of inactivity ran out.
    Inactive(Fence),
    /// A suspended task gets its answer.
    Resumed(TaskId, Map),
    /// The user cancels the run.
    Cancelled,
    /// The user cancels one task.
    TaskCancelled(TaskId),
    /// Time has passed.
    Tick,
}

/// What the host is asked to do, once the events of the same step are durable.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Execute one attempt.
    Dispatch(Dispatch),
    /// Stop an attempt, best effort; nobody waits for it.
    Abort(Fence),
}

/// One dispatch of one attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// Which one.
    pub fence: Fence,
    /// `taskName`.
    pub task_name: Arc<str>,
    /// `executor.type`.
    pub executor_type: Arc<str>,
    /// Whether the attempt was suspended and is called again.
    pub resumed: bool,
    /// `executor.config`, an object.
    pub config: Value,
    /// The bound inputs, overlaid by resume payloads.
    pub inputs: Bindings,
    /// `resources.memory` in bytes.
    pub memory: Option<u64>,
    /// The earliest of all absolute clocks.
    pub deadline: Option<Timestamp>,
    /// `maxRuntime`, which counts from the start of the executor.
    pub max_runtime: Option<Millis>,
    /// `maxInactivity`, kept by the dispatcher.
    pub max_inactivity: Option<Millis>,
}

/// Bound inputs in declared order, shared.
pub type Bindings = Arc<Vec<Binding>>;

/// Named outputs, shared.
pub type Outputs = Arc<Vec<Output>>;

/// One bound input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenBinding")]
pub struct Binding {
    /// The input.
    pub name: Arc<str>,
    /// What it is bound to.
    #[serde(flatten)]
    pub value: InputValue,
}

/// What an input is bound to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum InputValue {
    /// A value.
    Value(Value),
    /// A secret: read by the host at each dispatch, never recorded, null to expressions.
    SecretKeyRef(SecretRef),
}

/// A [`Binding`] as a journal holds it: with a value, which may be null, or with a secret.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenBinding {
    name: Arc<str>,
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
    secret_key_ref: Option<SecretRef>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl TryFrom<WrittenBinding> for Binding {
    type Error = &'static str;

    fn try_from(WrittenBinding { name, value, secret_key_ref }: WrittenBinding) -> Result<Self, Self::Error> {
        let value = match (value, secret_key_ref) {
            (Some(value), None) => InputValue::Value(value),
            (None, Some(secret)) => InputValue::SecretKeyRef(secret),
            (Some(_), Some(_)) | (None, None) => {
                return Err("expected either `value` or `secretKeyRef` of an input");
            }
        };
        Ok(Self { name, value })
    }
}

impl InputValue {
    /// The value as expressions and views see it: a secret reads as null.
    #[must_use]
    pub fn visible(&self) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::SecretKeyRef(_) => Value::Null,
        }
    }
}

/// Why a phase was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Skipped: `when` was false.
    When,
    /// Skipped: `maxAttempts: 0`.
    #[serde(rename = "max-attempts-0")]
    MaxAttempts0,
    /// Skipped: the pipeline ended before.
    NotReached,
    /// Cancelled by the user.
    User,
    /// Cancelled: the scope had failed before it was dispatched.
    ScopeFailed,
    /// Cancelled: the scope's timeout.
    ScopeTimeout,
    /// Cancelled: `spec.timeout`.
    WorkflowTimeout,
    /// Cancelled by maxRuntime, maxInactivity or deadline.
    TimeoutPolicy,
    /// Ended by `deadline` with errorOnTimeout.
    Deadline,
    /// Ended by `maxRuntime` with errorOnTimeout.
    MaxRuntime,
    /// Ended by `maxInactivity` with errorOnTimeout.
    MaxInactivity,
    /// A rule said fail.
    PolicyFail,
    /// The pipeline jumped too often.
    MaxJumps,
    /// A budget of at least one retry is used up.
    RetryExhausted,
}

impl Reason {
    /// The word the run view and the journal use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::When => "when",
            Self::MaxAttempts0 => "max-attempts-0",
            Self::NotReached => "not-reached",
            Self::User => "user",
            Self::ScopeFailed => "scope-failed",
            Self::ScopeTimeout => "scope-timeout",
            Self::WorkflowTimeout => "workflow-timeout",
            Self::TimeoutPolicy => "timeout-policy",
            Self::Deadline => "deadline",
            Self::MaxRuntime => "max-runtime",
            Self::MaxInactivity => "max-inactivity",
            Self::PolicyFail => "policy-fail",
            Self::MaxJumps => "max-jumps",
            Self::RetryExhausted => "retry-exhausted",
        }
    }
}

/// A limit of time that ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TimeLimit {
    /// `timeout` of a task or container.
    Timeout,
    /// `maxRuntime`.
    MaxRuntime,
    /// `maxInactivity`.
    MaxInactivity,
    /// `deadline`.
    Deadline,
    /// `spec.timeout`.
    SpecTimeout,
}

impl TimeLimit {
    /// The field of the document it was set by.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::MaxRuntime => "maxRuntime",
            Self::MaxInactivity => "maxInactivity",
            Self::Deadline => "deadline",
            Self::SpecTimeout => "spec.timeout",
        }
    }
}

/// Something that was decided. Applying it is the only way a run changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Event {
    /// The run exists.
    Submitted(Box<Submitted>),
    /// The run's phase, which is its root's.
    RunPhase(Phase),
    /// The user asked to cancel the run.
    CancelRequested,
    /// A container's children exist; of a wrapper, the call of its next attempt does.
    ScopeOpened(Box<ScopeOpened>),
    /// A `repeatCondition` held: the loop has one more iteration.
    Repeated(TaskId),
    /// A task run changed its phase.
    Phase(PhaseChanged),
    /// A leaf's executor has started.
    AttemptStarted(Fence),
    /// An attempt is over.
    AttemptEnded(Box<AttemptEnded>),
    /// A clock ran out.
    TimedOut(TaskId, TimeLimit),
    /// A suspended task got its answer.
    Resumed(TaskId, Arc<Map>),
    /// A policy has decided what follows an attempt.
    PolicyEvaluated(Box<PolicyEvaluated>),
    /// Another attempt will follow.
    RetryScheduled(RetryScheduled),
    /// A task with attempts is over; `true` when it ended well.
    TaskEnded(TaskId, bool),
    /// A hook run exists.
    HookFired(Box<HookFired>),
    /// A hook did not do its work; nothing else changes.
    HookFailed(Box<HookFailed>),
    /// Something is doubtful, and goes on.
    Warning(Box<Warning>),
    /// The engine decided what cannot follow, a fault of its own: the run ended as Error, and everything open with it.
    Broken(Arc<str>),
}

impl Event {
    /// The word for it that readers of the journal see as its `type`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Submitted(_) => "run.submitted",
            Self::RunPhase(_) => "run.phase",
            Self::CancelRequested => "run.cancel.requested",
            Self::ScopeOpened(_) | Self::Repeated(_) => "scope.opened",
            Self::Phase(_) => "task.phase",
            Self::AttemptStarted(_) => "task.attempt.started",
            Self::AttemptEnded(ended) if ended.phase == Phase::Succeeded => "task.attempt.done",
            Self::AttemptEnded(_) => "task.attempt.failed",
            Self::TimedOut(..) => "task.timeout",
            Self::Resumed(..) => "task.resumed",
            Self::PolicyEvaluated(_) => "policy.task.evaluated",
            Self::RetryScheduled(_) => "task.retry.scheduled",
            Self::TaskEnded(_, true) => "task.done",
            Self::TaskEnded(_, false) => "task.failed",
            Self::HookFired(_) => "hook.fired",
            Self::HookFailed(_) => "hook.failed",
            Self::Warning(_) => "engine.warning",
            Self::Broken(_) => "engine.broken",
        }
    }
}

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

/// A container opened: its inputs are bound and its children exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeOpened {
    /// The container.
    pub task: TaskId,
    /// Its bound inputs.
    pub inputs: Bindings,
    /// What a loop runs over; null for every iteration where it repeats on a condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Arc<Vec<Value>>>,
}

/// A task run went from one phase to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseChanged {
    /// The task run.
    pub task: TaskId,
    /// Where it was.
    pub from: Phase,
    /// Where it is.
    pub to: Phase,
    /// Why, where the phase alone does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What came with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Box<With>>,
}

/// What comes with a change of phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum With {
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
pub struct AttemptEnded {
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
}

/// Another attempt will follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RetryScheduled {
    /// The task run.
    pub task: TaskId,
    /// The attempt to come.
    pub attempt: u32,
    /// The delay before it.
    pub delay_ms: Millis,
    /// When the delay ends.
    pub wake_at: Timestamp,
}

/// What a policy made of one attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyEvaluated {
    /// The attempt.
    pub fence: Fence,
    /// Which rule decided.
    pub rule: Matched,
    /// What follows.
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
pub struct HookFired {
    /// The hook run that exists from now on.
    pub run: TaskId,
    /// Whose hook it is; of spec.hooks the root.
    pub of: TaskId,
    /// What fired it.
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
pub struct HookFailed {
    /// Whose hook it is; of spec.hooks the root.
    pub of: TaskId,
    /// What fired it.
    pub kind: HookType,
    /// The hook run, if it came to one.
    pub run: Option<TaskId>,
    /// What happened.
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
    /// What was met, and what was done about it.
    pub message: Arc<str>,
}

#[cfg(test)]
mod tests;
