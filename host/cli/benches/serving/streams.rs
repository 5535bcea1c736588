//! Memory of an idle stream.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{
    Bench,
    client::{Connection, submission},
    server::Server,
    workflows,
};

const STREAMS: u32 = 10_000;

pub(crate) fn print(bench: &Bench) {
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).expect("a limit");
    let room = u32::try_from(most.unwrap_or(u64::MAX)).unwrap_or(u32::MAX).saturating_sub(500);
    let count = bench.scaled(STREAMS).min(room);
    let dir = tempfile::tempdir().expect("a directory");
    workflows::install(dir.path(), &bench.echo);
    let server = Server::start(dir.path());
    bench.runtime.block_on(async {
        let mut connection = Connection::open(server.address).await;
        let run = connection.ask(&submission(&workflows::asked(1, "echo"))).await.run().to_owned();
        connection.get(&format!("/v1/runs/{run}?wait=30s")).await;
        let before = server.resident();
        let mut streams = Vec::new();
        for _ in 0..count {
            let mut stream =
                Connection::open(server.address).await.stream(&format!("/v1/runs/{run}/events")).await;
            let mut head = [0; 12];
            tokio::io::AsyncReadExt::read_exact(&mut stream, &mut head).await.expect("an answer");
            assert_eq!(&head, b"HTTP/1.1 200");
            streams.push(stream);
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        let after = server.resident();
        println!(
            "{count} streams on which nothing happens: {} bytes of memory each, {:.1} MiB with them",
            (after.saturating_sub(before)) / u64::from(count),
            after as f64 / f64::from(1 << 20)
        );
    });
}
