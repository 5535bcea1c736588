//! Reading access, on connections of its own.

use std::{
    collections::BTreeSet,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio::{
    runtime::Handle,
    sync::{Mutex, watch},
    time::timeout,
};
use tokio_postgres::Row;

use super::{
    super::{
        Answer, AttemptLog, CatalogEntry, Census, DuePlace, EntryName, EntryQuery, Filter, HasReader, HostId,
        JournalPart, NoticeRow, Notices, Pending, ReadStore, Record, RunRow, StoreError, StoredBytes,
    },
    address::Address,
    entries,
    fault::{Parameter, PostgresError, count, get, is_gone, saturated},
    follow::Following,
    outbox,
    reconnect::{ReconnectingClient, answers},
    rows::{journal, log, row, run_columns, whole_journal},
    statement::Statement,
    thread::Thread,
};

/// Journals that are read at the same time do not wait for each other, up to this many.
const CONNECTIONS: usize = 2;
/// How often a silent connection is waited for again while the server answers others: it may read something large.
const MAX_WAITS: u32 = 15;

const LOAD: &str =
    "SELECT r.seq, is_sound(r) AS sound, j.first_seq, j.events, j.time, j.body, j.checksum, d.digest, d.bytes FROM runs r
    LEFT JOIN journal j ON j.run = r.number AND j.first_seq >= coalesce(
        (SELECT max(p.first_seq) FROM journal p WHERE p.run = r.number AND p.first_seq <= $2), 0)
    LEFT JOIN documents d ON d.id = r.document AND j.first_seq = 0
    WHERE r.run_id = $1 ORDER BY j.first_seq";
/// Records that a part has at most, so that the cost of a part does not grow with the journal behind it. As in `LOAD_PART`.
const PART_RECORDS: usize = 4096;
/// The same up to the record with which they have more than `$3` bytes. Their sizes are known without reading them.
pub(in super::super) const LOAD_PART: &str = "WITH sized AS (SELECT j.run, j.first_seq, coalesce(sum(j.size) OVER (
            ORDER BY j.first_seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
        FROM runs r CROSS JOIN LATERAL (SELECT n.run, n.first_seq, octet_length(n.body) AS size FROM journal n
            WHERE n.run = r.number AND n.first_seq >= coalesce(
                (SELECT max(p.first_seq) FROM journal p WHERE p.run = r.number AND p.first_seq <= $2), 0)
            ORDER BY n.first_seq LIMIT 4096) j
        WHERE r.run_id = $1)
    SELECT r.seq, is_sound(r) AS sound, j.first_seq, j.events, j.time, j.body, j.checksum, d.digest, d.bytes FROM runs r
    LEFT JOIN sized s ON s.run = r.number AND s.before <= $3
    LEFT JOIN journal j ON j.run = s.run AND j.first_seq = s.first_seq
    LEFT JOIN documents d ON d.id = r.document AND j.first_seq = 0
    WHERE r.run_id = $1 ORDER BY j.first_seq";
const GET: &str = concat!("SELECT ", run_columns!(), " FROM runs found WHERE run_id = $1");
/// The newest first of those rows, which have their numbers there.
macro_rules! list {
    ($of:literal, $number:literal, $which:literal) => {
        concat!(
            "SELECT ",
            run_columns!(),
            " FROM ",
            $of,
            " WHERE ",
            $number,
            " < $1 AND ",
            $number,
            " >= $8 AND ($2::text[] IS NULL OR namespace = ANY ($2))
                AND ($3::text IS NULL OR workflow = $3) AND ($4::text IS NULL OR phase = $4) AND (open OR NOT $5::boolean)
                AND submitted_at >= $6",
            $which,
            " ORDER BY ",
            $number,
            " DESC LIMIT $7"
        )
    };
}
const LIST: &str = list!("runs found", "number", "");
/// Only what the index of those that are open has.
pub(in super::super) const LIST_OPEN: &str = list!("runs found", "number", " AND open");
/// Only what the index of times has.
pub(in super::super) const LIST_LATE: &str = concat!(
    "WITH found AS MATERIALIZED (SELECT * FROM runs WHERE submitted_at >= $6) ",
    list!("found", "number", "")
);
/// A label that is wrong in the index shows no run.
const LIST_LABELLED: &str = list!(
    "labels JOIN runs found ON number = run",
    "run",
    " AND labels.key = $9 AND labels.value = $10 AND strpos(found.labels, $11) > 0"
);
/// Only what the index of namespaces has for each of them.
pub(in super::super) const LIST_BOUND: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM (SELECT DISTINCT unnest($2::text[]) AS name) names CROSS JOIN LATERAL (
        SELECT * FROM runs WHERE namespace = names.name AND number < $1 AND number >= $8
            AND ($3::text IS NULL OR workflow = $3) AND ($4::text IS NULL OR phase = $4) AND (open OR NOT $5::boolean)
            AND submitted_at >= $6 AND ($9::text IS NULL OR strpos(labels, $11::text) > 0
                AND EXISTS (SELECT FROM labels l WHERE l.key = $9 AND l.value = $10 AND l.run = number))
        ORDER BY number DESC LIMIT $7) found
    ORDER BY found.number DESC LIMIT $7"
);
/// The primary key finds each of them.
const LIVE_HOSTS: &str = "SELECT host FROM hosts WHERE host = ANY ($1) AND until > (SELECT clock())";
pub(in super::super) const NUMBERS: &str =
    "SELECT number FROM runs WHERE namespace = $1 AND number < $2 ORDER BY number DESC LIMIT $3";
