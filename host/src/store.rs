//! Where runs are kept: a journal per run, and one row that says where the run stands.
//!
//! ```text
//!  driver ── append(head, status, record) ──▶ store        queued in the order of the calls
//!         ◀── Ok: durable │ Conflict: re-read ──           many runs' records share one commit
//!
//!  start  ── open_runs() ──▶ rows ── load(run) ──▶ records in order ──▶ replay
//! ```
//!
//! A [`Record`] is durable or not as a whole. Each says how many events its run had before it; a store takes it
//! only if that is so, hence two drivers never both advance a run.

mod error;
pub mod memory;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;

use std::{future::Future, num::NonZeroU32, pin::Pin, sync::Arc};

use phasm_engine::{phase::Phase, time::Timestamp};

#[cfg(feature = "sqlite")]
pub use self::sqlite::{Sqlite, SqliteReader};
pub use self::{error::StoreError, memory::Memory};

/// What a store answers with, later. It borrows nothing, needs no particular runtime, and may be dropped: what was
/// asked for happens all the same.
pub type Pending<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

/// What a record says; bytes only to the stores that need bytes.
///
/// Called on the store's own thread, once or more often, and the same bytes each time.
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
}

impl<Body> Record<Body> {
    /// How many events the run has with this record.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.first_seq.saturating_add(u64::from(self.events.get()))
    }

    /// The optimistic sequence check (R-D4): `found` is how many events the run has.
    fn check_follows(&self, run_id: &Arc<str>, found: u64) -> Result<(), StoreError> {
        if self.first_seq == found {
            return Ok(());
        }
        Err(StoreError::Conflict { run_id: Arc::clone(run_id), expected: self.first_seq, found })
    }
}

/// What never changes about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHead {
    /// Unique in the store.
    pub run_id: Arc<str>,
    /// `metadata.name`.
    pub workflow: Arc<str>,
    /// `metadata.namespace`.
    pub namespace: Arc<str>,
    /// `spec.priority`, higher first.
    pub priority: u16,
    /// When the run was submitted.
    pub submitted_at: Timestamp,
}

/// Where a run stands after a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStatus {
    /// Its root's phase.
    pub phase: Phase,
    /// When `phase` became terminal.
    pub finished_at: Option<Timestamp>,
    /// Whether a restart has to go on with it: it has not ended, or hook runs of it have not.
    pub open: bool,
}

/// A run without its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// The run's place in the order of submission, unique in the store and never used again.
    pub number: u64,
    /// What never changes.
    pub head: Arc<RunHead>,
    /// Where it stands.
    pub status: RunStatus,
    /// How many events its journal has.
    pub seq: u64,
}

/// Which runs [`Store::list`] returns: those that fit every field that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// In this namespace.
    pub namespace: Option<Arc<str>>,
    /// Of this workflow.
    pub workflow: Option<Arc<str>>,
    /// In this phase.
    pub phase: Option<Phase>,
    /// Submitted before the run of this [`RunRow::number`]: the next page after the one that ended there.
    pub before: Option<u64>,
}

impl Filter {
    fn fits(&self, row: &RunRow) -> bool {
        let same = |wanted: &Option<Arc<str>>, found: &Arc<str>| wanted.as_ref().is_none_or(|w| w == found);
        same(&self.namespace, &row.head.namespace)
            && same(&self.workflow, &row.head.workflow)
            && self.phase.is_none_or(|phase| phase == row.status.phase)
            && self.before.is_none_or(|number| row.number < number)
    }
}

/// Keeps runs. One process at a time writes to a store.
pub trait Store: Send + Sync {
    /// Appends `record` to the run of `head` and sets its status, both or neither. `first_seq` 0 creates the run;
    /// `head` beyond its `run_id` is only looked at then.
    ///
    /// The record is queued before this returns; records are taken in the order of the calls, so a run's next record
    /// may follow before this one is durable. It is durable once the answer is `Ok`.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] unless the run has exactly `first_seq` events, 0 standing for a run that does not exist:
    /// nothing was written, the caller re-reads. Any other error leaves open whether the record was kept: the caller
    /// stops the run, and goes on from what [`load`](Self::load) returns. Other runs' records do not suffer from a conflict.
    fn append(&self, head: Arc<RunHead>, status: RunStatus, record: Record<Arc<dyn Encode>>) -> Pending<()>;

    /// The journal of a run, in order and without gaps: what was durable at some moment after the call.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Corrupt`] if a record is missing or does not follow its predecessor.
    fn load(&self, run_id: &str) -> Pending<Vec<Record<Vec<u8>>>>;

    /// The row of a run, if there is one.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn get(&self, run_id: &str) -> Pending<Option<RunRow>>;

    /// The newest `limit` runs that fit `filter`, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>>;

    /// Keeps the component of that digest; one that is kept already stays as it is.
    ///
    /// It is queued as records are: a record that is appended afterwards is durable with it or after it.
    ///
    /// # Errors
    /// When the component cannot be kept.
    fn keep_component(&self, digest: &str, bytes: Arc<[u8]>) -> Pending<()>;

    /// The component of that digest, if it is kept.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>>;

    /// The runs a restart has to go on with, highest priority first, then in the order of submission.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn open_runs(&self) -> Pending<Vec<RunRow>>;
}
