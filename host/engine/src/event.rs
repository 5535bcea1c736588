//! Inputs and outputs of a run: inputs, events (decided, past tense) and commands (imperative).
//!
//! All three are closed. Events are the journal: applying them in order rebuilds a run exactly.

mod binding;
mod command;
mod data;
mod input;
mod reason;
mod requester;
mod rerun;
mod resumption;
mod submission;
mod values;

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

pub use self::{
    binding::{Binding, Bindings, InputValue, Outputs},
    command::{Command, Dispatch},
    data::{
        AttemptEnd, HookFailure, HookFiring, PhaseChange, PhaseData, PolicyEvaluation, RetrySchedule,
        RunningQuota, ScopeOpening, Warning,
    },
    input::Input,
    reason::{Reason, TimeLimit},
    requester::Requester,
    rerun::{PastResult, Rerun},
    resumption::Resumption,
    submission::{Basis, Facts, SubmissionRecord},
};
use crate::{phase::Phase, usage::ResourceUsage};

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

/// Something that was decided. Applying it is the only way a run changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Event {
    /// The run exists.
    Submitted(Box<SubmissionRecord>),
    /// The run's phase, which is its root's.
    RunPhase(Phase),
    /// The user asked to cancel the run, and the caller is not known.
    CancelRequested,
    /// That caller asked to cancel the run.
    CancelRequestedBy(Requester),
    /// The user asked to cancel a task; with the caller, if it is known.
    TaskCancelRequested(TaskId, Option<Requester>),
    /// The reason why leaves wait for slots has changed: now it is that quota, or else a lack of free slots.
    Held(Option<RunningQuota>),
    /// A container's children exist; of a wrapper, the call of its next attempt does.
    ScopeOpened(Box<ScopeOpening>),
    /// A `repeatCondition` held: the loop has one more iteration.
    Repeated(TaskId),
    /// The result that a task run had in the run that this is a rerun of is its own; nothing is executed.
    Reused(TaskId),
    /// A task run changed its phase.
    Phase(PhaseChange),
    /// A leaf's executor has started.
    AttemptStarted(Fence),
    /// An attempt is over.
    AttemptEnded(Box<AttemptEnd>),
    /// Resources that an attempt used whose end does not report them.
    Metered(Fence, ResourceUsage),
    /// A clock ran out.
    TimedOut(TaskId, TimeLimit),
    /// A suspended task got its answer.
    Resumed(Resumption),
    /// A policy has decided what follows an attempt.
    PolicyEvaluated(Box<PolicyEvaluation>),
    /// Another attempt will follow.
    RetryScheduled(RetrySchedule),
    /// A task with attempts is over; `true` when it ended well.
    TaskEnded(TaskId, bool),
    /// A hook run exists.
    HookFired(Box<HookFiring>),
    /// A hook did not do its work; nothing else changes.
    HookFailed(Box<HookFailure>),
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
            Self::CancelRequested | Self::CancelRequestedBy(_) => "run.cancel.requested",
            Self::TaskCancelRequested(..) => "task.cancel.requested",
            Self::Held(_) => "run.waiting",
            Self::ScopeOpened(_) | Self::Repeated(_) => "scope.opened",
            Self::Reused(_) => "task.reused",
            Self::Phase(_) => "task.phase",
            Self::AttemptStarted(_) => "task.attempt.started",
            Self::AttemptEnded(ended) if ended.phase == Phase::Succeeded => "task.attempt.done",
            Self::AttemptEnded(_) => "task.attempt.failed",
            Self::Metered(..) => "task.attempt.metered",
            Self::TimedOut(..) => "task.timeout",
            Self::Resumed(_) => "task.resumed",
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

#[cfg(test)]
mod tests;
