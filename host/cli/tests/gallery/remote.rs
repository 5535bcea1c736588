//! Examples that talk to a service.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use serde_json::json;

use crate::{
    peer::{Peer, json, text},
    project::{Project, output, phases},
};

#[test]
fn all_pages_become_one_csv_file() {
    let peer = Peer::start(|request, before| match (request.path.as_str(), before) {
        ("/items?page=1", _) => {
            json(&json!({ "items": [{ "id": 1, "name": "a" }, { "id": 2, "name": "b" }], "next": 2 }))
        }
        ("/items?page=2", 0) => text(503, "busy"),
        ("/items?page=2", _) => json(&json!({ "items": [{ "id": 3, "name": "c, d" }], "next": 3 })),
        ("/items?page=3", _) => json(&json!({ "items": [], "next": null })),
        _ => text(404, ""),
    });
    let project = Project::new("pages-to-csv", Some(&peer));
    let (status, view) = project.run("phasm run", "");
    assert_eq!((status, output(&view, "rows")), (0, json!(3)), "{view}");
    assert_eq!(project.text("out/items.csv"), "id,name\n1,a\n2,b\n3,\"c, d\"\n");
    let pages = [1, 2, 2, 3].map(|page| format!("GET /items?page={page}"));
    assert_eq!((peer.lines(), phases(&view, "fetch").len()), (pages.to_vec(), 3));
    // After an error that is not retried there is no file.
    let peer = Peer::start(|_, _| text(404, "gone"));
    let project = Project::new("pages-to-csv", Some(&peer));
    let (status, _) = project.run("phasm run", "");
    assert_eq!((status, peer.lines().len(), project.path("out/items.csv").exists()), (1, 1, false));
}

#[test]
fn a_release_waits_for_approval() {
    let peer = Peer::start(|request, _| match request.line().as_str() {
        "GET /checks/1.4.0" => json(&json!({ "passed": 12 })),
        "POST /deployments" => json(&json!({ "version": request.body["version"] })),
        _ => text(404, ""),
    });
    let project = Project::new("release-gate", Some(&peer));
    for (word, expected, deployed) in [("approve", 0, json!("1.4.0")), ("reject", 1, json!(null))] {
        let (status, view) = project.run("phasm run", "");
        assert_eq!((status, phases(&view, "approve")), (6, vec!["Suspended".to_owned()]), "{view}");
        let line = project.line("phasm approve").replace("phasm approve", &format!("phasm {word}"));
        let ran = project.sh(&format!("{line} --json"));
        assert_eq!((ran.status, output(&ran.view(), "deployed")), (expected, deployed), "{ran:?}");
    }
    let requests = peer.requests();
    let posted: Vec<_> = requests.iter().filter(|request| request.method == "POST").collect();
    let by = posted.first().unwrap().body["by"].as_str().unwrap();
    assert!(posted.len() == 1 && by.starts_with("local:"), "{requests:?}");
    assert!(posted[0].headers.contains_key("idempotency-key"), "{requests:?}");
}

#[test]
fn a_job_is_polled_and_deleted() {
    for (last, expected, result) in [("done", 0, json!(42)), ("failed", 1, json!(null))] {
        let peer = Peer::start(move |request, before| match (request.line().as_str(), before) {
            ("POST /jobs", _) => json(&json!({ "id": "j1" })),
            ("GET /jobs/j1", 0) => json(&json!({ "state": "queued" })),
            ("GET /jobs/j1", 1) => json(&json!({ "state": "running" })),
            ("GET /jobs/j1", _) => json(&json!({ "state": last, "result": 42 })),
            ("DELETE /jobs/j1", 0) => text(503, ""),
            ("DELETE /jobs/j1", _) => text(204, ""),
            _ => text(404, ""),
        });
        let project = Project::new("poll-job", Some(&peer));
        let line = project.line("phasm run").replace("pause=2s", "pause=20ms");
        let ran = project.sh(&format!("{line} --json"));
        let view = ran.view();
        assert_eq!((ran.status, output(&view, "result")), (expected, result), "{view}");
        let get = "GET /jobs/j1";
        assert_eq!(peer.lines(), ["POST /jobs", get, get, get, "DELETE /jobs/j1", "DELETE /jobs/j1"]);
    }
    // A job that never ends is deleted, too, once its time is over.
    let peer = Peer::start(|request, _| match request.method.as_str() {
        "POST" => json(&json!({ "id": "j2" })),
        "GET" => json(&json!({ "state": "running" })),
        _ => text(204, ""),
    });
    let project = Project::new("poll-job", Some(&peer));
    let short = project.text("workflow.yaml").replace("timeout: 1h", "timeout: 300ms");
    fs::write(project.path("workflow.yaml"), short).unwrap();
    let ran = project.sh(&format!("{} --json", project.line("phasm run").replace("pause=2s", "pause=20ms")));
    assert_eq!((ran.status, phases(&ran.view(), "poll")), (1, vec!["Timeout".to_owned()]), "{ran:?}");
    assert_eq!(peer.lines().last().unwrap(), "DELETE /jobs/j2");
}

