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

mod fault;
mod file;
mod reader;
mod schema;
mod tips;
mod worker;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::sync::oneshot;

pub use self::reader::SqliteReader;
use self::{
    file::Lock,
    worker::Worker,
    writer::{Append, Entry, Writer},
};
use super::{Encode, Filter, Pending, Record, RunHead, RunRow, RunStatus, Store, StoreError};

/// A store in a file, held by this handle alone until it is dropped.
///
/// Dropping it waits until all that was queued is durable. Beside the file lie `<file>.lock`, which names the process
/// that holds it and stays behind, and while the store is open `<file>-wal` and `<file>-shm`.
pub struct Sqlite {
    // Dropped in this order: the last connection to close folds the log into the file, which a reader cannot.
    reader: SqliteReader,
    writer: Worker<Append>,
    _lock: Lock,
}

impl Sqlite {
    /// Opens the store in `path`; creates the file, readable to its owner only, if there is none.
    ///
    /// # Errors
    /// [`StoreError::Locked`], [`StoreError::Foreign`], [`StoreError::Newer`], [`StoreError::Corrupt`], or
    /// [`StoreError::Io`] as when the directory does not exist.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_within(path.as_ref(), None)
    }

    /// As [`open`](Self::open), for a file of at most `max_pages` pages.
    pub(super) fn open_within(path: &Path, max_pages: Option<u32>) -> Result<Self, StoreError> {
        let path: Arc<Path> = file::find_or_create(path)?.into();
        let lock = Lock::take(&path)?;
        let connection = schema::open_writer(&path, max_pages).inspect_err(|fault| {
            if matches!(fault, StoreError::Foreign { .. }) {
                lock.leave_nothing_behind();
            }
        })?;
        let writer = Writer::new(connection, Arc::clone(&path))?;
        let writer = Worker::spawn("phasm-store-write", &path, move |queue| writer.run(&queue))?;
        Ok(Self { reader: SqliteReader::beside(path)?, writer, _lock: lock })
    }

    /// The file, as an absolute path without symbolic links.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.reader.path()
    }
}

impl Store for Sqlite {
    fn append(&self, head: Arc<RunHead>, status: RunStatus, record: Record<Arc<dyn Encode>>) -> Pending<()> {
        let (answer, answered) = oneshot::channel();
        self.writer.send(Append { entry: Entry::Record(head, status, record), answer });
        later(answered)
    }

    fn keep_component(&self, digest: &str, bytes: Arc<[u8]>) -> Pending<()> {
        let (answer, answered) = oneshot::channel();
        self.writer.send(Append { entry: Entry::Component(digest.into(), bytes), answer });
        later(answered)
    }

    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        self.reader.component(digest)
    }

    fn load(&self, run_id: &str) -> Pending<Vec<Record<Vec<u8>>>> {
        self.reader.load(run_id)
    }

    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        self.reader.get(run_id)
    }

    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        self.reader.list(filter, limit)
    }

    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        self.reader.open_runs()
    }
}

/// A thread that ends drops the answers it owes.
fn later<T: Send + 'static>(answered: oneshot::Receiver<Result<T, StoreError>>) -> Pending<T> {
    Box::pin(async move { answered.await.unwrap_or(Err(StoreError::Stopped)) })
}
