//! The reading connections and their threads: rows and journals as of the last commit.
//!
//! Whole journals, logs and counts of all rows are read on a connection of their own, so that a list does not wait for them.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, mpsc::Receiver},
};

use phasm_engine::{phase::Phase, time::Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter, types::Value};
use tokio::sync::{oneshot, watch};

use super::{
    super::{
        Answer, AttemptLog, CatalogEntry, Census, DuePlace, EntryName, EntryQuery, Filter, JournalPart,
        NoticeRow, Notices, Pending, ReadStore, Record, RunRow, StoreError, StoredBytes,
    },
    catalog,
    fault::Fault,
    file,
    load::{self, JournalMarks},
    logs, outbox, records,
    rows::{self, COLUMNS},
    schema,
    worker::Worker,
};

/// Something to look up; it answers by itself.
type Question = Box<dyn FnOnce(&Connection) + Send>;

/// Reading access to a store in a file while a process holds it.
pub struct SqliteReader {
    path: Arc<Path>,
    worker: Worker<Question>,
    /// The thread for questions that take long.
    long_worker: Worker<Question>,
    marks: Arc<Mutex<JournalMarks>>,
}

impl SqliteReader {
    /// Opens the store in `path` for reading. The process that drives its runs is not disturbed, and no file is created.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Newer`], [`StoreError::Corrupt`], or [`StoreError::Io`] as when there is
    /// no such file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::beside(file::find(path.as_ref())?.into())
    }

    /// For a file that is there.
    pub(super) fn beside(path: Arc<Path>) -> Result<Self, StoreError> {
        let worker = Self::worker("phasm-store-read", &path)?;
        let long_worker = Self::worker("phasm-store-long", &path)?;
        Ok(Self { path, worker, long_worker, marks: Arc::default() })
    }

    fn worker(name: &str, path: &Path) -> Result<Worker<Question>, StoreError> {
        let connection = schema::open_reader(path)?;
        Worker::spawn(name, path, move |queue| run(&connection, &queue))
    }

    /// Returns whether a process drives the store's runs now. A process that opens the store in the microseconds of this check is
    /// told that it is in use.
    #[must_use]
    pub fn is_held(&self) -> bool {
        file::is_locked(&self.path)
    }

    /// Writes all that is committed to a new file, which is a store like this one, while others go on writing to it.
    ///
    /// # Errors
    /// When there is a file already, or it cannot be written.
    pub fn backup(&self, to: impl AsRef<Path>) -> Pending<()> {
        let to = to.as_ref().to_owned();
        self.ask_long(move |connection| {
            let failed = |source| Fault::Refused(StoreError::io(&to, "written", source));
            let made = file::create_private(&to).map_err(failed)?;
            let name = to.to_str().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
            connection.execute("VACUUM INTO ?1", [name])?;
            made.sync_all().map_err(failed)?;
            Ok(())
        })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.path.to_path_buf()
    }

    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<T> {
        let (question, answered) = self.question(question);
        self.worker.send(question);
        answered
    }

    /// [`Self::ask`] for what takes the longer the more there is.
    fn ask_long<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<T> {
        let (question, answered) = self.question(question);
        self.long_worker.send(question);
        answered
    }

    fn question<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> (Question, Pending<T>) {
        let (answer, answered) = oneshot::channel();
        let path = Arc::clone(&self.path);
        let question = move |connection: &Connection| {
            if !answer.is_closed() {
                drop(answer.send(question(connection).map_err(|fault| fault.at(&path, "read"))));
            }
        };
        (Box::new(question), Pending::sent(answered))
    }
}

impl ReadStore for SqliteReader {
    fn load_since(&self, run_id: &str, since: u64) -> Pending<Vec<Record<Vec<u8>>>> {
        let part = self.load_part(run_id, since, usize::MAX);
        Pending::new(async move { Ok(part.await?.records) })
    }

