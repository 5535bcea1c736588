//! Several statements, errors, and limits.

use std::time::{Duration, Instant};

use phasm::sandbox::Isolation;
use serde_json::{Value as Json, json};

use crate::{
    database::database,
    guest::{Guests, detail, grants},
};

/// R-L168: several statements are one transaction, and each has its result.
#[tokio::test]
async fn several_statements_are_one_transaction() {
    let Some(database) = database() else { return };
    let guests = Guests::of(database.port);
    let script = "create table scripted (id int); insert into scripted values (1), (2); select id from scripted order by id; \
                  update scripted set id = id + 10 where id = 2;";
    let all = guests.outputs(script, json!({})).await;
    let commands: Vec<&Json> = all["results"].as_array().unwrap().iter().map(|one| &one["command"]).collect();
    assert_eq!(commands, ["CREATE TABLE", "INSERT", "SELECT", "UPDATE"]);
    assert_eq!((&all["rows"], &all["rowCount"]), (&json!([{ "id": 1 }, { "id": 2 }]), &json!(2)));
    let broken = guests.ask("insert into scripted values (3); select 1 / 0", json!({})).await;
    assert_eq!((broken.code, &detail(&broken)["pg"]["code"]), (2, &json!("22012")));
    assert_eq!(database.psql("select array_agg(id order by id) from scripted"), "{1,12}");
    let open = guests.ask("begin; insert into scripted values (4)", json!({})).await;
    assert!(open.code == 3 && open.message.contains("leaves a transaction open"), "{}", open.message);
    let own = "begin; insert into scripted values (5); commit; insert into scripted values (6)";
    assert_eq!(guests.ask(own, json!({})).await.code, 0);
    assert_eq!(database.psql("select array_agg(id order by id) from scripted"), "{1,5,6,12}");
    // With parameters there is one statement.
    let two = guests.ask("select $1::int; select 2", json!({ "params": [1] })).await;
    assert!(two.code == 2 && two.message.contains("multiple commands"), "{}", two.message);
    let copied = guests.ask("copy scripted to stdout", json!({})).await;
    assert!(copied.code == 3 && copied.message.contains("`COPY`"), "{}", copied.message);
}

/// R-L169: an error has the server's words, SQLSTATE and fields, and says whether another attempt may succeed.
#[tokio::test]
async fn errors_have_their_state_and_fields() {
    let Some(database) = database() else { return };
    let guests = Guests::of(database.port);
    database.psql(
        "create table checked (id int primary key, of int references checked, n int not null check (n > 0))",
    );
    database.psql("create table later (id int unique deferrable initially deferred)");
    database.psql("create role limited_user login");
    let raise = "do $$ begin raise exception using errcode = 'SF001', message = 'no', hint = 'ask', detail = 'why'; end $$";
    let rows = [
        ("insert into checked values (1, null, 1), (1, null, 1)", "23505", "constraint", 2),
        ("insert into checked values (1, 7, 1)", "23503", "constraint", 2),
        ("insert into checked values (1, null, null)", "23502", "constraint", 2),
        ("insert into checked values (1, null, 0)", "23514", "constraint", 2),
        ("insert into later values (1), (1)", "23505", "constraint", 2),
        ("selec 1", "42601", "sql", 2),
        ("select * from nothing", "42P01", "sql", 2),
        ("select nothing", "42703", "sql", 2),
        ("select 'x'::int", "22P02", "data", 2),
        ("select 1 / 0", "22012", "data", 2),
        (raise, "SF001", "server", 2),
        ("do $$ begin raise exception 'own'; end $$", "P0001", "raised", 2),
        ("do $$ begin raise serialization_failure; end $$", "40001", "serialization", 3),
        ("select pg_cancel_backend(pg_backend_pid()), pg_sleep(10)", "57014", "canceled", 2),
        ("select pg_terminate_backend(pg_backend_pid())", "57P01", "connection", 3),
    ];
    for (sql, state, kind, code) in rows {
        let outcome = guests.ask(sql, json!({})).await;
        let detail = detail(&outcome);
        assert_eq!(
            (outcome.code, &detail["pg"]["code"]),
            (code, &json!(state)),
            "{sql}: {}",
            outcome.message
        );
        assert_eq!(detail["error"], json!({ "kind": kind, "code": state, "retryable": code == 3 }), "{sql}");
        assert!(outcome.message.contains(&format!("(SQLSTATE {state})")), "{sql}: {}", outcome.message);
    }
    let pg = detail(&guests.ask("insert into checked values (1, null, 0)", json!({})).await)["pg"].clone();
    let of = ["severity", "schema", "table", "constraint"].map(|name| pg[name].as_str().unwrap());
    assert_eq!(of, ["ERROR", "public", "checked", "checked_n_check"]);
    assert!(pg["detail"].as_str().unwrap().contains("Failing row"), "{pg}");
    let raised = guests.ask(raise, json!({})).await;
    let pg = &detail(&raised)["pg"];
    assert_eq!((&pg["hint"], &pg["detail"], &pg["message"]), (&json!("ask"), &json!("why"), &json!("no")));
    assert!(raised.message.contains("; hint: ask"), "{}", raised.message);
    let denied = guests.ask("select * from checked", json!({ "user": "limited_user" })).await;
    assert_eq!((denied.code, &detail(&denied)["error"]["kind"]), (2, &json!("permission")));
    let mut session = database.session();
    session.run("begin; lock table checked");
    let locked = guests.ask("begin; lock table checked nowait; commit", json!({})).await;
    assert_eq!(detail(&locked)["pg"]["code"], "55P03");
    let (_, lines) = guests.heard("do $$ begin raise notice 'by the way'; end $$", json!({}), None).await;
    assert!(lines.iter().any(|line| line.contains("Info NOTICE: by the way")), "{lines:?}");
}

