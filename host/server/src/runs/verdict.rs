//! The executor's verdict on a response, for clients that wait for it.

use std::time::Duration;

use phasm::{
    Phase, RunError, RunHandle,
    engine::{
        event::TaskId,
        run::{Run, TaskRun},
    },
    tasks_named,
};
use tokio::time::timeout;

use crate::{problem_response::ProblemResponse, state::AppState};

/// A suspended task before a response.
#[derive(Clone, Copy)]
pub(super) struct Question {
    task: TaskId,
    dispatch: u32,
    /// Events of the run so far.
    seq: u64,
}

impl Question {
    /// Finds the task of that name that a response would resume.
    pub(super) async fn find(handle: &RunHandle, name: &str) -> Result<Option<Self>, RunError> {
        let name = name.to_owned();
        let look = move |run: &Run| {
            let task = tasks_named(run, &name).find(|task| task.phase == Phase::Suspended)?;
            Some(Self { task: task.id, dispatch: task.dispatch, seq: run.seq() })
        };
        handle.look(look).await
    }

    /// Returns the executor's reason, if it refuses the response that was given to this question. Waits for so long at most, and
    /// while the server goes on.
    pub(super) async fn refusal(
        self,
        app: &AppState,
        handle: &RunHandle,
        wait: Duration,
    ) -> Result<Option<String>, ProblemResponse> {
        tokio::select! {
            found = timeout(wait, self.watched(handle)) => found.unwrap_or(Ok(None)),
            () = app.stops() => Ok(None),
        }
    }

    async fn watched(self, handle: &RunHandle) -> Result<Option<String>, ProblemResponse> {
        let mut watch = handle.watch(self.seq)?;
        loop {
            let verdict = handle.look(move |run| run.task(self.task).map(|task| self.verdict(task))).await?;
            match verdict {
                Some(Verdict::Pending) => {}
                Some(Verdict::Refused(why)) => return Ok(Some(why)),
                Some(Verdict::Taken) | None => return Ok(None),
            }
            if watch.next().await?.is_none() {
                return Ok(None);
            }
        }
    }

    fn verdict(self, task: &TaskRun) -> Verdict {
        // The response is a dispatch of its own; a later one is another's.
        if task.dispatch != self.dispatch + 1 {
            return Verdict::Taken;
        }
        match task.refusal() {
            Some(why) => Verdict::Refused(why.to_string()),
            None if task.phase == Phase::Running => Verdict::Pending,
            None => Verdict::Taken,
        }
    }
}

enum Verdict {
    /// The executor has not returned.
    Pending,
    Refused(String),
    /// The response counts, or there is another one.
    Taken,
}
