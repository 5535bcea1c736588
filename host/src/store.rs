//! Stores of runs: a journal per run, and one row with the run's state.
//!
//! ```text
//!  host   ── claim(due) ──▶ leases ── load(run) ──▶ records in order ──▶ replay
//!  driver ── append(lease, status, record) ──▶ store       queued in the order of the calls
//!         ◀── Ok: durable │ LeaseLost: stop driving ──        many runs' records share one commit
//!         ── release(lease, wake_at) ──▶ without owner until it is due, or has a request
//!  others ── post(run, letter) ──▶ mailbox ── answer ──▶   once the run has recorded it
//! ```
//!
//! Next to runs a store keeps [entries](CatalogEntry) by their names: a schedule changes in the same write that creates the run
//! it fires.
//!
//! A [`Record`] is durable as a whole or not at all. Each record names the number of events that its run had before it, and comes
//! with the epoch of
//! a [`Lease`]. A store takes the record only if both match, hence two hosts never both advance a run.

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod checksum;
mod entry;
mod error;
#[cfg(feature = "sqlite")]
mod group_commit;
mod lease;
mod mail;
pub mod memory;
mod notice;
mod offer;
#[cfg(feature = "postgres")]
pub mod postgres;
pub(crate) mod retention;
mod row;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod subscriptions;
#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
pub mod view;

use std::{
    collections::BTreeMap, future::Future, num::NonZeroU32, path::PathBuf, pin::Pin, sync::Arc,
    time::Duration,
};

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio::sync::watch;

use crate::metrics::CommitCounts;

#[cfg(feature = "postgres")]
pub use self::postgres::{Postgres, PostgresReader};
#[cfg(feature = "sqlite")]
pub use self::sqlite::{Sqlite, SqliteReader};
pub use self::{
    entry::{
        CatalogEntry, CatalogKind, Change, DuePlace, EntryName, EntryQuery, MAX_ENTRIES, MAX_TEXT_BYTES, Text,
    },
    error::StoreError,
    lease::{Claim, ClaimRequest, HostId, Lease},
    mail::{Answer, Letter, MAX_LETTER_BYTES, MAX_WAITING_LETTERS, RETAINED_ANSWERS, Reply},
    memory::Memory,
    notice::{NewNotice, NoticeId, NoticeRow, Notices, Settle},
    offer::{ExchangeRequest, ExchangeResponse, IncomingReport, Offer, OfferId, Report, TakenOffer},
    row::{Census, Filter, Labels, Note, Rest, RunHead, RunRow, RunStatus},
};

/// Bytes by namespace.
pub type StoredBytes = BTreeMap<Arc<str>, u64>;

/// Result of a store's operation, later. The future borrows nothing and needs no particular runtime. It may be dropped: the
/// operation was queued by the call, and happens all the same.
pub type Pending<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

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
}

/// Text that many runs share. It is stored with the first of them, and deleted with the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Digest of the bytes. The store does not verify it; a reader can.
    pub digest: Arc<str>,
    /// Content, opaque to the store.
    pub bytes: Arc<[u8]>,
    /// The components that it names. They are kept with it, and come by [`ReadStore::component`], not with what is loaded.
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
    fn check_follows(&self, run_id: &Arc<str>, found: u64) -> Result<(), StoreError> {
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
    /// Whole lines, as they are shown; without secrets.
    pub text: Vec<u8>,
}

/// Reading access to a store. Every handle may read, whichever host drives the runs.
pub trait ReadStore: Send + Sync {
    /// The journal of a run from event `since` on, in order and without gaps: what was durable at some moment after the call. The
    /// first record is the one that holds `since`.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Corrupt`] if a record is missing, damaged, or does not follow its predecessor.
    fn load_since(&self, run_id: &str, since: u64) -> Pending<Vec<Record<Vec<u8>>>>;

    /// Returns the whole journal of a run.
    ///
    /// # Errors
    /// The same as [`load_since`](Self::load_since).
    fn load(&self, run_id: &str) -> Pending<Vec<Record<Vec<u8>>>> {
        self.load_since(run_id, 0)
    }

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

    /// The runs that have not ended, highest priority first, then in the order of submission.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn open_runs(&self) -> Pending<Vec<RunRow>>;

    /// Counts the open runs by the party that has to act next.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn census(&self, now: Timestamp) -> Pending<Census>;

    /// The namespaces of runs that have ended, sorted.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn namespaces(&self) -> Pending<Vec<Arc<str>>>;

    /// How many runs of a namespace have ended, in that phase if one is given, and the first `limit` of them that did.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn ended(&self, namespace: &str, phase: Option<Phase>, limit: usize) -> Pending<(u64, Vec<RunRow>)>;

