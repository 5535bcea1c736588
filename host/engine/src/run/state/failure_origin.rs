//! The task run that the failure of a container comes from.

use super::{ChildEnd, State, TaskRun};
use crate::phase::TaskKind;

impl State {
    /// Returns the task run that a failure comes from: of a container the one in it, or in that one, whose message it repeats;
    /// otherwise the task run itself.
    #[must_use]
    pub fn failure_origin<'t>(&'t self, task: &'t TaskRun) -> &'t TaskRun {
        let mut origin = task;
        while let Some(inner) = self.repeated(origin) {
            origin = inner;
        }
        origin
    }

    /// Returns why a task run failed, in one line: `main/load: no such file` where that is the failure that a container repeats.
    /// Empty where nothing but a clock says why.
    #[must_use]
    pub fn failure_reason(&self, task: &TaskRun) -> String {
        let origin = self.failure_origin(task);
        let cause = self.cause(origin);
        match (origin.id == task.id, cause) {
            (true, cause) => cause.to_owned(),
            (false, "") => format!("{} ended {}", self.path(origin), origin.phase),
            (false, cause) => format!("{}: {cause}", self.path(origin)),
        }
    }

    /// Returns the child whose message a container or wrapper repeats. None where a condition or a clock gave it one of its own.
    fn repeated(&self, task: &TaskRun) -> Option<&TaskRun> {
        match self.kind(task) {
            TaskKind::Leaf => None,
            TaskKind::Container => {
                let worst = self.scope(task)?.failures.worst()?;
                (*task.message == *self.failure_message(worst)).then(|| &self[worst.task])
            }
            TaskKind::Wrapper => {
                self.children(task).next_back().filter(|attempt| attempt.message == task.message)
            }
        }
    }

    /// Returns the message of a container that ends by the failure of a task in it: `task load ended Failed: no such file`.
    pub(in crate::run) fn failure_message(&self, worst: &ChildEnd) -> String {
        let name = &self.node(&self[worst.task]).name;
        let separator = if worst.message.is_empty() { "" } else { ": " };
        format!("task {name} ended {}{separator}{}", worst.phase, worst.message)
    }
}
