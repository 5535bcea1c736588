//! The time that a light tenant loses to a heavy one on each resource that they share, as ratios to its time alone in the same run.
//!
//! | part | sixteen clients of the heavy tenant | the light tenant |
//! |---|---|---|
//! | `plans` | validate workflow files of 4 MiB | validates one of 33 KiB |
//! | `views` | read a run of 20 000 task runs | lists its runs |
//! | `lists` | search 20 000 runs for a text | lists its runs |
//! | `streams` | follow that large run from its beginning | follows a small one to its end |
//! | `waits` | keep 70 connections of 64 waiting, and open more | lists its runs, on new connections |
//! | `bodies` | begin 70 bodies that do not come | validates a workflow file of 100 KiB |
//! | `uploads` | upload plugins that do not come | uploads one |
//! | `logins` | sign in over and over | reads a page with its session |
//! | `requests` | validate small workflow files | validates one |
//!
//! `cargo bench --bench shares` prints median and 99th percentile; wanted is a ratio of 3 at most. `PHASM_BENCH=plans,views` picks
//! parts, `PHASM_BENCH_SCALE=0.1` makes fewer requests.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark is a program for people")]

mod client;
mod site;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use self::{
    client::{Client, Request},
    site::Site,
};

/// Clients of the heavy tenant.
const HEAVY_CLIENTS: usize = 16;
/// Connections that the heavy tenant keeps, where the server has 64.
const KEPT: usize = 70;
const CONNECTIONS: usize = 64;
/// Requests of the light tenant, alone and next to the heavy one.
const REQUESTS: f64 = 400.0;
/// Time until the heavy clients are all at work.
const WARM_UP: Duration = Duration::from_secs(2);
/// Size of the heavy tenant's workflow files, just below what the server takes.
const LARGE: usize = 4_000_000;

fn main() {
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    let scale = std::env::var("PHASM_BENCH_SCALE").ok().and_then(|scale| scale.parse().ok()).unwrap_or(1.0);
    let requests = (REQUESTS * scale).max(20.0) as usize;
    let wanted = std::env::var("PHASM_BENCH")
        .unwrap_or_else(|_| "plans,views,lists,streams,waits,bodies,uploads,logins,requests".into());
    println!(
        "{:<10} {:>12} {:>12} {:>12} {:>12} {:>8} {:>8} {:>8}",
        "part", "alone p50 ms", "alone p99 ms", "next p50 ms", "next p99 ms", "x p50", "x p99", "refused"
    );
    for part in wanted.split(',') {
        measure(part, requests);
    }
}

fn measure(part: &str, requests: usize) {
    let site = match part {
        "waits" | "bodies" => Site::open(CONNECTIONS),
        "uploads" => Site::with_library(),
        _ => Site::open(site::MANY),
    };
    let (light, heavy) = site.requests(part, LARGE);
    let clients = (site.client("light"), site.client("heavy"));
    light_times(&clients.0, &light, requests / 4);
    let alone = light_times(&clients.0, &light, requests);
    let stop = Arc::new(AtomicBool::new(false));
    let kept = keep(part, &clients.1, &heavy);
    let heavy_clients: Vec<_> = (0..HEAVY_CLIENTS)
        .map(|_| {
            let (client, request, stop) = (clients.1.clone(), heavy.clone(), Arc::clone(&stop));
            thread::spawn(move || overload(&client, &request, &stop))
        })
        .collect();
    thread::sleep(WARM_UP);
    let next = light_times(&clients.0, &light, requests);
    stop.store(true, Ordering::Relaxed);
    let refused = site.refused();
    drop(kept);
    // The server ends first: it cuts off what the clients wait for.
    drop(site);
    heavy_clients.into_iter().for_each(|client| client.join().expect("a client"));
    row(part, &alone, &next, refused);
}

/// Connections that the heavy tenant keeps for nothing.
fn keep(part: &str, heavy: &Client, request: &Request) -> Vec<std::net::TcpStream> {
    let is_kept = ["waits", "bodies", "uploads"].contains(&part);
    if is_kept { (0..KEPT).filter_map(|_| heavy.begin(request)).collect() } else { Vec::new() }
}

/// Sends one request after the other until it is stopped. Heavy clients are other machines: they take no time from the server, but what
/// it leaves.
fn overload(client: &Client, request: &Request, stop: &AtomicBool) {
    #[cfg(target_os = "linux")]
    rustix::process::setpriority_process(None, 19).expect("a lower priority");
    while !stop.load(Ordering::Relaxed) {
        // One that is refused, or cut off, tries again as clients do.
        if client.send(request).is_none_or(|status| status >= 400) {
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Times of requests of the light tenant, all of which succeed.
fn light_times(client: &Client, request: &Request, count: usize) -> Vec<Duration> {
    let one = |_| {
        let begun = Instant::now();
        let status = client.send(request);
        assert!(status.is_some_and(|status| status < 400), "the light tenant got {status:?}");
        begun.elapsed()
    };
    let mut times: Vec<_> = (0..count).map(one).collect();
    times.sort_unstable();
    times
}

fn row(part: &str, alone: &[Duration], next: &[Duration], refused: u64) {
    let of = |times: &[Duration], share: f64| {
        let at = ((times.len() as f64 * share) as usize).min(times.len() - 1);
        times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    let [a, b, c, d] = [of(alone, 0.5), of(alone, 0.99), of(next, 0.5), of(next, 0.99)];
    println!("{part:<10} {a:>12.2} {b:>12.2} {c:>12.2} {d:>12.2} {:>8.2} {:>8.2} {refused:>8}", c / a, d / b);
}
