//! Journals: the records of runs, and the logs of their attempts.

use std::{num::NonZeroU32, sync::Arc};

use phasm_engine::time::Timestamp;

use super::{Lease, NewNotice, Pending, Reply, RunStatus, StoreError};

/// Encoder of a record's body, called by the stores that need bytes.
///
/// The store calls it on its own thread, once or more often, and gets the same bytes each time.
pub trait Encode: Send + Sync {
    /// Appends the encoded body to `buffer`, which may not be empty.
    fn encode(&self, buffer: &mut Vec<u8>);
}

impl Encode for Vec<u8> {
    fn encode(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(self);
    }
}

/// The events of one step, or of several steps that become durable together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<Body> {
    /// How many events the run had before: the sequence number, counted from 0, of this record's first event.
    pub first_seq: u64,
    /// How many events this record holds.
    pub events: NonZeroU32,
    /// When they happened.
    pub time: Timestamp,
    /// The events themselves, opaque to the store.
    pub body: Body,
    /// Document of the run; in the first record only.
    pub document: Option<Arc<Document>>,
    /// Notifications that are written with the record; none in a record that was loaded.
    pub notices: Vec<NewNotice>,
    /// Logs of the attempts that the events end, written with the record; none in a record that was loaded.
    pub logs: Vec<AttemptLog>,
    /// Short reason for the run's end, or a remark on it, for the run's row; none in a record that was loaded.
    pub remark: Option<Arc<str>>,
}

/// Text that many runs share. It is stored with the first of them, and deleted with the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Digest of the bytes. The store does not verify it; a reader can.
    pub digest: Arc<str>,
    /// Content, opaque to the store.
    pub bytes: Arc<[u8]>,
    /// The components that it names. They are kept with it, and come by [`ReadStore::component`](super::ReadStore::component), not with what is loaded.
    pub components: Vec<Component>,
}

/// Component by its digest. The first of several with one digest is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Digest of the bytes.
    pub digest: Arc<str>,
    /// The component.
    pub bytes: Arc<[u8]>,
}

impl<Body> Record<Body> {
    /// How many events the run has with this record.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.first_seq.saturating_add(u64::from(self.events.get()))
    }

    /// The optimistic sequence check (R-D4): `found` is how many events the run has.
    pub(super) fn check_follows(&self, run_id: &Arc<str>, found: u64) -> Result<(), StoreError> {
        if self.first_seq == found {
            return Ok(());
        }
        Err(StoreError::Conflict { run_id: Arc::clone(run_id), expected: self.first_seq, found })
    }
}

/// The end of what one attempt wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptLog {
    /// The task run's number.
    pub task: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Its dispatch, from 1.
    pub dispatch: u32,
    /// How many bytes before it were not kept.
    pub cut: u64,
    /// Whole lines, as they are shown; without secrets. Empty if the log is damaged.
    pub text: Vec<u8>,
    /// Whether the stored log is not as it was written; its numbers may be wrong, too.
    pub damaged: bool,
}

/// Journals of runs: records, and the logs of attempts.
pub trait Journal: Send + Sync {
    /// Appends `record` to the run of `lease` with its notifications and logs, sets its status and stores the `replies` to the requests
    /// that it answers: all or nothing. `first_seq` 0 creates the run, and stores the record's document; later the document is
    /// ignored, and so are all parts of the lease's head except `run_id`. A run that is no longer open has no owner.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another host has claimed the run; [`StoreError::Conflict`] unless the run has exactly
    /// `first_seq` events, where 0 means that the run does not exist; [`StoreError::Exists`] for a new run with the key of
    /// another; [`StoreError::TooLarge`]. In these cases nothing was written.
    fn append(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        replies: Vec<Reply>,
    ) -> Pending<()>;

    /// Stores a log that came after the end of its attempt was recorded, in place of an earlier log of the attempt.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another host has claimed the run.
    fn keep_log(&self, lease: &Lease, log: AttemptLog) -> Pending<()>;

    /// Ends a run as Error because its journal cannot be continued, for example after a record became unreadable. Pending
    /// requests get no reply. The `notices` are stored with it.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another host has claimed it; [`StoreError::Closed`] if it has ended.
    fn abandon(&self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Pending<()>;

    /// Deletes a run that has ended with all that is kept of it but notices that are to be delivered, and what no other run speaks of; false
    /// if there is none.
    ///
    /// # Errors
    /// [`StoreError::StillOpen`] for a run that has not ended.
    fn delete(&self, run_id: &str) -> Pending<bool>;
}
