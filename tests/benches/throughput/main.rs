//! The cost of a task, as ratios to floors measured in the same run.
//!
//! | floor | meaning |
//! |---|---|
//! | bare wasmtime | a fresh instance and one call of the same echo component with the same limits, on as many threads |
//! | by hand | the same condition, JSON, fresh instance and events, written down as a loop |
//! | raw SQLite, raw PostgreSQL | the same bytes in as many records, in transactions of many |
//! | fsync | one page appended and made durable |
//!
//! `cargo bench --bench throughput` prints tasks/s, wall and CPU µs a task and the ratios. Rows and their floors are measured in
//! turns, and the least of each counts. Opening the host and loading plugins is not counted. `PHASM_BENCH_SCALE=0.1` shrinks
//! every run, `PHASM_BENCH=size,memory,sqlite,parked,postgres,history` picks parts.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark is a program for people"
)]

mod floor;
mod history;
mod measure;
mod parked;
mod pipeline;
mod raw;
#[expect(dead_code, clippy::unwrap_used, reason = "what the stores' tests need of it")]
#[path = "../../../host/src/store/tests/server.rs"]
mod server;
mod size;
mod workflows;

use std::{path::Path, sync::Arc};

use floor::Bare;
use measure::{Measure, below, in_turns};
use phasm::{
    Host,
    engine::{
        phase::Phase,
        plan::{Plan, TemplateKind},
        value::Map,
    },
    sandbox::SandboxConfig,
    store::{Postgres, Sqlite, Store},
};
use tokio::runtime::Runtime;

/// The allocator of the `phasm` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often rows and floors take turns.
const ROUNDS: u32 = 5;

fn main() {
    // `cargo test --benches` and the like ask for a list or a quick pass; a benchmark has nothing to check.
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let bench = Bench::open();
    let parts =
        std::env::var("PHASM_BENCH").unwrap_or_else(|_| "size,memory,sqlite,parked,postgres,history".into());
    for part in parts.split(',') {
        match part {
            "size" => size::print(&bench),
            "memory" => bench.memory(),
            "sqlite" => bench.sqlite(),
            "parked" => parked::print(&bench),
            "postgres" => bench.postgres(),
            "history" => history::print(&bench),
            other => panic!("PHASM_BENCH has no part `{other}`"),
        }
    }
}

struct Bench {
    echo: Arc<[u8]>,
    runtime: Runtime,
    scale: f64,
}

impl Bench {
    fn open() -> Self {
        let scale = std::env::var("PHASM_BENCH_SCALE").ok().and_then(|scale| scale.parse().ok());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { echo: workflows::echo_component().into(), runtime, scale: scale.unwrap_or(1.0) }
    }

    fn scaled(&self, number: u32) -> u32 {
        ((f64::from(number) * self.scale) as u32).max(1)
    }

    fn host(&self, store: Option<Arc<dyn Store>>) -> Arc<Host> {
        let echo = Arc::clone(&self.echo);
        let mut builder = Host::builder().plugin("echo", echo).sandbox(SandboxConfig::default());
        if let Some(store) = store {
            builder = builder.store(store);
        }
        let host = Arc::new(builder.open().expect("a host"));
        self.run(&host, &workflows::wide(200), 1);
        host
    }

    /// `runs` runs, one after the other.
    fn run(&self, host: &Host, text: &str, runs: u32) -> Measure {
        self.runtime.block_on(async {
            let plan = plan(host, text).await;
            let tasks = leaves(&plan) * u64::from(runs);
            let measuring = Measure::start();
            for _ in 0..runs {
                finish(host, &plan).await;
            }
            measuring.stop(tasks)
        })
    }

    /// `runs` runs, all submitted at once.
    fn run_at_once(&self, host: &Arc<Host>, text: &str, runs: u32) -> Measure {
        self.runtime.block_on(async {
            let plan = plan(host, text).await;
            let tasks = leaves(&plan) * u64::from(runs);
            let measuring = Measure::start();
            let submits = (0..runs).map(|_| {
                let (host, plan) = (Arc::clone(host), Arc::clone(&plan));
                tokio::spawn(async move { finish(&host, &plan).await })
            });
            for ended in submits.collect::<Vec<_>>() {
                ended.await.expect("no panic");
            }
            measuring.stop(tasks)
        })
    }

    fn memory(&self) {
        measure::head();
        let bare = Bare::open(&self.echo);
        bare.measure(self.scaled(20_000));
        let host = self.host(None);
        let wide = workflows::wide(self.scaled(10_000));
        let (floor, wide) =
            in_turns(ROUNDS, || bare.measure(self.scaled(20_000)), || self.run(&host, &wide, 1));
        let at_once = self
            .run_at_once(&host, &workflows::wide(10), self.scaled(1_000))
            .least(self.run_at_once(&host, &workflows::wide(10), self.scaled(1_000)));
        let hundred = self.run(&host, &workflows::wide(100), self.scaled(200));
        let rows = [
            ("memory, wide 10 000", wide),
            ("memory, wide 100", hundred),
            ("memory, 1 000 runs of 10 at once", at_once),
        ];
        below("bare wasmtime", &floor, &rows);
        let tasks = self.scaled(2_000);
        let by_hand = || pipeline::one_in_flight(&bare, tasks);
        let (floor, alone) =
            in_turns(ROUNDS, by_hand, || self.run(&host, &workflows::wide(1), self.scaled(1_000)));
        let deep = workflows::deep(tasks);
        let (other, chain) = in_turns(ROUNDS, by_hand, || self.run(&host, &deep, 1));
        let rows = [("memory, 1 task, one at a time", alone), ("memory, deep 2 000", chain)];
        below("by hand, one in flight", &floor.least(other), &rows);
    }