const NAMESPACES: &str = "WITH RECURSIVE names (name) AS (
        SELECT min(namespace) FROM runs WHERE NOT open
        UNION ALL
        SELECT (SELECT min(namespace) FROM runs WHERE NOT open AND namespace > name) FROM names WHERE name IS NOT NULL)
    SELECT name FROM names WHERE name IS NOT NULL";
const ENDED: &str = concat!(
    "SELECT ",
    run_columns!(),
    ", (SELECT count(*) FROM runs WHERE NOT open AND namespace = $1
        AND ($2::text IS NULL OR phase = $2)) AS all_runs
    FROM runs found WHERE NOT open AND namespace = $1 AND ($2::text IS NULL OR phase = $2)
    ORDER BY finished_at NULLS FIRST, number LIMIT $3"
);
const OPEN: &str =
    concat!("SELECT ", run_columns!(), " FROM runs found WHERE open ORDER BY priority DESC, number");
const CENSUS: &str = "SELECT count(owner) AS owned, count(*) FILTER (WHERE owner IS NULL AND wake_at <= $1) AS due,
        count(*) FILTER (WHERE owner IS NULL AND wake_at > $1 AND rest IS NOT TRUE) AS waiting,
        count(*) FILTER (WHERE owner IS NULL AND (wake_at IS NULL OR wake_at > $1 AND rest IS TRUE)) AS parked,
        min(wake_at) FILTER (WHERE owner IS NULL AND wake_at > $1) AS next,
        (SELECT count(*) FROM letters WHERE reply IS NULL) AS letters
    FROM runs WHERE open";
const STORED: &str = "SELECT namespace, sum(bytes)::bigint AS bytes FROM stored WHERE $1::text[] IS NULL OR namespace = ANY ($1)
    GROUP BY namespace HAVING sum(bytes) > 0";
const TENANTS: &str =
    "SELECT text, checksum IS NOT DISTINCT FROM row_checksum(ROW(text)::text) AS sound FROM tenants";
const COMPONENT: &str = "SELECT bytes FROM components WHERE digest = $1";
const ANSWER: &str = "SELECT reply, checksum IS NOT DISTINCT FROM checksum_of_letter(run, body, reply) AS sound FROM letters JOIN runs ON number = run WHERE run_id = $1 AND id = $2";
const LOGS: &str = "SELECT task, attempt, dispatch, cut, text,
        checksum IS NOT DISTINCT FROM checksum_of_log(run, task, attempt, dispatch, cut, text) AS sound FROM logs
    WHERE run = (SELECT number FROM runs WHERE run_id = $1) AND ($2::bigint IS NULL OR task = $2)
    ORDER BY task, attempt, dispatch";
const STATEMENTS: [&str; 24] = [
    LOAD,
    LOAD_PART,
    GET,
    LIST,
    LIST_OPEN,
    LIST_LATE,
    LIST_LABELLED,
    LIST_BOUND,
    NUMBERS,
    NAMESPACES,
    ENDED,
    OPEN,
    CENSUS,
    STORED,
    TENANTS,
    COMPONENT,
    ANSWER,
    LOGS,
    entries::ENTRY,
    entries::ENTRIES,
    entries::DUE,
    entries::TEXT,
    outbox::DUE,
    outbox::OF_RUN,
];

