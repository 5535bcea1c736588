//! PostgreSQL beyond the contract: other hosts, and a server that goes away.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use super::{
    super::{
        Claim, ClaimRequest, Journal, Leases, Mailbox, Postgres, PostgresReader,
        postgres::{
            connection::SETTINGS,
            functions::numbered,
            reader::{LIST_BOUND, LIST_LATE, LIST_OPEN, LOAD_PART, NUMBERS},
        },
        view::{Presence, RunState},
    },
    server::{Server, server},
    *,
};

/// Returns the URL of tables of its own.
pub(in super::super) fn fresh(server: &Server) -> String {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    server.url(&format!("t{}", LAST.fetch_add(1, Ordering::Relaxed)))
}

pub(super) fn opened(url: &str) -> Postgres {
    Postgres::open(url).unwrap().by_callers_clock()
}

pub(super) fn open(server: &Server) -> Postgres {
    opened(&fresh(server))
}

pub(in super::super) fn schema(url: &str) -> &str {
    url.rsplit_once('=').unwrap().1
}

/// Cuts all connections to those tables, except this server's own client.
fn cut(server: &Server) {
    server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'phasm'");
}

fn wanted(host: &str) -> ClaimRequest {
    ClaimRequest { host: host.into(), now: Timestamp(0), limit: 9, except: Vec::new() }
}

/// R-H41: the hosts of some rows are looked up by themselves, so rows and the query for them do not depend on who is there.
#[tokio::test]
async fn a_run_of_a_dead_host_is_orphaned() {
    let Some(server) = server() else { return };
    let store = open(server);
    append(&store, "a", 0, b"x").await.unwrap();
    let state = async || {
        let rows = store.list(Filter::default(), 9).await.unwrap();
        let presence = Presence::of(&store, true, &rows).await.unwrap();
        assert_eq!(rows[0].owner, Some(here()), "its owner stays until another host claims it");
        presence.state(&rows[0])
    };
    assert_eq!(state().await, RunState::Orphaned, "its host never said that it is there");
    store.heartbeat(&here(), Timestamp(i64::MAX)).await.unwrap();
    assert_eq!(state().await, RunState::Driven);
    let hosts = vec![here(), "none".into()];
    assert_eq!(
        store.live_hosts(hosts.clone()).await.unwrap().unwrap().into_iter().collect::<Vec<_>>(),
        [here()]
    );
    store.heartbeat(&here(), Timestamp(1)).await.unwrap();
    assert_eq!(state().await, RunState::Orphaned, "its lease is over");
    assert!(store.live_hosts(hosts).await.unwrap().unwrap().is_empty());
}

/// R-H2, R-H10: two hosts on one database.
#[tokio::test]
async fn of_two_hosts_one_has_a_run() {
    let Some(server) = server() else { return };
    let url = fresh(server);
    let (one, two) = (opened(&url), opened(&url));
    append(&one, "a", 0, b"x").await.unwrap();
    append(&one, "b", 0, b"x").await.unwrap();
    one.heartbeat(&here(), Timestamp(9)).await.unwrap();
    assert_eq!(two.claim(wanted("there")).await.unwrap(), []);

    let late = ClaimRequest { now: Timestamp(9), ..wanted("there") };
    let claimed = two.claim(late).await.unwrap();
    assert_eq!(claimed.len(), 2);
    assert!(matches!(append(&one, "a", 1, b"late").await, Err(StoreError::LeaseLost { .. })));
    let body: Arc<dyn Encode> = Arc::new(b"on".to_vec());
    two.append(&claimed[0], RUNNING, record(1, 1, body), Vec::new()).await.unwrap();
    assert_eq!(seqs(&one, "a").await, [0, 1]);
}

