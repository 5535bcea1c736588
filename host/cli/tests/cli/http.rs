//! `serve --listen` and `key`: the API of a real process.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
};

use rustix::process::Signal;
use serde_json::Value;

use crate::{bench::Bench, crash::Running};

const LISTEN: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

/// A host that listens, and where.
fn listening(bench: &Bench, arguments: &[&str]) -> (Running, String) {
    let mut host = Running::start(bench, &[&LISTEN, arguments].concat());
    host.until(&["listening on http://", "/v1/docs\n"]);
    let url = host.said().split("listening on http://").nth(1).unwrap().lines().next().unwrap().to_owned();
    (host, url)
}

/// Response to a request: its status, and its body.
fn ask(address: &str, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nhost: {address}\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn submit(address: &str, document: &str) -> String {
    let (status, body) = ask(address, "POST", "/v1/runs", "content-type: application/yaml\r\n", document);
    assert_eq!(status, 202, "{body}");
    json(&body)["runID"].as_str().unwrap().to_owned()
}

/// R-A18: the process is killed between submit and end; what was acknowledged goes on.
#[test]
fn what_was_acknowledged_outlives_the_server() {
    let bench = Bench::new();
    bench.task("sleep.yaml", "doze", "");
    let document = fs::read_to_string(bench.path("sleep.yaml")).unwrap();
    let (host, address) = listening(&bench, &[]);
    let runs: Vec<_> = (0..5).map(|_| submit(&address, &document)).collect();
    host.signal(Signal::KILL);
    assert_eq!(host.end().status, -1);
    // The store is in the user's data directory, as none is named.
    assert!(bench.path("data/phasm/runs.db").is_file());
    let (host, address) = listening(&bench, &[]);
    for run in &runs {
        let (status, body) = ask(&address, "GET", &format!("/v1/runs/{run}?wait=60s"), "", "");
        assert_eq!((status, json(&body)["phase"].as_str()), (200, Some("Succeeded")), "{body}");
        let stored = bench.phasm(&["get", run, "--store", "data/phasm/runs.db", "--json"]);
        assert_eq!(stored.json(), json(&body));
    }
    host.signal(Signal::TERM);
    let ended = host.end();
    assert_eq!(ended.status, 143, "{ended:?}");
    assert!(ended.stderr.contains("serve --listen 127.0.0.1:0"), "{ended:?}");
}

/// R-A10, R-A18: keys are made, listed and removed while the server goes on.
#[test]
fn keys_are_shown_once_and_heeded_at_once() {
    let bench = Bench::new();
    let store = ["--store", "runs.db"];
    let (host, address) = listening(&bench, &store);
    let list =
        |key: &str| ask(&address, "GET", "/v1/runs", &format!("authorization: Bearer {key}\r\n"), "").0;
    assert_eq!(list("none"), 200);
    let made = bench.phasm(&["key", "add", "ci", "--role", "read", "--namespace", "a", "--store", "runs.db"]);
    assert_eq!(made.status, 0, "{made:?}");
    let key = made.stdout.trim();
    assert!(key.starts_with("phasm_") && !made.stderr.contains(key), "{made:?}");
    assert!(!fs::read_to_string(bench.path("runs.db.keys")).unwrap().contains(key));
    assert_eq!((list("none"), list(key)), (401, 200));
    let again = bench.phasm(&["key", "add", "ci", "--store", "runs.db"]);
    assert_eq!(again.status, 2, "{again:?}");
    let listed = bench.phasm(&["key", "list", "--store", "runs.db"]);
    assert!(listed.stdout.contains("ci") && listed.stdout.contains("read") && !listed.stdout.contains(key));
    let listed = bench.phasm(&["key", "list", "--store", "runs.db", "--json"]).json();
    assert_eq!((listed[0]["name"].as_str(), listed[0]["namespaces"][0].as_str()), (Some("ci"), Some("a")));
    assert_eq!(bench.phasm(&["key", "remove", "ci", "--store", "runs.db"]).status, 0);
    assert_eq!(list(key), 200, "without keys none is asked for on loopback");
    assert_eq!(bench.phasm(&["key", "remove", "ci", "--store", "runs.db"]).status, 2);
    host.signal(Signal::TERM);
    host.end();
    let refused = bench.phasm(&["serve", "--listen", "0.0.0.0:0", "--store", "runs.db"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains(" key add NAME --store runs.db), or listen on 127.0.0.1"), "{refused:?}");
}
