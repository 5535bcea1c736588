//! Messages to a driver, and the status that it publishes.

use std::sync::Arc;

use phasm_engine::run::Run;
use tokio::sync::oneshot;

use super::{envelope::RequestEnvelope, request::RequestError};
use crate::{dispatch::signal::Signal, store::StoreError};

/// A message to a driver.
pub(crate) enum Message {
    /// From the executor's side.
    Signal(Signal),
    /// A request to the run.
    Ask { request: RequestEnvelope, reply: ReplyTo },
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
    /// The run has ended under another host, and is in the store only.
    EndedElsewhere,
    /// The host was closed.
    Closed,
    /// The run could not be recorded; its journal is the truth, and nothing drives it here.
    Lost(Arc<StoreError>),
}
