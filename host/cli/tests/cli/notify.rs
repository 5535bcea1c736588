//! Deliveries of the real command, which is killed again and again (R-Y3, R-Y4, R-Y8).
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use phasm::{
    engine::time::Timestamp,
    store::{NoticeRow, Outbox as _, ReadStore as _, Settle, Sqlite},
};
use rustix::process::Signal;

use crate::{
    bench::{Bench, Ran},
    crash::Running,
    stored::approval,
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Takes whatever is posted, and tells of the ids.
fn receiver(status: u16) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook-path", listener.local_addr().unwrap());
    let (sender, ids) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Some(id) = taken(stream.unwrap(), status) else { continue };
            if sender.send(id).is_err() {
                return;
            }
        }
    });
    (url, ids)
}

/// The id of what was posted whole.
fn taken(stream: TcpStream, status: u16) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let (mut id, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line.trim_end().is_empty() {
                break;
            }
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "webhook-id" => id = Some(value.to_owned()),
            "content-length" => length = value.parse().unwrap(),
            _ => {}
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    // The process that has posted it may be dead.
    let _gone = write!(reader.into_inner(), "HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
    id
}

fn configured(bench: &Bench, url: &str) {
    bench.write("hook.key", format!("{SECRET}\n"));
    bench.write(
        "phasm.toml",
        format!("[notify.chat]\nurl = \"{url}\"\nsecrets = [{{ file = \"hook.key\" }}]\n"),
    );
}

/// Makes all notifications due that wait for the end of a claim.
fn expire_claims(bench: &Bench) {
    let store = Sqlite::open(bench.path("runs.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for NoticeRow { id, revision: from, body, .. } in store.due_notices("chat", 99).await.unwrap() {
            assert!(store.settle(Settle { id, from, due: Some(Timestamp(0)), body }).await.unwrap());
        }
    });
}

fn next(ids: &Receiver<String>) -> String {
    ids.recv_timeout(Duration::from_secs(100)).unwrap()
}

