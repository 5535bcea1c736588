//! The one thread that writes: what waits becomes one transaction.

use std::{
    path::Path,
    sync::{Arc, mpsc::Receiver},
};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use tokio::sync::oneshot;

use super::{
    super::{Encode, Record, RunHead, RunStatus, StoreError},
    fault::Fault,
    tips::{Tip, Tips},
};

/// A commit takes at most this many records, so that the first of them does not wait long for the last.
const BATCH_RECORDS: usize = 1024;
/// Nor does a commit begin another record after this many bytes.
const BATCH_BYTES: usize = 8 << 20;
/// The largest record: well below what SQLite takes (10^9), far above what a step writes.
const RECORD_BYTES: usize = 256 << 20;
/// How many open runs' tips are kept at least.
const TIPS: usize = 32 << 10;

/// What a large record leaves of the buffer that bodies are encoded into.
const KEPT_BUFFER: usize = 1 << 20;

const TIP: &str = "SELECT number, seq, last_record, open FROM runs WHERE run_id = ?1";
const INSERT_RUN: &str = "
    INSERT INTO runs (run_id, workflow, namespace, priority, submitted_at, phase, open, seq)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)";
const INSERT_RECORD: &str = "
    INSERT INTO journal (run, previous, first_seq, events, time, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const KEEP: &str = "INSERT OR IGNORE INTO components (digest, bytes) VALUES (?1, ?2)";
const ADVANCE: &str = "
    UPDATE runs SET seq = ?3, last_record = ?4, phase = ?5, finished_at = ?6 WHERE number = ?1 AND seq = ?2";
/// Apart from `ADVANCE`, which so never touches the index of open runs.
const SET_OPEN: &str = "UPDATE runs SET open = ?2 WHERE number = ?1";

/// One record on its way to the file.
pub(super) struct Append {
    pub(super) entry: Entry,
    pub(super) answer: oneshot::Sender<Result<(), StoreError>>,
}

/// What is to be written.
pub(super) enum Entry {
    /// A record, and where its run then stands.
    Record(Arc<RunHead>, RunStatus, Record<Arc<dyn Encode>>),
    /// A component by its digest.
    Component(Arc<str>, Arc<[u8]>),
}

/// What an append is told once its batch is durable.
struct Owed {
    answer: oneshot::Sender<Result<(), StoreError>>,
    result: Result<(), StoreError>,
}

/// The writing connection, and what is known of the runs being written.
pub(super) struct Writer {
    path: Arc<Path>,
    connection: Connection,
    tips: Tips,
    buffer: Vec<u8>,
}

impl Writer {
    /// # Errors
    /// When the tables are not what they should be.
    pub(super) fn new(connection: Connection, path: Arc<Path>) -> Result<Self, StoreError> {
        for statement in [TIP, INSERT_RUN, INSERT_RECORD, KEEP, ADVANCE, SET_OPEN] {
            let prepared = connection.prepare_cached(statement);
            prepared.map_err(|error| Fault::Damaged(error.to_string()).at(&path, "opened"))?;
        }
        Ok(Self { path, connection, tips: Tips::new(TIPS), buffer: Vec::new() })
    }

    /// Writes until the queue is empty and nobody can send any more.
    pub(super) fn run(mut self, queue: &Receiver<Append>) {
        while let Ok(first) = queue.recv() {
            self.commit(first, queue);
        }
    }

    fn commit(&mut self, first: Append, queue: &Receiver<Append>) {
        let mut owed = Vec::new();
        let written = self.write(first, queue, &mut owed);
        let failed = written.map_err(|fault| fault.at(&self.path, "written")).err();
        if failed.is_some() {
            self.tips.clear();
        }
        self.buffer.shrink_to(KEPT_BUFFER);
        for Owed { answer, result } in owed {
            // A refusal was judged by what came before it in the batch, so it falls with the batch.
            let result = failed.clone().map_or(result, Err);
            drop(answer.send(result));
        }
    }

    fn write(&mut self, first: Append, queue: &Receiver<Append>, owed: &mut Vec<Owed>) -> Result<(), Fault> {
        let mut entry = owe(first, owed);
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let mut batch = Group { transaction: &transaction, tips: &mut self.tips, buffer: &mut self.buffer };
        let mut bytes = 0;
        loop {
            match batch.write(&entry) {
                Ok(size) => bytes += size,
                Err(Fault::Refused(refused)) => refuse(refused, owed),
                Err(fault @ (Fault::Damaged(_) | Fault::Sqlite(_))) => return Err(fault),
            }
            if owed.len() >= BATCH_RECORDS || bytes >= BATCH_BYTES {
                break;
            }
            let Ok(next) = queue.try_recv() else { break };
            entry = owe(next, owed);
        }
        Ok(transaction.commit()?)
    }
}

fn owe(Append { entry, answer }: Append, owed: &mut Vec<Owed>) -> Entry {
    owed.push(Owed { answer, result: Ok(()) });
    entry
}

fn refuse(refused: StoreError, owed: &mut [Owed]) {
    if let Some(last) = owed.last_mut() {
        last.result = Err(refused);
    }
}

/// A transaction being filled.
struct Group<'a> {
    transaction: &'a Connection,
    tips: &'a mut Tips,
    buffer: &'a mut Vec<u8>,
}

