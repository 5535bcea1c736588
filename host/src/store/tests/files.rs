//! Which files are taken for a store, and who may have one.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

use rusqlite::Connection;

use super::{
    super::{ClaimRequest, Journal, Leases, Rest},
    *,
};

/// A directory with one file in it.
fn holding(bytes: &[u8]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("some.file");
    fs::write(&path, bytes).unwrap();
    (dir, path)
}

/// A store that was closed, and then changed behind Phasm's back.
async fn tampered(sql: &str) -> (TempDir, PathBuf) {
    let (dir, store) = in_file();
    for seq in 0..3 {
        append(&store, "a", seq, b"body").await.unwrap();
    }
    let path = store.path();
    drop(store);
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    (dir, path)
}

fn refused(path: &Path) -> StoreError {
    Sqlite::open(path).err().unwrap()
}

fn names(dir: &TempDir) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_no_store_is_named_and_left_as_it_was() {
    let rows: [(&[u8], &str); 5] = [
        (b"x", "it is not an SQLite file"),
        (b"SQLite format 3\0", "it is not an SQLite file"),
        (b"SQLite format 3\0 and then nothing of the kind", "it is not an SQLite file"),
        (&[b'#'; 5000], "it is not an SQLite file"),
        (&[0; 8192], "it is not an SQLite file"),
    ];
    for (bytes, found) in rows {
        let (dir, path) = holding(bytes);
        let message = refused(&path).to_string();
        assert!(message.contains("some.file is not a Phasm store") && message.contains(found), "{message}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(names(&dir), ["some.file"]);
    }
}

#[test]
fn another_applications_database_is_left_as_it_was() {
    for sql in ["CREATE TABLE t (x)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"] {
        let (dir, path) = holding(b"");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let before = fs::read(&path).unwrap();
        let message = refused(&path).to_string();
        assert!(message.contains("an SQLite file of another application"), "{sql}: {message}");
        assert_eq!(fs::read(&path).unwrap(), before, "{sql}");
        assert_eq!(names(&dir), ["some.file"], "{sql}");
    }
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let (_dir, path) = holding(b"");
    let store = Sqlite::open(&path).unwrap();
    append(&store, "a", 0, b"").await.unwrap();
}

#[test]
fn a_later_format_is_left_alone() {
    let (_dir, store) = in_file();
    let path = store.path();
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 4).unwrap();
    connection.execute("UPDATE readers SET minimum = 4", []).unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let error = refused(&path);
    assert!(matches!(error, StoreError::Newer { found: 4, known: 3, .. }), "{error:?}");
    assert!(error.to_string().contains("runs.db needs store format 4 or later"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// A store of a development version is refused with a message that says so, and stays as it is.
#[test]
fn a_store_of_a_development_version_is_refused() {
    let (_dir, store) = in_file();
    let path = store.path();
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "application_id", 0x5048_534d).unwrap();
    connection.pragma_update(None, "user_version", 9).unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let error = refused(&path).to_string();
    let expected = "it was written by a development version of Phasm before 0.1.0, which this version does not read; name another file";
    assert!(error.contains(expected), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// A process that opens a file whose owner has not made its tables yet waits for them.
#[test]
fn a_file_whose_tables_are_being_made_is_waited_for() {
    let (dir, path) = holding(b"");
    thread::scope(|scope| {
        let beside = scope.spawn(|| Sqlite::beside(&path).map(drop));
        let reader = scope.spawn(|| SqliteReader::open(&path).map(drop));
        let _owner = Sqlite::open(&path).unwrap();
        beside.join().unwrap().unwrap();
        reader.join().unwrap().unwrap();
    });
    drop(dir);
}

/// A process that submits next to the holder of a file takes no runs from it, and its unfinished work is found.
#[tokio::test]
async fn submitting_beside_the_holder_disturbs_nobody() {
    let (_dir, store) = in_file();
    let resting = RunStatus { rest: Some(Rest { parked: true, until: None }), ..RUNNING };
    let body = || Arc::new(Vec::new()) as Arc<dyn Encode>;
    store.heartbeat(&here(), Timestamp(i64::MAX)).await.unwrap();
    store.put(head("mine"), resting, record(0, 1, body())).await.unwrap();
    let beside = Sqlite::beside(store.path()).unwrap();
    let theirs = Lease::first(head("theirs"), "beside".into());
    beside.append(&theirs, RUNNING, record(0, 1, body()), Vec::new()).await.unwrap();
    drop(beside);
    append(&store, "mine", 1, b"on").await.unwrap();
    let wanted = ClaimRequest { host: here(), now: Timestamp(0), limit: 9, except: Vec::new() };
    let claimed = store.claim(wanted).await.unwrap();
    assert_eq!(claimed.iter().map(|lease| &*lease.head.run_id).collect::<Vec<_>>(), ["theirs"]);
}

#[tokio::test]
async fn a_store_without_its_tables_is_damaged() {
    for sql in [
        "DROP TABLE journal",
        "DROP TABLE runs",
        "ALTER TABLE runs DROP COLUMN seq",
        "PRAGMA user_version = 0",
    ] {
        let (_dir, path) = tampered(sql).await;
        let error = refused(&path);
        assert!(matches!(error, StoreError::Corrupt { .. }), "{sql}: {error:?}");
    }
}

/// R-H5.
#[tokio::test]
async fn a_journal_that_contradicts_itself_is_not_loaded() {
    let rows = [
        ("DELETE FROM journal WHERE id = 2", "record 2 of run a is missing"),
        ("UPDATE journal SET run = 9 WHERE id = 3", "record 3 of run a is missing"),
        ("UPDATE journal SET events = 2 WHERE id = 2", "record 2 of run a is damaged: its checksum differs"),
        (
            "UPDATE journal SET first_seq = 0 WHERE id = 2",
            "record 2 of run a is damaged: its checksum differs",
        ),
        ("UPDATE journal SET previous = 3 WHERE id = 1", "record 3 of run a ends before event 3, not 0"),
        ("UPDATE journal SET previous = NULL WHERE id = 2", "run a has no events before 1"),
        (
            "UPDATE journal SET body = x'626f6478' WHERE id = 2",
            "record 2 of run a is damaged: its checksum differs",
        ),
        ("UPDATE journal SET time = 9 WHERE id = 1", "record 1 of run a is damaged: its checksum differs"),
        ("UPDATE runs SET last_record = NULL", "the row of run a is damaged: its checksum differs"),
        ("UPDATE runs SET last_record = 2", "the row of run a is damaged: its checksum differs"),
        ("UPDATE runs SET seq = 4", "the row of run a is damaged: its checksum differs"),
        ("UPDATE runs SET seq = -1", "the row of run a is damaged: its checksum differs"),
        ("UPDATE journal SET events = 0 WHERE id = 1", "0"),
        ("UPDATE journal SET first_seq = -1 WHERE id = 1", "-1"),
    ];
    for (sql, found) in rows {
        let (_dir, path) = tampered(sql).await;
        let store = Sqlite::open(&path).unwrap();
        match store.load("a").await {
            Err(StoreError::Corrupt { found: message, .. }) => {
                assert!(message.contains(found), "{sql}: {message}");
            }
            other => panic!("{sql}: {other:?}"),
        }
        append(&store, "b", 0, b"").await.unwrap();
        assert_eq!(seqs(&store, "b").await, [0], "{sql}: other runs go on");
    }
}

#[tokio::test]
async fn damaged_pages_are_found_when_they_are_read() {
    let (_dir, path) = tampered("").await;
    let mut bytes = fs::read(&path).unwrap();
    // Beyond the first page, which says what the file is.
    bytes[4096..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    let error = refused(&path);
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    // The description of the tables may have pages of its own.
    let found = match SqliteReader::open(&path) {
        Ok(reader) => reader.load("a").await.err().unwrap(),
        Err(error) => error,
    };
    assert!(matches!(found, StoreError::Corrupt { .. }), "{found:?}");
}

#[tokio::test]
async fn a_truncated_store_is_damaged() {
    let (_dir, path) = tampered("").await;
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
    let opened = Sqlite::open(&path);
    let found = match opened {
        Ok(store) => store.load("a").await.err().unwrap(),
        Err(error) => error,
    };
    assert!(matches!(found, StoreError::Corrupt { .. }), "{found:?}");
}

#[test]
fn a_second_handle_is_kept_out_under_every_name() {
    let (dir, store) = in_file();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(store.path(), &link).unwrap();
    let dotted = dir.path().join(".").join("runs.db");
    for name in [&store.path(), &link, &dotted] {
        let error = refused(name);
        let by = format!("runs.db is in use by process {}", std::process::id());
        assert!(error.to_string().contains(&by), "{error}");
        assert!(SqliteReader::open(name).unwrap().is_held(), "{}", name.display());
    }
    drop(store);
    assert!(!SqliteReader::open(&link).unwrap().is_held());
    Sqlite::open(link).unwrap();
}

#[tokio::test]
async fn being_refused_does_not_disturb_the_one_who_holds_it() {
    let (_dir, store) = in_file();
    append(&store, "a", 0, b"").await.unwrap();
    refused(&store.path());
    append(&store, "a", 1, b"").await.unwrap();
    assert_eq!(seqs(&store, "a").await, [0, 1]);
}

#[test]
fn a_lock_file_left_by_a_dead_process_is_taken_over() {
    for left in ["", "4711\n", "not a number, and longer than one would think"] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("runs.db.lock"), left).unwrap();
        let store = Sqlite::open(dir.path().join("runs.db")).unwrap();
        let pid = fs::read_to_string(dir.path().join("runs.db.lock")).unwrap();
        assert_eq!(pid, format!("{}\n", std::process::id()));
        drop(store);
    }
}

#[test]
fn paths_that_cannot_hold_a_store_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let dangling = dir.path().join("dangling");
    std::os::unix::fs::symlink(dir.path().join("nowhere/x"), &dangling).unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let rows = [
        (dir.path().join("none/runs.db"), "none/runs.db cannot be created, as its directory does not exist"),
        (dir.path().join("file/runs.db"), "file/runs.db cannot be opened or created"),
        (dir.path().to_path_buf(), "it is a directory"),
        (PathBuf::from("/dev/null"), "it is not a regular file"),
        (dangling, "dangling cannot be created, as its directory does not exist"),
        (PathBuf::new(), "cannot be created"),
    ];
    for (path, expected) in rows {
        let message = refused(&path).to_string();
        assert!(message.contains(expected), "{}: {message}", path.display());
    }
    assert_eq!(names(&dir), ["dangling", "file"]);
}

#[tokio::test]
async fn only_the_owner_may_read_what_a_run_said() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, store) = in_file();
    append(&store, "a", 0, b"").await.unwrap();
    assert_eq!(names(&dir), ["runs.db", "runs.db-shm", "runs.db-wal", "runs.db.lock"]);
    for entry in fs::read_dir(&dir).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", entry.path().display());
    }
}

