//! Settings around the work of a call.

use crate::{
    expr::Expr,
    phase::Phase,
    settings::{TimeoutPolicy, Tolerance},
    time::Millis,
};

use super::{Hooks, Policy, RetryPolicy};

/// Settings around a node's work.
#[derive(Debug, Default)]
pub struct Settings {
    /// `timeout`: absolute from the first dispatch; a container's from its first leaf's.
    pub timeout: Option<Millis>,
    /// `maxRuntime` of each attempt.
    pub max_runtime: Option<TimeoutPolicy>,
    /// `maxInactivity` of each attempt.
    pub max_inactivity: Option<TimeoutPolicy>,
    /// `deadline` across attempts and delays.
    pub deadline: Option<TimeoutPolicy>,
    /// `retry` or `policy`; they count as one field.
    pub recovery: Option<Recovery>,
    /// Which of the node's own phases its scope tolerates; a dag's or loop's default already applied.
    pub continue_on: Tolerance,
    /// Overrides of the computed phase.
    pub phase_conditions: PhaseConditions,
    /// Task templates run beside the phases.
    pub hooks: Hooks,
}

/// The reaction to the end of an attempt.
#[derive(Debug)]
pub enum Recovery {
    /// The Aether or Steep spelling.
    Retry(RetryPolicy),
    /// NoETL's rules.
    Policy(Policy),
}

/// `phaseConditions`: the first true one, in the order of the fields, replaces the computed phase.
#[derive(Debug, Default)]
pub struct PhaseConditions {
    /// Makes it Succeeded.
    pub succeeded: Option<Condition>,
    /// Makes it Failed.
    pub failed: Option<Condition>,
    /// Makes it Error.
    pub error: Option<Condition>,
}

impl PhaseConditions {
    /// The conditions in the order they are asked, with the phase each gives.
    pub fn in_order(&self) -> impl Iterator<Item = (Phase, &Condition)> {
        [(Phase::Succeeded, &self.succeeded), (Phase::Failed, &self.failed), (Phase::Error, &self.error)]
            .into_iter()
            .filter_map(|(phase, condition)| condition.as_ref().map(|c| (phase, c)))
    }
}

/// Scope whose names an expression sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Written on a call: the container's inputs and what is upstream.
    Node,
    /// Written in a template: its own inputs; as a task, `tasks.<template>` is itself.
    Template,
    /// Written on an inline node's own config or outputs: its own inputs over the container's.
    Inline,
}

/// An expression and whose names it sees.
#[derive(Debug)]
pub struct Condition {
    /// The expression.
    pub expr: Expr,
    /// Where it was written.
    pub level: Level,
}