/// R-L170: the server ends a statement before the attempt is over, and one whose attempt is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_statement_ends_in_time() {
    let Some(database) = database() else { return };
    let guests = Guests::of(database.port);
    assert_eq!(guests.ask("select 1", json!({})).await.code, 0);
    let (late, _) =
        guests.heard("select pg_sleep(60)", json!({}), Some(Instant::now() + Duration::from_secs(2))).await;
    assert_eq!((late.code, &detail(&late)["pg"]["code"]), (4, &json!("57014")), "{}", late.message);
    assert!(late.message.starts_with("timeout after 1"), "{}", late.message);
    let asked = guests.ask("select pg_sleep(60)", json!({ "timeout": "150ms" })).await;
    assert_eq!((asked.code, &detail(&asked)["error"]["retryable"]), (4, &json!(true)), "{}", asked.message);
    assert!(
        asked.message.starts_with("timeout after 150 ms; ERROR: canceling statement"),
        "{}",
        asked.message
    );
    let running = "select count(*) from pg_stat_activity where query like 'select pg_sleep(61)%'";
    let asking = tokio::spawn(async move { guests.ask("select pg_sleep(61)", json!({})).await });
    tokio::task::block_in_place(|| database.until(running, "1"));
    asking.abort();
    assert!(asking.await.is_err_and(|ended| ended.is_cancelled()));
    database.until(running, "0");
}

/// R-L171: more than the limits is an error, and what a single statement did is undone.
#[tokio::test]
async fn huge_results_are_refused() {
    let Some(database) = database() else { return };
    let guests = Guests::of(database.port);
    let series = |count: u32| format!("select id from generate_series(1, {count}) id");
    let exactly = guests.outputs(&series(10), json!({ "maxRows": 10 })).await;
    assert_eq!(exactly["rowCount"], 10);
    let limits = [
        (series(11), json!({ "maxRows": 10 }), "more than 10 rows; `maxRows`"),
        (series(100_000_000), json!({}), "more than 10000 rows"),
        (series(100), json!({ "maxBytes": 100 }), "more than 100 bytes; `maxBytes`"),
        ("select repeat('x', 100000000)".to_owned(), json!({}), "a row has 1000000"),
        (format!("select 1; {}", series(11)), json!({ "maxRows": 10 }), "more than 10 rows"),
    ];
    for (sql, more, message) in limits {
        let outcome = guests.ask(&sql, more).await;
        assert!(outcome.code == 2 && outcome.message.contains(message), "{sql}: {}", outcome.message);
        assert_eq!(detail(&outcome)["error"], json!({ "kind": "too_large", "retryable": false }), "{sql}");
    }
    database.psql("create table many (id int)");
    let insert = format!("insert into many {} returning id", series(11));
    let undone = guests.ask(&insert, json!({ "maxRows": 10 })).await;
    assert!(undone.message.ends_with("; the statement is undone"), "{}", undone.message);
    database.until("select count(*) from many", "0");
    let large = guests.outputs("select repeat('x', 3000000) as it", json!({})).await;
    assert_eq!(large["rows"][0]["it"].as_str().map(str::len), Some(3_000_000));
    let closed = Guests::granted(Isolation::Shared, 1, grants(1));
    let gone = closed.ask("select 1", json!({})).await;
    assert_eq!(
        detail(&gone)["error"],
        json!({ "kind": "connection", "retryable": true }),
        "{}",
        gone.message
    );
}
