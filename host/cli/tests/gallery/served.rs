//! Examples that a serving host starts: by a schedule, or by a request of another system.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    peer::{Peer, json, text},
    project::{Project, output},
};

/// Starts the schedule by hand, and returns its run once it has ended.
fn trigger(project: &Project) -> Value {
    let asked = project.sh(&format!("{} --json", project.line("cron trigger")));
    assert_eq!(asked.status, 0, "{asked:?}");
    let run = asked.view()["runID"].as_str().unwrap().to_owned();
    project.ended(&run)
}

#[test]
fn a_bad_night_alerts_and_a_good_one_does_not() {
    let peer = Peer::start(|request, before| match (request.line().as_str(), before) {
        ("GET /orders", 0) => text(404, "not ready"),
        ("GET /orders", _) => (200, "text/csv", "id,amount\n1,2\n".to_owned()),
        ("POST /alerts", _) => text(204, ""),
        _ => text(404, ""),
    });
    let project = Project::new("nightly-alert", Some(&peer));
    let next = project.sh(&project.line("cron next"));
    assert!(next.status == 0 && next.stdout.contains(":30"), "{next:?}");
    let added = project.sh(&project.line("cron add"));
    assert_eq!(added.status, 0, "{added:?}");
    let _serving = project.start(&project.line("phasm serve"));
    let bad = trigger(&project);
    assert_eq!(bad["phase"], "Failed", "{bad}");
    // The hook follows the end of the run.
    for _ in 0..200 {
        if peer.lines().len() == 2 {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    let requests = peer.requests();
    let alert = &requests[1];
    assert_eq!((alert.line().as_str(), &alert.body["run"]), ("POST /alerts", &bad["runID"]), "{requests:?}");
    assert!(alert.body["text"].as_str().unwrap().ends_with(" ended Failed"), "{alert:?}");
    let good = trigger(&project);
    assert_eq!(good["phase"], "Succeeded", "{good}");
    let file = format!("out/orders-{}.csv", good["runID"].as_str().unwrap());
    assert_eq!(project.text(&file), "id,amount\n1,2\n");
    assert_eq!(peer.lines(), ["GET /orders", "POST /alerts", "GET /orders"]);
}

/// Posts JSON; the status and the response.
fn post(address: &str, path: &str, key: &str, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.0\r\nhost: {address}\r\nidempotency-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
}

#[test]
fn a_webhook_becomes_a_ticket_once() {
    let peer = Peer::start(|request, before| match request.path.as_str() {
        "/tickets" => json(&json!({ "id": format!("T-{}", before + 1) })),
        "/pages" => text(204, ""),
        _ => text(404, ""),
    });
    let project = Project::new("webhook-intake", Some(&peer));
    let saved = project.sh(&project.line("workflow save"));
    assert_eq!(saved.status, 0, "{saved:?}");
    let line = project.line("phasm serve");
    assert!(line.contains("--listen "), "{line}");
    let mut serving = project.start(&line.replace("--listen ", "--listen 127.0.0.1:0 "));
    let mut lines = BufReader::new(serving.child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains("listening on http://")).unwrap();
    let address = line.split("http://").nth(1).unwrap().trim().to_owned();
    let reader = thread::spawn(move || lines.for_each(drop));
    let path = "/v1/workflows/default/webhook-intake/runs?wait=30s";
    assert!(project.text("README.md").contains(path));
    let sent = r#"{"payload": {"event": "disk full", "severity": "critical"}}"#;
    assert!(project.text("README.md").contains(sent));
    let payload: Value = serde_json::from_str(sent).unwrap();
    let mut runs = Vec::new();
    for _ in 0..2 {
        let (status, view) = post(&address, path, "delivery-17", &payload);
        assert!(status < 300 && view["phase"] == "Succeeded", "{status} {view}");
        assert_eq!(output(&view, "ticket"), "T-1");
        runs.push(view["runID"].clone());
    }
    assert_eq!(runs[0], runs[1]);
    let calm = json!({ "payload": { "event": "disk replaced" } });
    let (_, view) = post(&address, path, "delivery-18", &calm);
    assert_eq!(output(&view, "ticket"), "T-2", "{view}");
    let (_, view) = post(&address, path, "delivery-19", &json!({ "payload": {} }));
    assert_eq!(view["phase"], "Failed", "{view}");
    assert_eq!(peer.lines(), ["POST /tickets", "POST /pages", "POST /tickets"]);
    assert_eq!(peer.requests()[0].body, json!({ "title": "disk full: no text", "urgent": true }));
    drop(serving);
    reader.join().unwrap();
}
