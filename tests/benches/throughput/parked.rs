//! The same work next to 100 000 waiting runs.

use std::{num::NonZeroU32, path::Path, sync::Arc, time::Instant};

use phasm::{
    engine::{phase::Phase, time::Timestamp},
    store::{HostId, Journal, Labels, Lease, Leases, Record, Rest, RunHead, RunStatus, Sqlite},
};

use crate::{
    Bench,
    measure::{self, Measure, in_turns, row},
    workflows,
};

pub(crate) fn print(bench: &Bench) {
    measure::head();
    let dir = tempfile::tempdir().expect("a directory for stores");
    let store = |name: &str| Sqlite::open(dir.path().join(name)).expect("a store");
    let (empty, full) = (store("empty.db"), store("full.db"));
    let start = Instant::now();
    bench.runtime.block_on(fill(&full, bench.scaled(100_000)));
    let took = start.elapsed();
    let runs = bench.scaled(100_000);
    println!(
        "({runs} parked runs written in {:.1} s to {})",
        took.as_secs_f64(),
        size(&dir.path().join("full.db"))
    );
    let (empty, full) = (bench.host(Some(Arc::new(empty))), bench.host(Some(Arc::new(full))));
    let ten = workflows::wide(10);
    let rows: [(&str, &dyn Fn(bool) -> Measure); 3] = [
        ("SQLite FULL, 1 task, one at a time", &|is_full| {
            bench.run(if is_full { &full } else { &empty }, &workflows::wide(1), bench.scaled(300))
        }),
        ("SQLite FULL, deep 300", &|is_full| {
            bench.run(if is_full { &full } else { &empty }, &workflows::deep(bench.scaled(300)), 1)
        }),
        ("SQLite FULL, 2 000 runs of 10 at once", &|is_full| {
            bench.run_at_once(if is_full { &full } else { &empty }, &ten, bench.scaled(2_000))
        }),
    ];
    for (name, work) in rows {
        let (floor, beside) = in_turns(5, || work(false), || work(true));
        row(name, &floor, &floor);
        row("  beside the parked ones", &beside, &floor);
    }
}

fn size(file: &Path) -> String {
    format!("{} MB", std::fs::metadata(file).map_or(0, |file| file.len()) / 1_000_000)
}

/// Adds runs of 100 tasks, as far as a store sees them, which no host has leased and which only a letter gets on.
async fn fill(store: &Sqlite, runs: u32) {
    let host = HostId::unique();
    let rest = Some(Rest { parked: true, until: None });
    let status = RunStatus { phase: Phase::Running, finished_at: None, open: true, rest };
    let mut written = Vec::new();
    for run in 0..runs {
        let head = Arc::new(RunHead {
            run_id: format!("parked-{run:06}").into(),
            workflow: "parked".into(),
            namespace: "default".into(),
            priority: 500,
            submitted_at: Timestamp(0),
            key: None,
            labels: Labels::default(),
        });
        let lease = Lease::first(head, host.clone());
        let body = Arc::new(vec![b' '; 1000]) as _;
        let events = NonZeroU32::new(100).expect("not none");
        let record = Record {
            first_seq: 0,
            events,
            time: Timestamp(0),
            body,
            document: None,
            notices: Vec::new(),
            logs: Vec::new(),
            remark: None,
        };
        drop(store.append(&lease, status, record, Vec::new()));
        written.push(store.release(&lease, None));
    }
    for released in written {
        released.await.expect("written");
    }
}
