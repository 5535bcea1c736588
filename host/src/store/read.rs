//! Reading access to stores.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio::sync::watch;

use super::{
    Answer, AttemptLog, CatalogEntry, Census, DuePlace, EntryName, EntryQuery, Filter, HostId, NoticeRow,
    Notices, Pending, Record, RunRow,
};

/// Bytes by namespace.
pub type StoredBytes = BTreeMap<Arc<str>, u64>;

/// Records of a run that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalPart {
    /// The records.
    pub records: Vec<Record<Vec<u8>>>,
    /// Whether the journal had no more of them.
    pub is_last: bool,
}

/// Reading access to a store. Every handle may read, whichever host drives the runs.
pub trait ReadStore: Send + Sync {
    /// The journal of a run from event `since` on, in order and without gaps: what was durable at some moment after the call. The
    /// first record is the one that holds `since`.
    ///
    /// # Errors
    /// [`StoreError::NotFound`](super::StoreError::NotFound); [`StoreError::Corrupt`](super::StoreError::Corrupt) if a record is missing, damaged, or does not follow its predecessor.
    fn load_since(&self, run_id: &str, since: u64) -> Pending<Vec<Record<Vec<u8>>>>;

    /// Returns the whole journal of a run.
    ///
    /// # Errors
    /// The same as [`load_since`](Self::load_since).
    fn load(&self, run_id: &str) -> Pending<Vec<Record<Vec<u8>>>> {
        self.load_since(run_id, 0)
    }

    /// [`Self::load_since`], up to the record with which they have more than `most` bytes: a reader that needs one record after
    /// the other need not hold them all. A store that cannot do that returns all.
    ///
    /// # Errors
    /// The same as [`load_since`](Self::load_since).
    fn load_part(&self, run_id: &str, since: u64, _most: usize) -> Pending<JournalPart> {
        let all = self.load_since(run_id, since);
        Pending::new(async move { Ok(JournalPart { records: all.await?, is_last: true }) })
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

    /// Returns the numbers of the newest `limit` runs of a namespace below `before`, the newest first. Stores with an index of
    /// namespaces look at no other run.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn numbers(&self, namespace: &str, before: u64, limit: usize) -> Pending<Vec<u64>> {
        let filter = Filter { namespaces: vec![namespace.into()], before: Some(before), ..Filter::default() };
        let rows = self.list(filter, limit);
        Pending::new(async move { Ok(rows.await?.iter().map(|row| row.number).collect()) })
    }

    /// Returns those of the hosts whose leases count now, by the store's own clock; none if the store has no clock of its own, as a file
    /// that one process holds. Looks up these hosts alone, whatever the store has.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn live_hosts(&self, _hosts: Vec<HostId>) -> Pending<Option<BTreeSet<HostId>>> {
        Pending::ready(Ok(None))
    }

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
        Pending::ready(Ok(None))
    }

    /// Returns the bytes of records and logs per namespace: of the named ones, or of all that have any. Shared documents
    /// are not counted.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn stored(&self, _namespaces: Vec<Arc<str>>) -> Pending<StoredBytes> {
        Pending::ready(Ok(StoredBytes::new()))
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
        Pending::ready(Ok(Vec::new()))
    }

    /// The first endpoint behind that name which notices are to be delivered to, and when the last of these is due.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn endpoint_after(&self, _endpoint: &str) -> Pending<Option<(Arc<str>, Timestamp)>> {
        Pending::ready(Ok(None))
    }

    /// Notices of a run, the latest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn notices(&self, _wanted: Notices) -> Pending<Vec<NoticeRow>> {
        Pending::ready(Ok(Vec::new()))
    }

    /// Returns a receiver that changes after the run was written to, by any host. Several changes are one, and one may be
    /// spurious. The receiver is closed once no writer is left. The call must be made within tokio; the subscription ends when
    /// the receiver is dropped.
    fn follow(&self, run_id: &str) -> watch::Receiver<()>;
}

/// Store that reads by a reader of its own.
pub trait HasReader: Send + Sync {
    /// Returns the reader.
    fn reader(&self) -> &dyn ReadStore;

    /// [`ReadStore::follow`], for a store that knows more of changes than its reader.
    fn subscribe(&self, run_id: &str) -> watch::Receiver<()> {
        self.reader().follow(run_id)
    }
}

impl<S: HasReader> ReadStore for S {
    fn load_since(&self, run_id: &str, since: u64) -> Pending<Vec<Record<Vec<u8>>>> {
        self.reader().load_since(run_id, since)
    }

    fn load(&self, run_id: &str) -> Pending<Vec<Record<Vec<u8>>>> {
        self.reader().load(run_id)
    }

    fn load_part(&self, run_id: &str, since: u64, most: usize) -> Pending<JournalPart> {
        self.reader().load_part(run_id, since, most)
    }

    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        self.reader().get(run_id)
    }

    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        self.reader().list(filter, limit)
    }

    fn numbers(&self, namespace: &str, before: u64, limit: usize) -> Pending<Vec<u64>> {
        self.reader().numbers(namespace, before, limit)
    }

    fn live_hosts(&self, hosts: Vec<HostId>) -> Pending<Option<BTreeSet<HostId>>> {
        self.reader().live_hosts(hosts)
    }

    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        self.reader().open_runs()
    }

    fn census(&self, now: Timestamp) -> Pending<Census> {
        self.reader().census(now)
    }

    fn namespaces(&self) -> Pending<Vec<Arc<str>>> {
        self.reader().namespaces()
    }

    fn ended(&self, namespace: &str, phase: Option<Phase>, limit: usize) -> Pending<(u64, Vec<RunRow>)> {
        self.reader().ended(namespace, phase, limit)
    }

    fn tenants(&self) -> Pending<Option<Arc<str>>> {
        self.reader().tenants()
    }

    fn stored(&self, namespaces: Vec<Arc<str>>) -> Pending<StoredBytes> {
        self.reader().stored(namespaces)
    }

    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        self.reader().component(digest)
    }

    fn answer(&self, run_id: &str, letter: u64) -> Pending<Answer> {
        self.reader().answer(run_id, letter)
    }

    fn logs(&self, run_id: &str, task: Option<u32>) -> Pending<Vec<AttemptLog>> {
        self.reader().logs(run_id, task)
    }

    fn entry(&self, name: &EntryName) -> Pending<Option<CatalogEntry>> {
        self.reader().entry(name)
    }

    fn entries(&self, wanted: EntryQuery) -> Pending<Vec<CatalogEntry>> {
        self.reader().entries(wanted)
    }

    fn due_entries(&self, after: Option<DuePlace>, limit: usize) -> Pending<Vec<CatalogEntry>> {
        self.reader().due_entries(after, limit)
    }

    fn text(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        self.reader().text(digest)
    }

    fn due_notices(&self, endpoint: &str, limit: usize) -> Pending<Vec<NoticeRow>> {
        self.reader().due_notices(endpoint, limit)
    }

    fn endpoint_after(&self, endpoint: &str) -> Pending<Option<(Arc<str>, Timestamp)>> {
        self.reader().endpoint_after(endpoint)
    }

    fn notices(&self, wanted: Notices) -> Pending<Vec<NoticeRow>> {
        self.reader().notices(wanted)
    }

    fn follow(&self, run_id: &str) -> watch::Receiver<()> {
        self.subscribe(run_id)
    }
}
