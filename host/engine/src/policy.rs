//! Policy rules: what an attempt's outcome leads to (seed 002, SPEC section 9).

use std::sync::Arc;

use crate::{
    expr::{Expr, Interpolated},
    plan::{Level, NodeIndex},
    retry::{Backoff, MaxAttempts},
};

/// `policy`: ordered rules, the first match wins.
#[derive(Debug)]
pub struct Policy {
    /// In document order; an `else` rule has no `when` and is last.
    pub rules: Vec<Rule>,
    /// `onUnmatched: fail` instead of continue (R-N1).
    pub fail_unmatched: bool,
    /// Whose names the rules' conditions and values see.
    pub level: Level,
}

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// `None` for `else`.
    pub when: Option<Expr>,
    /// `then.do`.
    pub action: RuleAction,
    /// `then.set_iter`, applied before the action.
    pub set_iter: Vec<(Arc<str>, Interpolated)>,
    /// `then.set_ctx`, applied before the action.
    pub set_ctx: Vec<(Arc<str>, Interpolated)>,
}

/// `then.do` with its own fields.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleAction {
    /// Next task.
    Continue,
    /// Another attempt.
    Retry {
        /// Attempts in all.
        attempts: MaxAttempts,
        /// The pause between them.
        backoff: Backoff,
    },
    /// Go to the task of that position.
    Jump(NodeIndex),
    /// End the pipeline successfully.
    Break,
    /// End the task, and with it the pipeline.
    Fail,
}
