//! Notices: what somebody outside is told of a run.
//!
//! ```text
//!  append(record with notices) ──▶ both or neither ── due_notices(endpoint) ──▶ settle(due a little later) ── post ──▶ settle
//!                                                                       false: somebody else has it
//! ```
//!
//! Each is kept until it was delivered, whatever becomes of the run and of the host that has written it; from then on as long as the run.

use std::{fmt, sync::Arc};

use phasm_engine::time::Timestamp;

/// Which notice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoticeId {
    /// The run that it tells of.
    pub run_id: Arc<str>,
    /// The sequence number of the event that it tells of.
    pub seq: u64,
    /// Whom it goes to.
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
    /// Of the event that it tells of.
    pub seq: u64,
    /// Whom it goes to.
    pub endpoint: Arc<str>,
    /// When it is to be delivered.
    pub due: Timestamp,
    /// What it says, opaque to the store.
    pub body: Arc<str>,
}

/// A notice that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeRow {
    /// Which one.
    pub id: NoticeId,
    /// 1 at first, and one more each time it is settled.
    pub revision: u64,
    /// When it is to be delivered; nothing if nobody has to any more.
    pub due: Option<Timestamp>,
    /// What it says.
    pub body: Arc<str>,
}

/// Another revision of a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle {
    /// Which one.
    pub id: NoticeId,
    /// The revision that was seen.
    pub from: u64,
    /// When somebody has to deliver it next; nothing if nobody has to.
    pub due: Option<Timestamp>,
    /// What it says from then on.
    pub body: Arc<str>,
}

/// Which notices [`ReadStore::notices`](super::ReadStore::notices) returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notices {
    /// Of that run.
    pub run_id: Arc<str>,
    /// To that endpoint alone, if one is given.
    pub endpoint: Option<Arc<str>>,
    /// Of events before that one.
    pub before: Option<u64>,
    /// So many at most.
    pub limit: usize,
}