/// Reads whatever is committed.
pub(super) struct Readers {
    address: Arc<Address>,
    links: [Arc<Mutex<ReconnectingClient>>; CONNECTIONS],
    next: AtomicUsize,
    handle: Handle,
    following: Arc<Following>,
}

impl Readers {
    pub(super) fn new(address: &Arc<Address>, handle: &Handle) -> Self {
        let link = |_| Arc::new(Mutex::new(ReconnectingClient::new(address, &STATEMENTS)));
        let links = std::array::from_fn(link);
        Self {
            address: Arc::clone(address),
            links,
            next: AtomicUsize::new(0),
            handle: handle.clone(),
            following: Arc::default(),
        }
    }

    fn ask<T: Send + 'static>(
        &self,
        sql: &'static str,
        parameters: Vec<Parameter>,
        read: impl FnOnce(&[Row]) -> Result<T, PostgresError> + Send + Sync + 'static,
    ) -> Pending<T> {
        let (call, answered) = Statement::new(&self.address, sql, parameters, read);
        let next = self.next.fetch_add(1, Ordering::Relaxed) % CONNECTIONS;
        if let Some(link) = self.links.get(next) {
            self.handle.spawn(answer(Arc::clone(link), call));
        }
        answered
    }
}

/// Reading changes nothing: what a connection was lost over is asked for again on another.
async fn answer(link: Arc<Mutex<ReconnectingClient>>, call: Statement) {
    let rows = match ask(&link, &call).await {
        Err(PostgresError::Server(error)) if is_gone(&error) => ask(&link, &call).await,
        answered => answered,
    };
    let address = Arc::clone(link.lock().await.address());
    call.answer(rows.map_err(|fault| fault.at(&address, "read")));
}

/// Makes a statement on a connection that is shared, for as long as the server is there.
pub(super) async fn ask(
    link: &Mutex<ReconnectingClient>,
    call: &Statement,
) -> Result<Vec<Row>, PostgresError> {
    let connected = link.lock().await.connected().await?;
    let address = Arc::clone(link.lock().await.address());
    let patience = address.patience(0);
    let mut rows = pin!(call.send(&connected));
    for _ in 0..MAX_WAITS {
        match timeout(patience, &mut rows).await {
            Ok(Ok(rows)) => return Ok(rows),
            Ok(Err(error)) => {
                if is_gone(&error) {
                    link.lock().await.forget(&connected);
                }
                return Err(error.into());
            }
            Err(_) if answers(&address).await => {}
            Err(_) => break,
        }
    }
    link.lock().await.forget(&connected);
    Err(PostgresError::Mute(patience))
}

impl ReadStore for Readers {
    fn load_since(&self, run_id: &str, since: u64) -> Pending<Vec<Record<Vec<u8>>>> {
        let name: Arc<str> = run_id.into();
        self.ask(LOAD, vec![Box::new(run_id.to_owned()), Box::new(saturated(since))], move |rows| {
            whole_journal(&name, rows, since)
        })
    }

