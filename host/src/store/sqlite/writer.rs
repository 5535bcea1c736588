//! The one thread that writes: what waits becomes one transaction.

use std::{
    path::Path,
    sync::{Arc, mpsc::Receiver},
    time::Instant,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{oneshot, watch};

use super::{
    super::StoreError,
    claims,
    fault::Fault,
    group::{self, Group},
    tips::Tips,
};
use crate::gauges::Commits;

/// A commit takes at most this many records, so that the first of them does not wait long for the last.
const BATCH_RECORDS: usize = 1024;
/// Nor does a commit begin another record after this many bytes.
const BATCH_BYTES: usize = 8 << 20;
/// How many open runs' tips are kept at least.
const TIPS: usize = 32 << 10;

/// What a large record leaves of the buffer that bodies are encoded into.
const KEPT_BUFFER: usize = 1 << 20;

/// Something to be written; it shares its commit with what else waits.
pub(super) trait Job: Send {
    /// Writes it, and returns its size. What is refused is refused before anything is written.
    fn write(&mut self, group: &mut Group<'_>) -> Result<usize, Fault>;

    /// Says what came of it: it is durable, or failed.
    fn answer(self: Box<Self>, failed: Option<StoreError>);
}

/// A job that answers with what its work returned.
struct Asked<T, Work> {
    work: Work,
    done: Option<T>,
    /// Told when it is done.
    told: Vec<Arc<watch::Sender<()>>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, Work: FnMut(&mut Group<'_>) -> Result<(T, usize), Fault> + Send> Job for Asked<T, Work> {
    fn write(&mut self, group: &mut Group<'_>) -> Result<usize, Fault> {
        let (done, size) = (self.work)(group)?;
        self.done = Some(done);
        Ok(size)
    }

    fn answer(self: Box<Self>, failed: Option<StoreError>) {
        let answer = match (failed, self.done) {
            (None, Some(done)) => {
                self.told.iter().for_each(|told| told.send_replace(()));
                Ok(done)
            }
            (Some(failed), _) => Err(failed),
            (None, None) => Err(StoreError::Stopped),
        };
        drop(self.answer.send(answer));
    }
}

/// A job, whom it tells when it is done, and where its answer comes. The work returns what is answered and how many bytes it wrote.
pub(super) fn job<T: Send + 'static>(
    work: impl FnMut(&mut Group<'_>) -> Result<(T, usize), Fault> + Send + 'static,
    told: Vec<Arc<watch::Sender<()>>>,
) -> (Box<dyn Job>, oneshot::Receiver<Result<T, StoreError>>) {
    let (answer, answered) = oneshot::channel();
    (Box::new(Asked { work, done: None, told, answer }), answered)
}

/// What a job is told once its batch is durable.
struct Owed {
    job: Box<dyn Job>,
    refused: Option<StoreError>,
}

/// The writing connection, and what is known of the runs being written.
pub(super) struct Writer {
    path: Arc<Path>,
    connection: Connection,
    tips: Tips,
    buffer: Vec<u8>,
    commits: Arc<Commits>,
}

impl Writer {
    /// For whoever holds the file, which makes everybody gone who had it before, or for somebody beside them.
    ///
    /// # Errors
    /// When the tables are not what they should be.
    pub(super) fn new(connection: Connection, path: Arc<Path>, is_holder: bool) -> Result<Self, StoreError> {
        for statement in group::STATEMENTS {
            let prepared = connection.prepare_cached(statement);
            prepared.map_err(|error| Fault::Damaged(error.to_string()).at(&path, "opened"))?;
        }
        if is_holder {
            let taken_over = connection.execute_batch(claims::TAKE_OVER);
            taken_over.map_err(|error| Fault::Sqlite(error).at(&path, "opened"))?;
        }
        Ok(Self { path, connection, tips: Tips::new(TIPS), buffer: Vec::new(), commits: Arc::default() })
    }

    /// Counts what it writes.
    pub(super) fn commits(&self) -> Arc<Commits> {
        Arc::clone(&self.commits)
    }

    /// Writes until the queue is empty and nobody can send any more.
    pub(super) fn run(mut self, queue: &Receiver<Box<dyn Job>>) {
        while let Ok(first) = queue.recv() {
            self.commit(first, queue);
        }
    }

    fn commit(&mut self, first: Box<dyn Job>, queue: &Receiver<Box<dyn Job>>) {
        let mut owed = Vec::new();
        let (began, changes) = (Instant::now(), self.connection.total_changes());
        let written = self.write(first, queue, &mut owed);
        match &written {
            Err(_) => self.commits.failed(),
            // What only asks shares the thread, and commits nothing.
            Ok(_) if self.connection.total_changes() == changes => {}
            Ok(bytes) => self.commits.done(began, owed.len(), Some(*bytes)),
        }
        let failed = written.map_err(|fault| fault.at(&self.path, "written")).err();
        if failed.is_some() {
            self.tips.clear();
        }
        self.buffer.shrink_to(KEPT_BUFFER);
        for Owed { job, refused } in owed {
            // A refusal was judged by what came before it in the batch, so it falls with the batch.
            job.answer(failed.clone().or(refused));
        }
    }

    fn write(
        &mut self,
        first: Box<dyn Job>,
        queue: &Receiver<Box<dyn Job>>,
        owed: &mut Vec<Owed>,
    ) -> Result<usize, Fault> {
        let mut job = first;
        let transaction = match Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate) {
            Ok(transaction) => transaction,
            Err(error) => {
                owed.push(Owed { job, refused: None });
                return Err(error.into());
            }
        };
        let mut group = Group::new(&transaction, &mut self.tips, &mut self.buffer);
        let mut bytes = 0;
        loop {
            let written = job.write(&mut group);
            let refused = match written {
                Err(Fault::Refused(refused)) => Some(refused),
                Ok(size) => {
                    bytes += size;
                    None
                }
                Err(fault @ (Fault::Damaged(_) | Fault::Sqlite(_))) => {
                    owed.push(Owed { job, refused: None });
                    return Err(fault);
                }
            };
            owed.push(Owed { job, refused });
            if owed.len() >= BATCH_RECORDS || bytes >= BATCH_BYTES {
                break;
            }
            let Ok(next) = queue.try_recv() else { break };
            job = next;
        }
        transaction.commit()?;
        Ok(bytes)
    }
}