impl Group<'_> {
    /// Writes one entry, and returns its size. What is refused is refused before anything is written.
    fn write(&mut self, entry: &Entry) -> Result<usize, Fault> {
        match entry {
            Entry::Record(head, status, record) => self.append(head, *status, record),
            Entry::Component(digest, bytes) => self.keep(digest, bytes),
        }
    }

    fn keep(&self, digest: &Arc<str>, bytes: &[u8]) -> Result<usize, Fault> {
        let size = bytes.len();
        if size > RECORD_BYTES {
            let run_id = Arc::clone(digest);
            return Err(StoreError::TooLarge { run_id, size, limit: RECORD_BYTES }.into());
        }
        self.transaction.prepare_cached(KEEP)?.execute(params![digest, bytes])?;
        Ok(size)
    }

    /// Writes one record and where its run now stands, and returns the size of the body.
    fn append(
        &mut self,
        head: &RunHead,
        status: RunStatus,
        record: &Record<Arc<dyn Encode>>,
    ) -> Result<usize, Fault> {
        let tip = self.tip(&head.run_id)?;
        record.check_follows(&head.run_id, tip.map_or(0, |tip| tip.seq))?;
        self.encode(&head.run_id, &*record.body)?;
        let tip = match tip {
            Some(tip) => tip,
            None => self.insert_run(head, status)?,
        };
        let id = self.insert_record(tip, record)?;
        self.advance(tip, status, record.next_seq(), id)?;
        let tip = Tip { seq: record.next_seq(), last_record: Some(id), open: status.open, ..tip };
        self.tips.set(&head.run_id, tip);
        Ok(self.buffer.len())
    }

    fn tip(&self, run_id: &str) -> Result<Option<Tip>, Fault> {
        if let Some(tip) = self.tips.get(run_id) {
            return Ok(Some(tip));
        }
        let mut statement = self.transaction.prepare_cached(TIP)?;
        let found = statement.query_one([run_id], |row| {
            Ok(Tip { run: row.get(0)?, seq: row.get(1)?, last_record: row.get(2)?, open: row.get(3)? })
        });
        Ok(found.optional()?)
    }

    fn encode(&mut self, run_id: &Arc<str>, body: &dyn Encode) -> Result<(), StoreError> {
        self.buffer.clear();
        body.encode(self.buffer);
        let size = self.buffer.len();
        if size > RECORD_BYTES {
            return Err(StoreError::TooLarge { run_id: Arc::clone(run_id), size, limit: RECORD_BYTES });
        }
        Ok(())
    }

    fn insert_run(&self, head: &RunHead, status: RunStatus) -> Result<Tip, Fault> {
        let RunHead { run_id, workflow, namespace, priority, submitted_at } = head;
        let phase = status.phase.as_str();
        let mut statement = self.transaction.prepare_cached(INSERT_RUN)?;
        let run = statement.insert(params![
            run_id,
            workflow,
            namespace,
            priority,
            submitted_at.0,
            phase,
            status.open
        ])?;
        Ok(Tip { run, seq: 0, last_record: None, open: status.open })
    }

    fn insert_record<B>(&self, tip: Tip, record: &Record<B>) -> Result<i64, Fault> {
        let Record { first_seq, events, time, body: _ } = record;
        let mut statement = self.transaction.prepare_cached(INSERT_RECORD)?;
        Ok(statement.insert(params![tip.run, tip.last_record, first_seq, events, time.0, &*self.buffer])?)
    }

    fn advance(&self, tip: Tip, status: RunStatus, seq: u64, last_record: i64) -> Result<(), Fault> {
        let (phase, finished_at) = (status.phase.as_str(), status.finished_at.map(|time| time.0));
        let mut statement = self.transaction.prepare_cached(ADVANCE)?;
        let changed = statement.execute(params![tip.run, tip.seq, seq, last_record, phase, finished_at])?;
        if changed != 1 {
            return Err(Fault::Damaged(format!("run number {} was changed from outside", tip.run)));
        }
        if status.open != tip.open {
            self.transaction.prepare_cached(SET_OPEN)?.execute(params![tip.run, status.open])?;
        }
        Ok(())
    }
}
