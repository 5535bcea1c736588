//! Cost of a server compared to the library, in a `phasm serve` of its own that is called over HTTP, as ratios to floors of the same run.
//!
//! | part | what it tells | wanted here |
//! |---|---|---|
//! | `ends` | from a document to the end of its one task, in a file, beside the same through the library | 1.5 times at most |
//! | `submits` | documents a second that are answered with 202, beside the same through the library | 5 000 |
//! | `watchers` | a run that 1 000 streams follow, beside the same run alone | 1.1 times at most |
//! | `start` | from `exec` to the first `/readyz` with 200; memory and CPU of an idle one | 25 ms, 30 MiB, none |
//! | `streams` | memory of a stream that nothing happens on, with 10 000 of them | |
//!
//! `cargo bench -p phasm-cli --bench serving` prints them, `PHASM_BENCH_SCALE=0.1` shrinks every part, `PHASM_BENCH=ends,start` picks
//! some. Clients have the same cores as the server, and what they take of these is printed beside it.
#![cfg(unix)]
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark is a program for people"
)]

mod client;
mod ends;
mod server;
mod start;
mod streams;
mod submits;
mod watchers;
mod workflows;

use std::{sync::Arc, time::Duration};

use phasm::{Host, Map, store::Sqlite};
use tokio::runtime::Runtime;

/// The allocator of the `phasm` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // `cargo test --benches` and the like ask for a list or a quick pass; a benchmark has nothing to check.
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let bench = Bench::open();
    let parts = std::env::var("PHASM_BENCH").unwrap_or_else(|_| "start,ends,submits,watchers,streams".into());
    for part in parts.split(',') {
        match part {
            "ends" => ends::print(&bench),
            "submits" => submits::print(&bench),
            "watchers" => watchers::print(&bench),
            "start" => start::print(&bench),
            "streams" => streams::print(&bench),
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

    /// The library, in this process, on a file of its own.
    fn library(&self, dir: &std::path::Path) -> Arc<Host> {
        let store = Sqlite::open(dir.join("library.db")).expect("a store");
        let builder = Host::builder().plugin("echo", Arc::clone(&self.echo)).store(Arc::new(store));
        Arc::new(builder.open().expect("a host"))
    }
}

/// From a document to the end of its run, through the library.
async fn finish(host: &Host, text: &str) {
    let plan = host.plan("bench.json", text).await.unwrap_or_else(|problems| panic!("{problems:?}"));
    let run = host.submit(&plan, &Map::new()).await.expect("submitted");
    run.wait().await.expect("an end");
}

fn micros(time: Duration, count: u32) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(count)
}

/// The middle one.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
