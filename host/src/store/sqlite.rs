//! Runs kept in an SQLite file.
//!
//! ```text
//!  append ──▶ queue ──▶ writer thread: begin, one record, those that wait, commit (fsync) ──▶ all their answers
//!  load …  ──▶ queue ──▶ reader thread: its own connection, sees what is committed
//! ```
//!
//! A commit costs one fsync however many records it holds, so the more runs are in flight the cheaper each record is.
//! Records of all runs are appended to one table under ascending keys, each pointing to its run's previous record;
//! a key of (run, seq) would touch a page per record and is several times slower.

mod catalog;
mod checksum;
mod documents;
mod fault;
mod file;
mod format;
mod heads;
mod leases;
mod load;
mod logs;
mod outbox;
mod presence;
mod queue;
mod reader;
mod records;
mod rows;
mod schema;

#[cfg(unix)]
pub mod wakeup;
mod worker;
mod write_thread;
mod write_transaction;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm_engine::time::Timestamp;
use tokio::sync::watch;

pub use self::reader::SqliteReader;
use self::{
    fault::Fault,
    file::Lock,
    write_thread::WriteThread,
    write_transaction::WriteTransaction,
    writer::{JobHandle, Writer},
};
use super::{
    AttemptLog, Catalog, Change, Claim, ClaimRequest, Encode, EntryName, Exchange, HasReader, HostId,
    Journal, Lease, Leases, Letter, Mailbox, Migration, NewNotice, Note, Outbox, Pending, ReadStore, Record,
    Reply, RunStatus, Settle, Store, StoreError, subscriptions::Subscriptions,
};
use crate::metrics::{CommitCounters, CommitCounts};

/// A store in a file, held by this handle alone until it is dropped.
///
/// Dropping it waits until all that was queued is durable. Beside the file lie `<file>.lock`, which names the process
/// that holds it and stays behind, and while the store is open `<file>-wal` and `<file>-shm`.
pub struct Sqlite {
    // Dropped in this order: the last connection to close folds the log into the file, which a reader cannot.
    reader: SqliteReader,
    writer: WriteThread,
    commits: Arc<CommitCounters>,
    changed: Arc<watch::Sender<()>>,
    entries_changed: Arc<watch::Sender<()>>,
    notices_changed: Arc<watch::Sender<()>>,
    followed: Arc<Subscriptions>,
    gone: Arc<watch::Sender<Option<StoreError>>>,
    _lock: Option<Lock>,
}

impl Sqlite {
    /// Opens the store in `path`; creates the file, readable to its owner only, if there is none. A file of an earlier format is
    /// refused: [`open_with`](Self::open_with) migrates it.
    ///
    /// # Errors
    /// [`StoreError::Locked`], [`StoreError::Foreign`], [`StoreError::Older`], [`StoreError::Newer`], [`StoreError::Corrupt`],
    /// [`StoreError::Gone`] for a file with several names, or
    /// [`StoreError::Io`] as when the directory does not exist.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, Migration::Refuse)
    }

    /// Opens the store in `path` as [`open`](Self::open) does; `migration` says what becomes of a file of an earlier format.
    ///
    /// # Errors
    /// The same as [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, migration: Migration) -> Result<Self, StoreError> {
        Self::open_within(path.as_ref(), None, migration)
    }

    /// Same as [`open_with`](Self::open_with), for a file of at most `max_pages` pages.
    pub(super) fn open_within(
        path: &Path,
        max_pages: Option<u32>,
        migration: Migration,
    ) -> Result<Self, StoreError> {
        let path: Arc<Path> = file::find_or_create(path)?.into();
        let lock = Lock::take(&path)?;
        let connection = schema::open_writer(&path, max_pages, migration).inspect_err(|fault| {
            if matches!(fault, StoreError::Foreign { .. }) {
                lock.leave_nothing_behind();
            }
        })?;
        Self::on(connection, path, Some(lock))
    }

    /// Opens the store in `path` while another process holds it, to submit or delete runs. This handle must not claim runs: that
    /// would take the other process for gone.
    ///
    /// # Errors
    /// The same as [`open`](Self::open), except [`StoreError::Locked`]. A file of an older format is not migrated.
    pub fn beside(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path: Arc<Path> = file::find(path.as_ref())?.into();
        Self::on(schema::open_beside(&path)?, path, None)
    }

    fn on(connection: rusqlite::Connection, path: Arc<Path>, lock: Option<Lock>) -> Result<Self, StoreError> {
        let writer = Writer::new(connection, Arc::clone(&path), lock.is_some())?;
        let (commits, gone) = (writer.commits(), writer.gone());
        let writer = WriteThread::spawn(writer, &path)?;
        let reader = SqliteReader::beside(path)?;
        Ok(Self {
            reader,
            writer,
            commits,
            changed: Arc::default(),
            entries_changed: Arc::default(),
            notices_changed: Arc::default(),
            followed: Arc::default(),
            gone,
            _lock: lock,
        })
    }

    /// Posts a request to a run of the store in `path`, while another process holds it.
    ///
    /// # Errors
    /// The same as [`Mailbox::post`]; and [`StoreError::Newer`] or [`StoreError::Foreign`] for a file that this Phasm does not
    /// write.
    pub fn post_beside(path: impl AsRef<Path>, run_id: &str, body: &[u8]) -> Result<u64, StoreError> {
        let path = file::find(path.as_ref())?;
        let mut connection = schema::open_beside(&path)?;
        let mut post = || -> Result<u64, Fault> {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            write_transaction::check_format(&transaction)?;
            let letter = records::post(&transaction, &Arc::from(run_id), body)?;
            transaction.commit()?;
            Ok(letter)
        };
        post().map_err(|fault| fault.at(&path, "written"))
    }

    /// The file, as an absolute path without symbolic links.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.reader.path()
    }
}

