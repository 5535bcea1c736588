//! Batches, closing, and what happens when writing fails.

use super::super::Journal;
use super::{super::Migration, *};

#[tokio::test]
async fn closing_waits_for_all_that_was_queued() {
    let (dir, store) = in_file();
    let path = store.path();
    let answers: Vec<_> = (0..5000).map(|seq| append(&store, "a", seq, b"x")).collect();
    drop(store);
    for answer in answers {
        answer.await.unwrap();
    }
    let names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "the log is folded into the file: {names:?}");
    assert_eq!(seqs(&Sqlite::open(path).unwrap(), "a").await.len(), 5000);
}

#[tokio::test]
async fn a_store_goes_on_where_it_was_closed() {
    let (_dir, store) = in_file();
    let path = store.path();
    append(&store, "a", 0, b"x").await.unwrap();
    append(&store, "b", 0, b"x").await.unwrap();
    drop(store);
    let store = Sqlite::open(path).unwrap();
    assert_eq!(conflict(append(&store, "a", 0, b"again").await), (0, 1));
    append(&store, "a", 1, b"y").await.unwrap();
    append(&store, "c", 0, b"z").await.unwrap();
    assert_eq!(seqs(&store, "a").await, [0, 1]);
    let numbers: Vec<_> = store.open_runs().await.unwrap().iter().map(|row| row.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

/// Jobs that are queued while the gate is shut share one transaction.
#[tokio::test]
async fn a_refused_record_does_not_harm_those_it_shares_a_commit_with() {
    let (_dir, store) = in_file();
    let (gate, body) = gated();
    let held = store.put(head("a"), RUNNING, record(0, 1, body));
    let behind = append(&store, "b", 0, b"x");
    let refused = append(&store, "b", 5, b"x");
    let after = append(&store, "b", 1, b"x");
    gate.send(()).unwrap();
    held.await.unwrap();
    behind.await.unwrap();
    assert_eq!(conflict(refused.await), (5, 1));
    after.await.unwrap();
    assert_eq!(seqs(&store, "b").await, [0, 1]);
}

/// R-Q9: also where it begins and goes in one transaction.
#[tokio::test]
async fn what_goes_with_the_commit_it_came_with_is_not_counted() {
    let (_dir, store) = in_file();
    let (gate, body) = gated();
    let held = store.put(head("a"), SUCCEEDED, record(0, 1, body));
    let deleted = store.delete("a");
    gate.send(()).unwrap();
    held.await.unwrap();
    assert!(deleted.await.unwrap());
    assert_eq!(store.stored(Vec::new()).await.unwrap(), [].into());
}

#[tokio::test]
async fn readers_see_only_what_is_committed_and_never_wait_for_the_writer() {
    let (_dir, store) = in_file();
    append(&store, "a", 0, b"x").await.unwrap();
    let (gate, body) = gated();
    let held = store.put(head("a"), RUNNING, record(1, 1, body));
    assert_eq!(seqs(&store, "a").await, [0]);
    gate.send(()).unwrap();
    held.await.unwrap();
    assert_eq!(seqs(&store, "a").await, [0, 1]);
}

#[tokio::test]
async fn a_full_disk_fails_the_commit_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.db");
    let store = Sqlite::open_within(&path, Some(64), Migration::Refuse).unwrap();
    append(&store, "a", 0, b"before").await.unwrap();
    let (gate, body) = gated();
    let held = store.put(head("a"), RUNNING, record(1, 1, body));
    let neighbour = append(&store, "new", 0, b"x");
    let large = append(&store, "b", 0, &[7; 1 << 20]);
    gate.send(()).unwrap();
    for answer in [held, neighbour, large] {
        let error = answer.await.err().unwrap();
        assert!(matches!(&error, StoreError::Full { .. }), "{error:?}");
    }
    assert_eq!(seqs(&store, "a").await, [0]);
    assert_eq!(store.get("new").await.unwrap(), None);

    append(&store, "a", 1, b"after").await.unwrap();
    assert_eq!(conflict(append(&store, "new", 1, b"").await), (1, 0));
    drop(store);
    let roomy = Sqlite::open(&path).unwrap();
    assert_eq!(seqs(&roomy, "a").await, [0, 1]);
    append(&roomy, "b", 0, &[7; 1 << 20]).await.unwrap();
}

#[tokio::test]
async fn filling_the_disk_loses_nothing_that_was_acknowledged() {
    let (dir, limit) = (tempfile::tempdir().unwrap(), Some(256));
    let store = Sqlite::open_within(&dir.path().join("runs.db"), limit, Migration::Refuse).unwrap();
    let mut kept = 0;
    let error = loop {
        match append(&store, "a", kept, &[1; 3000]).await {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(kept > 100 && matches!(error, StoreError::Full { .. }), "{kept} {error:?}");
    assert!(matches!(append(&store, "a", kept, &[1; 30000]).await, Err(StoreError::Full { .. })));
    let path = store.path();
    drop(store);
    assert_eq!(seqs(&Sqlite::open(path).unwrap(), "a").await, Vec::from_iter(0..kept));
}

/// Claims a size without holding one.
struct Huge;

impl Encode for Huge {
    fn encode(&self, buffer: &mut Vec<u8>) {
        buffer.resize((256 << 20) + 1, 0);
    }
}

#[tokio::test]
async fn a_record_over_the_limit_is_refused_and_creates_no_run() {
    let (_dir, store) = in_file();
    match store.put(head("a"), RUNNING, record(0, 1, Arc::new(Huge))).await {
        Err(StoreError::TooLarge { run_id, size, limit }) => {
            assert_eq!((&*run_id, size - limit), ("a", 1));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(store.get("a").await.unwrap(), None);
    append(&store, "a", 0, b"").await.unwrap();
}

struct Panics;

impl Encode for Panics {
    fn encode(&self, _: &mut Vec<u8>) {
        panic!("on purpose");
    }
}

#[tokio::test]
async fn a_writer_that_panics_leaves_nobody_waiting_and_nothing_half_written() {
    let (_dir, store) = in_file();
    let path = store.path();
    append(&store, "a", 0, b"x").await.unwrap();
    let (gate, body) = gated();
    let held = store.put(head("a"), RUNNING, record(1, 1, body));
    let panics = store.put(head("a"), RUNNING, record(2, 1, Arc::new(Panics)));
    let behind = append(&store, "b", 0, b"x");
    gate.send(()).unwrap();
    for answer in [held, panics, behind, append(&store, "c", 0, b"x")] {
        assert!(matches!(answer.await, Err(StoreError::Stopped)));
    }
    assert_eq!(seqs(&store, "a").await, [0]);
    drop(store);
    assert_eq!(seqs(&Sqlite::open(path).unwrap(), "a").await, [0]);
}

#[tokio::test]
async fn a_run_changed_from_outside_is_not_advanced() {
    let (_dir, store) = in_file();
    append(&store, "a", 0, b"x").await.unwrap();
    let outside = rusqlite::Connection::open(store.path()).unwrap();
    outside.execute("UPDATE runs SET seq = 7", []).unwrap();
    let error = append(&store, "a", 1, b"x").await.err().unwrap();
    assert!(error.to_string().contains("run number 1 was changed from outside"), "{error}");
    assert_eq!(conflict(append(&store, "a", 1, b"x").await), (1, 7), "what was known is read again");
}