    /// Returns the note that the serving process has left about its tenants.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn tenants(&self) -> Pending<Option<Arc<str>>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Returns the bytes of records and logs per namespace: of the named ones, or of all that have any. Shared documents
    /// are not counted.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn stored(&self, _namespaces: Vec<Arc<str>>) -> Pending<StoredBytes> {
        Box::pin(std::future::ready(Ok(StoredBytes::new())))
    }

    /// The component of that digest, if it is kept.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>>;

    /// Returns the state of a request to a run.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn answer(&self, run_id: &str, letter: u64) -> Pending<Answer>;

    /// Returns the logs of a run's attempts, in the order of tasks, attempts and dispatches; with `task`, those of one task run.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn logs(&self, run_id: &str, task: Option<u32>) -> Pending<Vec<AttemptLog>>;

    /// The entry of that name, if there is one.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn entry(&self, name: &EntryName) -> Pending<Option<CatalogEntry>>;

    /// Entries of a kind, by namespace and name.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn entries(&self, wanted: EntryQuery) -> Pending<Vec<CatalogEntry>>;

    /// The first `limit` entries that are due at some time, or those behind a place among them.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn due_entries(&self, after: Option<DuePlace>, limit: usize) -> Pending<Vec<CatalogEntry>>;

    /// The text of that digest, if an entry names it.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn text(&self, digest: &str) -> Pending<Option<Arc<[u8]>>>;

    /// The notices to an endpoint that have to be delivered, the first `limit` of them by when they are due.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn due_notices(&self, _endpoint: &str, _limit: usize) -> Pending<Vec<NoticeRow>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The first endpoint behind that name which notices are to be delivered to, and when the last of these is due.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn endpoint_after(&self, _endpoint: &str) -> Pending<Option<(Arc<str>, Timestamp)>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Notices of a run, the latest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn notices(&self, _wanted: Notices) -> Pending<Vec<NoticeRow>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Returns a receiver that changes after the run was written to, by any host. Several changes are one, and one may be
    /// spurious. The receiver is closed once no writer is left. The call must be made within tokio; the subscription ends when
    /// the receiver is dropped.
    fn follow(&self, run_id: &str) -> watch::Receiver<()>;
}

/// Stores runs. The holder of a run's [`Lease`] writes to the run; every handle may post requests to it.
///
/// Every operation that writes is queued before the call returns, is taken in the order of the calls, and is durable once the
/// result is `Ok`. An operation that is refused writes nothing, and affects no other; after any other error it is unknown whether
/// it was written.
pub trait Store: ReadStore {
    /// Appends `record` to the run of `lease` with its notifications, sets its status and stores the `replies` to the requests
    /// that it answers: all
    /// or nothing. `first_seq` 0 creates the run, and stores the record's document; later the document is ignored, and so are all
    /// parts
    /// of the lease's head except `run_id`. A run that is no longer open has no owner.
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

    /// Claims runs: those without an owner that are due or have requests, and those whose host is gone. The longest waiting
    /// comes first, then the highest priority, then the order of submission.
    ///
    /// # Errors
    /// When the store fails; nothing was claimed.
    fn claim(&self, wanted: ClaimRequest) -> Pending<Vec<Lease>>;

    /// Claims one run, whether it is due or not. One that the host has already keeps its epoch.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    fn claim_run(&self, host: &HostId, run_id: &str, now: Timestamp) -> Pending<Claim>;

    /// Releases a run: it is due at `wake_at`, or when a request is posted.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another host has claimed it.
    fn release(&self, lease: &Lease, wake_at: Option<Timestamp>) -> Pending<()>;

    /// [`Self::release`] of a host that cannot continue the run, with the reason, which is shown with the run's row. A store
    /// without a place for
    /// the reason only releases the run.
    ///
    /// # Errors
    /// The same as [`Self::release`].
    fn leave(&self, lease: &Lease, wake_at: Option<Timestamp>, _note: Note) -> Pending<()> {
        self.release(lease, wake_at)
    }

    /// Leaves what others shall know of the tenants, in place of what was left before.
    ///
    /// # Errors
    /// When the store fails.
    fn keep_tenants(&self, _tenants: Arc<str>) -> Pending<()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Sets or clears the reason why an owned run does not progress, which is shown with the run's row. A store without a place
    /// for
    /// the reason does nothing.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another host has claimed it.
    fn note(&self, _lease: &Lease, _note: Option<Note>) -> Pending<()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Returns when the next run without an owner is due: a time in the past if one is due already, or has requests.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn next_due(&self, wanted: ClaimRequest) -> Pending<Option<Timestamp>>;

    /// Says that the host is there until `until`, whatever the number of its runs; until 0, that it goes. A store with a clock
    /// of its own takes it to be there for a [`lease_time`](Self::lease_time) instead.
    ///
    /// # Errors
    /// When the store fails.
    fn heartbeat(&self, host: &HostId, until: Timestamp) -> Pending<()>;

    /// For how long a heartbeat counts, by the store's own clock: a host has to say more often that it is there, first before it
    /// submits or claims. Nothing, if the store takes the times of its hosts.
    fn lease_time(&self) -> Option<Duration> {
        None
    }

