//! The executor's verdict on a response.

use phasm_engine::{
    event::TaskId,
    phase::Phase,
    run::{Run, TaskRun},
};

use super::follow::Watch;
use crate::{journal::RecoverError, run::request::tasks_named};

/// A response to a suspended task, from before it is given until the executor has accepted or refused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingResponse {
    task: TaskId,
    dispatch: u32,
    /// Number of events of the run before the response.
    pub seq: u64,
}

/// Verdict of an executor on a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResponseVerdict {
    /// The executor has not returned.
    Pending,
    /// The executor refused it, for that reason. The task is suspended again.
    Refused(String),
    /// The response counts, or the task has gone on with another one.
    Accepted,
}

impl PendingResponse {
    /// Returns the response that the first suspended task of that name would get. `name` is as in [`crate::RunHandle::resume`].
    #[must_use]
    pub fn to(run: &Run, name: &str) -> Option<Self> {
        let task = tasks_named(run, name).find(|task| task.phase == Phase::Suspended)?;
        Some(Self { task: task.id, dispatch: task.dispatch, seq: run.seq() })
    }

    /// Returns the verdict as of a later state of the run.
    #[must_use]
    pub fn verdict(self, run: &Run) -> ResponseVerdict {
        // The response is a dispatch of its own; a later one is another's.
        let is_last = |task: &&TaskRun| task.dispatch == self.dispatch + 1;
        let Some(task) = run.task(self.task).filter(is_last) else { return ResponseVerdict::Accepted };
        match task.refusal() {
            Some(why) => ResponseVerdict::Refused(why.to_string()),
            None if task.phase == Phase::Running => ResponseVerdict::Pending,
            None => ResponseVerdict::Accepted,
        }
    }

    /// Follows a run that another process has, from [`Self::seq`] on, until there is a verdict. Returns `Pending` if no process has the
    /// run any more.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn watched(self, mut watch: Watch) -> Result<ResponseVerdict, RecoverError> {
        while watch.next().await?.is_some() {
            let verdict = watch.run().filter(|run| run.seq() > self.seq).map(|run| self.verdict(run));
            if let Some(verdict) = verdict.filter(|verdict| *verdict != ResponseVerdict::Pending) {
                return Ok(verdict);
            }
        }
        Ok(ResponseVerdict::Pending)
    }
}
