//! Values that were changed outside: each is detected where it is read, and nothing else suffers.

use std::{collections::BTreeMap, fs, path::Path};

use rusqlite::{Connection, types::Value};

use phasm_artifacts::HostArtifacts;

use super::{
    super::{
        Answer, AttemptLog, CatalogEntry, CatalogKind, Change, ClaimRequest, EntryName, EntryQuery,
        Migration, NewNotice, NoticeRow, Notices, Reply, RunRow, Text,
        retention::{Keep, PruneResult, Retention, prune},
    },
    *,
};

const RUNS: [&str; 4] = ["first", "second", "third", "open"];

/// Columns that hold no value that is shown or acted on by itself: positions, counters, and indexes of the values in other columns.
/// A wrong one of them hides a row from a filter, or makes a number grow faster; and a row whose key is changed is missing where it
/// was.
const UNCHECKED: [(&str, &str); 24] = [
    ("labels", "key"),
    ("labels", "value"),
    ("labels", "run"),
    ("needs", "document"),
    ("needs", "component"),
    ("mentions", "shelf"),
    ("mentions", "namespace"),
    ("mentions", "name"),
    ("mentions", "digest"),
    ("mentions", "size"),
    ("stored", "namespace"),
    ("stored", "bytes"),
    ("stored", "slot"),
    ("revisions", "last"),
    ("deleted_runs", "highest"),
    ("documents", "id"),
    ("logs", "run"),
    ("letters", "run"),
    ("letters", "id"),
    ("notices", "run_id"),
    ("entries", "id"),
    ("entries", "shelf"),
    ("hosts", "host"),
    ("hosts", "until"),
];

fn log(run: usize) -> AttemptLog {
    let text = format!("info {run}\n").into_bytes();
    AttemptLog { task: 1, attempt: 1, dispatch: 1, cut: 3, text, damaged: false }
}

fn entry_name(shelf: CatalogKind, name: &str) -> EntryName {
    EntryName { shelf, namespace: "default".into(), name: name.into() }
}

/// Writes to each table.
pub(super) async fn fill(store: &dyn Store) {
    for (run, id) in RUNS.iter().enumerate() {
        let labels = [("team".into(), format!("t{run}").into())].into();
        let head = RunHead { key: Some(format!("k{run}").into()), labels, ..(*head(id)).clone() };
        let lease = Lease::first(Arc::new(head), here());
        let document = super::super::Document {
            digest: format!("digest {run}").into(),
            bytes: Arc::from(format!("document {run}").as_bytes()),
            components: Vec::new(),
        };
        let notice = |seq, endpoint: &str| NewNotice {
            seq,
            endpoint: endpoint.into(),
            due: Timestamp(5),
            body: format!("notice {run}").into(),
        };
        let body = || Arc::new(format!("body {run}").into_bytes()) as Arc<dyn Encode>;
        let first = Record {
            document: Some(Arc::new(document)),
            notices: vec![notice(0, "chat"), notice(0, "mail")],
            ..record(0, 1, body())
        };
        store.append(&lease, RUNNING, first, Vec::new()).await.unwrap();
        let letter = store.post(id, format!("letter {run}").into_bytes()).await.unwrap();
        let replies = vec![Reply { letter, body: Arc::from(b"reply".as_slice()) }];
        let second = Record { logs: vec![log(run)], ..record(1, 1, body()) };
        store.append(&lease, RUNNING, second, replies).await.unwrap();
        if *id != "open" {
            store.append(&lease, SUCCEEDED, record(2, 1, body()), Vec::new()).await.unwrap();
        } else {
            store.post(id, b"waits".to_vec()).await.unwrap();
        }
    }
    for (shelf, name) in [
        (CatalogKind::Schedules, "nightly"),
        (CatalogKind::Schedules, "hourly"),
        (CatalogKind::Workflows, "build"),
    ] {
        let text = Text { digest: name.into(), size: 4, bytes: Some(Arc::from(name.as_bytes())) };
        let change = Change {
            name: entry_name(shelf, name),
            from: 0,
            due: Some(Timestamp(7)),
            body: format!("body of {name}").into(),
            texts: Some(vec![text]),
        };
        store.change(change).await.unwrap();
    }
    store.keep_tenants("tenants".into()).await.unwrap();
}

type ReadJournal = Result<Vec<Record<Vec<u8>>>, StoreError>;

