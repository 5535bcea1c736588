//! Heartbeats next to records that take long.

use std::sync::Condvar;

use super::{
    super::{ClaimRequest, Leases as _, Postgres},
    mute::Way,
    *,
};

/// Milliseconds by the clock of the database.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// A gate for connections that have sent more than a record of usual size.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn pass(&self, bytes: usize) {
        if bytes > 1 << 20 {
            drop(self.opened.wait_while(self.is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
        }
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

fn others(host: &str) -> ClaimRequest {
    ClaimRequest { host: host.into(), now: Timestamp(0), limit: 10, except: Vec::new() }
}

/// R-H40: a record of which a part has been sent, and those behind it, keep no heartbeat from the database.
#[tokio::test]
async fn a_host_whose_records_take_long_keeps_its_runs() {
    let Some(server) = server::server() else { return };
    let gate = Arc::<Gate>::default();
    let passing = Arc::clone(&gate);
    let way = Way::through(server, move |bytes| passing.pass(bytes));
    let direct = postgres::fresh(server);
    let schema = postgres::schema(&direct);
    let (host, other) = (here(), HostId::from("other"));
    let until = || server.psql(&format!("SELECT until FROM {schema}.hosts WHERE host = 'here'"));
    let store = Postgres::open(&format!("{}&lease=3600", way.patient_url(schema, 3600))).unwrap();
    let witness = Postgres::open(&format!("{direct}&lease=3600")).unwrap();
    store.heartbeat(&host, Timestamp(i64::MAX)).await.unwrap();
    append(&store, "a", 0, b"x").await.unwrap();
    witness.heartbeat(&other, Timestamp(i64::MAX)).await.unwrap();

    let large = append(&store, "a", 1, &vec![1; 16 << 20]);
    let behind = append(&store, "a", 2, b"x");
    // All but a minute of the lease is over.
    server.psql(&format!("UPDATE {schema}.hosts SET until = {NOW} + 60000 WHERE host = 'here'"));
    let before = until();
    let beat = store.heartbeat(&host, Timestamp(i64::MAX));
    tokio::time::timeout(std::time::Duration::from_secs(60), beat)
        .await
        .expect("it waits for the record")
        .unwrap();
    let after = until();
    assert!(before < after, "{before} {after}");
    assert_eq!(witness.claim(others("other")).await.unwrap(), []);
    assert_eq!(seqs(&witness, "a").await, [0]);

    gate.open();
    large.await.unwrap();
    behind.await.unwrap();
    assert_eq!(seqs(&witness, "a").await, [0, 1, 2]);
}

/// R-H40: the farewell comes behind the last record; a heartbeat that was under way does not bring the host back.
#[tokio::test]
async fn a_host_leaves_behind_its_last_record() {
    let Some(server) = server::server() else { return };
    let url = postgres::fresh(server);
    let store = postgres::opened(&url);
    let schema = postgres::schema(&url);
    store.heartbeat(&here(), Timestamp(i64::MAX)).await.unwrap();
    append(&store, "a", 0, b"x").await.unwrap();
    // One that fell silent for longer than its lease is there again, by a heartbeat like its first.
    server.psql(&format!("UPDATE {schema}.hosts SET until = {NOW} - 1"));
    store.heartbeat(&here(), Timestamp(i64::MAX)).await.unwrap();
    let there = || server.psql(&format!("SELECT count(*) FROM {schema}.hosts WHERE until > {NOW}"));
    assert_eq!(there().trim(), "1");
    let last = append(&store, "a", 1, b"x");
    let (farewell, late) =
        (store.heartbeat(&here(), Timestamp(0)), store.heartbeat(&"late".into(), Timestamp(0)));
    farewell.await.unwrap();
    late.await.unwrap();
    last.await.unwrap();
    assert_eq!(there().trim(), "0");
}
