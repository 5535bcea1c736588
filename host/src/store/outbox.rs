//! Notifications for endpoints outside, about runs.
//!
//! ```text
//!  append(record with notices) ──▶ both or neither ── due_notices(endpoint) ──▶ settle(due a little later) ── post ──▶ settle
//!                                                                       false: another worker has it
//! ```
//!
//! A notification is kept until it was delivered, even if the run ends or its host is gone; from then on as long as the run.

use std::{fmt, sync::Arc};

use phasm_engine::time::Timestamp;
use tokio::sync::watch;

use super::Pending;

/// Which notice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoticeId {
    /// The run that it tells of.
    pub run_id: Arc<str>,
    /// The sequence number of the event that it tells of.
    pub seq: u64,
    /// Endpoint that receives it.
    pub endpoint: Arc<str>,
}

/// The same for each try, whichever host makes it.
impl fmt::Display for NoticeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run_id, seq, endpoint } = self;
        write!(f, "{run_id}_{seq}_{endpoint}")
    }
}

/// A notice that comes with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNotice {
    /// Sequence number of the event.
    pub seq: u64,
    /// Endpoint that receives it.
    pub endpoint: Arc<str>,
    /// When it is to be delivered.
    pub due: Timestamp,
    /// Body, opaque to the store.
    pub body: Arc<str>,
}

/// A notice that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeRow {
    /// Which one.
    pub id: NoticeId,
    /// 1 at first, and one more each time it is settled.
    pub revision: u64,
    /// Time of the next delivery; none if it needs no delivery any more.
    pub due: Option<Timestamp>,
    /// Body, opaque to the store.
    pub body: Arc<str>,
    /// Whether the row is not as it was written; then nothing in it is to be believed.
    pub damaged: bool,
}

/// Another revision of a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle {
    /// Which one.
    pub id: NoticeId,
    /// The revision that was seen.
    pub from: u64,
    /// Time of the next delivery; none if it needs no delivery.
    pub due: Option<Timestamp>,
    /// Body of the next revision.
    pub body: Arc<str>,
}

/// Which notices [`ReadStore::notices`](super::ReadStore::notices) returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notices {
    /// Run of the notifications.
    pub run_id: Arc<str>,
    /// To that endpoint alone, if one is given.
    pub endpoint: Option<Arc<str>>,
    /// Position: notifications of earlier events.
    pub before: Option<u64>,
    /// Maximum number of notifications.
    pub limit: usize,
}

/// Notifications about runs, until they are delivered.
pub trait Outbox: Send + Sync {
    /// Writes the next revision of a notification. Returns false if its revision has changed since it was read. A notification
    /// that needs no delivery is deleted with its run.
    ///
    /// # Errors
    /// When the store fails.
    fn settle(&self, _settle: Settle) -> Pending<bool> {
        Pending::ready(Ok(false))
    }

    /// Changes when there are new notices; several times are one, and one may be for nothing.
    fn notices_changed(&self) -> watch::Receiver<()>;
}
