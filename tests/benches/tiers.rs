//! The cost of a warm call in a process of its own, compared with one in the shared tier, in turns within one run.
//!
//! `cargo bench --bench tiers` prints for each guest the least, the median and the 99th percentile in microseconds, and how many
//! times the median of the shared tier that is. `PHASM_BENCH_SCALE=0.1` makes fewer calls.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark is a program for people")]

use std::{
    env,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm::{
    executor::{Executor as _, Invocation, Level, Observer},
    plugins::Plugins,
    sandbox::{Grants, Isolation, Sandbox, SandboxConfig, child},
};
use tokio::runtime::Builder;

/// The allocator of the `phasm` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const WORLD: &str = include_str!("../guests/world.wat");
/// One that returns at once, and one that says a few things before.
const GUESTS: [(&str, &str); 2] =
    [("code", include_str!("../guests/code.wat")), ("say", include_str!("../guests/say.wat"))];
const CALLS: f64 = 20_000.0;
/// Number of calls of one tier before the other has its turn.
const TURN: usize = 100;

fn main() {
    child::serve_if_asked();
    if env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let scale = env::var("PHASM_BENCH_SCALE").ok().and_then(|scale| scale.parse().ok()).unwrap_or(1.0);
    let turns = (CALLS * scale) as usize / TURN;
    println!(
        "{:<8} {:<8} {:>9} {:>10} {:>9} {:>9}",
        "guest", "tier", "least us", "median us", "p99 us", "x median"
    );
    for (name, guest) in GUESTS {
        let [shared, process] = measure(guest, turns.max(2));
        row(name, "shared", &shared, &shared);
        row(name, "process", &process, &shared);
    }
}

/// Each call's time, in either tier.
fn measure(guest: &str, turns: usize) -> [Vec<Duration>; 2] {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let tiers = [Isolation::Shared, Isolation::Process].map(|tier| plugins(tier, guest));
    let mut times = [const { Vec::new() }; 2];
    for turn in 0..=turns {
        for (plugins, times) in tiers.iter().zip(&mut times) {
            let took = runtime.block_on(calls(plugins));
            // The first turn compiles the guest and starts its process.
            if turn > 0 {
                times.extend(took);
            }
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    times
}

fn plugins(isolation: Isolation, guest: &str) -> Plugins {
    let config = SandboxConfig { slots: 4, isolation, ..SandboxConfig::default() };
    let plugins = Plugins::new(Sandbox::new(config).expect("a sandbox"));
    let text = if guest.contains("(component") { guest.to_owned() } else { WORLD.replace(";; GUEST", guest) };
    plugins.register("guest", wat::parse_str(text).expect("a component"), Grants::default());
    plugins
}

async fn calls(plugins: &Plugins) -> Vec<Duration> {
    let mut times = Vec::with_capacity(TURN);
    for _ in 0..TURN {
        let began = Instant::now();
        plugins.execute(Invocation::first("guest"), Arc::new(Deaf)).await;
        times.push(began.elapsed());
    }
    times
}

fn row(guest: &str, tier: &str, times: &[Duration], shared: &[Duration]) {
    let at = |times: &[Duration], part: f64| {
        let place = (times.len().saturating_sub(1) as f64 * part) as usize;
        times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    let (median, ratio) = (at(times, 0.5), at(times, 0.5) / at(shared, 0.5));
    println!(
        "{guest:<8} {tier:<8} {:>9.1} {median:>10.1} {:>9.1} {ratio:>9.2}",
        at(times, 0.0),
        at(times, 0.99)
    );
}

struct Deaf;

impl Observer for Deaf {
    fn log(&self, _: Level, _: &str) {}
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}