    fn sqlite(&self) {
        measure::head();
        let dir = tempfile::tempdir().expect("a directory for stores");
        self.sqlite_commits(dir.path());
        let bare = Bare::open(&self.echo);
        bare.measure(self.scaled(20_000));
        let file = |round: u32| dir.path().join(format!("by-hand-{round}.db"));
        let (mut floors, mut runs) = (0, 0);
        let ten = workflows::wide(10);
        let mut written = raw::Written { records: 0, bytes: 0 };
        let by_hand = || {
            floors += 1;
            pipeline::durable(&bare, self.scaled(20_000), 256, &file(floors))
        };
        let (floor, at_once) = in_turns(ROUNDS, by_hand, || {
            runs += 1;
            let store =
                Arc::new(Sqlite::open(dir.path().join(format!("at-once-{runs}.db"))).expect("a store"));
            let host = self.host(Some(Arc::clone(&store) as _));
            let measure = self.run_at_once(&host, &ten, self.scaled(2_000));
            written = self.runtime.block_on(raw::written(&store));
            measure
        });
        below(
            "by hand, 256 in flight, starts not awaited",
            &floor,
            &[("SQLite FULL, 2 000 runs of 10 at once", at_once)],
        );
        let raw = raw::sqlite(&dir.path().join("raw.db"), written, 256, at_once.tasks);
        below("raw SQLite, its bytes, 256 records a commit", &raw, &[("the same", at_once)]);
        println!(
            "  ({} records of {} bytes)",
            written.records,
            written.bytes / written.records.max(1) as usize
        );
        let store = Sqlite::open(dir.path().join("wide.db")).expect("a store");
        let host = self.host(Some(Arc::new(store)));
        let wide = workflows::wide(self.scaled(10_000));
        let (floor, wide) = in_turns(3, || bare.measure(self.scaled(20_000)), || self.run(&host, &wide, 1));
        below("bare wasmtime", &floor, &[("SQLite FULL, wide 10 000", wide)]);
    }

    /// Measures commits that follow each other.
    fn sqlite_commits(&self, dir: &Path) {
        println!("{:<48} {:>29.1}", "fsync of a page", raw::fsync(dir));
        let store = Sqlite::open(dir.join("commits.db")).expect("a store");
        let host = self.host(Some(Arc::new(store)));
        for (name, text, runs, commits) in [
            ("SQLite FULL, 1 task, one at a time", workflows::wide(1), self.scaled(300), 2),
            ("SQLite FULL, deep 300", workflows::deep(self.scaled(300)), 1, 1),
        ] {
            let mut floors = 0;
            let floor = || {
                floors += 1;
                let file = dir.join(format!("raw-{commits}-{floors}.db"));
                let records = self.scaled(300) * commits;
                let written = raw::Written { records, bytes: records as usize * 200 };
                raw::sqlite(&file, written, 1, u64::from(self.scaled(300)))
            };
            let (floor, work) = in_turns(ROUNDS, floor, || self.run(&host, &text, runs));
            below(&format!("raw SQLite, {commits} commits a task"), &floor, &[(name, work)]);
        }
    }

    fn postgres(&self) {
        let Some(server) = server::server() else { return };
        measure::head();
        let server = server.another(&["fsync=on"]);
        let store: Arc<dyn Store> = Arc::new(Postgres::open(&server.url("bench")).expect("a store"));
        let host = self.host(Some(Arc::clone(&store)));
        let ten = workflows::wide(10);
        let at_once = self.run_at_once(&host, &ten, self.scaled(1_000));
        let at_once = at_once.least(self.run_at_once(&host, &ten, self.scaled(1_000)));
        let count = |sql: &str| server.psql(sql).parse::<usize>().expect("a number");
        let records = count("SELECT count(*) FROM bench.journal");
        let bytes = count("SELECT sum(length(body)) FROM bench.journal");
        let runs = count("SELECT count(*) FROM bench.runs WHERE seq < 1000");
        let share = |all: usize| all * self.scaled(1_000) as usize / runs.max(1);
        let written = raw::Written { records: share(records) as u32, bytes: share(bytes) };
        let (raw, stored) = in_turns(
            3,
            || self.runtime.block_on(raw::postgres(&server, written, 256, at_once.tasks)),
            || self.runtime.block_on(raw::stored(&store, written, self.scaled(1_000), at_once.tasks)),
        );
        below(
            "raw PostgreSQL, its bytes, 256 records a batch",
            &raw,
            &[
                ("PostgreSQL, 1 000 runs of 10 at once", at_once),
                ("  its records through the store alone", stored),
            ],
        );
        println!(
            "  ({} records of {} bytes)",
            written.records,
            written.bytes / written.records.max(1) as usize
        );
        let alone = self.run(&host, &workflows::wide(1), self.scaled(200));
        let raw = |records: u32| raw::Written { records, bytes: records as usize * 200 };
        let runs = self.scaled(200);
        let two = self.runtime.block_on(raw::postgres(&server, raw(runs * 2), 1, runs.into()));
        below("raw PostgreSQL, 2 statements a task", &two, &[("PostgreSQL, 1 task, one at a time", alone)]);
    }
}

async fn finish(host: &Host, plan: &Arc<Plan>) {
    let handle = host.submit(plan, &Map::new()).await.expect("submitted");
    let ended = handle.ended().await.expect("an end");
    assert_eq!(ended.phase(), Phase::Succeeded);
}

async fn plan(host: &Host, text: &str) -> Arc<Plan> {
    host.plan("bench.json", text).await.unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn leaves(plan: &Plan) -> u64 {
    plan.templates
        .iter()
        .map(|template| if let TemplateKind::Dag(dag) = &template.kind { dag.nodes.len() as u64 } else { 0 })
        .sum()
}