#[tokio::test]
async fn names_that_mean_something_to_sqlite_are_names_of_files() {
    let dir = tempfile::tempdir().unwrap();
    for name in [":memory:", "file:runs?mode=memory", "a b%20'\"größer.db"] {
        let store = Sqlite::open(dir.path().join(name)).unwrap();
        append(&store, "a", 0, b"").await.unwrap();
        drop(store);
        let store = Sqlite::open(dir.path().join(name)).unwrap();
        assert_eq!(seqs(&store, "a").await, [0], "{name}");
    }
}

/// Reading works next to the holder, after the file was closed, and after its process died with the log still unfolded.
#[tokio::test]
async fn a_reader_sees_what_is_durable_and_is_in_nobodys_way() {
    let (_dir, store) = in_file();
    let path = store.path();
    append(&store, "a", 0, b"x").await.unwrap();
    let reader = SqliteReader::open(&path).unwrap();
    assert_eq!(reader.load("a").await.unwrap().len(), 1);
    append(&store, "a", 1, b"y").await.unwrap();
    assert_eq!(reader.load("a").await.unwrap().len(), 2);
    let dead = tempfile::tempdir().unwrap();
    for file in ["runs.db", "runs.db-wal"] {
        fs::copy(path.with_file_name(file), dead.path().join(file)).unwrap();
    }
    let left = SqliteReader::open(dead.path().join("runs.db")).unwrap();
    assert_eq!(left.load("a").await.unwrap().len(), 2);
    drop(store);
    assert_eq!(reader.get("a").await.unwrap().map(|row| row.seq), Some(2));
    let store = Sqlite::open(&path).unwrap();
    append(&store, "b", 0, b"").await.unwrap();
    assert_eq!(reader.open_runs().await.unwrap().len(), 2);
    drop(store);
    drop(reader);
    let reader = SqliteReader::open(&path).unwrap();
    assert_eq!(reader.list(Filter::default(), 9).await.unwrap().len(), 2);
    Sqlite::open(&path).unwrap();
}

