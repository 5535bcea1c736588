//! What a task costs, as a ratio to the floor measured in the same run: bare wasmtime, a fresh instance and one call of
//! the same echo component with the same limits, on as many guest threads.
//!
//! `cargo bench` prints tasks/s, wall and CPU µs per task and the ratio. Opening the host and loading plugins is not
//! counted. `PHASM_BENCH_SCALE=0.1` shrinks every run.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark is a program for people"
)]

mod floor;
mod measure;
mod workflows;

use std::sync::Arc;

use measure::{Measure, Table};
use phasm::{
    Host,
    engine::{
        phase::Phase,
        plan::{Plan, TemplateKind},
        value::Map,
    },
    sandbox::SandboxConfig,
    store::{Sqlite, Store},
};

/// The allocator of the `phasm` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // `cargo test --benches` and the like ask for a list or a quick pass; a benchmark has nothing to check.
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let scale: f64 = std::env::var("PHASM_BENCH_SCALE").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let scaled = |n: u32| ((f64::from(n) * scale) as u32).max(1);
    let echo: Arc<[u8]> = workflows::echo_component().into();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");

    let mut table = Table::start();
    let floor = floor::measure(&echo, scaled(60_000));
    table.floor(&floor);

    let host = open(&echo, None);
    runtime.block_on(async {
        run(&host, &workflows::wide(200), 1).await;
        for (name, plan, runs) in [
            ("memory, 1 task, one at a time", workflows::wide(1), scaled(2_000)),
            ("memory, wide 100", workflows::wide(100), scaled(200)),
            ("memory, wide 10 000", workflows::wide(scaled(10_000)), 3),
            ("memory, deep 100", workflows::deep(100), scaled(100)),
            ("memory, deep 10 000", workflows::deep(scaled(10_000)), 1),
        ] {
            table.row(name, &run(&host, &plan, runs).await);
        }
        table.row(
            "memory, 1 000 runs of 10 at once",
            &run_at_once(&host, &workflows::wide(10), scaled(1_000)).await,
        );
    });
    drop(host);

    let dir = tempfile::tempdir().expect("a directory for the store");
    let store = Sqlite::open(dir.path().join("bench.db")).expect("a store");
    let host = open(&echo, Some(Arc::new(store)));
    runtime.block_on(async {
        run(&host, &workflows::wide(200), 1).await;
        for (name, plan, runs) in [
            ("SQLite FULL, 1 task, one at a time", workflows::wide(1), scaled(500)),
            ("SQLite FULL, wide 10 000", workflows::wide(scaled(10_000)), 2),
            ("SQLite FULL, deep 1 000", workflows::deep(scaled(1_000)), 1),
        ] {
            table.row(name, &run(&host, &plan, runs).await);
        }
        let plan = workflows::wide(10);
        table.row("SQLite FULL, 2 000 runs of 10 at once", &run_at_once(&host, &plan, scaled(2_000)).await);
    });
}

fn open(echo: &Arc<[u8]>, store: Option<Arc<dyn Store>>) -> Host {
    let mut builder = Host::builder().plugin("echo", Arc::clone(echo)).sandbox(SandboxConfig::default());
    if let Some(store) = store {
        builder = builder.store(store);
    }
    builder.open().expect("a host")
}

/// `runs` runs, one after the other.
async fn run(host: &Host, text: &str, runs: u32) -> Measure {
    let plan = plan(host, text).await;
    let tasks = leaves(&plan) * u64::from(runs);
    let measuring = Measure::start();
    for _ in 0..runs {
        finish(host, &plan).await;
    }
    measuring.stop(tasks)
}

/// `runs` runs, all submitted at once.
async fn run_at_once(host: &Host, text: &str, runs: u32) -> Measure {
    let plan = plan(host, text).await;
    let tasks = leaves(&plan) * u64::from(runs);
    let measuring = Measure::start();
    let parameters = Map::new();
    let submits = (0..runs).map(|_| Box::pin(host.submit(&plan, &parameters)));
    for handle in concurrently(submits.collect()).await {
        let ended = handle.expect("submitted").ended().await.expect("an end");
        assert_eq!(ended.phase(), Phase::Succeeded);
    }
    measuring.stop(tasks)
}

/// Polls all until each is ready.
async fn concurrently<F: Future + Unpin>(mut futures: Vec<F>) -> Vec<F::Output> {
    let mut ready = Vec::with_capacity(futures.len());
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| match std::pin::Pin::new(future).poll(context) {
            std::task::Poll::Ready(output) => {
                ready.push(output);
                false
            }
            std::task::Poll::Pending => true,
        });
        if futures.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    ready
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
