//! From a document to the end of its run, one after the other.

use std::time::{Duration, Instant};

use crate::{
    Bench,
    client::{Connection, posted, submission},
    finish, micros,
    server::Server,
    workflows,
};

/// How often both take turns.
const ROUNDS: u32 = 12;

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
    let served = |asking| bench.runtime.block_on(through(&server, &text, runs, asking));
    // Each has done it before.
    library();
    served(Asking::Once);
    let (mut floor, mut once, mut twice) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        (floor, once) = (floor.min(library()), once.min(served(Asking::Once)));
        twice = twice.min(served(Asking::Twice));
    }
    println!("{:<48} {:>9} {:>7}", "one task from a document to its end, in a file", "us each", "x");
    let row = |what: &str, took: Duration| {
        let ratio = took.as_secs_f64() / floor.as_secs_f64();
        println!("{what:<48} {:>9.1} {ratio:>7.2}", micros(took, runs));
    };
    row("floor: the library", floor);
    row("over HTTP: submit and wait in one request", once);
    row("over HTTP: submit, then wait for its end", twice);
}

/// How a client hears of the end.
#[derive(Clone, Copy)]
enum Asking {
    /// The end is the response to the submission.
    Once,
    /// By a request of its own.
    Twice,
}

async fn through(server: &Server, text: &str, runs: u32, asking: Asking) -> Duration {
    let mut connection = Connection::open(server.address).await;
    let request = match asking {
        Asking::Once => posted("/v1/runs?wait=30s", text),
        Asking::Twice => submission(text),
    };
    let begun = Instant::now();
    for _ in 0..runs {
        let mut answer = connection.ask(&request).await;
        if matches!(asking, Asking::Twice) {
            answer = connection.get(&format!("/v1/runs/{}?wait=30s", answer.run())).await;
        }
        assert!(answer.body.contains("\"phase\":\"Succeeded\""), "{}", answer.body);
    }
    begun.elapsed()
}
