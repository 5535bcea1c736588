//! The reading connection and its thread: rows and journals as of the last commit.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc::Receiver},
};

use phasm_engine::{phase::Phase, time::Timestamp};
use rusqlite::{
    Connection, OptionalExtension, Row, named_params,
    types::{FromSql, FromSqlError, FromSqlResult, ValueRef},
};
use tokio::sync::oneshot;

use super::{
    super::{Filter, Pending, Record, RunHead, RunRow, RunStatus, StoreError},
    fault::Fault,
    file, later, schema,
    worker::Worker,
};

/// Something to look up; it answers by itself.
type Question = Box<dyn FnOnce(&Connection) + Send>;

const COLUMNS: &str =
    "number, run_id, workflow, namespace, priority, submitted_at, phase, finished_at, open, seq";

/// A store in a file, to be looked at beside whoever holds it.
pub struct SqliteReader {
    path: Arc<Path>,
    worker: Worker<Question>,
}

impl SqliteReader {
    /// Opens the store in `path`; nothing is created, and whoever drives its runs is not disturbed.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Newer`], [`StoreError::Corrupt`], or [`StoreError::Io`] as when there is
    /// no such file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::beside(file::find(path.as_ref())?.into())
    }

    /// For a file that is there.
    pub(super) fn beside(path: Arc<Path>) -> Result<Self, StoreError> {
        let connection = schema::open_reader(&path)?;
        let worker = Worker::spawn("phasm-store-read", &path, move |queue| run(&connection, &queue))?;
        Ok(Self { path, worker })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.path.to_path_buf()
    }

    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<T> {
        let (answer, answered) = oneshot::channel();
        let path = Arc::clone(&self.path);
        self.worker.send(Box::new(move |connection| {
            if !answer.is_closed() {
                drop(answer.send(question(connection).map_err(|fault| fault.at(&path, "read"))));
            }
        }));
        later(answered)
    }

    /// As [`Store::load`](super::Store::load).
    pub fn load(&self, run_id: &str) -> Pending<Vec<Record<Vec<u8>>>> {
        let run_id = Arc::from(run_id);
        self.ask(move |connection| load(connection, run_id))
    }

    /// As [`Store::get`](super::Store::get).
    pub fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        let run_id: Box<str> = run_id.into();
        self.ask(move |connection| get(connection, &run_id))
    }

    /// As [`Store::list`](super::Store::list).
    pub fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        self.ask(move |connection| list(connection, &filter, limit))
    }

    /// As [`Store::component`](super::Store::component).
    pub(super) fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        let digest: Box<str> = digest.into();
        self.ask(move |connection| {
            let mut statement =
                connection.prepare_cached("SELECT bytes FROM components WHERE digest = ?1")?;
            let found = statement.query_one([&digest], |row| row.get::<_, Vec<u8>>(0)).optional()?;
            Ok(found.map(Arc::from))
        })
    }

    /// As [`Store::open_runs`](super::Store::open_runs).
    pub fn open_runs(&self) -> Pending<Vec<RunRow>> {
        self.ask(open_runs)
    }
}

/// Answers until nobody can ask any more.
fn run(connection: &Connection, queue: &Receiver<Question>) {
    while let Ok(question) = queue.recv() {
        question(connection);
    }
}

fn get(connection: &Connection, run_id: &str) -> Result<Option<RunRow>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE run_id = ?1"))?;
    Ok(statement.query_one([run_id], row).optional()?)
}

fn list(connection: &Connection, filter: &Filter, limit: usize) -> Result<Vec<RunRow>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM runs
         WHERE number < :before AND (:namespace IS NULL OR namespace = :namespace)
             AND (:workflow IS NULL OR workflow = :workflow) AND (:phase IS NULL OR phase = :phase)
         ORDER BY number DESC LIMIT :limit"
    ))?;
    let rows = statement.query_map(
        named_params! {
            ":before": filter.before.map_or(i64::MAX, saturated),
            ":namespace": filter.namespace,
            ":workflow": filter.workflow,
            ":phase": filter.phase.map(Phase::as_str),
            ":limit": i64::try_from(limit).unwrap_or(i64::MAX),
        },
        row,
    )?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn open_runs(connection: &Connection) -> Result<Vec<RunRow>, Fault> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE open ORDER BY priority DESC, number"))?;
    let rows = statement.query_map([], row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Walks from the run's last record to its first.
fn load(connection: &Connection, run_id: Arc<str>) -> Result<Vec<Record<Vec<u8>>>, Fault> {
    // One snapshot, and its locks taken once.
    let snapshot = connection.unchecked_transaction()?;
    let Some((run, seq, last_record)) = end(&snapshot, &run_id)? else {
        return Err(StoreError::NotFound { run_id }.into());
    };
    let mut statement = snapshot.prepare_cached(
        "SELECT previous, first_seq, events, time, body FROM journal WHERE id = ?1 AND run = ?2",
    )?;
    let mut records: Vec<Record<Vec<u8>>> = Vec::new();
    let (mut seq, mut next) = (seq, last_record);
    while let Some(id) = next {
        let damaged = |what: &str| Fault::Damaged(format!("record {id} of run {run_id} {what}"));
        let found = statement.query_one([id, run], |row| Ok((row.get(0)?, record(row)?))).optional()?;
        let (previous, record) = found.ok_or_else(|| damaged("is missing"))?;
        if record.next_seq() != seq {
            return Err(damaged(&format!("ends before event {}, not {seq}", record.next_seq())));
        }
        (seq, next) = (record.first_seq, previous);
        records.push(record);
    }
    if seq != 0 {
        return Err(Fault::Damaged(format!("run {run_id} has no events before {seq}")));
    }
    records.reverse();
    Ok(records)
}

fn end(connection: &Connection, run_id: &str) -> rusqlite::Result<Option<(i64, u64, Option<i64>)>> {
    let mut statement =
        connection.prepare_cached("SELECT number, seq, last_record FROM runs WHERE run_id = ?1")?;
    statement.query_one([run_id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()
}

/// `previous` is column 0.
fn record(row: &Row<'_>) -> rusqlite::Result<Record<Vec<u8>>> {
    Ok(Record {
        first_seq: row.get(1)?,
        events: row.get(2)?,
        time: Timestamp(row.get(3)?),
        body: row.get(4)?,
    })
}

/// The order is that of `COLUMNS`.
fn row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let head = RunHead {
        run_id: row.get(1)?,
        workflow: row.get(2)?,
        namespace: row.get(3)?,
        priority: row.get(4)?,
        submitted_at: Timestamp(row.get(5)?),
    };
    let finished_at: Option<i64> = row.get(7)?;
    let status = RunStatus {
        phase: row.get::<_, Stored>(6)?.0,
        finished_at: finished_at.map(Timestamp),
        open: row.get(8)?,
    };
    Ok(RunRow { number: row.get(0)?, head: Arc::new(head), status, seq: row.get(9)? })
}

/// A phase by its exact word.
struct Stored(Phase);

impl FromSql for Stored {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = value.as_str()?;
        let phase = Phase::ALL.into_iter().find(|phase| phase.as_str() == word);
        phase.map(Self).ok_or_else(|| FromSqlError::Other(format!("there is no phase {word}").into()))
    }
}

fn saturated(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