/// All that is read of a store. A part that cannot be read is an error by itself.
#[derive(Debug)]
pub(super) struct Seen {
    rows: BTreeMap<u64, RunRow>,
    journals: BTreeMap<&'static str, ReadJournal>,
    logs: BTreeMap<&'static str, Vec<AttemptLog>>,
    notices: BTreeMap<&'static str, Vec<NoticeRow>>,
    entries: Vec<CatalogEntry>,
    answers: BTreeMap<u64, Result<Answer, StoreError>>,
    /// Numbers of the runs that a filter finds: by label, and by namespace.
    found: Vec<(&'static str, Vec<u64>)>,
    tenants: Result<Option<Arc<str>>, StoreError>,
}

pub(super) async fn see(store: &dyn ReadStore) -> Seen {
    let rows = store.list(Filter::default(), 99).await.unwrap();
    let mut seen = Seen {
        rows: rows.into_iter().map(|row| (row.number, row)).collect(),
        journals: BTreeMap::new(),
        logs: BTreeMap::new(),
        notices: BTreeMap::new(),
        entries: Vec::new(),
        answers: BTreeMap::new(),
        found: Vec::new(),
        tenants: store.tenants().await,
    };
    for id in RUNS {
        seen.journals.insert(id, store.load(id).await);
        seen.logs.insert(id, store.logs(id, None).await.unwrap());
        let wanted = Notices { run_id: id.into(), endpoint: None, before: None, limit: 99 };
        seen.notices.insert(id, store.notices(wanted).await.unwrap());
    }
    for (letter, id) in (1..).zip(RUNS.into_iter().chain(["open"])) {
        seen.answers.insert(letter, store.answer(id, letter).await);
    }
    for shelf in CatalogKind::ALL {
        let wanted = EntryQuery { shelf, namespace: None, after: None, limit: 99 };
        seen.entries.extend(store.entries(wanted).await.unwrap());
    }
    for team in ["t0", "t1", "t2", "t3"] {
        let label = Some(("team".into(), team.into()));
        for namespaces in [Vec::new(), vec!["default".into()]] {
            let filter = Filter { label: label.clone(), namespaces, ..Filter::default() };
            let rows = store.list(filter, 99).await.unwrap();
            // A damaged run is shown as such.
            let rows = rows.into_iter().filter(|row| row.damaged.is_none());
            seen.found.push((team, rows.map(|row| row.number).collect()));
        }
    }
    store.open_runs().await.unwrap();
    store.census(Timestamp(9)).await.unwrap();
    seen
}

fn bare(records: &[Record<Vec<u8>>]) -> Vec<Record<Vec<u8>>> {
    records.iter().map(|record| Record { document: None, ..record.clone() }).collect()
}

/// Compares what is read of a changed store with what was written. Returns how many values were found to be damaged.
pub(super) fn compare(what: &str, written: &Seen, read: &Seen) -> usize {
    let mut damaged = 0;
    assert_eq!(read.rows.len(), written.rows.len(), "{what}: {read:?}");
    for (number, row) in &read.rows {
        if row.damaged.is_some() {
            damaged += 1;
        } else {
            assert_eq!(Some(row), written.rows.get(number), "{what}");
        }
    }
    assert!(damaged <= 1, "{what}: {read:?}");
    for (id, records) in &read.journals {
        match (records, written.journals.get(id)) {
            // Readers compare documents with the digests that the events have.
            (Ok(records), Some(Ok(before))) => assert_eq!(bare(records), bare(before), "{what}"),
            (Err(StoreError::Corrupt { .. } | StoreError::NotFound { .. }), _) => damaged += 1,
            (other, _) => panic!("{what}: {other:?}"),
        }
    }
    for (id, logs) in &read.logs {
        for (log, before) in logs.iter().zip(&written.logs[id]) {
            assert!(log.damaged || log == before, "{what}: {log:?}");
            damaged += usize::from(log.damaged);
        }
    }
    for (id, notices) in &read.notices {
        for notice in notices {
            assert!(notice.damaged || written.notices[id].contains(notice), "{what}: {notice:?}");
            damaged += usize::from(notice.damaged);
        }
    }
    for entry in &read.entries {
        assert!(entry.damaged || written.entries.contains(entry), "{what}: {entry:?}");
        damaged += usize::from(entry.damaged);
    }
    // A filter may miss a run, and shows none that does not fit it.
    for ((team, found), (_, before)) in read.found.iter().zip(&written.found) {
        assert!(
            before.len() == 1 && found.iter().all(|number| before.contains(number)),
            "{what}: {team} {found:?}"
        );
    }
    for (letter, answer) in &read.answers {
        match (answer, &written.answers[letter]) {
            (Ok(Answer::Unknown) | Err(StoreError::Corrupt { .. }), _) => damaged += 1,
            (Ok(answer), Ok(before)) => assert_eq!(answer, before, "{what}"),
            (other, _) => panic!("{what}: {other:?}"),
        }
    }
    damaged + usize::from(read.tenants.is_err())
}

/// Hosts go on: no entry, notice or run that they act on is a damaged one, and all others are deleted in time.
async fn act(what: &str, store: &dyn Store, written: &Seen) {
    for entry in store.due_entries(None, 99).await.unwrap() {
        assert!(written.entries.contains(&entry), "{what}: {entry:?}");
    }
    for endpoint in ["chat", "mail"] {
        for notice in store.due_notices(endpoint, 99).await.unwrap() {
            assert!(written.notices.values().flatten().any(|before| *before == notice), "{what}: {notice:?}");
        }
    }
    let (sound, damaged): (Vec<_>, Vec<_>) =
        store.list(Filter::default(), 99).await.unwrap().into_iter().partition(|row| row.damaged.is_none());
    let retention = Retention { others: Keep { count: Some(0), age: None }, ..Retention::default() };
    let PruneResult { deleted, left } =
        prune(store, &retention, Timestamp(3000), &HostArtifacts::default()).await.unwrap();
    assert!(left.iter().all(|row| damaged.contains(row)), "{what}: {left:?}");
    let ended = sound.iter().filter(|row| !row.status.open).count();
    assert_eq!(deleted, ended as u64, "{what}: {left:?} {damaged:?}");
    let rest = store.list(Filter::default(), 99).await.unwrap();
    assert_eq!(rest.len(), sound.len() + damaged.len() - ended, "{what}: {rest:?}");
    // A damaged run can be abandoned, if it can be named, and is then deleted as others are.
    for row in damaged.iter().filter(|row| !row.head.run_id.contains('\u{fffd}')) {
        let id = &row.head.run_id;
        let wanted =
            ClaimRequest { host: "next".into(), now: Timestamp(1000), limit: 99, except: Vec::new() };
        store.heartbeat(&here(), Timestamp(0)).await.unwrap();
        store.claim(wanted).await.unwrap();
        if let super::super::Claim::Leased(lease) =
            store.claim_run(&"next".into(), id, Timestamp(1000)).await.unwrap()
        {
            let abandoned = store.abandon(&lease, Timestamp(1), Vec::new()).await;
            assert!(abandoned.is_ok(), "{what}: {abandoned:?}");
            assert_eq!(store.get(id).await.unwrap().unwrap().damaged, None, "{what}");
            assert!(store.delete(id).await.unwrap(), "{what}");
        } else {
            panic!("{what}: {id} cannot be claimed");
        }
    }
}

/// The value with one bit changed, each time another.
fn flipped(value: &Value) -> Vec<Value> {
    let bytes = |bytes: &[u8]| {
        let bits = [(0, 1), (bytes.len().saturating_sub(1), 0x80)];
        let flip = |(at, bit): (usize, u8)| {
            let mut changed = bytes.to_vec();
            *changed.get_mut(at)? ^= bit;
            Some(changed)
        };
        bits.into_iter().filter_map(flip).collect::<Vec<_>>()
    };
    match value {
        Value::Integer(number) => vec![Value::Integer(number ^ 1), Value::Integer(number ^ (1 << 40))],
        // Bound as bytes, and cast: the text may be none.
        Value::Text(text) => bytes(text.as_bytes()).into_iter().map(Value::Blob).collect(),
        Value::Blob(blob) => bytes(blob).into_iter().map(Value::Blob).collect(),
        Value::Null | Value::Real(_) => Vec::new(),
    }
}

struct Flip {
    table: String,
    column: String,
    row: i64,
    value: Value,
    is_text: bool,
}

/// Every value of every table with another bit.
fn flips(path: &Path) -> Vec<Flip> {
    let connection = Connection::open(path).unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut names = connection.prepare(names).unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut all = Vec::new();
    for table in names.into_iter().filter(|name| name != "readers") {
        let mut rows = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns: Vec<String> = rows.column_names().map(str::to_owned).collect();
        let mut rows = rows.query([]).unwrap();
        let mut number = 0;
        while let Some(row) = rows.next().unwrap() {
            for (index, column) in columns.iter().enumerate() {
                let value: Value = row.get(index).unwrap();
                let is_text = matches!(value, Value::Text(_));
                let flipped = flipped(&value).into_iter();
                all.extend(flipped.map(|value| {
                    let (table, column) = (table.clone(), column.clone());
                    Flip { table, column, row: number, value, is_text }
                }));
            }
            number += 1;
        }
    }
    all
}

impl Flip {
    /// Changes the value in a file; false if no such value can be written.
    fn apply(&self, path: &Path) -> bool {
        let Self { table, column, row, value, is_text } = self;
        let connection = Connection::open(path).unwrap();
        let mut keys = connection
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0"))
            .unwrap();
        let keys: Vec<String> = keys.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let keys = if keys.is_empty() { "rowid".to_owned() } else { keys.join(", ") };
        let value = value.clone();
        let to = if *is_text { "CAST(?1 AS TEXT)" } else { "?1" };
        let changed = connection.execute(
            &format!(
                "UPDATE {table} SET {column} = {to}
                 WHERE ({keys}) IN (SELECT {keys} FROM (SELECT * FROM {table}) LIMIT 1 OFFSET {row})"
            ),
            [value],
        );
        matches!(changed, Ok(1))
    }
}

/// Whether a change of that column has to be found.
fn is_checked(table: &str, column: &str) -> bool {
    // Readers compare documents, components and texts with their digests.
    let has_digest = ["documents", "components", "texts"].contains(&table);
    // An ended run needs no lease.
    let is_lease = ["epoch", "owner", "wake_at", "note", "noted_at", "lease_checksum"].contains(&column);
    !has_digest && !is_lease && !UNCHECKED.contains(&(table, column))
}

/// R-H5.
#[tokio::test]
async fn a_changed_value_of_any_column_is_named_and_harms_no_other() {
    let (dir, store) = in_file();
    fill(&store).await;
    let path = store.path();
    drop(store);
    let copy = dir.path().join("copy.db");
    let open = |path: &Path| Sqlite::open_with(path, Migration::Refuse).unwrap();
    drop(open(&path));
    let written = see(&open(&path)).await;
    assert!(written.rows.values().all(|row| row.damaged.is_none()));
    let mut believed = Vec::new();
    let mut count = 0;
    for flip in flips(&path) {
        fs::copy(&path, &copy).unwrap();
        if !flip.apply(&copy) {
            continue;
        }
        let what = format!("{}.{} of row {} is {:?}", flip.table, flip.column, flip.row, flip.value);
        let store = open(&copy);
        let read = see(&store).await;
        let found = compare(&what, &written, &read);
        if found == 0 && is_checked(&flip.table, &flip.column) {
            believed.push(what.clone());
        }
        act(&what, &store, &written).await;
        count += 1;
    }
    assert!(count > 300, "{count}");
    assert_eq!(believed, Vec::<String>::new());
}

/// R-H5.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_changed_value_of_any_column_of_a_database_is_named_and_harms_no_other() {
    let Some(server) = server::server() else { return };
    let url = postgres::fresh(server);
    let store = postgres::opened(&url);
    fill(&store).await;
    let schema = postgres::schema(&url);
    let sql = |sql: &str| server.psql(&format!("SET search_path = {schema}; {sql}"));
    for (table, column) in [("runs", "number"), ("documents", "id"), ("letters", "id")] {
        sql(&format!("ALTER TABLE {table} ALTER COLUMN {column} SET GENERATED BY DEFAULT"));
    }
    let columns = sql(&format!(
        "SELECT table_name, column_name, data_type FROM information_schema.columns
         WHERE table_schema = '{schema}' AND table_name NOT IN ('store_format', 'hosts', 'offers', 'reports', 'stops', 'rooms')
         ORDER BY 1, ordinal_position"
    ));
    let columns: Vec<Vec<&str>> = columns.lines().skip(1).map(|line| line.split('|').collect()).collect();
    let tables: std::collections::BTreeSet<&str> = columns.iter().map(|column| column[0]).collect();
    let saved = tables.iter().map(|table| format!("CREATE TABLE saved_{schema}.{table} AS TABLE {table};"));
    sql(&format!("CREATE SCHEMA saved_{schema}; {}", saved.collect::<String>()));
    let restored: String = tables
        .iter()
        .map(|table| {
            format!(
                "TRUNCATE {table}; INSERT INTO {table} OVERRIDING SYSTEM VALUE TABLE saved_{schema}.{table};"
            )
        })
        .collect();
    let written = see(&store).await;
    let (mut believed, mut count) = (Vec::new(), 0);
    for column in &columns {
        let (table, name) = (column[0], column[1]);
        let to = match column[2] {
            "bigint" => format!("{name} # (1::bigint << 40)"),
            "text" => format!("overlay({name} PLACING '~' FROM 1 FOR 1)"),
            "bytea" => format!("set_byte({name}, 0, get_byte({name}, 0) # 1)"),
            "boolean" => format!("NOT {name}"),
            other => panic!("{other}"),
        };
        let changed = sql(&format!(
            "WITH changed AS (UPDATE {table} SET {name} = {to}
                 WHERE ctid = (SELECT min(ctid) FROM {table} WHERE {name} IS NOT NULL) RETURNING 1)
             SELECT count(*) FROM changed"
        ));
        if !changed.ends_with('1') {
            continue;
        }
        let what = format!("{table}.{name}");
        let found = compare(&what, &written, &see(&store).await);
        if found == 0 && is_checked(table, name) {
            believed.push(what.clone());
        }
        act(&what, &store, &written).await;
        sql(&restored);
        count += 1;
    }
    assert!(count > 50, "{count}");
    assert_eq!(believed, Vec::<String>::new());
}