#[test]
fn a_reader_creates_nothing_and_takes_no_other_file() {
    let (dir, path) = holding(b"x");
    let none = dir.path().join("none.db");
    let message = SqliteReader::open(&none).err().unwrap().to_string();
    assert!(message.ends_with("none.db cannot be opened"), "{message}");
    let empty = dir.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    for (path, found) in [(&path, "it is not an SQLite file"), (&empty, "it is empty")] {
        let message = SqliteReader::open(path).err().unwrap().to_string();
        assert!(message.contains("is not a Phasm store") && message.contains(found), "{message}");
    }
    assert_eq!(names(&dir), ["empty.db", "some.file"]);
}

/// R-H17: a file that is pruned gets smaller, and a run whose journal is broken leaves nothing behind either.
#[tokio::test]
async fn what_is_deleted_gives_its_room_back() {
    let (_dir, store) = in_file();
    let path = store.path();
    for run in 0..200 {
        append(&store, &run.to_string(), 0, &[7; 5000]).await.unwrap();
        let (head, over) = (head(&run.to_string()), record(1, 1, Arc::new(Vec::new()) as _));
        store.put(head, SUCCEEDED, over).await.unwrap();
    }
    drop(store);
    let before = fs::metadata(&path).unwrap().len();
    Connection::open(&path)
        .unwrap()
        .execute("UPDATE journal SET previous = 1 WHERE run = 3 AND first_seq = 1", [])
        .unwrap();
    let store = Sqlite::open(&path).unwrap();
    for run in 0..199 {
        assert!(store.delete(&run.to_string()).await.unwrap());
    }
    while store.give_back().await.unwrap() {}
    drop(store);
    let after = fs::metadata(&path).unwrap().len();
    assert!(before > 1_000_000 && after < 200_000, "{before} {after}");
    let left = Connection::open(&path)
        .unwrap()
        .query_one("SELECT count(*) FROM journal", [], |row| row.get::<_, i64>(0));
    assert_eq!(left.unwrap(), 2);
}