    fn load_part(&self, run_id: &str, since: u64, most: usize) -> Pending<JournalPart> {
        let (run_id, marks) = (Arc::from(run_id), Arc::clone(&self.marks));
        self.ask_long(move |connection| {
            let mut marks = marks.lock().unwrap_or_else(PoisonError::into_inner);
            load::load(connection, &mut marks, run_id, since, most)
        })
    }

    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        let run_id: Box<str> = run_id.into();
        self.ask(move |connection| get(connection, &run_id))
    }

    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        self.ask(move |connection| list(connection, &filter, limit))
    }

    fn numbers(&self, namespace: &str, before: u64, limit: usize) -> Pending<Vec<u64>> {
        let namespace: Box<str> = namespace.into();
        self.ask(move |connection| numbers(connection, &namespace, before, limit))
    }

    fn tenants(&self) -> Pending<Option<Arc<str>>> {
        self.ask(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT text, checksum IS row_checksum(text) FROM tenants")?;
            let found = statement
                .query_one([], |row| Ok((row.get_ref(0)?.as_str().ok().map(Arc::from), row.get(1)?)));
            match found.optional()? {
                None => Ok(None),
                Some((Some(text), true)) => Ok(Some(text)),
                Some(_) => Err(Fault::bad_row("the note about tenants")),
            }
        })
    }

    fn stored(&self, namespaces: Vec<Arc<str>>) -> Pending<StoredBytes> {
        self.ask(move |connection| stored(connection, &namespaces))
    }

    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        let digest: Box<str> = digest.into();
        self.ask(move |connection| {
            let mut statement =
                connection.prepare_cached("SELECT bytes FROM components WHERE digest = ?1")?;
            let found = statement.query_one([&digest], |row| row.get::<_, Vec<u8>>(0)).optional()?;
            Ok(found.map(Arc::from))
        })
    }

    fn census(&self, now: Timestamp) -> Pending<Census> {
        self.ask_long(move |connection| census(connection, now))
    }

    fn namespaces(&self) -> Pending<Vec<Arc<str>>> {
        self.ask(namespaces)
    }

    fn ended(&self, namespace: &str, phase: Option<Phase>, limit: usize) -> Pending<(u64, Vec<RunRow>)> {
        let namespace: Box<str> = namespace.into();
        self.ask(move |connection| ended(connection, &namespace, phase, limit))
    }

    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        self.ask(open_runs)
    }

    fn answer(&self, run_id: &str, letter: u64) -> Pending<Answer> {
        let run_id: Box<str> = run_id.into();
        self.ask(move |connection| records::answer(connection, &run_id, letter))
    }

    fn logs(&self, run_id: &str, task: Option<u32>) -> Pending<Vec<AttemptLog>> {
        let run_id: Box<str> = run_id.into();
        self.ask_long(move |connection| logs::of_run(connection, &run_id, task))
    }

    fn entry(&self, name: &EntryName) -> Pending<Option<CatalogEntry>> {
        let name = name.clone();
        self.ask(move |connection| catalog::entry(connection, &name))
    }

    fn entries(&self, wanted: EntryQuery) -> Pending<Vec<CatalogEntry>> {
        self.ask(move |connection| catalog::entries(connection, &wanted))
    }

    fn due_entries(&self, after: Option<DuePlace>, limit: usize) -> Pending<Vec<CatalogEntry>> {
        self.ask(move |connection| catalog::due(connection, after.as_ref(), limit))
    }

    fn due_notices(&self, endpoint: &str, limit: usize) -> Pending<Vec<NoticeRow>> {
        let endpoint: Arc<str> = endpoint.into();
        self.ask(move |connection| outbox::due(connection, &endpoint, limit))
    }

    fn endpoint_after(&self, endpoint: &str) -> Pending<Option<(Arc<str>, Timestamp)>> {
        let endpoint: Arc<str> = endpoint.into();
        self.ask(move |connection| outbox::endpoint_after(connection, &endpoint))
    }

    fn notices(&self, wanted: Notices) -> Pending<Vec<NoticeRow>> {
        self.ask(move |connection| outbox::notices(connection, &wanted))
    }

    fn text(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        let digest: Box<str> = digest.into();
        self.ask(move |connection| catalog::text(connection, &digest))
    }

    /// The holder of the file announces changes; without a holder there are none.
    fn follow(&self, run_id: &str) -> watch::Receiver<()> {
        let (told, following) = watch::channel(());
        #[cfg(unix)]
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (path, run_id) = (Arc::clone(&self.path), run_id.to_owned());
            runtime.spawn(async move {
                tokio::select! {
                    () = super::wakeup::hear(&path, &run_id, &told) => {}
                    () = told.closed() => {}
                }
            });
        }
        following
    }
}

