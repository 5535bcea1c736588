//! Remarks on good ends: what did not succeed all the same.

use crate::{
    outcome::Output,
    phase::{Phase, TaskKind},
    run::state::{State, TaskIndex, TaskRun, is_failure},
    value::Value,
};

/// Tasks that remarks name.
const MAX_NAMES: usize = 3;

/// Counts of what did not succeed below a task run that ended well.
#[derive(Default)]
struct Remarks<'s> {
    /// Failures that were tolerated.
    failed: usize,
    /// Task runs of the scopes that had these failures.
    of: usize,
    /// Tasks whose answer was a rejection.
    rejected: Vec<&'s TaskRun>,
}

impl State {
    /// Returns what readers must not miss of a task run, or of the run by its root, that Succeeded: `2 of 500 failed (tolerated)`,
    /// `main/ask rejected`. Empty where all went well, and for other phases, which are no good ends.
    #[must_use]
    pub fn remarks(&self, task: &TaskRun) -> Vec<String> {
        let mut found = Remarks::default();
        let mut ahead = vec![task.index()];
        while let Some(index) = ahead.pop() {
            let task = &self[index];
            if task.phase == Phase::Succeeded {
                self.remark(task, &mut found, &mut ahead);
            }
        }
        let Remarks { failed, of, mut rejected } = found;
        let failed = (failed > 0).then(|| format!("{failed} of {of} failed (tolerated)"));
        rejected.sort_by_key(|task| task.id);
        let more = rejected.len().saturating_sub(MAX_NAMES);
        let more = (more > 0).then(|| format!("{more} more rejected"));
        let named = rejected.into_iter().take(MAX_NAMES).map(|one| {
            if one.id == task.id { "rejected".to_owned() } else { format!("{} rejected", self.path(one)) }
        });
        failed.into_iter().chain(named).chain(more).collect()
    }

    /// Returns what a person made of a task, and who it was: `approved by ada`, `rejected by ada`, or `resumed by ada` for a response
    /// without `approved`. None where the caller is not known.
    #[must_use]
    pub fn response(&self, task: &TaskRun) -> Option<String> {
        let by = task.resumed_by()?;
        let done = match self.approval(task) {
            Some(true) => "approved",
            Some(false) => "rejected",
            None => "resumed",
        };
        Some(format!("{done} by {by}"))
    }

    /// Returns whether the response of a task approves. None for a response that is neither an approval nor a rejection.
    #[must_use]
    pub fn approval(&self, task: &TaskRun) -> Option<bool> {
        match response_value(task, "approved")? {
            Value::Bool(approved) => Some(*approved),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Returns whether a task failed because a person rejected it.
    #[must_use]
    pub fn is_rejected(&self, task: &TaskRun) -> bool {
        task.phase == Phase::Failed && is_rejection(task)
    }

    /// Returns the name in the response of a task, which nothing checks, if there is one.
    #[must_use]
    pub fn responder<'t>(&self, task: &'t TaskRun) -> Option<&'t str> {
        response_value(task, "by")?.as_str()
    }

    /// Returns the comment of the person who approved or rejected a task, if there is one.
    #[must_use]
    pub fn comment<'t>(&self, task: &'t TaskRun) -> Option<&'t str> {
        task.resumed_at()?;
        let comment = response_value(task, "comment")?.as_str()?;
        (!comment.is_empty()).then_some(comment)
    }

    fn remark<'s>(&'s self, task: &'s TaskRun, found: &mut Remarks<'s>, ahead: &mut Vec<TaskIndex>) {
        match self.kind(task) {
            TaskKind::Leaf if is_rejection(task) => found.rejected.push(task),
            TaskKind::Leaf => {}
            // Earlier attempts were retried, which is no remark.
            TaskKind::Wrapper => ahead.extend(self.children(task).next_back().map(TaskRun::index)),
            TaskKind::Container => {
                let failed =
                    self.children(task).filter(|child| is_failure(child.phase, child.reason)).count();
                if failed > 0 {
                    found.failed += failed;
                    found.of += self.children(task).len();
                }
                ahead.extend(self.children(task).map(TaskRun::index));
            }
        }
    }
}

/// Returns a value of a response: an output of its task.
fn response_value<'t>(task: &'t TaskRun, name: &str) -> Option<&'t Value> {
    task.outputs.iter().rfind(|output| &*output.name == name).map(|output| &output.value)
}

/// Whether a person has answered with `approved: false`.
fn is_rejection(task: &TaskRun) -> bool {
    let rejects = |output: &Output| &*output.name == "approved" && output.value == Value::Bool(false);
    task.suspended_at.is_some() && task.outputs.iter().any(rejects)
}
