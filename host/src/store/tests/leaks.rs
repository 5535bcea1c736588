//! Tables hold nothing beyond what runs and hosts need, after both are gone.

use phasm_artifacts::HostArtifacts;

use super::{
    super::{
        AttemptLog, ClaimRequest, Component, Document, ExchangeRequest, Leases, NewNotice, Offer, OfferId,
        Report, Settle,
        retention::{Keep, Retention, prune},
    },
    *,
};

/// Tables that hold more than runs: the format, counters, and the configuration.
const OTHERS: &[&str] = &["store_format", "deleted_runs", "revisions", "tenants", "readers"];

fn labelled(run: &str, number: usize) -> Arc<RunHead> {
    Arc::new(RunHead {
        namespace: format!("ns{}", number % 3).into(),
        key: Some(run.into()),
        labels: Labels::from([("team".into(), run.into())]),
        ..(*head(run)).clone()
    })
}

fn first(run: &str) -> Record<Arc<dyn Encode>> {
    let component = Component { digest: format!("sha256:c{run}").into(), bytes: b"wasm".as_slice().into() };
    let (digest, bytes) = (format!("sha256:{run}").into(), b"document".as_slice().into());
    let document = Arc::new(Document { digest, bytes, components: vec![component] });
    let notices = vec![NewNotice { seq: 0, endpoint: "chat".into(), due: Timestamp(1), body: "told".into() }];
    Record { document: Some(document), notices, ..record(0, 1, Arc::new(b"first".to_vec()) as _) }
}

/// Runs of each kind, from processes that only submit; each leaves whatever a run may leave.
async fn submit(store: &dyn Store, count: usize) {
    for number in 0..count {
        let run = format!("r{number}");
        let lease = Lease::first(labelled(&run, number), HostId::from(format!("cli{number}").as_str()));
        store.append(&lease, RUNNING, first(&run), Vec::new()).await.unwrap();
        let log =
            AttemptLog { task: 0, attempt: 1, dispatch: 1, cut: 0, text: b"line".to_vec(), damaged: false };
        store.keep_log(&lease, log).await.unwrap();
        store.post(&run, b"?".to_vec()).await.unwrap();
        // Some are released, and some are not, as if that had failed.
        if number % 2 == 0 {
            store.release(&lease, Some(Timestamp(0))).await.unwrap();
        }
    }
}

/// Two hosts that exchange attempts and go, the one with a word, the other without.
async fn share(store: &dyn Store) {
    let nothing = |host: &str| ExchangeRequest::nothing(host.into(), Timestamp(10));
    for host in ["a", "b", "c"] {
        store.heartbeat(&host.into(), Timestamp(100)).await.unwrap();
    }
    for (host, takers) in [("a", ["b", "c"]), ("b", ["a", "c"])] {
        let run = format!("shared-{host}");
        let lease = Lease::first(labelled(&run, 0), host.into());
        store.append(&lease, RUNNING, first(&run), Vec::new()).await.unwrap();
        let offer = |number| Offer {
            number,
            run_id: run.as_str().into(),
            epoch: 1,
            tenant: ("default".into(), 1),
            priority: 5,
            kind: "k".into(),
            body: Arc::from(b"offer".as_slice()),
        };
        store.share(ExchangeRequest { offers: (1..=6).map(offer).collect(), ..nothing(host) }).await.unwrap();
        for taker in takers {
            let taken = store.share(ExchangeRequest { room: 2, ..nothing(taker) }).await.unwrap().taken;
            let report =
                |id: &OfferId| Report { id: id.clone(), is_last: true, body: Arc::from(vec![b'x'; 10_000]) };
            let reports = taken.iter().take(1).map(|taken| report(&taken.id)).collect();
            store.share(ExchangeRequest { reports, room: 7, ..nothing(taker) }).await.unwrap();
        }
        store.share(ExchangeRequest { withdrawn: vec![1, 2, 3], ..nothing(host) }).await.unwrap();
    }
    // The run of `a` has ended before its offers were withdrawn.
    let lease = Lease::first(labelled("shared-a", 0), "a".into());
    store.append(&lease, SUCCEEDED, record(1, 1, Arc::new(Vec::new())), Vec::new()).await.unwrap();
    store.heartbeat(&"a".into(), Timestamp(0)).await.unwrap();
}