impl Sqlite {
    /// A record to be written, and where its answer comes.
    fn record(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        replies: Vec<Reply>,
    ) -> JobHandle<()> {
        let lease = lease.clone();
        let (followed, run_id) = (Arc::clone(&self.followed), Arc::clone(&lease.head.run_id));
        let mut told = Vec::new();
        if !replies.is_empty() {
            told.push(Arc::clone(&self.changed));
        }
        if !record.notices.is_empty() {
            told.push(Arc::clone(&self.notices_changed));
        }
        let work =
            move |tx: &mut WriteTransaction<'_>| Ok(((), tx.append(&lease, status, &record, &replies)?));
        writer::job(work, move || {
            // Looked up after the commit: a subscriber that came before it may have read the run before it, too.
            told.extend(followed.of(&run_id));
            writer::notify(told)();
        })
    }

    /// Queues what is to be written; it returns what is answered, and how many bytes it wrote.
    fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut WriteTransaction<'_>) -> Result<(T, usize), Fault> + Send + 'static,
    ) -> Pending<T> {
        let (job, answered) = writer::job(checked(work), || {});
        self.writer.send(job);
        Pending::sent(answered)
    }

    /// Same as `write`, for changes that have subscribers.
    fn tell<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut WriteTransaction<'_>) -> Result<(T, usize), Fault> + Send + 'static,
    ) -> Pending<T> {
        self.tell_on(&self.changed, work)
    }

    fn tell_on<T: Send + 'static>(
        &self,
        told: &Arc<watch::Sender<()>>,
        work: impl FnMut(&mut WriteTransaction<'_>) -> Result<(T, usize), Fault> + Send + 'static,
    ) -> Pending<T> {
        let (job, answered) = writer::job(checked(work), writer::notify(vec![Arc::clone(told)]));
        self.writer.send(job);
        Pending::sent(answered)
    }
}