#[test]
fn every_cell_of_a_matrix_is_built() {
    let peer = Peer::start(|request, _| {
        thread::sleep(Duration::from_millis(30));
        let fails = request.body == json!({ "system": "macos", "version": "1.95" });
        if fails { text(422, "tests failed") } else { json(&json!({})) }
    });
    let project = Project::new("matrix-build", Some(&peer));
    let (status, view) = project.run("phasm run", "");
    let table = "linux 1.94 Succeeded\nlinux 1.95 Succeeded\nmacos 1.94 Succeeded\nmacos 1.95 Failed\n";
    assert_eq!((status, output(&view, "table")), (1, json!(table)), "{view}");
    assert!(view["message"].as_str().unwrap().contains("1 builds failed"), "{view}");
    // Without the parameter of the README there are three systems, and one excluded cell.
    let line = project.line("phasm run");
    let all = project.sh(&format!("{} --json", line.split(" -p").next().unwrap()));
    assert_eq!((all.status, phases(&all.view(), "build").len()), (1, 5), "{all:?}");
    assert!(peer.most_at_once() <= 3, "{}", peer.most_at_once());
}

#[test]
fn bookings_are_compensated_in_reverse() {
    let id = |kind: &str| json(&json!({ "id": format!("{kind}1") }));
    let peer = Peer::start(move |request, _| match request.line().as_str() {
        "POST /flights" => id("f"),
        "POST /hotels" => id("h"),
        "POST /cars" => text(409, "no car left"),
        "DELETE /hotels/h1" => text(204, ""),
        _ => text(404, ""),
    });
    let project = Project::new("saga", Some(&peer));
    let (status, view) = project.run("phasm run", "");
    let expected = ["POST /flights", "POST /hotels", "POST /cars", "DELETE /hotels/h1", "DELETE /flights/f1"];
    assert_eq!((status, peer.lines()), (1, expected.map(str::to_owned).to_vec()), "{view}");
    let why = "not booked: flight Succeeded, hotel Succeeded, car Failed";
    assert!(view["message"].as_str().unwrap().contains(why), "{view}");

    let peer = Peer::start(move |request, _| if request.path == "/hotels" { text(409, "") } else { id("x") });
    let project = Project::new("saga", Some(&peer));
    let (status, view) = project.run("phasm run", "");
    let expected = ["POST /flights", "POST /hotels", "DELETE /flights/x1"];
    assert_eq!((status, peer.lines()), (1, expected.map(str::to_owned).to_vec()), "{view}");

    let peer = Peer::start(move |_, _| id("x"));
    let project = Project::new("saga", Some(&peer));
    let (status, view) = project.run("phasm run", "");
    assert_eq!((status, output(&view, "booked"), peer.lines().len()), (0, json!(true), 3), "{view}");
    assert_eq!(phases(&view, "cancel-flight"), ["Skipped"]);
}

/// A compensation that fails does not keep the others from being tried, and the run says what is left.
#[test]
fn each_compensation_is_tried() {
    let peer = Peer::start(|request, _| match request.line().as_str() {
        "POST /flights" => json(&json!({ "id": "f1" })),
        "POST /hotels" => json(&json!({ "id": "h1" })),
        "DELETE /flights/f1" => text(204, ""),
        _ => text(400, "no"),
    });
    let project = Project::new("saga", Some(&peer));
    let (status, view) = project.run("phasm run", "");
    let expected = ["POST /flights", "POST /hotels", "POST /cars", "DELETE /hotels/h1", "DELETE /flights/f1"];
    assert_eq!((status, peer.lines()), (1, expected.map(str::to_owned).to_vec()), "{view}");
    let why = "car Failed; the hotel is still booked, as its cancellation ended Failed";
    assert!(view["message"].as_str().unwrap().contains(why), "{view}");
}

/// The service that comes with the example, started by the command of the README.
#[test]
fn a_saga_runs_with_its_own_service() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let project = Project::new("saga", None);
    for file in ["workflow.yaml", "phasm.toml"] {
        let text = project.text(file).replace("127.0.0.1:9000", &free.to_string());
        fs::write(project.path(file), text).unwrap();
    }
    let line = project.line("python3 service.py");
    let _service = project.start(&format!("{} {}", line.trim_end_matches(" &"), free.port()));
    while TcpStream::connect(free).is_err() {
        thread::sleep(Duration::from_millis(20));
    }
    let (status, view) = project.run("phasm run", "");
    let cancelled = ["cancel-hotel", "cancel-flight"].map(|name| phases(&view, name));
    assert_eq!(
        (status, cancelled),
        (1, [["Succeeded"]; 2].map(|one| one.map(str::to_owned).to_vec())),
        "{view}"
    );
}

