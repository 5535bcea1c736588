//! The speed of the disk and the databases with nothing but bytes to write.

use std::{
    fs::File,
    io::Write,
    num::NonZeroU32,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use phasm::{
    engine::{phase::Phase, time::Timestamp},
    store::{Filter, Labels, Lease, ReadStore, Record, RunHead, RunStatus, Sqlite, Store},
};
use rusqlite::Connection;

use crate::{measure::Measure, server::Server};

/// Records that were written: how many, and their bytes.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    pub(crate) records: u32,
    pub(crate) bytes: usize,
}

impl Written {
    fn each(self) -> Vec<u8> {
        let size = self.bytes / (self.records as usize).max(1);
        (0..size).map(|at| (at % 251) as u8).collect()
    }
}

/// All records of a store's journals.
pub(crate) async fn written(store: &Sqlite) -> Written {
    let mut written = Written { records: 0, bytes: 0 };
    for row in store.list(Filter::default(), usize::MAX).await.expect("rows") {
        for record in store.load(&row.head.run_id).await.expect("records") {
            written.records += 1;
            written.bytes += record.body.len();
        }
    }
    written
}

/// Opens a database configured like a store of Phasm's, with a table of bytes.
pub(crate) fn open(file: &Path) -> Connection {
    let connection = Connection::open(file).expect("a database");
    let sql = "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE journal (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;";
    connection.execute_batch(sql).expect("a table");
    connection
}

pub(crate) fn commit<'b>(connection: &Connection, bodies: impl Iterator<Item = &'b [u8]>) {
    let transaction = connection.unchecked_transaction().expect("a transaction");
    let mut insert =
        transaction.prepare_cached("INSERT INTO journal (body) VALUES (?1)").expect("a statement");
    for body in bodies {
        insert.execute([body]).expect("inserted");
    }
    drop(insert);
    transaction.commit().expect("committed");
}

/// The same bytes in as many records, so many to a commit.
pub(crate) fn sqlite(file: &Path, written: Written, to_a_commit: u32, tasks: u64) -> Measure {
    let (connection, body) = (open(file), written.each());
    let measuring = Measure::start();
    let mut left = written.records;
    while left > 0 {
        let now = left.min(to_a_commit);
        commit(&connection, (0..now).map(|_| body.as_slice()));
        left -= now;
    }
    measuring.stop(tasks)
}

/// The same bytes in as many records, so many to a statement, each statement durable before the next.
pub(crate) async fn postgres(server: &Server, written: Written, to_a_statement: u32, tasks: u64) -> Measure {
    let (client, connection) =
        tokio_postgres::connect(&server.url("public").replace("?schema=public", ""), tokio_postgres::NoTls)
            .await
            .expect("a server");
    let connection = tokio::spawn(connection);
    let sql = "DROP TABLE IF EXISTS raw; CREATE TABLE raw (id BIGSERIAL PRIMARY KEY, body BYTEA NOT NULL)";
    client.batch_execute(sql).await.expect("a table");
    let insert =
        client.prepare("INSERT INTO raw (body) SELECT unnest($1::bytea[])").await.expect("a statement");
    let body = written.each();
    let measuring = Measure::start();
    let mut left = written.records;
    while left > 0 {
        let now = left.min(to_a_statement);
        let bodies: Vec<&[u8]> = (0..now).map(|_| body.as_slice()).collect();
        client.execute(&insert, &[&bodies]).await.expect("inserted");
        left -= now;
    }
    let measure = measuring.stop(tasks);
    drop(client);
    connection.await.expect("no panic").expect("closed");
    measure
}

/// The same bytes in as many records through a store of ours, and nothing else: so many runs at once, each one's records after each other.
pub(crate) async fn stored(store: &Arc<dyn Store>, written: Written, runs: u32, tasks: u64) -> Measure {
    let (body, records) = (Arc::new(written.each()), (written.records / runs).max(2));
    let measuring = Measure::start();
    let all: Vec<_> =
        (0..runs).map(|_| tokio::spawn(one_run(Arc::clone(store), Arc::clone(&body), records))).collect();
    for run in all {
        run.await.expect("no panic");
    }
    measuring.stop(tasks)
}

/// Counts the runs that are there already.
static NUMBER: AtomicU64 = AtomicU64::new(0);

async fn one_run(store: Arc<dyn Store>, body: Arc<Vec<u8>>, records: u32) {
    let head = RunHead {
        run_id: format!("run-{:08}", NUMBER.fetch_add(1, Relaxed)).into(),
        workflow: "bench".into(),
        namespace: "default".into(),
        priority: 500,
        submitted_at: Timestamp(0),
        key: None,
        labels: Labels::default(),
    };
    let lease = Lease::first(Arc::new(head), "bench".into());
    for seq in 0..records {
        let open = seq + 1 < records;
        let (phase, finished_at) =
            if open { (Phase::Running, None) } else { (Phase::Succeeded, Some(Timestamp(1))) };
        let status = RunStatus { phase, finished_at, open, rest: None };
        let (body, events) = (Arc::clone(&body) as _, NonZeroU32::MIN);
        let record = Record {
            first_seq: seq.into(),
            events,
            time: Timestamp(0),
            body,
            document: None,
            notices: Vec::new(),
            logs: Vec::new(),
            remark: None,
        };
        store.append(&lease, status, record, Vec::new()).await.expect("written");
    }
}

/// One page appended and made durable, in microseconds: the median of many.
pub(crate) fn fsync(dir: &Path) -> f64 {
    let mut file = File::create(dir.join("fsync")).expect("a file");
    let mut times: Vec<f64> = (0..200)
        .map(|_| {
            let start = Instant::now();
            file.write_all(&[7; 4096]).expect("written");
            file.sync_data().expect("durable");
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