/// R-H10: who claims at the same time does not get the same.
#[tokio::test]
async fn nobody_claims_what_another_claims() {
    let Some(server) = server() else { return };
    let url = fresh(server);
    let store = opened(&url);
    let released = (0..100).map(|run| {
        let lease = Lease::first(head(&run.to_string()), here());
        drop(append(&store, &run.to_string(), 0, b""));
        store.release(&lease, Some(Timestamp(0)))
    });
    for released in released.collect::<Vec<_>>() {
        released.await.unwrap();
    }
    let hosts: Vec<_> = (0..4).map(|host| (format!("h{host}"), opened(&url))).collect();
    for (name, store) in &hosts {
        store.heartbeat(&name.as_str().into(), Timestamp(i64::MAX)).await.unwrap();
    }
    let mut all = Vec::new();
    for _ in 0..12 {
        let claims: Vec<_> = hosts.iter().map(|(name, store)| store.claim(wanted(name))).collect();
        for claim in claims {
            all.extend(claim.await.unwrap().into_iter().map(|lease| lease.head.run_id.to_string()));
        }
    }
    all.sort();
    let claims = all.len();
    all.dedup();
    assert_eq!((claims, all.len()), (100, 100));
}

/// R-H11: leases go by the clock of the database.
#[tokio::test]
async fn a_host_is_there_for_a_lease_from_its_heartbeat_on() {
    let Some(server) = server() else { return };
    let url = fresh(server);
    let store = Postgres::open(&format!("{url}&lease=3600")).unwrap();
    append(&store, "a", 0, b"").await.unwrap();
    // Whatever the hosts think that time it is.
    let much_later = || ClaimRequest { now: Timestamp(i64::MAX / 2), ..wanted("b") };
    store.heartbeat(&here(), Timestamp(1)).await.unwrap();
    assert_eq!(store.claim(much_later()).await.unwrap(), []);
    let held = store.claim_run(&"b".into(), "a", Timestamp(i64::MAX / 2)).await.unwrap();
    assert_eq!(held, Claim::Held(here()));
    let due = store.next_due(much_later()).await.unwrap().unwrap();
    let wait = due.0 - i64::MAX / 2;
    assert!((3_000_000..=3_600_000).contains(&wait), "{wait}");

    assert_eq!(store.lease_time(), Some(Duration::from_secs(3600)));

    server.psql(&format!("UPDATE {}.hosts SET until = 1", schema(&url)));
    assert_eq!(store.claim(wanted("b")).await.unwrap().len(), 1);
    store.heartbeat(&"b".into(), Timestamp(1)).await.unwrap();
    assert_eq!(store.claim(wanted("c")).await.unwrap(), []);
    store.heartbeat(&"b".into(), Timestamp(0)).await.unwrap();
    assert_eq!(store.claim(wanted("c")).await.unwrap().len(), 1, "it said that it goes");
}

/// R-H14: what one host does wakes the others, also those that were cut off meanwhile.
#[tokio::test]
async fn others_hear_of_what_becomes_due() {
    let Some(server) = server() else { return };
    let server = server.another(&[]);
    let url = fresh(&server);
    let (one, two) = (opened(&url), opened(&url));
    let mut changed = two.changed();
    append(&one, "a", 0, b"").await.unwrap();
    let lease = Lease::first(head("a"), here());
    let until_due = async |changed: &mut tokio::sync::watch::Receiver<()>, at: i64| {
        loop {
            match two.next_due(wanted("b")).await {
                Ok(found) if found == Some(Timestamp(at)) => return,
                Ok(_) => changed.changed().await.unwrap(),
                Err(error) => assert!(error.is_passing(), "{error:?}"),
            }
        }
    };
    one.release(&lease, Some(Timestamp(77))).await.unwrap();
    until_due(&mut changed, 77).await;
    one.post("a", b"!".to_vec()).await.unwrap();
    until_due(&mut changed, 0).await;
    cut(&server);
    let claimed = loop {
        match one.claim(wanted("b")).await {
            Ok(claimed) => break claimed,
            Err(error) => assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}"),
        }
    };
    let letter = one.mail(&claimed[0]).await.unwrap()[0].id;
    let reply = super::super::Reply { letter, body: b"done".as_slice().into() };
    one.reply(&claimed[0], vec![reply]).await.unwrap();
    one.release(&claimed[0], Some(Timestamp(99))).await.unwrap();
    until_due(&mut changed, 99).await;
}