/// A copy is a store of its own, made while others write; no file is written over.
#[tokio::test]
async fn a_copy_is_made_while_others_write() {
    let (dir, store) = in_file();
    append(&store, "a", 0, b"x").await.unwrap();
    let reader = SqliteReader::open(store.path()).unwrap();
    let (gate, body) = gated();
    let held = store.put(head("a"), RUNNING, record(1, 1, body));
    let copy = dir.path().join("copy.db");
    reader.backup(&copy).await.unwrap();
    gate.send(()).unwrap();
    held.await.unwrap();
    assert!(matches!(reader.backup(&copy).await, Err(StoreError::Io { .. })));
    assert_eq!(seqs(&store, "a").await, [0, 1]);
    let copied = Sqlite::open(&copy).unwrap();
    assert_eq!(seqs(&copied, "a").await, [0]);
    append(&copied, "a", 1, b"other").await.unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&copy).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

/// R-H29: nothing is acknowledged once the file, its log or its index is not what was opened.
#[cfg(unix)]
#[tokio::test]
async fn a_file_that_is_gone_acknowledges_nothing() {
    type Act = fn(&Path);
    let acts: [(&str, Act); 8] = [
        ("was deleted or moved", |file| fs::remove_file(file).unwrap()),
        ("was deleted or moved", |file| fs::rename(file, file.with_file_name("other.db")).unwrap()),
        ("another file is at", |file| {
            fs::copy(file, file.with_file_name("copy.db")).unwrap();
            fs::rename(file.with_file_name("copy.db"), file).unwrap();
        }),
        ("has 2 names", |file| fs::hard_link(file, file.with_file_name("second.db")).unwrap()),
        ("runs.db-wal was deleted", |file| fs::remove_file(file.with_file_name("runs.db-wal")).unwrap()),
        ("runs.db-shm was deleted", |file| fs::remove_file(file.with_file_name("runs.db-shm")).unwrap()),
        ("another file is at", |file| {
            let log = file.with_file_name("runs.db-wal");
            fs::copy(&log, file.with_file_name("copy")).unwrap();
            fs::rename(file.with_file_name("copy"), log).unwrap();
        }),
        ("has 2 names", |file| {
            fs::hard_link(file.with_file_name("runs.db-wal"), file.with_file_name("second-wal")).unwrap();
        }),
    ];
    for (expected, act) in acts {
        let (_dir, store) = in_file();
        append(&store, "a", 0, b"x").await.unwrap();
        let gone = store.until_gone();
        act(&store.path());
        let refused = append(&store, "a", 1, b"x").await.unwrap_err();
        assert!(
            matches!(&refused, StoreError::Gone { found, .. } if found.contains(expected)),
            "{refused:?}"
        );
        let told = gone.await.unwrap_err();
        assert_eq!(told.to_string(), refused.to_string());
        // The refusal stays, also if the file is put back.
        assert!(matches!(append(&store, "b", 0, b"x").await, Err(StoreError::Gone { .. })), "{expected}");
        drop(store);
    }
}

