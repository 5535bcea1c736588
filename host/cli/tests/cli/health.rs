//! `phasm health` and `phasm --version`.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use rustix::process::Signal;

use crate::{bench::Bench, crash::Running};

/// R-L60: the status and the line say whether the server of a store is ready, also after it is gone; no key is needed.
#[test]
fn the_health_of_a_server_is_its_exit_status() {
    let bench = Bench::new();
    let store = ["--store", "runs.db"];
    let none = bench.phasm(&["health", "--store", "runs.db"]);
    assert!(none.status == 2 && none.stderr.contains("no server of runs.db is known"), "{none:?}");
    assert_eq!(bench.phasm(&["key", "add", "ci", "--store", "runs.db"]).status, 0);
    let mut host = Running::start(&bench, &[&["serve", "--listen", "127.0.0.1:0"], &store[..]].concat());
    host.until(&["listening on http://", "/v1/docs\n"]);
    let url = host.said().split("listening on ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let ready = format!("{url} is ready\n");
    for arguments in [&store[..], &["--server", url.as_str()]] {
        let asked = bench.phasm(&[&["health"], arguments].concat());
        assert_eq!((asked.status, asked.stdout.as_str(), asked.stderr.as_str()), (0, ready.as_str(), ""));
    }
    let live = bench.phasm(&["health", "--live", "--server", &url]);
    assert_eq!((live.status, live.stdout), (0, format!("{url} is up\n")));
    host.signal(Signal::TERM);
    host.end();
    let gone = bench.phasm(&["health", "--server", &url]);
    assert!(gone.status == 1 && gone.stdout.is_empty(), "{gone:?}");
    assert!(gone.stderr.starts_with(&format!("error: {url} is not ready: ")), "{gone:?}");
    assert_eq!(gone.stderr.lines().count(), 1, "{gone:?}");
}

/// R-L60: the key is not sent, so that a server elsewhere can be asked without TLS.
#[test]
fn a_server_elsewhere_is_asked_without_the_key() {
    let bench = Bench::new();
    let response = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = thread::spawn(move || read_and_answer(&listener, response));
    let healthy = bench.phasm_with(&[("PHASM_KEY", "phasm_secret")], &["health", "--server", &url]);
    assert_eq!(healthy.status, 0, "{healthy:?}");
    let head = asked.join().unwrap();
    assert!(head.starts_with("GET /readyz ") && !head.contains("phasm_secret"), "{head}");
    let elsewhere = bench.phasm_with(
        &[("PHASM_KEY", "phasm_secret")],
        &["health", "--server", "http://phasm.invalid:1", "--timeout", "30s"],
    );
    assert!(elsewhere.status == 1 && !elsewhere.stderr.contains("https"), "{elsewhere:?}");
}

/// R-L60: a refusal says why, and a server that does not respond is given up after the timeout.
#[test]
fn a_server_that_is_not_ready_says_why() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // Connections are accepted by the system; nothing responds.
    let silent = bench.phasm(&["health", "--server", &url, "--timeout", "200ms"]);
    let expected =
        format!("error: {url} is not ready: no response within 200ms; `--timeout` gives it more time\n");
    assert_eq!((silent.status, silent.stderr), (1, expected));
    let refusal = r#"{"detail": "the store cannot be read"}"#;
    let response =
        format!("HTTP/1.1 503 Service Unavailable\r\ncontent-length: {}\r\n\r\n{refusal}", refusal.len());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = thread::spawn(move || read_and_answer(&listener, &response));
    let refused = bench.phasm(&["health", "--server", &url]);
    let expected = format!("error: {url} is not ready: the store cannot be read\n");
    assert_eq!((refused.status, refused.stderr), (1, expected));
    asked.join().unwrap();
}

/// Reads the head of one request, and sends a response. Returns the head.
fn read_and_answer(listener: &TcpListener, response: &str) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    stream.write_all(response.as_bytes()).unwrap();
    String::from_utf8(head).unwrap()
}

/// R-L61: the commit of a build that was not told one is not recorded; no other is claimed.
#[test]
fn the_version_has_the_commit_and_the_target() {
    let bench = Bench::new();
    let short = format!("phasm {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(bench.phasm(&["-V"]).stdout, short);
    let long = bench.phasm(&["--version"]).stdout;
    let lines: Vec<&str> = long.lines().collect();
    let [version, commit, date, target] = lines.as_slice() else { panic!("{long}") };
    assert_eq!(format!("{version}\n"), short);
    let (commit, date) = (commit.strip_prefix("commit: ").unwrap(), date.strip_prefix("date: ").unwrap());
    match option_env!("PHASM_COMMIT").filter(|commit| !commit.is_empty()) {
        Some(built) => assert_eq!(commit, built),
        None => assert_eq!(commit, "not recorded (PHASM_COMMIT was not set in the build)"),
    }
    match option_env!("PHASM_COMMIT_DATE").filter(|date| !date.is_empty()) {
        Some(built) => assert_eq!(date, built),
        None => assert_eq!(date, "not recorded"),
    }
    assert!(target.starts_with("target: ") && target.contains(std::env::consts::ARCH), "{target}");
}