/// R-R14: a request without a grant is the same at each attempt.
#[test]
fn a_request_without_a_grant_is_not_retried() {
    let peer = Peer::start(|_, _| json(&json!({ "rate": 1.08 })));
    let project = Project::new("retry-http", Some(&peer));
    fs::write(project.path("phasm.toml"), "").unwrap();
    let (status, view) = project.run("phasm run", "");
    assert_eq!((status, peer.lines().len()), (3, 0), "{view}");
    let task = view["tasks"].as_array().unwrap().iter().find(|task| task["taskName"] == "fetch").unwrap();
    assert_eq!(task["attempts"].as_array().unwrap().len(), 1, "{view}");
    assert_eq!(task["notRetried"], "its executor says that another attempt would fail, too", "{view}");
}

#[test]
fn a_site_is_crawled_one_page_after_the_other() {
    let peer = Peer::start(|request, before| match (request.path.as_str(), before) {
        ("/", _) => text(
            200,
            "<a href=\"/a\">a</a> <a href=\"/b#part\">b</a> <a href=\"https://elsewhere.example/\">",
        ),
        ("/a", 0) => text(429, ""),
        ("/a", _) => text(200, "<a href=\"/\">home</a> <a href=\"/c\">c</a> <a href=\"/gone\">"),
        ("/c", _) => text(200, "no links"),
        _ => text(404, ""),
    });
    let project = Project::new("crawler", Some(&peer));
    let (status, view) = project.run("phasm run", "-p pause=10ms");
    let pages = json!([
        { "path": "/", "status": 200 }, { "path": "/a", "status": 200 }, { "path": "/c", "status": 200 }, { "path": "/gone", "status": 404 },
    ]);
    assert_eq!((status, output(&view, "pages")), (0, pages), "{view}");
    assert_eq!((peer.lines().len(), peer.most_at_once()), (5, 1));
    let line = project.line("phasm run").replace("max_pages=20", "max_pages=2");
    let ran = project.sh(&format!("{line} --json -p pause=10ms"));
    assert_eq!((ran.status, output(&ran.view(), "pages").as_array().unwrap().len()), (0, 2), "{ran:?}");
}

#[test]
fn a_token_leaves_the_host_only_in_its_request() {
    let peer = Peer::start(|request, _| {
        let sent = request.headers.get("authorization").cloned().unwrap_or_default();
        json(&json!({ "name": "acme", "sent": sent }))
    });
    let project = Project::new("secret-egress", Some(&peer));
    let line = project.line("phasm run").replace('…', "t0ken-of-acme");
    let ran = project.sh(&format!("{line} --store runs.db"));
    assert_eq!((ran.status, output(&ran.view(), "account")), (0, json!("acme")), "{ran:?}");
    assert_eq!(peer.requests()[0].headers["authorization"], "Bearer t0ken-of-acme");
    assert!(
        !ran.stdout.contains("t0ken") && ran.stdout.contains("•••") && !ran.stderr.contains("t0ken"),
        "{ran:?}"
    );
    let store = fs::read(project.path("runs.db")).unwrap();
    assert!(!store.windows(5).any(|part| part == b"t0ken"));
}

#[test]
fn transient_errors_are_retried_and_permanent_ones_are_not() {
    let peer = Peer::start(|_, before| match before {
        0 => text(503, ""),
        1 => text(429, ""),
        _ => json(&json!({ "rate": 1.08 })),
    });
    let project = Project::new("retry-http", Some(&peer));
    let (status, view) = project.run("phasm run", "");
    assert_eq!(
        (status, output(&view, "rate"), output(&view, "retries")),
        (0, json!(1.08), json!(2)),
        "{view}"
    );
    let peer = Peer::start(|_, _| text(404, ""));
    let project = Project::new("retry-http", Some(&peer));
    let (status, _) = project.run("phasm run", "");
    assert_eq!((status, peer.lines().len()), (1, 1));
}

#[test]
fn a_fan_out_stays_below_its_limit() {
    let peer = Peer::start(|request, _| {
        thread::sleep(Duration::from_millis(30));
        let number: u64 = request.path.rsplit('/').next().unwrap().parse().unwrap();
        json(&json!({ "size": number }))
    });
    let project = Project::new("limited-fan-out", Some(&peer));
    let (status, view) = project.run("phasm run", "");
    assert_eq!((status, output(&view, "sizes")), (0, json!({ "count": 30, "total": 465 })), "{view}");
    assert!(peer.lines().len() == 30 && (2..=3).contains(&peer.most_at_once()), "{}", peer.most_at_once());
}