/// R-H29: a commit that was under way when the file went is not acknowledged.
#[cfg(unix)]
#[tokio::test]
async fn a_commit_into_a_file_that_went_meanwhile_is_not_acknowledged() {
    let (_dir, store) = in_file();
    let (opens, body) = gated();
    let appended = store.put(head("a"), RUNNING, record(0, 1, body));
    fs::remove_file(store.path()).unwrap();
    opens.send(()).unwrap();
    assert!(matches!(appended.await, Err(StoreError::Gone { .. })));
}

/// R-H29: two names of one file are two locks, and a lock that is a link overwrites another file.
#[cfg(unix)]
#[test]
fn a_file_with_two_names_or_a_linked_lock_is_not_opened() {
    let (dir, store) = in_file();
    drop(store);
    let file = dir.path().join("runs.db");
    fs::hard_link(&file, dir.path().join("second.db")).unwrap();
    for path in ["runs.db", "second.db"] {
        let refused = Sqlite::open(dir.path().join(path)).err().unwrap();
        assert!(
            matches!(&refused, StoreError::Gone { found, .. } if found.contains("2 names")),
            "{refused:?}"
        );
    }
    fs::remove_file(dir.path().join("second.db")).unwrap();
    let lock = dir.path().join("runs.db.lock");
    fs::remove_file(&lock).unwrap();
    for target in ["precious", "missing"] {
        fs::write(dir.path().join("precious"), "kept").unwrap();
        std::os::unix::fs::symlink(dir.path().join(target), &lock).unwrap();
        let refused = Sqlite::open(&file).err().unwrap();
        let StoreError::Io { source, .. } = &refused else { panic!("{refused:?}") };
        assert!(source.to_string().contains("a link"), "{source}");
        assert_eq!(fs::read_to_string(dir.path().join("precious")).unwrap(), "kept");
        assert!(!dir.path().join("missing").exists());
        fs::remove_file(&lock).unwrap();
    }
    drop(Sqlite::open(&file).unwrap());
}
