//! The reasons why attempts have their phases, in words.

use crate::run::state::{Attempt, State, TaskRun};

impl State {
    /// Returns the reason why an attempt that has ended has its phase: the clock, the condition or the code that decided.
    #[must_use]
    pub fn reason_of(&self, task: &TaskRun, attempt: &Attempt) -> Option<String> {
        attempt.finished_at?;
        if let Some(clock) = attempt.clock {
            return Some(self.limit_exceeded(task, clock));
        }
        if let Some(phase) = attempt.condition {
            return Some(format!("phaseConditions.{} was true", phase.as_str().to_ascii_lowercase()));
        }
        // Without a result it was stopped, for the reason that its task was.
        let stopped = || task.reason.map(|reason| reason.as_str().to_owned());
        attempt.code.map(|code| format!("code {code}")).or_else(stopped)
    }
}