/// Ends every run, delivers every notice, and deletes all that may be deleted.
async fn end(store: &dyn Store) {
    let wanted = || ClaimRequest { host: "last".into(), now: Timestamp(1000), limit: 99, except: Vec::new() };
    store.heartbeat(&"last".into(), Timestamp(2000)).await.unwrap();
    loop {
        let leases = store.claim(wanted()).await.unwrap();
        if leases.is_empty() {
            break;
        }
        for lease in leases {
            let seq = store.get(&lease.head.run_id).await.unwrap().unwrap().seq;
            let last = record(seq, 1, Arc::new(Vec::new()) as Arc<dyn Encode>);
            store.append(&lease, SUCCEEDED, last, Vec::new()).await.unwrap();
        }
    }
    for notice in store.due_notices("chat", 99).await.unwrap() {
        let settle = Settle { id: notice.id, from: notice.revision, due: None, body: "done".into() };
        assert!(store.settle(settle).await.unwrap());
    }
    store.heartbeat(&"last".into(), Timestamp(0)).await.unwrap();
    let retention = Retention { others: Keep { count: Some(0), age: None }, ..Retention::default() };
    assert!(prune(store, &retention, Timestamp(3000), &HostArtifacts::default()).await.unwrap().deleted > 0);
}

fn without_others(tables: impl IntoIterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let holds = |(table, rows): &(String, u64)| *rows > 0 && !OTHERS.contains(&table.as_str());
    tables.into_iter().filter(holds).collect()
}

/// R-H28.
#[tokio::test]
async fn a_file_without_runs_holds_nothing() {
    let (_dir, store) = in_file();
    submit(&store, 12).await;
    end(&store).await;
    let path = store.path();
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut names = connection
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let rows = |name: &String| {
        connection.query_one(&format!("SELECT count(*) FROM {name}"), [], |row| row.get(0)).unwrap()
    };
    assert!(names.len() > 10, "{names:?}");
    assert_eq!(without_others(names.into_iter().map(|name| (name.clone(), rows(&name)))), []);
}

/// R-H28.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_database_without_runs_and_hosts_holds_nothing() {
    let Some(server) = server::server() else { return };
    let url = postgres::fresh(server);
    let store = postgres::opened(&url);
    submit(&store, 12).await;
    share(&store).await;
    let held = tables(server, &url);
    for name in
        ["offers", "reports", "stops", "rooms", "hosts", "stored", "labels", "letters", "needs", "notices"]
    {
        assert!(held.iter().any(|(table, rows)| table == name && *rows > 0), "{name}: {held:?}");
    }
    end(&store).await;
    assert_eq!(without_others(tables(server, &url)), []);
}

/// R-H28: processes that only submit leave no row, and hosts that fell silent none once their runs are others'.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_database_knows_live_hosts_only() {
    let Some(server) = server::server() else { return };
    let url = postgres::fresh(server);
    let store = postgres::opened(&url);
    submit(&store, 6).await;
    for (host, until) in [("live", 5000), ("silent", 100), ("gone", 100)] {
        store.heartbeat(&host.into(), Timestamp(until)).await.unwrap();
    }
    store.heartbeat(&"gone".into(), Timestamp(0)).await.unwrap();
    let hosts = || server.psql(&format!("SELECT host FROM {}.hosts ORDER BY host", postgres::schema(&url)));
    assert_eq!(hosts(), "live\nsilent");
    let wanted = ClaimRequest { host: "live".into(), now: Timestamp(200), limit: 99, except: Vec::new() };
    assert_eq!(store.claim(wanted).await.unwrap().len(), 6);
    assert_eq!(hosts(), "live");
}

/// The tables of a store, with the numbers of their rows.
#[cfg(feature = "postgres")]
fn tables(server: &server::Server, url: &str) -> Vec<(String, u64)> {
    let schema = postgres::schema(url);
    let names = server.psql(&format!("SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'"));
    let rows = |name: &str| server.psql(&format!("SELECT count(*) FROM {schema}.{name}")).parse().unwrap();
    names.lines().map(|name| (name.to_owned(), rows(name))).collect()
}
