//! Seed 002's example, word for word, against a database in which conflicts are made.

use std::{collections::BTreeMap, sync::Arc, thread};

use phasm::{
    Host, Map, Phase, RunView,
    sandbox::{Grants, Isolation},
};
use serde_json::Value as Json;

use crate::{
    attempt,
    database::{Database, Session, database},
    guest::{POSTGRES, grants},
    runs::{self, FastClock, attempts},
};

const EXAMPLE: &str = include_str!("../../../../tests/seeds/002-3.2-postgres.yaml");

/// Runs the example with this statement in the place of its dots.
async fn run(database: &Database, user: &str, statement: &str) -> (RunView, Vec<Json>) {
    let url = format!("postgres://{user}@127.0.0.1:{}/postgres", database.port);
    let env = BTreeMap::from([("pg_k8s".to_owned(), url)]);
    let host = Host::builder()
        .sandbox(attempt::sandbox(Isolation::Shared))
        .plugin("postgres", Arc::clone(&POSTGRES))
        .grant("postgres", Grants { env, ..grants(database.port) })
        .time(FastClock::start())
        .open()
        .unwrap();
    let tasks = EXAMPLE.replace("INSERT INTO ...", statement);
    assert!(tasks.contains(statement));
    runs::run(&host, &runs::document(&tasks, ""), &Map::new()).await
}

/// Makes as many deadlocks: the session takes a row that the guest wants next, and then wants the guest's.
fn deadlocks(session: &mut Session, times: u32) {
    for _ in 0..times {
        session.until_awaited();
        session.run("insert into deadlocked values (1)");
        session.run("rollback to savepoint before");
    }
    session.run("rollback");
}

/// R-N4, R-L169, section 3.2: deadlocks are tried again, up to five times, after 2, 4, 8 and 16 seconds.
#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_is_tried_again() {
    let Some(database) = database() else { return };
    database.psql("create table deadlocked (id int primary key)");
    for (times, phase, attempted, stored) in [(2, Phase::Succeeded, 3, "2"), (5, Phase::Error, 5, "0")] {
        database.psql("truncate deadlocked");
        let mut session = database.session();
        // The server looks for a deadlock in the guest's connection, which is the one that it ends.
        session
            .run("set deadlock_timeout = '1min'; begin; insert into deadlocked values (2); savepoint before");
        let makes = thread::spawn(move || deadlocks(&mut session, times));
        let (view, events) = run(database, "phasm", "INSERT INTO deadlocked VALUES (1), (2)").await;
        makes.join().unwrap();
        let told = serde_json::to_string(&view).unwrap();
        let delays: Vec<u64> = (1..attempted as u64).map(|attempt| 1000 << attempt).collect();
        assert_eq!((view.phase, attempts(&events)), (phase, (attempted, delays)), "{told}");
        let failed = events.iter().filter(|event| event["type"] == "task.attempt.failed");
        assert!(failed.clone().all(|event| event.to_string().contains("40P01")), "{events:?}");
        assert_eq!(failed.count(), times as usize);
        assert_eq!(database.psql("select count(*) from deadlocked"), stored);
    }
}

/// R-N4, R-L169, section 3.2: a row that was written by another meanwhile is a serialization failure, and tried again.
#[tokio::test(flavor = "multi_thread")]
async fn a_serialization_failure_is_tried_again() {
    let Some(database) = database() else { return };
    database.psql("create table serialized (id int primary key, n int)");
    database.psql("create role serial superuser login; alter role serial set default_transaction_isolation = 'serializable'");
    let mut session = database.session();
    session.run("begin; insert into serialized values (1, 0)");
    let commits = thread::spawn(move || {
        session.until_awaited();
        session.run("commit");
    });
    let statement =
        "INSERT INTO serialized VALUES (1, 0) ON CONFLICT (id) DO UPDATE SET n = serialized.n + 1";
    let (view, events) = run(database, "serial", statement).await;
    commits.join().unwrap();
    let told = serde_json::to_string(&view).unwrap();
    assert_eq!((view.phase, attempts(&events)), (Phase::Succeeded, (2, vec![2000])), "{told}");
    assert!(
        events
            .iter()
            .any(|event| event["type"] == "task.attempt.failed" && event.to_string().contains("40001"))
    );
    assert_eq!(database.psql("select n from serialized"), "1");
}

/// R-N10, section 3.2: any other error fails at once.
#[tokio::test]
async fn another_error_fails() {
    let Some(database) = database() else { return };
    database.psql("create table single (id int primary key)");
    database.psql("insert into single values (1)");
    let (view, events) = run(database, "phasm", "INSERT INTO single VALUES (1)").await;
    assert_eq!((view.phase, attempts(&events)), (Phase::Failed, (1, vec![])));
    assert!(serde_json::to_string(&view).unwrap().contains("(SQLSTATE 23505)"));
    let (view, events) = run(database, "phasm", "INSERT INTO single VALUES (2)").await;
    assert_eq!((view.phase, attempts(&events)), (Phase::Succeeded, (1, vec![])));
}