/// Answers questions until the queue has no senders.
fn run(connection: &Connection, queue: &Receiver<Question>) {
    while let Ok(question) = queue.recv() {
        question(connection);
    }
}

fn get(connection: &Connection, run_id: &str) -> Result<Option<RunRow>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE run_id = ?1"))?;
    Ok(statement.query_one([run_id], rows::run).optional()?)
}

fn list(connection: &Connection, filter: &Filter, limit: usize) -> Result<Vec<RunRow>, Fault> {
    let mut rows = Vec::new();
    if filter.is_by_namespace() {
        for namespace in filter.namespaces.iter().collect::<BTreeSet<_>>() {
            rows.extend(select(connection, filter, Some(namespace), limit)?);
        }
        rows.sort_unstable_by_key(|row| Reverse(row.number));
        rows.truncate(limit);
    } else {
        rows = select(connection, filter, None, limit)?;
    }
    rows.retain(|row| filter.shows(row));
    Ok(rows)
}

/// The newest runs of one namespace by the index of namespaces, or of all that the filter has by another.
fn select(
    connection: &Connection,
    filter: &Filter,
    namespace: Option<&Arc<str>>,
    limit: usize,
) -> Result<Vec<RunRow>, Fault> {
    let mut conditions = String::from("number < ?");
    let mut values = vec![Value::from(filter.before.map_or(i64::MAX, saturated))];
    let mut given = |condition: &str, value: Option<Value>| {
        if let Some(value) = value {
            conditions += condition;
            values.push(value);
        }
    };
    let text = |text: &Option<Arc<str>>| text.as_ref().map(|text| Value::from(text.to_string()));
    if let Some(namespace) = namespace {
        given(" AND namespace = ?", Some(Value::from(namespace.to_string())));
    } else if !filter.namespaces.is_empty() {
        // The names are one value, so that the statement is the same for every number of names.
        let names = serde_json::Value::from_iter(filter.namespaces.iter().map(|name| &**name)).to_string();
        given(" AND namespace IN (SELECT value FROM json_each(?))", Some(Value::from(names)));
    }
    given(" AND number >= ?", (filter.from > 0).then(|| Value::from(saturated(filter.from))));
    given(" AND workflow = ?", text(&filter.workflow));
    given(" AND phase = ?", filter.phase.map(|phase| Value::from(phase.as_str().to_owned())));
    // The numbers alone bound the scan, if there are any.
    let bounded = if filter.from > 0 { "+" } else { "" };
    given(&format!(" AND {bounded}submitted_at >= ?"), filter.since.map(|since| Value::from(since.0)));
    if let Some((key, value)) = &filter.label {
        let labelled = match namespace {
            Some(_) => " AND EXISTS (SELECT 1 FROM labels WHERE run = number AND key = ?",
            None => " AND number IN (SELECT run FROM labels WHERE key = ?",
        };
        given(labelled, Some(Value::from(key.to_string())));
        given(" AND value = ?", Some(Value::from(value.to_string())));
        given(" AND run >= ?)", Some(Value::from(saturated(filter.from))));
        // A label that is wrong in the index shows no run.
        given(" AND instr(labels, ?) > 0", filter.label_text().map(Value::from));
    }
    if filter.open {
        conditions += &format!(" AND {bounded}open");
    }
    values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
    let index = if namespace.is_some() { " INDEXED BY runs_of_namespace" } else { "" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM runs{index} WHERE {conditions} ORDER BY number DESC LIMIT ?"
    ))?;
    let rows = statement.query_map(params_from_iter(values), rows::run)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Only the index is read.
