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

use rusqlite::Connection;
use tokio::sync::oneshot;

use self::{
    fault::Fault,
    file::Lock,
    reader::Question,
    worker::Worker,
    writer::{Append, Entry, Writer},
};
use super::{Answer, Encode, Filter, Record, RunHead, RunRow, RunStatus, Store, StoreError};

/// A store in a file, held by this handle alone until it is dropped.
///
/// Dropping it waits until all that was queued is durable. Beside the file lie `<file>.lock`, which names the process
/// that holds it and stays behind, and while the store is open `<file>-wal` and `<file>-shm`.
pub struct Sqlite {
    path: Arc<Path>,
    // Dropped in this order: the last connection to close folds the log into the file, which a reader cannot.
    reader: Worker<Question>,
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
        let connection = schema::open_reader(&path)?;
        let reader = Worker::spawn("phasm-store-read", &path, move |queue| reader::run(&connection, &queue))?;
        Ok(Self { path, reader, writer, _lock: lock })
    }

    /// The file, as an absolute path without symbolic links.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.path.to_path_buf()
    }

    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<T> {
        let (answer, answered) = oneshot::channel();
        let path = Arc::clone(&self.path);
        self.reader.send(Box::new(move |connection| {
            if !answer.is_closed() {
                drop(answer.send(question(connection).map_err(|fault| fault.at(&path, "read"))));
            }
        }));
        later(answered)
    }
}

impl Store for Sqlite {
    fn append(&self, head: Arc<RunHead>, status: RunStatus, record: Record<Arc<dyn Encode>>) -> Answer<()> {
        let (answer, answered) = oneshot::channel();
        self.writer.send(Append { entry: Entry { head, status, record }, answer });
        later(answered)
    }

    fn load(&self, run_id: &str) -> Answer<Vec<Record<Vec<u8>>>> {
        let run_id = Arc::from(run_id);
        self.ask(move |connection| reader::load(connection, run_id))
    }

    fn get(&self, run_id: &str) -> Answer<Option<RunRow>> {
        let run_id: Box<str> = run_id.into();
        self.ask(move |connection| reader::get(connection, &run_id))
    }

    fn list(&self, filter: Filter, limit: usize) -> Answer<Vec<RunRow>> {
        self.ask(move |connection| reader::list(connection, &filter, limit))
    }

    fn open_runs(&self) -> Answer<Vec<RunRow>> {
        self.ask(reader::open_runs)
    }
}

/// A thread that ends drops the answers it owes.
fn later<T: Send + 'static>(answered: oneshot::Receiver<Result<T, StoreError>>) -> Answer<T> {
    Box::pin(async move { answered.await.unwrap_or(Err(StoreError::Stopped)) })
}
