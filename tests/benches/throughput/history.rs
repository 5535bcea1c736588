//! The same work in a database that 500 000 processes have submitted to and left.

use std::{num::NonZeroU32, sync::Arc, time::Instant};

use phasm::{
    engine::{phase::Phase, time::Timestamp},
    store::{
        ClaimRequest, HostId, Journal, Labels, Lease, Leases, Postgres, Record, RunHead, RunStatus, Store,
    },
};

use crate::{
    Bench,
    measure::{self, Measure, in_turns, row},
    server,
};

/// Submissions that are under way at once.
const AT_ONCE: u32 = 2_000;

pub(crate) fn print(bench: &Bench) {
    let Some(server) = server::server() else { return };
    measure::head();
    let store = |schema: &str| Postgres::open(&server.url(schema)).expect("a database");
    let (empty, full) = (store("history_empty"), store("history_full"));
    let (runs, start) = (bench.scaled(500_000), Instant::now());
    bench.runtime.block_on(fill(&full, runs));
    println!(
        "({runs} runs of as many processes submitted, ended and deleted in {:.1} s)",
        start.elapsed().as_secs_f64()
    );
    let submissions = bench.scaled(500);
    let submit = |store: &Postgres| {
        bench.runtime.block_on(async {
            let measuring = Measure::start();
            for number in 0..submissions {
                pass(store, &format!("one-{number}"), 1).await;
            }
            measuring.stop(submissions.into())
        })
    };
    let (floor, beside) = in_turns(5, || submit(&empty), || submit(&full));
    row("PostgreSQL, submit, claim, end and delete a run", &floor, &floor);
    row("  after that history", &beside, &floor);
}

/// Passes so many runs through the store.
async fn fill(store: &Postgres, runs: u32) {
    let mut left = runs;
    while left > 0 {
        let count = left.min(AT_ONCE);
        pass(store, &format!("old-{left}"), count).await;
        left -= count;
    }
    while store.give_back().await.expect("swept") {}
}

/// Submits runs, each as a process of its own, claims them as one host that leaves, ends them and deletes them.
async fn pass(store: &Postgres, name: &str, count: u32) {
    let host = HostId::unique();
    store.heartbeat(&host, Timestamp(i64::MAX)).await.expect("a heartbeat");
    let submitted: Vec<_> = (0..count)
        .map(|number| {
            let lease = Lease::first(head(&format!("{name}-{number}")), HostId::unique());
            drop(store.append(&lease, status(true), record(0), Vec::new()));
            store.release(&lease, Some(Timestamp(0)))
        })
        .collect();
    for released in submitted {
        released.await.expect("released");
    }
    loop {
        let wanted = ClaimRequest {
            host: host.clone(),
            now: Timestamp(1),
            limit: AT_ONCE as usize,
            except: Vec::new(),
        };
        let leases = store.claim(wanted).await.expect("claimed");
        if leases.is_empty() {
            break;
        }
        let ended: Vec<_> = leases
            .iter()
            .map(|lease| {
                drop(store.append(lease, status(false), record(1), Vec::new()));
                store.delete(&lease.head.run_id)
            })
            .collect();
        for deleted in ended {
            deleted.await.expect("deleted");
        }
    }
    store.heartbeat(&host, Timestamp(0)).await.expect("a heartbeat");
}

fn head(run_id: &str) -> Arc<RunHead> {
    Arc::new(RunHead {
        run_id: run_id.into(),
        workflow: "w".into(),
        namespace: "default".into(),
        priority: 500,
        submitted_at: Timestamp(0),
        key: None,
        labels: Labels::default(),
    })
}

fn status(open: bool) -> RunStatus {
    let phase = if open { Phase::Created } else { Phase::Succeeded };
    RunStatus { phase, finished_at: (!open).then_some(Timestamp(1)), open, rest: None }
}

fn record(first_seq: u64) -> Record<Arc<dyn phasm::store::Encode>> {
    let body = Arc::new(vec![b' '; 300]) as _;
    Record {
        first_seq,
        events: NonZeroU32::MIN,
        time: Timestamp(0),
        body,
        document: None,
        notices: Vec::new(),
        logs: Vec::new(),
        remark: None,
    }
}