    /// Changes when runs may have become due, or have mail, or have answered: after letters, replies and releases, and whatever
    /// others do. Several at once are one, and one may be for nothing.
    fn changed(&self) -> watch::Receiver<()>;

    /// Returns a receiver that changes some time after rows of runs have, by any host: for views that list runs. Several changes
    /// are one, and one may be spurious. Changes by this store's own host may come by its lifecycle events alone.
    fn rows_changed(&self) -> watch::Receiver<()> {
        self.changed()
    }

    /// Leaves a request to a run, which answers once it has recorded what follows from it. The letter's number is returned.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Closed`] for a run that has ended; [`StoreError::MailboxFull`].
    fn post(&self, run_id: &str, body: Vec<u8>) -> Pending<u64>;

    /// The letters to a run that wait for an answer, the oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn mail(&self, lease: &Lease) -> Pending<Vec<Letter>>;

    /// Returns the runs of a host, or those without an owner, that have unanswered requests.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn mailed(&self, owner: Option<&HostId>) -> Pending<Vec<Arc<str>>>;

    /// The open runs that a host has, whether it knows that or not: the answer that would have told it may have been lost.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn owned(&self, host: &HostId) -> Pending<Vec<Arc<str>>>;

    /// Stores replies to requests that changed nothing.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another host has claimed the run.
    fn reply(&self, lease: &Lease, replies: Vec<Reply>) -> Pending<()>;

    /// Stores the log of an attempt, in place of its earlier log.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another host has claimed the run.
    fn keep_log(&self, lease: &Lease, log: AttemptLog) -> Pending<()>;

    /// Ends a run as Error because its journal cannot be continued, for example after a record became unreadable. Pending
    /// requests get
    /// no reply. The `notices` are stored with it.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another host has claimed it; [`StoreError::Closed`] if it has ended.
    fn abandon(&self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Pending<()>;

    /// Writes the next revision of a notification. Returns false if its revision has changed since it was read. A notification
    /// that needs no delivery is deleted with its run.
    ///
    /// # Errors
    /// When the store fails.
    fn settle(&self, _settle: Settle) -> Pending<bool> {
        Box::pin(std::future::ready(Ok(false)))
    }

    /// Changes when there are new notices; several times are one, and one may be for nothing.
    fn notices_changed(&self) -> watch::Receiver<()> {
        self.changed()
    }

    /// Writes an entry, if it is as it was when the change was made; its revision is returned.
    ///
    /// # Errors
    /// [`StoreError::Moved`] if it is not; [`StoreError::Crowded`] if the namespace has too many, or too large ones. Nothing was written.
    fn change(&self, change: Change) -> Pending<u64>;

    /// [`Self::append`] of a new run's first record, and [`Self::change`] of an entry whose texts stay as they are: both or
    /// neither.
    ///
    /// # Errors
    /// The errors of the two; nothing was written.
    fn fire(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        change: Change,
    ) -> Pending<u64>;

    /// Deletes an entry, and the texts that it alone names; false if there is none.
    ///
    /// # Errors
    /// When the store fails.
    fn remove_entry(&self, name: &EntryName) -> Pending<bool>;

    /// Returns a receiver that changes when an entry has, by any host. Several changes are one, and one may be spurious.
    fn entries_changed(&self) -> watch::Receiver<()>;

    /// Gives some of the room of what was deleted back to the system; whether there is more to give.
    ///
    /// # Errors
    /// When the store fails.
    fn give_back(&self) -> Pending<bool> {
        Box::pin(std::future::ready(Ok(false)))
    }

    /// Whether its hosts may execute each other's attempts; `share` is asked for nothing otherwise.
    fn is_shared(&self) -> bool {
        false
    }

    /// Exchanges with the other hosts what is offered, taken, told and returned; all of it or nothing. It may be asked again, with
    /// [`ExchangeRequest::holds`], after an error that leaves open whether it was done.
    ///
    /// # Errors
    /// When the store fails.
    fn share(&self, _ask: ExchangeRequest) -> Pending<ExchangeResponse> {
        Box::pin(std::future::ready(Ok(ExchangeResponse::default())))
    }

    /// Returns a receiver that changes when `share` may have news for a host.
    fn shared(&self) -> watch::Receiver<()> {
        self.changed()
    }

    /// The file that it is, if it is one.
    fn file(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the number and size of this handle's commits since it was opened; none if it does not count them.
    fn written(&self) -> Option<CommitCounts> {
        None
    }

    /// Deletes a run that has ended with all that is kept of it but notices that are to be delivered, and what no other run speaks of; false
    /// if there is none.
    ///
    /// # Errors
    /// [`StoreError::StillOpen`] for a run that has not ended.
    fn delete(&self, run_id: &str) -> Pending<bool>;
}
