//! Start time of a server, and what an idle one uses.

use std::{path::Path, thread::sleep, time::Duration};

use crate::{
    Bench,
    client::{Connection, submission},
    median,
    server::Server,
    workflows,
};

/// How often it is started.
const STARTS: u32 = 15;
/// For how long it is looked at while nothing happens.
const REST: Duration = Duration::from_secs(10);

pub(crate) fn print(bench: &Bench) {
    let dir = tempfile::tempdir().expect("a directory");
    println!("{:<48} {:>9} {:>9}", "a server", "ready ms", "MiB");
    let fresh = (0..STARTS).map(|number| {
        let fresh = dir.path().join(format!("fresh{number}"));
        std::fs::create_dir_all(&fresh).expect("a folder");
        Server::start(&fresh).started
    });
    row("new, without plugins", median(fresh.collect()), None);
    workflows::install(dir.path(), &bench.echo);
    let with_plugins = |what: &str| {
        let (mut times, mut bytes) = (Vec::new(), 0);
        for _ in 0..STARTS {
            let server = Server::start(dir.path());
            (times, bytes) = ([times, vec![server.started]].concat(), server.resident());
        }
        row(what, median(times), Some(bytes));
    };
    // Compiling the plugins is not counted.
    drop(Server::start(dir.path()));
    with_plugins("with three plugins that were used before");
    used(bench, dir.path(), "after 1 000 runs", bench.scaled(1_000));
    with_plugins("on the file of these");
}

/// Memory after this many runs, and activity while idle.
fn used(bench: &Bench, dir: &Path, what: &str, runs: u32) {
    let server = Server::start(dir);
    at_rest("at rest, nothing was ever asked", &server);
    bench.runtime.block_on(async {
        let mut connection = Connection::open(server.address).await;
        for _ in 0..runs {
            let run = connection.ask(&submission(&workflows::one())).await.run().to_owned();
            connection.get(&format!("/v1/runs/{run}?wait=30s")).await;
        }
    });
    at_rest(&format!("at rest, {what}"), &server);
}

fn at_rest(what: &str, server: &Server) {
    sleep(Duration::from_secs(2));
    let before = server.spent();
    sleep(REST);
    let (ticks, wakes) = server.spent().since(&before);
    println!(
        "{what:<48} {:>9} {:>9.1}   {ticks} ticks, {wakes} wake-ups in {} s",
        "",
        server.resident() as f64 / f64::from(1 << 20),
        REST.as_secs()
    );
}

fn row(what: &str, ready: Duration, bytes: Option<u64>) {
    let memory = bytes.map(|bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20))).unwrap_or_default();
    println!("{what:<48} {:>9.1} {memory:>9}", ready.as_secs_f64() * 1e3);
}
