//! Writer: queued jobs become one transaction.

use std::{path::Path, sync::Arc, time::Instant};

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use super::{
    super::StoreError,
    fault::Fault,
    heads::JournalHeads,
    leases,
    presence::Presence,
    queue::{Job, Queue},
    write_transaction::{self, WriteTransaction},
};
use crate::metrics::CommitCounters;

/// A commit takes at most this many records, so that the first of them does not wait long for the last.
const BATCH_RECORDS: usize = 1024;
/// Nor does a commit begin another record after this many bytes.
const BATCH_BYTES: usize = 8 << 20;
/// How many open runs' heads are kept at least.
const JOURNAL_HEADS: usize = 32 << 10;

/// Capacity that stays of the encoding buffer after a large record.
const KEPT_BUFFER: usize = 1 << 20;

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";

/// A job, and where its answer comes.
pub(super) type JobHandle<T> = (Box<dyn Job>, oneshot::Receiver<Result<T, StoreError>>);

/// A job that answers with what its work returned.
struct Working<T, Work, Notify> {
    work: Work,
    done: Option<T>,
    /// Called when the work is durable.
    notify: Notify,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, Work, Notify> Job for Working<T, Work, Notify>
where
    T: Send,
    Work: FnMut(&mut WriteTransaction<'_>) -> Result<(T, usize), Fault> + Send,
    Notify: FnOnce() + Send,
{
    fn write(&mut self, tx: &mut WriteTransaction<'_>) -> Result<usize, Fault> {
        let (done, size) = (self.work)(tx)?;
        self.done = Some(done);
        Ok(size)
    }

    fn answer(self: Box<Self>, failed: Option<StoreError>) {
        let answer = match (failed, self.done) {
            (None, Some(done)) => {
                (self.notify)();
                Ok(done)
            }
            (Some(failed), _) => Err(failed),
            (None, None) => Err(StoreError::Stopped),
        };
        drop(self.answer.send(answer));
    }
}

/// A job, and where its answer comes. The work returns what is answered and how many bytes it wrote; `notify` is called before the
/// answer, once the work is durable.
pub(super) fn job<T: Send + 'static>(
    work: impl FnMut(&mut WriteTransaction<'_>) -> Result<(T, usize), Fault> + Send + 'static,
    notify: impl FnOnce() + Send + 'static,
) -> JobHandle<T> {
    let (answer, answered) = oneshot::channel();
    (Box::new(Working { work, done: None, notify, answer }), answered)
}

/// Notifies these subscribers.
pub(super) fn notify(told: Vec<Arc<watch::Sender<()>>>) -> impl FnOnce() + Send + 'static {
    move || {
        for told in told {
            told.send_replace(());
        }
    }
}

/// Result of a job, sent once its batch is durable.
struct Outcome {
    job: Box<dyn Job>,
    refused: Option<StoreError>,
}

/// The writing connection, and what is known of the runs being written.
pub(super) struct Writer {
    path: Arc<Path>,
    connection: Connection,
    presence: Presence,
    heads: JournalHeads,
    buffer: Vec<u8>,
    commits: Arc<CommitCounters>,
}

impl Writer {
    /// Returns the writer of the file's holder, which ends the ownership of all earlier hosts, or of a process next to the
    /// holder.
    ///
    /// # Errors
    /// When the tables are not as expected.
    pub(super) fn new(connection: Connection, path: Arc<Path>, is_holder: bool) -> Result<Self, StoreError> {
        for statement in write_transaction::STATEMENTS.into_iter().chain([BEGIN, COMMIT]) {
            let prepared = connection.prepare_cached(statement);
            prepared.map_err(|error| Fault::Damaged(error.to_string()).at(&path, "opened"))?;
        }
        if is_holder {
            let taken_over = connection.execute_batch(leases::TAKE_OVER);
            taken_over.map_err(|error| Fault::Sqlite(error).at(&path, "opened"))?;
        }
        // The files as they are now that both the log and its index are there.
        let mut presence = Presence::of(&path);
        presence.check()?;
        Ok(Self {
            path,
            connection,
            presence,
            heads: JournalHeads::new(JOURNAL_HEADS),
            buffer: Vec::new(),
            commits: Arc::default(),
        })
    }