fn submitted(bench: &Bench) -> String {
    let ran = bench.phasm(&["submit", "nap.yaml", "--store", "runs.db", "--config", "phasm.toml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.stdout.trim().to_owned()
}

fn listed(bench: &Bench, run: &str, more: &[&str]) -> Ran {
    bench.phasm(&[&["notify", "list", run, "--store", "runs.db"], more].concat())
}

/// R-Y3: killed at any moment, every notice arrives, always with the same id, and its secret is nowhere.
#[test]
fn whoever_is_killed_leaves_nothing_untold() {
    let bench = Bench::new();
    let (url, ids) = receiver(204);
    configured(&bench, &url);
    bench.task("nap.yaml", "nap", "");
    let serve = ["serve", "--store", "runs.db", "--config", "phasm.toml", "--log-level", "debug"];
    let (mut runs, mut told, mut said) = (Vec::new(), Vec::new(), String::new());
    for taken in [1, 0, 3, 2, 0, 1] {
        runs.extend((0..3).map(|_| submitted(&bench)));
        let mut host = Running::start(&bench, &serve);
        host.until(&["serving runs.db"]);
        // The process dies this many posts later, wherever it is with the others.
        told.extend((0..taken).map(|_| next(&ids)));
        host.signal(Signal::KILL);
        said.push_str(&host.end().stderr);
        // The minute is over in which others leave alone what it had begun to post.
        expire_claims(&bench);
    }
    let mut host = Running::start(&bench, &serve);
    let is_told = |told: &[String], run: &String| told.iter().any(|id| id.starts_with(run.as_str()));
    while !runs.iter().all(|run| is_told(&told, run)) {
        told.push(next(&ids));
    }
    host.until(&["serving runs.db"]);
    host.signal(Signal::TERM);
    said.push_str(&host.end().stderr);
    for run in &runs {
        let views = listed(&bench, run, &["--json"]).json();
        assert_eq!(views.as_array().unwrap().len(), 1, "{views}");
        assert_eq!(views[0]["type"], "run.succeeded");
        let id = views[0]["id"].as_str().unwrap();
        assert!(told.iter().filter(|told| told.starts_with(run.as_str())).all(|told| told == id), "{told:?}");
    }
    let store = fs::read(bench.path("runs.db")).unwrap();
    for secret in [SECRET, "hook-path"] {
        assert!(!said.contains(secret), "{said}");
        assert!(!store.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()));
    }
}

/// R-Y8: what was told is listed, with why it was not taken.
#[test]
fn what_was_told_is_listed() {
    let bench = Bench::new();
    let (url, ids) = receiver(404);
    configured(&bench, &url);
    approval(&bench, "1h");
    let ran = bench.phasm(&["submit", "release.yaml", "--store", "runs.db", "--config", "phasm.toml"]);
    let run = ran.stdout.trim();
    let nothing = listed(&bench, run, &[]);
    assert_eq!((nothing.status, nothing.stdout.as_str()), (0, ""), "{nothing:?}");
    assert!(nothing.stderr.contains("there are no notifications"), "{nothing:?}");
    let serve = ["serve", "--store", "runs.db", "--config", "phasm.toml", "--log-level", "info"];
    let mut host = Running::start(&bench, &serve);
    host.until(&["serving runs.db"]);
    let id = next(&ids);
    assert!(id.starts_with(run) && id.ends_with("_chat"), "{id}");
    host.until(&["to chat failed and is tried again in"]);
    host.signal(Signal::TERM);
    host.end();
    let table = listed(&bench, "@last", &[]).stdout;
    assert!(table.contains("run.suspended") && table.contains("it responded 404"), "{table}");
}

/// R-Y8, R-L30: a server tells the same of notices as its store, and who looks at a run sees how they stand.
#[test]
fn a_server_tells_of_notices_what_its_store_does() {
    let bench = Bench::new();
    let (url, ids) = receiver(410);
    configured(&bench, &url);
    approval(&bench, "1h");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--store", "runs.db", "--config", "phasm.toml"];
    let mut host = Running::start(&bench, &serve);
    host.until(&["listening on http://", "/v1/docs\n"]);
    let url = host.said().split("listening on ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let (here, there) = (["--store", "runs.db"], ["--server", url.as_str()]);
    let run = bench.phasm(&[&["submit", "release.yaml"], &there[..]].concat()).stdout.trim().to_owned();
    assert!(next(&ids).starts_with(&run));
    while listed(&bench, &run, &["--json"]).json()[0]["standing"] != "gone" {}
    for arguments in [
        vec!["notify", "list", &run],
        vec!["notify", "list", "@last", "--json"],
        vec!["notify", "list", &run, "--limit", "0", "--json"],
        vec!["get", &run],
        vec!["get", &run, "--json"],
    ] {
        let of = |place: &[&str]| bench.phasm(&[&arguments, place].concat());
        let (told, kept) = (of(&there), of(&here));
        // For how long it goes on is another time each time.
        let plain = |ran: &Ran| {
            let lines = ran.stdout.lines().filter(|line| !line.ends_with("ms"));
            lines.map(|line| line.replace(&format!("--server {url}"), "--store runs.db")).collect::<Vec<_>>()
        };
        assert_eq!((told.status, plain(&told)), (0, plain(&kept)), "{arguments:?}: {told:?}");
    }
    let page = bench.phasm(&["get", &run, "--store", "runs.db"]).stdout;
    let told = "\nnotifications: 1 not wanted (chat: it responded 410: no more notifications of this run are sent to it): ";
    assert!(page.contains(told) && page.contains(&format!(" notify list {run} --store runs.db\n")), "{page}");
    let view = bench.phasm(&["get", &run, "--json", "--store", "runs.db"]).json();
    let expected = serde_json::json!({ "waiting": 0, "delivered": 0, "givenUp": 0, "gone": 1, "more": false,
        "failure": "chat: it responded 410: no more notifications of this run are sent to it" });
    assert_eq!(view["notices"], expected, "{view}");
    host.signal(Signal::TERM);
    host.end();
}

/// R-Y8: an endpoint is tried before anybody relies on it.
#[test]
fn an_endpoint_is_tried() {
    let bench = Bench::new();
    let (url, ids) = receiver(204);
    configured(&bench, &url);
    let tried = bench.phasm(&["notify", "test", "chat", "--config", "phasm.toml"]);
    assert_eq!(tried.status, 0, "{tried:?}");
    assert!(tried.stdout.ends_with(" responded 204\n") && !tried.stdout.contains("hook-path"), "{tried:?}");
    assert!(next(&ids).starts_with("test_"));
    let wrong = bench.phasm(&["notify", "test", "chut", "--config", "phasm.toml"]);
    assert_eq!(wrong.status, 2, "{wrong:?}");
    assert!(wrong.stderr.contains("no [notify.chut]; did you mean `chat`?"), "{wrong:?}");
    bench.write("hook.key", "hunter2");
    let refused = bench.phasm(&["notify", "test", "chat", "--config", "phasm.toml"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("C023") && !refused.stderr.contains("hunter2"), "{refused:?}");
    let (url, _ids) = receiver(500);
    configured(&bench, &url);
    let failed = bench.phasm(&["notify", "test", "chat", "--config", "phasm.toml"]);
    assert_eq!(failed.status, 3, "{failed:?}");
    assert!(failed.stderr.contains("it responded 500"), "{failed:?}");
}

/// R-Y4: the receiver of the documentation takes what is signed, and nothing else.
#[test]
fn the_documented_receiver_works() {
    let bench = Bench::new();
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/how-to/webhooks.md")).unwrap();
    let (_, script) = page.split_once("```python\n").unwrap();
    bench.write("hook.py", script.split_once("```").unwrap().0);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    configured(&bench, &format!("http://127.0.0.1:{port}/"));
    let mut python = Command::new("python3");
    python.arg(bench.path("hook.py")).env("CHAT_HOOK", SECRET).env("PORT", port.to_string());
    let mut python = python.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(python.try_wait().unwrap().is_none(), "it ended");
        thread::yield_now();
    }
    let tried = bench.phasm(&["notify", "test", "chat", "--config", "phasm.toml"]);
    assert_eq!(tried.status, 0, "{tried:?}");
    let mut line = String::new();
    BufReader::new(python.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("test_") && line.contains(" phasm.test "), "{line}");
    bench.write("hook.key", "whsec_bmV4dCBzZWNyZXQgdGhhdCBpcyBhZGRlZCBmaXJzdA==");
    let other = bench.phasm(&["notify", "test", "chat", "--config", "phasm.toml"]);
    assert!(other.status == 3 && other.stderr.contains("it responded 401"), "{other:?}");
    python.kill().unwrap();
    python.wait().unwrap();
}
