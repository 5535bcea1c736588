//! The time that a healthy tenant loses to its neighbours, as ratios to its time alone in the same run.
//!
//! The healthy tenant runs chains of 100 small tasks, one after the other. Next to it are 2, 16 and 128 loops of another tenant
//! that each run a hostile guest over and over. `cargo bench --bench neighbours` prints the median and the 99th percentile of a
//! chain's time. `PHASM_NEIGHBOURS=spin,json` picks guests, `PHASM_BENCH_SCALE=0.1` makes fewer chains.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark is a program for people")]

#[expect(dead_code, reason = "other benchmarks use the rest")]
#[path = "../throughput/workflows.rs"]
mod workflows;

use std::{
    env,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm::{Host, Map, Plan, sandbox::SandboxConfig};
use tokio::task::JoinSet;

/// The allocator of the `phasm` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const WORLD: &str = include_str!("../../hostile/world.wat");
const CHAINS: f64 = 300.0;
const COPIES: [usize; 3] = [2, 16, 128];

/// Guests of the neighbours.
const HOSTILE: [(&str, &str); 4] = [
    ("spin", include_str!("../../hostile/spin.wat")),
    ("fill", include_str!("../../hostile/fill.wat")),
    ("json", include_str!("json.wat")),
    ("flood", include_str!("../../hostile/flood.wat")),
];

fn main() {
    if env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure());
}

async fn measure() {
    let scale = env::var("PHASM_BENCH_SCALE").ok().and_then(|scale| scale.parse().ok()).unwrap_or(1.0);
    let chains = (CHAINS * scale).max(10.0) as usize;
    let wanted = env::var("PHASM_NEIGHBOURS").unwrap_or_else(|_| "spin,fill,json,flood".into());
    println!("{:<24} {:>12} {:>12} {:>9} {:>9}", "beside", "median ms", "p99 ms", "x median", "x p99");
    for (name, guest) in HOSTILE {
        if !wanted.split(',').any(|other| other == name) {
            continue;
        }
        let host = host(guest);
        let healthy = plan(&host, &workflows::deep(100)).await;
        let hostile = plan(&host, HOSTILE_RUN).await;
        times(&host, &healthy, 20).await;
        let alone = times(&host, &healthy, chains).await;
        row(&format!("alone ({name})"), alone, alone);
        for copies in COPIES {
            let mut neighbours = JoinSet::new();
            for _ in 0..copies {
                neighbours.spawn(for_ever(Arc::clone(&host), Arc::clone(&hostile)));
            }
            // The first of them teach the host what they are.
            times(&host, &healthy, 20).await;
            let beside = times(&host, &healthy, chains).await;
            row(&format!("{copies} x {name}"), beside, alone);
            neighbours.shutdown().await;
        }
    }
}

/// One task, which a deadline stops.
const HOSTILE_RUN: &str = r#"{"apiVersion": "aether/v1", "kind": "Workflow",
    "metadata": {"name": "hostile", "namespace": "hostile"},
    "spec": {"entrypoint": "main", "templates": [{"task": {"name": "main", "maxRuntime": "1s", "executor": {"type": "hostile"}}}]}}"#;

fn host(guest: &str) -> Arc<Host> {
    let hostile = wat::parse_str(WORLD.replace(";; GUEST", guest)).expect("a component");
    let builder = Host::builder().plugin("echo", workflows::echo_component()).plugin("hostile", hostile);
    Arc::new(builder.sandbox(SandboxConfig::default()).open().expect("a host"))
}

async fn plan(host: &Host, text: &str) -> Arc<Plan> {
    host.plan("bench.json", text).await.expect("a plan")
}

async fn for_ever(host: Arc<Host>, plan: Arc<Plan>) {
    loop {
        let run = host.submit(&plan, &Map::new()).await.expect("submitted");
        drop(run.ended().await);
    }
}

/// The median and the 99th percentile of so many chains' times.
async fn times(host: &Host, plan: &Arc<Plan>, chains: usize) -> (Duration, Duration) {
    let mut times = Vec::with_capacity(chains);
    for _ in 0..chains {
        let begun = Instant::now();
        let run = host.submit(plan, &Map::new()).await.expect("submitted");
        drop(run.ended().await.expect("an end"));
        times.push(begun.elapsed());
    }
    times.sort();
    let at = |share: f64| times.get(((times.len() - 1) as f64 * share) as usize).copied().unwrap_or_default();
    (at(0.5), at(0.99))
}

fn row(what: &str, (median, p99): (Duration, Duration), alone: (Duration, Duration)) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{what:<24} {:>12.2} {:>12.2} {:>9.2} {:>9.2}",
        ms(median),
        ms(p99),
        ms(median) / ms(alone.0),
        ms(p99) / ms(alone.1)
    );
}