    /// Told once the file is gone.
    pub(super) fn gone(&self) -> Arc<watch::Sender<Option<StoreError>>> {
        self.presence.gone()
    }

    /// Counts what it writes.
    pub(super) fn commits(&self) -> Arc<CommitCounters> {
        Arc::clone(&self.commits)
    }

    /// Writes the jobs that wait, as one transaction. Returns their number. Another process that writes at this moment is waited
    /// for.
    pub(super) fn commit(&mut self, queue: &Queue) -> usize {
        let Some(first) = queue.next() else { return 0 };
        if let Err(gone) = self.presence.check() {
            self.commits.failed();
            first.answer(Some(gone));
            return 1;
        }
        let (began, changes, mut owed) = (Instant::now(), self.connection.total_changes(), Vec::new());
        let begun = self.connection.prepare_cached(BEGIN).and_then(|mut begin| begin.execute([]));
        let written = match begun {
            Ok(_) => self.write(first, queue, &mut owed),
            Err(error) => {
                owed.push(Outcome { job: first, refused: None });
                Err(error.into())
            }
        };
        match &written {
            Err(_) => self.commits.failed(),
            // Jobs that only read share the transaction, and commit nothing.
            Ok(_) if self.connection.total_changes() == changes => {}
            Ok(bytes) => self.commits.done(began, owed.len(), Some(*bytes)),
        }
        let failed = written.map_err(|fault| fault.at(&self.path, "written")).err();
        // A caller must not take a record in a file that is gone for durable.
        let failed = failed.or_else(|| self.presence.check().err());
        if failed.is_some() {
            self.heads.clear();
        }
        self.buffer.shrink_to(KEPT_BUFFER);
        let jobs = owed.len();
        for Outcome { job, refused } in owed {
            // A refusal was judged by what came before it in the batch, so it falls with the batch.
            job.answer(failed.clone().or(refused));
        }
        jobs
    }

    /// All of it or nothing.
    fn write(&mut self, first: Box<dyn Job>, queue: &Queue, owed: &mut Vec<Outcome>) -> Result<usize, Fault> {
        let written = self.fill(first, queue, owed).and_then(|bytes| {
            self.connection.prepare_cached(COMMIT)?.execute([])?;
            Ok(bytes)
        });
        if written.is_err() && !self.connection.is_autocommit() {
            // A transaction that cannot be rolled back ends with the connection.
            drop(self.connection.execute_batch("ROLLBACK"));
        }
        written
    }

    fn fill(&mut self, first: Box<dyn Job>, queue: &Queue, owed: &mut Vec<Outcome>) -> Result<usize, Fault> {
        let Self { connection, heads, buffer, path, presence, .. } = self;
        let mut tx = WriteTransaction::new(connection, heads, buffer);
        let (mut job, mut bytes) = (first, 0);
        loop {
            let written = job.write(&mut tx);
            let refused = match written {
                Err(fault @ (Fault::Refused(_) | Fault::BadRow(_))) => Some(fault.at(path, "written")),
                Err(fault @ Fault::Newer(_)) => {
                    let newer = fault.at(path, "written");
                    presence.end(newer.clone());
                    Some(newer)
                }
                Ok(size) => {
                    bytes += size;
                    None
                }
                Err(fault @ (Fault::Damaged(_) | Fault::Sqlite(_))) => {
                    owed.push(Outcome { job, refused: None });
                    return Err(fault);
                }
            };
            owed.push(Outcome { job, refused });
            if owed.len() >= BATCH_RECORDS || bytes >= BATCH_BYTES {
                break;
            }
            let Some(next) = queue.next() else { break };
            job = next;
        }
        tx.finish()?;
        Ok(bytes)
    }
}
