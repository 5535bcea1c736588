//! Cost of followers for a run.

use std::time::{Duration, Instant};

use tokio::{io::AsyncReadExt as _, net::TcpStream, task::JoinSet};

use crate::{
    Bench,
    client::{Answer, Connection, posted, submission},
    server::Server,
    submits::cpu_time,
    workflows,
};

const ROUNDS: u32 = 3;
const WATCHERS: u32 = 1_000;

/// A run's time, and what its followers took of the CPU meanwhile.
struct FollowerCost {
    took: Duration,
    until_told: Duration,
    cpu: Duration,
    bytes: u64,
}

pub(crate) fn print(bench: &Bench) {
    let dir = tempfile::tempdir().expect("a directory");
    workflows::install(dir.path(), &bench.echo);
    let server = Server::start(dir.path());
    println!(
        "{:<48} {:>9} {:>7} {:>9} {:>9} {:>9}",
        "a run that is followed", "ms", "x", "told ms", "clients", "MB"
    );
    // A task of `doze` waits for 50 ms and uses nothing; one of `echo` waits for nothing.
    for (what, executor, tasks) in [
        ("100 tasks of 50 ms", "doze", bench.scaled(100)),
        ("2 000 tasks, flat out", "echo", bench.scaled(2_000)),
    ] {
        let text = workflows::asked(tasks, executor);
        let play = |watchers: u32| bench.runtime.block_on(watched(&server, &text, watchers));
        play(1);
        let (mut alone, mut among) = (play(0), play(bench.scaled(WATCHERS)));
        for _ in 1..ROUNDS {
            (alone, among) = (less(alone, play(0)), less(among, play(bench.scaled(WATCHERS))));
        }
        row(&format!("floor: {what}, alone"), &alone, &alone);
        row(&format!("  with {} streams", bench.scaled(WATCHERS)), &among, &alone);
    }
}

fn less(one: FollowerCost, other: FollowerCost) -> FollowerCost {
    if other.took < one.took { other } else { one }
}

fn row(what: &str, watched: &FollowerCost, floor: &FollowerCost) {
    println!(
        "{what:<48} {:>9.1} {:>7.2} {:>9.1} {:>7.0} % {:>9.1}",
        watched.took.as_secs_f64() * 1e3,
        watched.took.as_secs_f64() / floor.took.as_secs_f64(),
        watched.until_told.as_secs_f64() * 1e3,
        watched.cpu.as_secs_f64() / watched.until_told.as_secs_f64() * 100.0,
        watched.bytes as f64 / 1e6,
    );
}

/// From the answer that a run waits for to its end, by the run's own clock.
async fn watched(server: &Server, text: &str, watchers: u32) -> FollowerCost {
    let mut connection = Connection::open(server.address).await;
    let run = connection.ask(&submission(text)).await.run().to_owned();
    connection.get(&format!("/v1/runs/{run}?wait=30s&tasks=0")).await;
    let mut streams = JoinSet::new();
    for _ in 0..watchers {
        let stream = Connection::open(server.address).await.stream(&format!("/v1/runs/{run}/events")).await;
        streams.spawn(follow(begun(stream).await));
    }
    let (cpu, answered) = (cpu_time(), Instant::now());
    let resume = posted(&format!("/v1/runs/{run}/tasks/ask/resume"), "{}");
    let answer = connection.ask(&resume).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let bytes = streams.join_all().await.into_iter().sum();
    // The first may have been silent for longer than a connection is kept.
    let mut connection = Connection::open(server.address).await;
    let view = connection.get(&format!("/v1/runs/{run}?wait=60s&tasks=0")).await;
    let (until_told, cpu) = (answered.elapsed(), cpu_time().saturating_sub(cpu));
    FollowerCost { took: took(&mut connection, &run, &view).await, until_told, cpu, bytes }
}

/// From the task that asks to the end, as the run itself has it.
async fn took(connection: &mut Connection, run: &str, view: &Answer) -> Duration {
    let field = |text: &str, name: &str| {
        let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let text = value.get(name).and_then(serde_json::Value::as_str).expect("an instant").to_owned();
        phasm::engine::time::Timestamp::from_rfc3339(&text).expect("an instant")
    };
    let asked = connection.get(&format!("/v1/runs/{run}/tasks/ask")).await;
    let ended = field(&view.body, "finishedAt");
    Duration::from_millis(ended.since(field(&asked.body, "finishedAt")))
}

/// The stream once it has said what was before.
async fn begun(mut stream: TcpStream) -> TcpStream {
    let mut said = Vec::new();
    while !said.windows(9).any(|part| part == b"Suspended") {
        assert!(
            stream.read_buf(&mut said).await.expect("a stream") > 0,
            "{}",
            String::from_utf8_lossy(&said)
        );
    }
    stream
}

/// Reads to the end; the bytes that it had.
async fn follow(mut stream: TcpStream) -> u64 {
    let (mut bytes, mut buffer, mut last) = (0, vec![0; 16 << 10], Vec::new());
    loop {
        let read = stream.read(&mut buffer).await.expect("a stream");
        let piece = buffer.get(..read).unwrap_or_default();
        bytes += read as u64;
        last.extend_from_slice(piece);
        last.drain(..last.len().saturating_sub(100));
        // The last chunk has nothing in it.
        if last.ends_with(b"\r\n0\r\n\r\n") {
            let end = String::from_utf8_lossy(&last).into_owned();
            assert!(end.contains("event: end\n"), "{end}");
            return bytes;
        }
        assert!(read > 0, "the stream broke off");
    }
}
