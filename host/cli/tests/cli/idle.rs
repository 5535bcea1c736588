//! Ten thousand who follow a run on which nothing happens.
use std::{
    env, fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;

use crate::bench::Bench;

const STREAMS: usize = 10_000;
const KEYS: usize = 5;
/// Bytes of memory that one of them may take of the server.
const EACH: u64 = 48 << 10;

/// A server that began with few files; killed when it is dropped.
pub(crate) struct Serving {
    child: Child,
    address: SocketAddr,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

impl Serving {
    pub(crate) fn start(bench: &Bench) -> Self {
        bench.write("phasm.toml", "[server]\nconnections = 18000\nstreams = 11000\n");
        let command = bench.command(&[
            "serve",
            "--store",
            "runs.db",
            "--listen",
            "127.0.0.1:0",
            "--json",
            "--config",
            "phasm.toml",
        ]);
        let mut shell = Command::new("sh");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.args(["-c", "ulimit -S -n 500; exec \"$0\" \"$@\""]).current_dir(bench.path(""));
        shell.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
        let mut child = shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let said: Value = serde_json::from_str(&line.unwrap()).unwrap();
            said.get("url")?.as_str()?.strip_prefix("http://")?.parse().ok()
        });
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: address.unwrap() }
    }

    fn resident(&self) -> u64 {
        self.memory("VmRSS:")
    }

    /// Bytes of memory: `VmRSS:` for now, `VmHWM:` when they were most.
    pub(crate) fn memory(&self, which: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(which)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    pub(crate) fn json(&self, method: &str, path: &str, headers: &str, body: &str) -> Value {
        let mut said = String::new();
        let headers = format!("connection: close\r\n{headers}");
        self.ask(method, path, &headers, body).read_to_string(&mut said).unwrap();
        serde_json::from_str(said.split_once("\r\n\r\n").unwrap().1)
            .unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

/// A follower, and its received events.
struct Follower {
    stream: TcpStream,
    heard: Vec<u8>,
}

impl Follower {
    /// Until that was said; how many events it was told by then.
    fn until(&mut self, word: &str) -> usize {
        let has = |heard: &[u8], word: &str| {
            heard.windows(word.len()).filter(|part| *part == word.as_bytes()).count()
        };
        while has(&self.heard, word) == 0 {
            let mut piece = [0; 8 << 10];
            let read = self.stream.read(&mut piece).unwrap();
            assert!(read > 0, "it ended: {}", String::from_utf8_lossy(&self.heard));
            self.heard.extend_from_slice(piece.get(..read).unwrap());
        }
        has(&self.heard, "\nid: ")
    }
}

/// Whether this process may have so many sockets.
fn has_room() -> bool {
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
    if most.is_none_or(|most| most > STREAMS as u64 + 1000) {
        return true;
    }
    let said = "ten thousand streams were left out: `ulimit -Hn` is too low\n";
    assert!(env::var_os("PHASM_TEST_ALL").is_none(), "{said}");
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    false
}

/// R-A101: `serve` takes as many files as it may have, whatever it was begun with.
#[test]
fn ten_thousand_idle_streams_are_told_the_end() {
    if !has_room() {
        return;
    }
    let bench = Bench::new();
    let server = Serving::start(&bench);
    bench.task("ask.yaml", "suspend", "");
    let document = fs::read_to_string(bench.path("ask.yaml")).unwrap();
    // A key has a share of the connections, so several keys follow.
    let keys: Vec<_> = (0..KEYS)
        .map(|number| {
            let made = bench.phasm(&["key", "add", &format!("k{number}"), "--store", "runs.db"]);
            format!("authorization: Bearer {}\r\n", made.stdout.trim())
        })
        .collect();
    let key = &keys[0];
    let submitted =
        server.json("POST", "/v1/runs", &format!("{key}content-type: application/yaml\r\n"), &document);
    let run = submitted["runID"].as_str().unwrap();
    server.json("GET", &format!("/v1/runs/{run}?wait=60s"), key, "");
    let follow = |number: usize| {
        let headers = format!("{}accept: text/event-stream\r\n", keys[number % KEYS]);
        let stream = server.ask("GET", &format!("/v1/runs/{run}/events"), &headers, "");
        Follower { stream, heard: Vec::new() }
    };
    let mut first = follow(0);
    let so_far = first.until("\"Suspended\"");
    let before = server.resident();
    let mut followers: Vec<_> = (1..STREAMS).map(follow).collect();
    for follower in &mut followers {
        assert_eq!(follower.until("\"Suspended\""), so_far);
    }
    let each = server.resident().saturating_sub(before) / STREAMS as u64;
    assert!(each < EACH, "{each} bytes of memory each");
    server.json("POST", &format!("/v1/runs/{run}/tasks/main/resume"), key, "");
    let whole = first.until("event: end\n");
    let events = server.json("GET", &format!("/v1/runs/{run}/events"), key, "");
    assert_eq!(events["events"].as_array().unwrap().len(), whole);
    for follower in &mut followers {
        assert_eq!(follower.until("event: end\n"), whole);
    }
}
