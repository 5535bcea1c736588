//! Requests to runs through the store, and their replies.

use std::sync::Arc;

use phasm_engine::{
    phase::Phase,
    run::{Run, TaskRun},
    value::Map,
};
use serde::{Deserialize, Serialize};

use crate::{
    run::message::{Request, RequestError, tasks_named},
    store::Answer,
};

/// A request to a run from a process that does not drive it. Tasks are named by `taskName`, `scope/taskName` or their ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum LetterBody {
    /// Answers a suspended task; of several of that name, the first suspended one.
    Resume {
        /// Its name.
        task: String,
        /// The response.
        payload: Map,
    },
    /// Cancels the run.
    Cancel,
    /// Cancels one task; of several of that name, the first open one.
    CancelTask {
        /// Its name.
        task: String,
    },
    /// Ends a run that cannot continue.
    Abandon {
        /// Why.
        reason: String,
    },
}

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum LetterReply {
    /// Carried out; false if the task was not in the right phase, so that nothing changed.
    Done(bool),
    /// Refused, with the reason.
    Refused(String),
}

impl LetterBody {
    /// Makes it of a request. Tasks are named by their ids, so that the run finds the very task.
    #[must_use]
    pub fn of(run: &Run, request: Request) -> Self {
        match request {
            Request::Cancel => Self::Cancel,
            Request::Resume(task, payload) => Self::Resume { task: run.task_run_id(task), payload },
            Request::CancelTask(task) => Self::CancelTask { task: run.task_run_id(task) },
        }
    }

    /// The stored form.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        // Nothing in it is fallible.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        // Payloads nest as deep as documents may.
        reader.disable_recursion_limit();
        Self::deserialize(&mut reader).ok()
    }

    /// Why the run is to be ended, if that is what it asks.
    pub(crate) fn abandons(bytes: &[u8]) -> Option<String> {
        if let Some(Self::Abandon { reason }) = Self::read(bytes) { Some(reason) } else { None }
    }

    /// Resolves it for a run; none if no task of that name is in the right phase.
    pub(crate) fn request(self, run: &Run) -> Result<Option<Request>, RequestError> {
        let named = |task: &str, wanted: fn(&TaskRun) -> bool| {
            let mut named = tasks_named(run, task).peekable();
            named.peek().ok_or(RequestError::UnknownTask)?;
            Ok::<_, RequestError>(named.find(|task| wanted(task)).map(|task| task.id))
        };
        Ok(match self {
            Self::Cancel => Some(Request::Cancel),
            Self::Abandon { .. } => {
                let refused = "the host that has the run can continue it; `phasm cancel` ends it";
                return Err(RequestError::Refused(refused.to_owned()));
            }
            Self::Resume { task, payload } => {
                let found = named(&task, |task| task.phase == Phase::Suspended)?;
                found.map(|task| Request::Resume(task, payload))
            }
            Self::CancelTask { task } => {
                named(&task, |task| !task.phase.is_terminal())?.map(Request::CancelTask)
            }
        })
    }
}

impl LetterReply {
    pub(crate) fn bytes(&self) -> Arc<[u8]> {
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// Returns the result of a request that was posted.
    ///
    /// # Errors
    /// The errors of [`RunHandle::ask`](crate::drive::handle::RunHandle::ask).
    pub fn said(answer: &Answer) -> Result<bool, RequestError> {
        match answer {
            Answer::Replied(reply) => match Self::read(reply) {
                Some(Self::Done(done)) => Ok(done),
                Some(Self::Refused(why)) => Err(RequestError::Refused(why)),
                None => Err(RequestError::Unanswered),
            },
            Answer::Ended => Err(RequestError::Ended),
            Answer::Waiting | Answer::Unknown => Err(RequestError::Unanswered),
        }
    }

    /// Parses a reply; none if another version of Phasm wrote it.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

impl From<Result<bool, String>> for LetterReply {
    fn from(said: Result<bool, String>) -> Self {
        said.map_or_else(Self::Refused, Self::Done)
    }
}