fn numbers(connection: &Connection, namespace: &str, before: u64, limit: usize) -> Result<Vec<u64>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT number FROM runs INDEXED BY runs_of_namespace WHERE namespace = ?1 AND number < ?2
         ORDER BY number DESC LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![namespace, saturated(before), limit], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Each is found by the index, whatever number of runs it has.
fn namespaces(connection: &Connection) -> Result<Vec<Arc<str>>, Fault> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE names (name) AS (
             SELECT min(namespace) FROM runs WHERE NOT open
             UNION ALL
             SELECT (SELECT min(namespace) FROM runs WHERE NOT open AND namespace > name) FROM names WHERE name IS NOT NULL)
         SELECT name FROM names WHERE name IS NOT NULL",
    )?;
    let rows = statement.query_map([], |row| Ok(rows::lossy(row, 0).into()))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn ended(
    connection: &Connection,
    namespace: &str,
    phase: Option<Phase>,
    limit: usize,
) -> Result<(u64, Vec<RunRow>), Fault> {
    const WHICH: &str = "FROM runs WHERE NOT open AND namespace = ?1 AND (?2 IS NULL OR phase = ?2)";
    let phase = phase.map(Phase::as_str);
    let mut counted = connection.prepare_cached(&format!("SELECT count(*) {WHICH}"))?;
    let count = counted.query_one(params![namespace, phase], |row| row.get(0))?;
    let mut statement = connection
        .prepare_cached(&format!("SELECT {COLUMNS} {WHICH} ORDER BY finished_at, number LIMIT ?3"))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![namespace, phase, limit], rows::run)?;
    Ok((count, rows.collect::<Result<_, _>>()?))
}

fn stored(connection: &Connection, namespaces: &[Arc<str>]) -> Result<StoredBytes, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT namespace, bytes FROM stored WHERE bytes > 0
             AND (?1 IS NULL OR namespace IN (SELECT value FROM json_each(?1)))",
    )?;
    let names = (!namespaces.is_empty()).then(|| serde_json::to_string(namespaces).unwrap_or_default());
    let rows = statement.query_map([names], |row| Ok((rows::lossy(row, 0).into(), row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn open_runs(connection: &Connection) -> Result<Vec<RunRow>, Fault> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE open ORDER BY priority DESC, number"))?;
    let rows = statement.query_map([], rows::run)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn census(connection: &Connection, now: Timestamp) -> Result<Census, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT count(owner), count(*) FILTER (WHERE owner IS NULL AND wake_at <= ?1),
             count(*) FILTER (WHERE owner IS NULL AND wake_at > ?1 AND rest IS NOT 1),
             count(*) FILTER (WHERE owner IS NULL AND (wake_at IS NULL OR wake_at > ?1 AND rest IS 1)),
             min(wake_at) FILTER (WHERE owner IS NULL AND wake_at > ?1),
             (SELECT count(*) FROM letters WHERE reply IS NULL)
         FROM runs WHERE open",
    )?;
    let read = |row: &Row<'_>| {
        let next: Option<i64> = row.get(4)?;
        let (owned, due, waiting, parked) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        Ok(Census { owned, due, waiting, parked, letters: row.get(5)?, next: next.map(Timestamp) })
    };
    Ok(statement.query_one([now.0], read)?)
}

fn saturated(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