    fn load_part(&self, run_id: &str, since: u64, most: usize) -> Pending<JournalPart> {
        let name: Arc<str> = run_id.into();
        let parameters: Vec<Parameter> =
            vec![Box::new(run_id.to_owned()), Box::new(saturated(since)), Box::new(saturated(most as u64))];
        self.ask(LOAD_PART, parameters, move |rows| {
            let part = journal(&name, rows, since)?;
            let bytes: usize = part.records.iter().map(|record| record.body.len()).sum();
            // A part that could have more records has the last one, or lacks it.
            if bytes > most || rows.len() >= PART_RECORDS {
                return Ok(part);
            }
            Ok(JournalPart { records: whole_journal(&name, rows, since)?, is_last: true })
        })
    }

    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        let read = |rows: &[Row]| rows.first().map(row).transpose();
        self.ask(GET, vec![Box::new(run_id.to_owned())], read)
    }

    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        let text = |text: Option<Arc<str>>| text.map(|text| text.to_string());
        let namespaces: Vec<String> = filter.namespaces.iter().map(ToString::to_string).collect();
        let namespaces = Some(namespaces).filter(|names| !names.is_empty());
        // The numbers alone bound the scan, if there are any.
        let sql = match filter.since {
            _ if filter.is_by_namespace() => LIST_BOUND,
            _ if filter.label.is_some() => LIST_LABELLED,
            _ if filter.from > 0 => LIST,
            Some(_) => LIST_LATE,
            None if filter.open => LIST_OPEN,
            None => LIST,
        };
        let mut parameters: Vec<Parameter> = vec![
            Box::new(filter.before.map_or(i64::MAX, saturated)),
            Box::new(namespaces),
            Box::new(text(filter.workflow.clone())),
            Box::new(filter.phase.map(Phase::as_str)),
            Box::new(filter.open),
            Box::new(filter.since.map_or(i64::MIN, |since| since.0)),
            Box::new(i64::try_from(limit).unwrap_or(i64::MAX)),
            Box::new(saturated(filter.from)),
        ];
        if sql == LIST_BOUND || sql == LIST_LABELLED {
            let (key, value) = filter.label.clone().unzip();
            parameters.extend(
                [text(key), text(value), filter.label_text()].map(|part| Box::new(part) as Parameter),
            );
        }
        self.ask(sql, parameters, move |rows| {
            let mut rows = rows.iter().map(row).collect::<Result<Vec<_>, _>>()?;
            rows.retain(|row| filter.shows(row));
            Ok(rows)
        })
    }

    fn live_hosts(&self, hosts: Vec<HostId>) -> Pending<Option<BTreeSet<HostId>>> {
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        self.ask(LIVE_HOSTS, vec![Box::new(hosts)], |rows| {
            let host = |row: &Row| Ok::<_, PostgresError>(HostId::from(get::<&str>(row, "host")?));
            Ok(Some(rows.iter().map(host).collect::<Result<_, _>>()?))
        })
    }

    fn numbers(&self, namespace: &str, before: u64, limit: usize) -> Pending<Vec<u64>> {
        let parameters: Vec<Parameter> = vec![
            Box::new(namespace.to_owned()),
            Box::new(saturated(before)),
            Box::new(i64::try_from(limit).unwrap_or(i64::MAX)),
        ];
        self.ask(NUMBERS, parameters, |rows| rows.iter().map(|row| count(row, "number")).collect())
    }

    fn namespaces(&self) -> Pending<Vec<Arc<str>>> {
        let name = |row: &Row| Ok(get::<&str>(row, "name")?.into());
        self.ask(NAMESPACES, Vec::new(), move |rows| rows.iter().map(name).collect())
    }

    fn tenants(&self) -> Pending<Option<Arc<str>>> {
        let text = |row: &Row| match get(row, "sound")? {
            true => Ok(Arc::from(get::<&str>(row, "text")?)),
            false => Err(PostgresError::bad_row("the note about tenants")),
        };
        self.ask(TENANTS, Vec::new(), move |rows| rows.first().map(text).transpose())
    }

    fn stored(&self, namespaces: Vec<Arc<str>>) -> Pending<StoredBytes> {
        let names: Vec<String> = namespaces.iter().map(ToString::to_string).collect();
        let names = Some(names).filter(|names| !names.is_empty());
        let bytes = |row: &Row| Ok((get::<&str>(row, "namespace")?.into(), count(row, "bytes")?));
        self.ask(STORED, vec![Box::new(names)], move |rows| rows.iter().map(bytes).collect())
    }

    fn ended(&self, namespace: &str, phase: Option<Phase>, limit: usize) -> Pending<(u64, Vec<RunRow>)> {
        let parameters: Vec<Parameter> = vec![
            Box::new(namespace.to_owned()),
            Box::new(phase.map(Phase::as_str)),
            Box::new(i64::try_from(limit).unwrap_or(i64::MAX)),
        ];
        self.ask(ENDED, parameters, |rows| {
            let count = rows.first().map(|row| count(row, "all_runs")).transpose()?.unwrap_or_default();
            Ok((count, rows.iter().map(row).collect::<Result<_, _>>()?))
        })
    }

    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        self.ask(OPEN, Vec::new(), |rows| rows.iter().map(row).collect())
    }

    fn census(&self, now: Timestamp) -> Pending<Census> {
        self.ask(CENSUS, vec![Box::new(now.0)], |rows| {
            let Some(row) = rows.first() else { return Ok(Census::default()) };
            Ok(Census {
                owned: count(row, "owned")?,
                due: count(row, "due")?,
                waiting: count(row, "waiting")?,
                parked: count(row, "parked")?,
                letters: count(row, "letters")?,
                next: get::<Option<i64>>(row, "next")?.map(Timestamp),
            })
        })
    }

    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        let read = |rows: &[Row]| rows.first().map(|row| Ok(get::<&[u8]>(row, "bytes")?.into())).transpose();
        self.ask(COMPONENT, vec![Box::new(digest.to_owned())], read)
    }

    fn answer(&self, run_id: &str, letter: u64) -> Pending<Answer> {
        let named: Arc<str> = run_id.into();
        self.ask(ANSWER, vec![Box::new(run_id.to_owned()), Box::new(saturated(letter))], move |rows| {
            let Some(row) = rows.first() else { return Ok(Answer::Unknown) };
            if !get::<bool>(row, "sound")? {
                return Err(PostgresError::bad_row(&format!("request {letter} to run {named}")));
            }
            Ok(match get::<Option<Vec<u8>>>(row, "reply")? {
                None => Answer::Waiting,
                Some(reply) if reply.is_empty() => Answer::Ended,
                Some(reply) => Answer::Replied(reply),
            })
        })
    }

    fn entry(&self, name: &EntryName) -> Pending<Option<CatalogEntry>> {
        let read = |rows: &[Row]| rows.first().map(entries::entry).transpose();
        self.ask(entries::ENTRY, entries::name(name), read)
    }

    fn entries(&self, wanted: EntryQuery) -> Pending<Vec<CatalogEntry>> {
        self.ask(entries::ENTRIES, entries::wanted(wanted), |rows| rows.iter().map(entries::entry).collect())
    }

    fn due_entries(&self, after: Option<DuePlace>, limit: usize) -> Pending<Vec<CatalogEntry>> {
        self.ask(entries::DUE, entries::place(after, limit), |rows| rows.iter().map(entries::entry).collect())
    }

    fn due_notices(&self, endpoint: &str, limit: usize) -> Pending<Vec<NoticeRow>> {
        let parameters: Vec<Parameter> =
            vec![Box::new(endpoint.to_owned()), Box::new(saturated(limit as u64))];
        self.ask(outbox::DUE, parameters, |rows| rows.iter().map(outbox::notice).collect())
    }

    fn endpoint_after(&self, endpoint: &str) -> Pending<Option<(Arc<str>, Timestamp)>> {
        let read = |rows: &[Row]| rows.first().map(outbox::endpoint).transpose();
        self.ask(outbox::ENDPOINT, vec![Box::new(endpoint.to_owned())], read)
    }

    fn notices(&self, wanted: Notices) -> Pending<Vec<NoticeRow>> {
        self.ask(outbox::OF_RUN, outbox::wanted(&wanted), |rows| rows.iter().map(outbox::notice).collect())
    }

    fn text(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        let read = |rows: &[Row]| rows.first().map(|row| Ok(get::<&[u8]>(row, "bytes")?.into())).transpose();
        self.ask(entries::TEXT, vec![Box::new(digest.to_owned())], read)
    }

    fn logs(&self, run_id: &str, task: Option<u32>) -> Pending<Vec<AttemptLog>> {
        let parameters: Vec<Parameter> = vec![Box::new(run_id.to_owned()), Box::new(task.map(i64::from))];
        self.ask(LOGS, parameters, |rows| rows.iter().map(log).collect())
    }

    fn follow(&self, run_id: &str) -> watch::Receiver<()> {
        self.following.follow(run_id, &self.address, &self.handle)
    }
}

/// Reading access to a store in a database while other hosts drive its runs.
pub struct PostgresReader {
    readers: Readers,
    _thread: Thread<()>,
}

impl PostgresReader {
    /// Opens the store at that URL, as [`Postgres::open`](super::Postgres::open) does; nothing is created.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Foreign`] if there is none, [`StoreError::Newer`], or [`StoreError::Io`] as
    /// when the server refuses.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let address = Arc::new(Address::parse(url)?);
        let mut first = ReconnectingClient::new(&address, &[]);
        let thread = Thread::start(&address, async move |mut jobs, _progress| {
            first.connected().await?;
            Ok(async move { while jobs.recv().await.is_some() {} })
        })?;
        let readers = Readers::new(&address, thread.handle());
        Ok(Self { readers, _thread: thread })
    }
}

impl HasReader for PostgresReader {
    fn reader(&self) -> &dyn ReadStore {
        &self.readers
    }
}
