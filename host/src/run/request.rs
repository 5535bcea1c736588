//! Requests to runs, and their replies.

use std::sync::Arc;

use phasm_engine::{
    event::{Input, Requester},
    phase::Phase,
    run::{Run, TaskRun},
    value::Map,
};
use serde::{Deserialize, Serialize};

use crate::store::{Answer, MAX_LETTER_BYTES, StoreError};

/// Request to a run. Its driver resolves it, in whichever process it was made. Tasks are named by `taskName`, `scope/taskName` or
/// their ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum RunRequest {
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

impl RunRequest {
    /// Word for what is requested, for logs.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Resume { .. } => "respond",
            Self::Cancel | Self::CancelTask { .. } => "cancel",
            Self::Abandon { .. } => "abandon",
        }
    }

    /// The task that it is about; none for the whole run.
    #[must_use]
    pub fn task(&self) -> Option<&str> {
        match self {
            Self::Resume { task, .. } | Self::CancelTask { task } => Some(task),
            Self::Cancel | Self::Abandon { .. } => None,
        }
    }
}

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum RequestReply {
    /// Carried out; false if the task was not in the right phase, so that nothing changed.
    Done(bool),
    /// Refused, with the reason.
    Refused(String),
}

impl RunRequest {
    /// The stored form.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        // Nothing in it is fallible.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Returns the input of the engine, made by that caller; none if tasks of that name exist, and none of them is in the right phase.
    ///
    /// # Errors
    /// When no task has the name, when the answer is larger than a store takes, or when it is to abandon the run, which its driver
    /// can continue.
    pub(crate) fn input(self, run: &Run, by: Option<Requester>) -> Result<Option<Input>, RequestError> {
        self.check_task(run)?;
        let find = |name: &str, wanted: fn(&TaskRun) -> bool| {
            tasks_named(run, name).find(|task| wanted(task)).map(|task| task.id)
        };
        Ok(match self {
            Self::Cancel => Some(Input::Cancelled(by)),
            Self::CancelTask { task } => {
                find(&task, |task| !task.phase.is_terminal()).map(|task| Input::TaskCancelled(task, by))
            }
            Self::Resume { task, payload } => match find(&task, |task| task.phase == Phase::Suspended) {
                Some(task) => {
                    check_size(&payload)?;
                    Some(Input::Resumed(task, payload, by))
                }
                None => None,
            },
            Self::Abandon { .. } => {
                let refused = "the host that has the run can continue it; `phasm cancel` ends it";
                return Err(RequestError::Refused(refused.to_owned()));
            }
        })
    }

    /// Checks that the run has a task of the name.
    ///
    /// # Errors
    /// [`RequestError::UnknownTask`].
    pub(crate) fn check_task(&self, run: &Run) -> Result<(), RequestError> {
        let (Self::Resume { task, .. } | Self::CancelTask { task }) = self else { return Ok(()) };
        tasks_named(run, task).next().map(drop).ok_or(RequestError::UnknownTask)
    }

    /// Returns the reply of a run that has ended: false for a task, which is in no phase to be changed.
    ///
    /// # Errors
    /// [`RequestError::Ended`] for the run itself, [`RequestError::UnknownTask`].
    pub(crate) fn reply_of_ended(&self, run: &Run) -> Result<bool, RequestError> {
        match self {
            Self::Cancel | Self::Abandon { .. } => Err(RequestError::Ended),
            Self::Resume { .. } | Self::CancelTask { .. } => self.check_task(run).map(|()| false),
        }
    }
}

/// Checks that the answer could be stored as well.
fn check_size(payload: &Map) -> Result<(), RequestError> {
    let size = serde_json::to_string(payload).map_or(usize::MAX, |text| text.len());
    if size <= MAX_LETTER_BYTES {
        return Ok(());
    }
    let refused = format!("the response has {size} bytes, of at most {MAX_LETTER_BYTES}");
    Err(RequestError::Refused(refused))
}

impl RequestReply {
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

impl From<Result<bool, String>> for RequestReply {
    fn from(said: Result<bool, String>) -> Self {
        said.map_or_else(Self::Refused, Self::Done)
    }
}

/// Why a request to a run was not carried out.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestError {
    /// The run has ended.
    #[error("the run has already ended")]
    Ended,
    /// There is no such task run.
    #[error("there is no such task run")]
    UnknownTask,
    /// The request could not be made durable; the run has stopped in this process.
    #[error("the request could not be recorded")]
    Lost(#[source] Arc<StoreError>),
    /// The host that drives the run refused it, and why.
    #[error("{0}")]
    Refused(String),
    /// The host that drives the run has not replied; the request is kept, and the host that continues the run reads it.
    #[error(
        "the host that runs it has not replied; the request is kept, and the host that continues the run reads it"
    )]
    Unanswered,
    /// The host was dropped.
    #[error("the host was closed before the run ended")]
    Closed,
}

/// The task runs that `name` may mean, in creation order: a task run's id, its `scope/taskName` or its `taskName`.
pub fn tasks_named<'a>(run: &'a Run, name: &'a str) -> impl Iterator<Item = &'a TaskRun> {
    run.tasks().iter().filter(move |task| is_named(run, task, name))
}

/// Whether `name` may mean a task run.
#[must_use]
pub fn is_named(run: &Run, task: &TaskRun, name: &str) -> bool {
    run.node(task).name.as_ref() == name || run.path(task) == name || run.task_run_id(task.id) == name
}
