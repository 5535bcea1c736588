//! Ends without another attempt, where `retry` could have made one.

use crate::{
    phase::Phase,
    plan::{MaxAttempts, Recovery, RetryFilter},
    run::state::{State, TaskRun},
};

impl State {
    /// Returns why a task that ended badly was not retried although its `retry` had attempts left: `` `retry` applies to Error and
    /// Timeout ``. None where nothing is left to explain.
    #[must_use]
    pub fn not_retried(&self, task: &TaskRun) -> Option<String> {
        let Some(Recovery::Retry(retry)) = &self.node(task).settings.recovery else { return None };
        let is_bad = matches!(task.phase, Phase::Failed | Phase::Error | Phase::Timeout);
        let is_left = match retry.max_attempts {
            MaxAttempts::Unlimited => true,
            MaxAttempts::Limited(most) => task.attempt < most,
        };
        if !is_bad || !is_left || task.attempt == 0 {
            return None;
        }
        if task.clocks.timeout.is_some_and(|at| task.finished_at.is_some_and(|end| at <= end)) {
            return Some("its `timeout` had passed".to_owned());
        }
        if task.reason.is_some() {
            return None;
        }
        let is_missing = self.plan().pinned(self.node(task)).is_some_and(|pinned| pinned.missing);
        match &retry.filter {
            RetryFilter::ErrorOrTimeout | RetryFilter::Retryable if task.phase == Phase::Failed => {
                Some("`retry` applies to Error and Timeout".to_owned())
            }
            RetryFilter::Expression(condition) => {
                Some(format!("the condition of `retry` was false: {}", condition.expr.source()))
            }
            // An executor that is missing has one attempt, and says so itself.
            RetryFilter::Retryable if task.phase == Phase::Error && !is_missing => {
                Some("its executor says that another attempt would fail, too".to_owned())
            }
            RetryFilter::ErrorOrTimeout | RetryFilter::Retryable | RetryFilter::AnyFailure => None,
        }
    }
}