/// R-A84: a follower of all runs is notified of writes by others, also by hosts that begin later, and after the connection was
/// cut.
#[tokio::test]
async fn whoever_follows_all_runs_hears_of_those_of_others() {
    let Some(server) = server() else { return };
    let server = server.another(&[]);
    let url = fresh(&server);
    let (one, two) = (opened(&url), opened(&url));
    let mut rows = two.rows_changed();
    let heard = async |rows: &mut tokio::sync::watch::Receiver<()>| {
        tokio::time::timeout(Duration::from_secs(60), rows.changed()).await.unwrap().unwrap();
    };
    // Several, as one that is told may be of nothing.
    for seq in 0..6 {
        rows.mark_unchanged();
        append(&one, "a", seq, b"x").await.unwrap();
        heard(&mut rows).await;
    }
    rows.mark_unchanged();
    append(&opened(&url), "b", 0, b"x").await.unwrap();
    cut(&server);
    heard(&mut rows).await;
    for seq in 6..9 {
        rows.mark_unchanged();
        while let Err(error) = append(&one, "a", seq, b"x").await {
            assert!(error.is_passing() || matches!(error, StoreError::Conflict { .. }), "{error:?}");
            if !error.is_passing() {
                break;
            }
        }
        heard(&mut rows).await;
    }
}

/// R-H12: what was cut off is connected again.
#[tokio::test]
async fn a_connection_that_was_cut_comes_back() {
    let Some(server) = server() else { return };
    // Cutting would disturb the other tests.
    let server = server.another(&[]);
    let store = open(&server);
    for seq in 0..5 {
        append(&store, "a", seq, b"x").await.unwrap();
        assert_eq!(seqs(&store, "a").await, Vec::from_iter(0..=seq));
        cut(&server);
        let known = match append(&store, "b", seq, b"x").await {
            Ok(()) => continue,
            Err(StoreError::Unavailable { server, .. }) => server,
            Err(other) => panic!("{other:?}"),
        };
        assert!(known.to_str().unwrap().starts_with("postgres://phasm@"), "{known:?}");
        let end = store.get("b").await.unwrap().map_or(0, |row| row.seq);
        assert_eq!(end, seq, "it was idle when it was cut");
        append(&store, "b", end, b"x").await.unwrap();
    }
}