/// Work that is refused once the file needs a later format. Records check that by their own statements.
fn checked<T>(
    mut work: impl FnMut(&mut WriteTransaction<'_>) -> Result<T, Fault>,
) -> impl FnMut(&mut WriteTransaction<'_>) -> Result<T, Fault> {
    move |tx| {
        tx.check_format()?;
        work(tx)
    }
}

impl HasReader for Sqlite {
    fn reader(&self) -> &dyn ReadStore {
        &self.reader
    }

    fn subscribe(&self, run_id: &str) -> watch::Receiver<()> {
        self.followed.follow(run_id)
    }
}

impl Journal for Sqlite {
    fn append(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        replies: Vec<Reply>,
    ) -> Pending<()> {
        let (job, answered) = self.record(lease, status, record, replies);
        self.writer.send(job);
        Pending::sent(answered)
    }

    fn keep_log(&self, lease: &Lease, log: AttemptLog) -> Pending<()> {
        let lease = lease.clone();
        self.write(move |tx| Ok(((), records::keep_log(tx, &lease, &log)?)))
    }

    fn abandon(&self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Pending<()> {
        let lease = lease.clone();
        let told = vec![Arc::clone(&self.changed), Arc::clone(&self.notices_changed)];
        let work = move |tx: &mut WriteTransaction<'_>| Ok((records::abandon(tx, &lease, at, &notices)?, 0));
        let (job, answered) = writer::job(checked(work), writer::notify(told));
        self.writer.send(job);
        Pending::sent(answered)
    }

    fn delete(&self, run_id: &str) -> Pending<bool> {
        let run_id = Arc::from(run_id);
        self.write(move |tx| Ok((records::delete(tx, &run_id)?, 0)))
    }
}

impl Leases for Sqlite {
    fn claim(&self, wanted: ClaimRequest) -> Pending<Vec<Lease>> {
        self.write(move |tx| Ok((leases::claim(tx, &wanted)?, 0)))
    }

    fn claim_run(&self, host: &HostId, run_id: &str, now: Timestamp) -> Pending<Claim> {
        let (host, run_id) = (host.clone(), Arc::from(run_id));
        self.write(move |tx| Ok((leases::claim_run(tx, &host, &run_id, now)?, 0)))
    }

    fn release(&self, lease: &Lease, wake_at: Option<Timestamp>) -> Pending<()> {
        let lease = lease.clone();
        self.tell(move |tx| Ok((leases::release(tx, &lease, wake_at, None)?, 0)))
    }

    fn leave(&self, lease: &Lease, wake_at: Option<Timestamp>, note: Note) -> Pending<()> {
        let lease = lease.clone();
        self.tell(move |tx| Ok((leases::release(tx, &lease, wake_at, Some(&note))?, 0)))
    }

    fn note(&self, lease: &Lease, note: Option<Note>) -> Pending<()> {
        let lease = lease.clone();
        self.write(move |tx| Ok((leases::note(tx, &lease, note.as_ref())?, 0)))
    }

    fn next_due(&self, wanted: ClaimRequest) -> Pending<Option<Timestamp>> {
        self.write(move |tx| Ok((leases::next_due(tx.connection, &wanted)?, 0)))
    }

    fn heartbeat(&self, host: &HostId, until: Timestamp) -> Pending<()> {
        let host = host.clone();
        self.write(move |tx| Ok((leases::heartbeat(tx, &host, until)?, 0)))
    }

    fn changed(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn owned(&self, host: &HostId) -> Pending<Vec<Arc<str>>> {
        let host = host.clone();
        self.write(move |tx| Ok((leases::owned(tx.connection, &host)?, 0)))
    }
}

impl Mailbox for Sqlite {
    fn post(&self, run_id: &str, body: Vec<u8>) -> Pending<u64> {
        let run_id = Arc::from(run_id);
        self.tell(move |tx| Ok((records::post(tx.connection, &run_id, &body)?, body.len())))
    }

    fn mail(&self, lease: &Lease) -> Pending<Vec<Letter>> {
        let run_id = Arc::clone(&lease.head.run_id);
        self.write(move |tx| Ok((records::mail(tx.connection, &run_id)?, 0)))
    }

    fn mailed(&self, owner: Option<&HostId>) -> Pending<Vec<Arc<str>>> {
        let owner = owner.cloned();
        self.write(move |tx| Ok((records::mailed(tx.connection, owner.as_ref())?, 0)))
    }

    fn reply(&self, lease: &Lease, replies: Vec<Reply>) -> Pending<()> {
        let lease = lease.clone();
        self.tell(move |tx| {
            let run = tx.leased(&lease)?.run;
            Ok((tx.reply(run, &replies)?, 0))
        })
    }
}

impl Catalog for Sqlite {
    fn change(&self, change: Change) -> Pending<u64> {
        self.tell_on(&self.entries_changed, move |tx| catalog::change(tx, &change))
    }

    fn fire(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        change: Change,
    ) -> Pending<u64> {
        let lease = lease.clone();
        let mut told = vec![Arc::clone(&self.entries_changed)];
        if !record.notices.is_empty() {
            told.push(Arc::clone(&self.notices_changed));
        }
        let work = move |tx: &mut WriteTransaction<'_>| catalog::fire(tx, &lease, status, &record, &change);
        let (job, answered) = writer::job(work, writer::notify(told));
        self.writer.send(job);
        Pending::sent(answered)
    }

    fn remove_entry(&self, name: &EntryName) -> Pending<bool> {
        let name = name.clone();
        self.tell_on(&self.entries_changed, move |tx| Ok((catalog::remove(tx.connection, &name)?, 0)))
    }

    fn entries_changed(&self) -> watch::Receiver<()> {
        self.entries_changed.subscribe()
    }
}

impl Outbox for Sqlite {
    fn settle(&self, settle: Settle) -> Pending<bool> {
        self.write(move |tx| Ok((outbox::settle(tx.connection, &settle)?, settle.body.len())))
    }

    fn notices_changed(&self) -> watch::Receiver<()> {
        self.notices_changed.subscribe()
    }
}

impl Exchange for Sqlite {
    fn shared(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

impl Store for Sqlite {
    fn keep_tenants(&self, tenants: Arc<str>) -> Pending<()> {
        self.write(move |tx| {
            tx.connection.execute("DELETE FROM tenants", [])?;
            tx.connection
                .execute("INSERT INTO tenants (text, checksum) VALUES (?1, row_checksum(?1))", [&tenants])?;
            Ok(((), tenants.len()))
        })
    }

    fn file(&self) -> Option<PathBuf> {
        Some(self.path())
    }

    fn written(&self) -> Option<CommitCounts> {
        Some(self.commits.get())
    }

    fn until_gone(&self) -> Pending<()> {
        let mut told = self.gone.subscribe();
        Pending::new(async move {
            let gone = told.wait_for(Option::is_some).await.ok().and_then(|gone| gone.clone());
            // A store that is closed first is not gone.
            gone.map_or(Err(StoreError::Stopped), Err)
        })
    }

    fn give_back(&self) -> Pending<bool> {
        self.write(|tx| Ok((records::give_back(tx.connection)?, 0)))
    }
}
