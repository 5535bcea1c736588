//! Words for why a phase was reached.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::phase::Phase;

/// Why a phase was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Skipped: `when` was false.
    When,
    /// Skipped: `maxAttempts: 0`.
    #[serde(rename = "max-attempts-0")]
    MaxAttempts0,
    /// Skipped: the pipeline ended before.
    NotReached,
    /// Succeeded with the result of an earlier run.
    Reused,
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
            Self::Reused => "reused",
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

    /// Returns the word for people: the same, but where it takes knowledge of the engine to read it.
    #[must_use]
    pub fn for_people(self) -> &'static str {
        match self {
            Self::When => "`when` is false",
            Self::ScopeFailed => "not run, as another task failed",
            Self::ScopeTimeout => "its dag, loop or pipeline timed out",
            Self::WorkflowTimeout => "the run timed out",
            Self::User
            | Self::MaxAttempts0
            | Self::NotReached
            | Self::Reused
            | Self::TimeoutPolicy
            | Self::Deadline
            | Self::MaxRuntime
            | Self::MaxInactivity
            | Self::PolicyFail
            | Self::MaxJumps
            | Self::RetryExhausted => self.as_str(),
        }
    }

    /// Whether `maxRuntime`, `maxInactivity` or `deadline` ended the task, whatever phase that led to.
    #[must_use]
    pub fn is_clock(self) -> bool {
        matches!(self, Self::TimeoutPolicy | Self::Deadline | Self::MaxRuntime | Self::MaxInactivity)
    }

    /// Returns the phase that an end counts as for everything but the phase itself: Timeout where a clock ended it as
    /// Cancelled.
    #[must_use]
    pub fn counts_as(phase: Phase, reason: Option<Self>) -> Phase {
        if phase == Phase::Cancelled && reason == Some(Self::TimeoutPolicy) { Phase::Timeout } else { phase }
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