/// R-H12: the server goes away with requests on their way, and comes back.
#[tokio::test]
async fn a_server_that_is_restarted_keeps_what_it_acknowledged() {
    let Some(server) = server() else { return };
    let server = server.another(&["fsync=on"]);
    let store = open(&server);
    append(&store, "a", 0, b"x").await.unwrap();
    let running: Vec<_> = (1..3000).map(|seq| append(&store, "a", seq, b"x")).collect();
    server.control("stop");
    assert!(matches!(store.get("a").await, Err(StoreError::Unavailable { .. })));
    assert!(matches!(append(&store, "b", 0, b"").await, Err(StoreError::Unavailable { .. })));
    server.control("start");

    let mut acknowledged = 1;
    for answer in running {
        match answer.await {
            Ok(()) => acknowledged += 1,
            Err(StoreError::Unavailable { .. } | StoreError::Conflict { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    let kept = seqs(&store, "a").await;
    assert_eq!(kept, Vec::from_iter(0..kept.len() as u64));
    assert!(kept.len() >= acknowledged, "{} of {acknowledged}", kept.len());
    append(&store, "a", kept.len() as u64, b"after").await.unwrap();
}

/// R-H5.
#[tokio::test]
async fn a_record_that_was_changed_is_not_believed() {
    let Some(server) = server() else { return };
    let rows = [
        ("UPDATE journal SET body = 'y' WHERE first_seq = 1", "checksum differs"),
        ("UPDATE journal SET time = 1 WHERE first_seq = 1", "checksum differs"),
        ("DELETE FROM journal WHERE first_seq = 1", "lacks event 1"),
        ("DELETE FROM journal WHERE first_seq = 2", "has 3 events, its journal 2"),
        ("DELETE FROM journal", "has 3 events, its journal 0"),
        ("UPDATE runs SET phase = 'Odd'", "the row of run a is damaged: its checksum differs"),
    ];
    for (sql, expected) in rows {
        let url = fresh(server);
        let store = opened(&url);
        for seq in 0..3 {
            append(&store, "a", seq, b"x").await.unwrap();
        }
        server.psql(&format!("SET search_path = {}; {sql}", schema(&url)));
        let found = store.load("a").await.err().unwrap();
        assert!(found.to_string().contains(expected), "{sql}: {found}");
        assert!(matches!(found, StoreError::Corrupt { .. }), "{found:?}");
    }
}

#[tokio::test]
async fn a_journal_is_read_from_the_record_that_holds_an_event() {
    let Some(server) = server() else { return };
    let store = open(server);
    for (seq, events) in [(0, 3), (3, 1), (4, 2)] {
        let body: Arc<dyn Encode> = Arc::new(Vec::new());
        store.put(head("a"), RUNNING, record(seq, events, body)).await.unwrap();
    }
    for (since, expected) in
        [(0, &[0, 3, 4][..]), (1, &[0, 3, 4]), (2, &[0, 3, 4]), (3, &[3, 4]), (5, &[4]), (6, &[]), (99, &[])]
    {
        let found = store.load_since("a", since).await.unwrap();
        let found: Vec<_> = found.iter().map(|record| record.first_seq).collect();
        assert_eq!(found, expected, "{since}");
    }
}

/// R-H13: tables of a later format, and other people's, are left alone.
#[tokio::test]
async fn only_tables_of_ours_are_taken_for_a_store() {
    let Some(server) = server() else { return };
    let url = fresh(server);
    let refused = PostgresReader::open(&url).err().unwrap();
    assert!(
        matches!(&refused, StoreError::Foreign { found, .. } if found.contains("no tables in schema")),
        "{refused:?}"
    );
    drop(opened(&url));
    PostgresReader::open(&url).unwrap();
    server.psql(&format!("UPDATE {}.store_format SET version = 4, minimum_reader = 4", schema(&url)));
    for refused in [Postgres::open(&url).err().unwrap(), PostgresReader::open(&url).err().unwrap()] {
        assert!(matches!(refused, StoreError::Newer { found: 4, known: 3, .. }), "{refused:?}");
    }

    let url = fresh(server);
    server.psql(&format!("CREATE SCHEMA {0}; CREATE TABLE {0}.other (x int)", schema(&url)));
    let refused = Postgres::open(&url).err().unwrap();
    assert!(matches!(refused, StoreError::Foreign { .. }), "{refused:?}");
    assert_eq!(
        server.psql(&format!("SELECT count(*) FROM pg_tables WHERE schemaname = '{}'", schema(&url))),
        "1"
    );
}

/// R-H13: tables of a development version are left alone, and named.
#[tokio::test]
async fn tables_of_a_development_version_are_refused() {
    let Some(server) = server() else { return };
    let url = fresh(server);
    server.psql(&format!(
        "CREATE SCHEMA {0}; SET search_path = {0}; CREATE TABLE format (version bigint); INSERT INTO format VALUES (9);
        CREATE TABLE journal (run bigint)",
        schema(&url)
    ));
    for refused in [Postgres::open(&url).err().unwrap(), PostgresReader::open(&url).err().unwrap()] {
        let found =
            "was written by a development version of Phasm before 0.1.0, which this version does not read";
        assert!(
            matches!(&refused, StoreError::Foreign { found: said, .. } if said.ends_with(found)),
            "{refused:?}"
        );
    }
}

/// R-H22: what computes in a schema makes it another's.
#[tokio::test]
async fn a_schema_with_views_or_triggers_is_refused() {
    let Some(server) = server() else { return };
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS version FROM n";
    for (changed, named) in [
        (format!("CREATE VIEW v AS {endless}"), "a table with rules or policies, `v`"),
        (format!("DROP TABLE store_format; CREATE VIEW store_format AS {endless}"), "`store_format`"),
        (
            "CREATE TRIGGER t BEFORE DELETE ON runs FOR EACH ROW EXECUTE FUNCTION void_offers_3()".to_owned(),
            "a trigger, `t`",
        ),
        ("CREATE RULE r AS ON UPDATE TO tenants DO ALSO DELETE FROM tenants".to_owned(), "`tenants`"),
        ("ALTER TABLE letters ENABLE ROW LEVEL SECURITY".to_owned(), "`letters`"),
    ] {
        let url = fresh(server);
        drop(opened(&url));
        server.psql(&format!("SET search_path = {}; {changed}", schema(&url)));
        for refused in [Postgres::open(&url).err().unwrap(), PostgresReader::open(&url).err().unwrap()] {
            assert!(
                matches!(&refused, StoreError::Foreign { found, .. } if found.contains(named)),
                "{changed}: {refused:?}"
            );
        }
    }
}

/// However many runs have ended: those that are open, and those of late, are found without looking at the others.
#[tokio::test]
async fn what_is_listed_is_found_by_an_index() {
    let Some(server) = server() else { return };
    let url = fresh(server);
    drop(opened(&url));
    let types = "bigint, text[], text, text, boolean, bigint, bigint, bigint";
    for (sql, index) in [(LIST_OPEN, "using open_runs"), (LIST_LATE, "submitted_runs")] {
        let plan = server.psql(&format!(
            "SET search_path = {}; {SETTINGS}; PREPARE listed ({types}) AS {sql};
            EXPLAIN EXECUTE listed (9, NULL, NULL, NULL, true, 0, 9, 0)",
            schema(&url)
        ));
        assert!(plan.contains(index), "{plan}");
    }
}

/// Returns the most rows that a node of an executed plan has returned or filtered out, over all its loops.
fn most_rows(plan: &str) -> u64 {
    let number =
        |text: &str| text.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse::<u64>().unwrap();
    let returned = plan.split("(actual rows=").skip(1).map(|node| {
        let (_, loops) = node.split_once("loops=").unwrap();
        number(node) * number(loops)
    });
    let removed = plan.split("Rows Removed by Filter: ").skip(1).map(number);
    returned.chain(removed).max().unwrap()
}

/// R-A120, R-A4: however long a journal is, a part of it takes few rows; however many runs others have, those of a namespace take as many
/// rows as there are.
#[tokio::test]
async fn parts_and_runs_of_namespaces_cost_what_they_have() {
    let Some(server) = server() else { return };
    let url = fresh(server);
    drop(opened(&url));
    let plan = |types: &str, sql: &str, asked: &str| {
        server.psql(&format!(
            "SET search_path = {}; {SETTINGS}; PREPARE asked ({types}) AS {sql};
            EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE asked ({asked})",
            schema(&url)
        ))
    };
    server.psql(&format!(
        "SET search_path = {}; {SETTINGS};
        INSERT INTO runs (run_id, workflow, namespace, priority, submitted_at, phase, open, seq, epoch)
        SELECT 'r' || n, 'w', CASE n % 2000 WHEN 0 THEN 'mine' ELSE 'theirs' END, 500, 0, 'Succeeded', false, 1, 1
        FROM generate_series(1, 20000) AS n;
        ALTER TABLE journal DISABLE TRIGGER USER;
        INSERT INTO journal (run, first_seq, events, time, body, checksum)
        SELECT number, n, 1, 0, 'xxxxxxxxxx', 0 FROM runs, generate_series(0, 59999) AS n WHERE run_id = 'r7'",
        schema(&url)
    ));
    // A part has at most 4096 records, and ends with the one that fills it.
    for since in [0, 1, 30_000, 59_000, 70_000] {
        let plan = plan("text, bigint, bigint", LOAD_PART, &format!("'r7', {since}, 1000"));
        assert!(most_rows(&plan) <= 4096, "{since}: {plan}");
    }
    let bound = "bigint, text[], text, text, boolean, bigint, bigint, bigint, text, text, text";
    for filter in ["NULL, NULL, NULL", "'team', 'data', '\"team\":\"data\"'"] {
        let asked = format!("99999, '{{mine,none}}', NULL, NULL, false, -1, 50, 0, {filter}");
        let plan = plan(bound, LIST_BOUND, &asked);
        assert!(most_rows(&plan) <= 50, "{plan}");
    }
    let plan = plan("text, bigint, bigint", NUMBERS, "'mine', 99999, 50");
    assert!(most_rows(&plan) == 10, "{plan}");
}

/// However many runs wait, or are driven by others: what is due is found without looking at them, also where the server has not
/// counted them yet.
#[tokio::test]
async fn what_is_due_is_found_by_an_index() {
    let Some(server) = server() else { return };
    let url = fresh(server);
    drop(opened(&url));
    for asked in ["claim_runs('here', 0, 5, 100, '{}')", "next_due('here', 0, 5, '{}')"].map(numbered) {
        let plan = server.psql(&format!(
            "SET search_path = {}; {SETTINGS}; TRUNCATE runs, letters;
            INSERT INTO hosts VALUES ('there', 10) ON CONFLICT DO NOTHING; SELECT * FROM {asked};
            INSERT INTO runs (run_id, workflow, namespace, priority, submitted_at, phase, open, seq, epoch, owner)
            SELECT 'r' || n, 'w', 'default', 500, 0, 'Running', true, 1, 1, CASE n % 2 WHEN 0 THEN 'there' END
            FROM generate_series(1, 20000) AS n;
            INSERT INTO letters (run, body) SELECT number, 'x' FROM runs WHERE run_id = 'r2';
            SELECT * FROM {asked}; EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT * FROM {asked}",
            schema(&url)
        ));
        let (_, hit) = plan.split_once("shared hit=").unwrap();
        let pages: u32 = hit.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
        assert!(pages < 200, "{plan}");
    }
}

/// R-H13: hosts that start at once create the tables once.
#[tokio::test]
async fn hosts_that_start_at_once_agree_on_the_tables() {
    let Some(server) = server() else { return };
    let url = fresh(server);
    let starting: Vec<_> = (0..6)
        .map(|_| {
            let url = url.clone();
            std::thread::spawn(move || Postgres::open(&url).map(drop))
        })
        .collect();
    for started in starting {
        started.join().unwrap().unwrap();
    }
}

#[test]
fn a_server_that_is_not_there_is_said_to_be() {
    let Some(server) = server() else { return };
    let refused = Postgres::open("postgres://phasm:secret@%2Fno%2Fsuch/postgres").err().unwrap();
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused:?}");
    assert!(!format!("{refused:?} {refused}").contains("secret"), "{refused:?}");
    let refused = Postgres::open(&server.url("x").replace("/postgres?", "/none?")).err().unwrap();
    assert!(format!("{refused:?}").contains("database \\\"none\\\" does not exist"), "{refused:?}");
}

#[tokio::test]
async fn one_request_that_the_server_refuses_harms_no_other() {
    let Some(server) = server() else { return };
    let store = open(server);
    let before: Vec<_> = (0..10).map(|run| append(&store, &format!("a{run}"), 0, b"x")).collect();
    let refused = append(&store, "a\0b", 0, b"x");
    let after: Vec<_> = (0..10).map(|run| append(&store, &format!("b{run}"), 0, b"x")).collect();
    for answer in before.into_iter().chain(after) {
        answer.await.unwrap();
    }
    assert!(matches!(refused.await, Err(StoreError::Io { .. })));
    assert_eq!(store.open_runs().await.unwrap().len(), 20);
}

#[tokio::test]
async fn closing_waits_for_all_that_was_queued() {
    let Some(server) = server() else { return };
    let url = fresh(server);
    let store = opened(&url);
    let answers: Vec<_> = (0..5000).map(|seq| append(&store, "a", seq, b"x")).collect();
    drop(store);
    for answer in answers {
        answer.await.unwrap();
    }
    assert_eq!(seqs(&opened(&url), "a").await.len(), 5000);
}

/// R-H19: what one host writes is told to who follows it with another connection, and only then.
#[tokio::test]
async fn who_follows_a_run_of_another_host_is_told_of_its_records() {
    let Some(server) = server() else { return };
    let url = format!("{}&lease=3600", fresh(server));
    let (host, other) = (Postgres::open(&url).unwrap(), PostgresReader::open(&url).unwrap());
    append(&host, "a", 0, b"").await.unwrap();
    let mut following = other.follow("a");
    // Once those who write have been asked to tell.
    following.changed().await.unwrap();
    let mut seq = 1;
    loop {
        append(&host, "a", seq, b"").await.unwrap();
        seq += 1;
        // The repetition comes in twenty minutes.
        if tokio::time::timeout(Duration::from_millis(20), following.changed()).await.is_ok() {
            break;
        }
    }
    assert_eq!(other.load("a").await.unwrap().len() as u64, seq);
}
