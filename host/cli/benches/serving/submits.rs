//! How many documents a second are accepted: each is durable before it is answered, and is run beside the others.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use phasm::Map;

use crate::{
    Bench,
    client::{Connection, submission},
    server::Server,
    workflows,
};

const ROUNDS: u32 = 3;

pub(crate) fn print(bench: &Bench) {
    let count = bench.scaled(10_000);
    println!("{:<48} {:>9} {:>9} {:>9}", "documents of one task, in a file", "a second", "of", "client");
    for (what, text) in [("run", workflows::one()), ("parked", workflows::asked(0, "echo"))] {
        for at_once in [16, 128] {
            // A store for each, as what is left to run of one would be in the way of another.
            let fresh = tempfile::tempdir().expect("a directory");
            workflows::install(fresh.path(), &bench.echo);
            let host = if what == "run" { Some(bench.library(fresh.path())) } else { None };
            if let Some(host) = &host {
                let floor = (0..ROUNDS).map(|_| bench.runtime.block_on(library(host, &text, count, at_once)));
                let floor = floor.min().unwrap_or_default();
                row(&format!("floor: the library, {at_once} at once"), count, floor, Duration::ZERO);
            }
            let server = Server::start(fresh.path());
            let took = (0..ROUNDS).map(|_| bench.runtime.block_on(through(&server, &text, count, at_once)));
            let (took, cpu) = took.min().unwrap_or_default();
            row(&format!("over HTTP, {at_once} connections, {what}"), count, took, cpu);
        }
    }
}

fn row(what: &str, count: u32, took: Duration, cpu: Duration) {
    let share = cpu.as_secs_f64() / took.as_secs_f64().max(1e-9) * 100.0;
    println!("{what:<48} {:>9.0} {count:>9} {share:>7.0} %", f64::from(count) / took.as_secs_f64());
}

/// Documents that are left, which tasks take from.
fn taken(left: &AtomicU32) -> bool {
    left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
}

async fn through(server: &Server, text: &str, count: u32, at_once: u32) -> (Duration, Duration) {
    let (left, request) = (Arc::new(AtomicU32::new(count)), Arc::new(submission(text)));
    let mut connections = Vec::new();
    for _ in 0..at_once {
        connections.push(Connection::open(server.address).await);
    }
    let (begun, cpu) = (Instant::now(), cpu_time());
    let mut clients = tokio::task::JoinSet::new();
    for mut connection in connections {
        let (left, request) = (Arc::clone(&left), Arc::clone(&request));
        clients.spawn(async move {
            while taken(&left) {
                let answer = connection.ask(&request).await;
                assert_eq!(answer.status, 202, "{}", answer.body);
            }
        });
    }
    clients.join_all().await;
    (begun.elapsed(), cpu_time().saturating_sub(cpu))
}

async fn library(host: &Arc<phasm::Host>, text: &str, count: u32, at_once: u32) -> Duration {
    let (left, text, begun) = (Arc::new(AtomicU32::new(count)), Arc::<str>::from(text), Instant::now());
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..at_once {
        let (host, left, text) = (Arc::clone(host), Arc::clone(&left), Arc::clone(&text));
        clients.spawn(async move {
            while taken(&left) {
                let plan = host.plan("bench.json", &text).await.expect("a plan");
                host.submit(&plan, &Map::new()).await.expect("submitted");
            }
        });
    }
    clients.join_all().await;
    begun.elapsed()
}

/// CPU time of this process so far.
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
