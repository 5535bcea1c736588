//! Messages to a driver, and the status that it publishes.

use std::sync::Arc;

use phasm_engine::{
    event::{Input, TaskId},
    run::{Run, TaskRun},
    value::Map,
};
use tokio::sync::oneshot;

use crate::{
    dispatch::signal::Signal,
    store::{MAX_LETTER_BYTES, StoreError},
};

/// A message to a driver.
pub(crate) enum Message {
    /// From the executor's side.
    Signal(Signal),
    /// A request to the run.
    Ask { request: Request, reply: ReplyTo },
    /// An inspection of the run as it is recorded.
    Inspect(Inspection),
    /// There may be letters to the run in its store.
    Mail,
    /// The wall clock was set: something may be due.
    Tick,
    /// Another host has had the run since it was claimed: the driver leaves it, and then drops this.
    HandOver(oneshot::Sender<()>),
}

impl Message {
    /// How many slots are the run's again, or for the first time.
    pub(crate) fn slots(&self) -> i64 {
        match self {
            Self::Signal(Signal::Lent(slots)) => i64::from(*slots),
            Self::Signal(Signal::Finished(..) | Signal::Interrupted(_) | Signal::Gone(_)) => 1,
            Self::Signal(Signal::Started(..) | Signal::Inactive(_) | Signal::Wrote(..))
            | Self::Ask { .. }
            | Self::Inspect(_)
            | Self::Mail
            | Self::Tick
            | Self::HandOver(_) => 0,
        }
    }
}

impl From<Signal> for Message {
    fn from(signal: Signal) -> Self {
        Self::Signal(signal)
    }
}

/// Inspects a run as it is recorded.
pub(crate) type Inspection = Box<dyn FnOnce(&Run) + Send>;

/// Where the reply to a request goes.
pub(crate) type ReplyTo = oneshot::Sender<Result<bool, RequestError>>;

/// Something that may be asked of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Responds to a suspended task.
    Resume(TaskId, Map),
    /// Cancel the run.
    Cancel,
    /// Cancel one task.
    CancelTask(TaskId),
}

impl Request {
    /// Checks that the request could be stored as well.
    pub(crate) fn check_size(&self) -> Result<(), RequestError> {
        let Self::Resume(_, payload) = self else { return Ok(()) };
        let size = serde_json::to_string(payload).map_or(usize::MAX, |text| text.len());
        if size <= MAX_LETTER_BYTES {
            return Ok(());
        }
        let refused = format!("the answer has {size} bytes, of at most {MAX_LETTER_BYTES}");
        Err(RequestError::Refused(refused))
    }

    /// The reply to a request that changes nothing: false for a task that is not in the right phase.
    pub(crate) fn refusal(&self, run: &Run) -> Result<bool, RequestError> {
        match self {
            Self::Cancel => Err(RequestError::Ended),
            Self::Resume(task, _) | Self::CancelTask(task) => {
                run.task(*task).map(|_| false).ok_or(RequestError::UnknownTask)
            }
        }
    }
}

impl From<Request> for Input {
    fn from(request: Request) -> Self {
        match request {
            Request::Resume(task, payload) => Self::Resumed(task, payload),
            Request::Cancel => Self::Cancelled,
            Request::CancelTask(task) => Self::TaskCancelled(task),
        }
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
        "the host that drives the run has not replied; the request is kept, and the host that continues the run reads it"
    )]
    Unanswered,
    /// The host was dropped.
    #[error("the host was closed while the run went on")]
    Closed,
}

/// Where a run stands in this process.
#[derive(Clone, Debug, Default)]
pub(crate) enum DriveStatus {
    /// The run is driven, or may be.
    #[default]
    Active,
    /// Only suspended tasks keep it open.
    Parked,
    /// The run has ended.
    Ended(Arc<Run>),
    /// The host was closed.
    Closed,
    /// The run could not be recorded; its journal is the truth, and nothing drives it here.
    Lost(Arc<StoreError>),
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
