//! From a document to the end of its run, one after the other.

use std::time::{Duration, Instant};

use crate::{
    Bench,
    client::{Connection, submission},
    finish, micros,
    server::Server,
    workflows,
};

/// How often both take turns.
const ROUNDS: u32 = 5;

pub(crate) fn print(bench: &Bench) {
    let dir = tempfile::tempdir().expect("a directory");
    workflows::install(dir.path(), &bench.echo);
    let (server, host, text) = (Server::start(dir.path()), bench.library(dir.path()), workflows::one());
    let runs = bench.scaled(500);
    let library = || {
        bench.runtime.block_on(async {
            let begun = Instant::now();
            for _ in 0..runs {
                finish(&host, &text).await;
            }
            begun.elapsed()
        })
    };
    let served = || bench.runtime.block_on(through(&server, &text, runs));
    // Both have done it before.
    library();
    served();
    let (mut floor, mut work) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        (floor, work) = (floor.min(library()), work.min(served()));
    }
    println!("{:<48} {:>9} {:>7}", "one task from a document to its end, in a file", "us each", "x");
    println!("{:<48} {:>9.1} {:>7.2}", "floor: the library", micros(floor, runs), 1.0);
    let ratio = work.as_secs_f64() / floor.as_secs_f64();
    println!("{:<48} {:>9.1} {:>7.2}", "over HTTP: submit, and wait for its end", micros(work, runs), ratio);
}

async fn through(server: &Server, text: &str, runs: u32) -> Duration {
    let mut connection = Connection::open(server.address).await;
    let request = submission(text);
    let begun = Instant::now();
    for _ in 0..runs {
        let path = format!("/v1/runs/{}?wait=30s", connection.ask(&request).await.run());
        let answer = connection.get(&path).await;
        assert!(answer.body.contains("\"phase\":\"Succeeded\""), "{}", answer.body);
    }
    begun.elapsed()
}
