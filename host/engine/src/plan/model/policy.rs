//! Policy rules: what an attempt's outcome leads to.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    expr::{Expr, ValueTemplate},
    settings::{Backoff, MaxAttempts},
    time::Millis,
};

use super::{Level, NodeIndex};

/// `policy`: ordered rules, the first match wins.
#[derive(Debug)]
pub struct Policy {
    /// In document order; an `else` rule has no `when` and is last.
    pub rules: Vec<PolicyRule>,
    /// `onUnmatched: fail`: an error outcome that no rule matches fails.
    pub fail_unmatched: bool,
    /// Level whose names the rules' conditions and values see.
    pub level: Level,
}

/// One rule.
#[derive(Debug)]
pub struct PolicyRule {
    /// `None` for `else`.
    pub when: Option<Expr>,
    /// `then.do`.
    pub action: RuleAction,
    /// `then.set_iter`, applied before the action.
    pub set_iter: Vec<(Arc<str>, ValueTemplate)>,
    /// `then.set_ctx`, applied before the action.
    pub set_ctx: Vec<(Arc<str>, ValueTemplate)>,
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

/// Which rule decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RuleMatch {
    /// The rule of that index.
    Rule(u32),
    /// The `else` rule.
    Else,
    /// None matched, and there is no `else`.
    Default,
}

/// The decision of a policy about one attempt, as it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Verdict {
    /// The task ends, and whatever its phase those that wait for it go on.
    Continue,
    /// Another attempt, or the end where there is none left.
    Retry {
        /// Attempts in all.
        attempts: MaxAttempts,
        /// The pause before the next; `None` when no attempt is left.
        delay_ms: Option<Millis>,
    },
    /// Like `Continue`, and the pipeline moves to the task at that position.
    Jump(NodeIndex),
    /// Like `Continue`, and the pipeline ends successfully.
    Break,
    /// The task fails.
    Fail,
}

impl Verdict {
    /// The word the document uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Retry { .. } => "retry",
            Self::Jump(_) => "jump",
            Self::Break => "break",
            Self::Fail => "fail",
        }
    }

    /// Whether an error outcome is tolerated: continue, jump and break do.
    #[must_use]
    pub fn tolerates(self) -> bool {
        match self {
            Self::Continue | Self::Jump(_) | Self::Break => true,
            Self::Retry { .. } | Self::Fail => false,
        }
    }
}
