//! Runs that are kept in a PostgreSQL database.

#[path = "../../../src/store/tests/server.rs"]
pub(crate) mod server;

use std::process::{Child, Stdio};

use crate::{
    bench::{Bench, Ran},
    live::Driving,
    stored::two_questions,
};

/// R-H10, R-H12: a run that is parked in a database is found, answered and ended there; no password is shown.
#[test]
fn a_run_lives_in_a_database() {
    let Some(server) = server::server() else { return };
    let bench = Bench::new();
    two_questions(&bench);
    // The server asks for none, and takes any.
    let url = server.url("commands").replace("phasm@", "phasm:secret@");
    let on_store = |arguments: &[&str]| {
        let ran = bench.phasm(&[arguments, &["--store", &url]].concat());
        assert!(!format!("{ran:?}").contains("secret"), "{ran:?}");
        ran
    };
    assert_eq!(on_store(&["list"]).status, 2, "there are no tables yet");
    let parked = on_store(&["run", "ask.yaml"]);
    assert_eq!(parked.status, 6, "{parked:?}");
    assert!(parked.stdout.contains("?schema=commands"), "{parked:?}");
    assert!(on_store(&["list"]).stdout.contains("ask"));
    let answered = on_store(&["resume", "@last", "one", "{}"]);
    assert_eq!(answered.status, 6, "{answered:?}");
    let ended = on_store(&["resume", "@last", "two", "{}"]);
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(on_store(&["get", "@last"]).stdout.contains("Succeeded"));
    assert!(on_store(&["events", "@last"]).stdout.contains("run.submitted"));
    assert_eq!(server.psql("SELECT count(*) FROM commands.runs WHERE open"), "0");
}

/// R-L14: a run that another host of the database drives is answered and followed there.
#[test]
fn a_run_that_another_host_drives_is_answered_there() {
    let Some(server) = server::server() else { return };
    let bench = Bench::new();
    two_questions(&bench);
    let url = server.url("live");
    let driving = Driving::start(&bench, &["run", "ask.yaml", "--wait", "--store", &url], "one");
    let follow = |what: &str| {
        let mut follow = bench.command(&[what, "@last", "-f", "--store", &url]);
        follow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let (events, logs) = (follow("events"), follow("logs"));
    let resume = |task: &str| bench.phasm(&["resume", "@last", task, "{}", "--store", &url]);
    for task in ["one", "two"] {
        let mut resumed = resume(task);
        while resumed.stderr.contains("not resumed") || resumed.stderr.contains("has no task") {
            // The task is suspended a moment after it was reported as running.
            resumed = resume(task);
        }
        assert_eq!(resumed.status, 0, "{resumed:?}");
        assert!(resumed.stderr.contains("resumed\n"), "{resumed:?}");
    }
    let ran = driving.ended();
    assert_eq!(ran.status, 0, "{ran:?}");
    let followed = |child: Child| Ran::from(child.wait_with_output().unwrap());
    let (events, logs) = (followed(events), followed(logs));
    assert_eq!((events.status, logs.status), (0, 0), "{events:?} {logs:?}");
    let shown = |what: &str| bench.phasm(&[what, "@last", "--store", &url]).stdout;
    assert_eq!(events.stdout, shown("events"), "every event once, in order");
    assert_eq!(logs.stdout, shown("logs"));
}
