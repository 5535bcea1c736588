//! Runs that another process drives.
#![cfg(unix)]

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStderr, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    bench::{Bench, Ran},
    stored::approval,
};

/// A process that drives a run.
pub(crate) struct Driving {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Driving {
    /// Once it has said that.
    pub(crate) fn start(bench: &Bench, arguments: &[&str], said: &str) -> Self {
        let mut child =
            bench.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut heard = String::new();
        while !heard.contains(said) {
            assert!(stderr.read_line(&mut heard).unwrap() > 0, "it ended: {heard}");
        }
        Self { child, stderr }
    }

    pub(crate) fn ended(mut self) -> Ran {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.stderr.read_to_string(&mut stderr).unwrap();
        Ran { status: self.child.wait().unwrap().code().unwrap_or(-1), stdout, stderr }
    }
}

/// R-L14: an approval is given from a second terminal.
#[test]
fn a_run_that_another_process_drives_is_answered_there() {
    let bench = Bench::new();
    approval(&bench, "1h");
    let driving = Driving::start(
        &bench,
        &["run", "release.yaml", "--store", "runs.db", "--wait"],
        "main/wait-external#1 Waiting",
    );
    let mut following = bench.command(&["events", "@last", "-f", "--store", "runs.db"]);
    let following = following.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut logs = bench.command(&["logs", "@last", "-f", "--store", "runs.db"]);
    let logs = logs.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut watching = bench.command(&["watch", "@last", "--store", "runs.db"]);
    let watching = watching.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let resume = |task: &str| bench.phasm(&["resume", "@last", task, "-p", "by=Ada", "--store", "runs.db"]);

    let unknown = resume("absent");
    assert_eq!(unknown.status, 2, "{unknown:?}");
    assert!(
        unknown.stderr.contains("has no task `absent`; waiting for a response: main/wait-external"),
        "{unknown:?}"
    );
    let resumed = resume("wait-external");
    assert_eq!((resumed.status, resumed.stdout.as_str()), (0, ""), "{resumed:?}");
    assert!(resumed.stderr.contains("resumed\nanother process runs it; follow it: "), "{resumed:?}");
    assert!(resumed.stderr.lines().last().is_some_and(|line| line.starts_with("the run ")), "{resumed:?}");

    let ran = driving.ended();
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("  by  Ada\n"), "{ran:?}");
    assert!(!bench.path("runs.db.sock").exists(), "the bell is taken down");
    let followed = Ran::from(following.wait_with_output().unwrap());
    assert_eq!(followed.status, 0, "{followed:?}");
    let all = bench.phasm(&["events", "@last", "--store", "runs.db"]);
    assert_eq!(followed.stdout, all.stdout, "every event once, in order");
    let watched = Ran::from(watching.wait_with_output().unwrap());
    assert_eq!(watched.status, 0, "{watched:?}");
    assert!(watched.stderr.contains("main/wait-external#1 Succeeded"), "{watched:?}");
    assert_eq!(watched.stdout, bench.phasm(&["get", "@last", "--store", "runs.db"]).stdout);
    let logs = Ran::from(logs.wait_with_output().unwrap());
    assert_eq!(logs.status, 0, "{logs:?}");
    assert_eq!(logs.stdout, bench.phasm(&["logs", "@last", "--store", "runs.db"]).stdout);
}

/// R-L14.
#[test]
fn a_run_that_another_process_drives_is_cancelled_there() {
    let bench = Bench::new();
    bench.task("sleep.yaml", "sleep", "");
    let driving = Driving::start(&bench, &["run", "sleep.yaml", "--store", "runs.db", "--json"], "started");
    let cancelled = bench.phasm(&["cancel", "@last", "--store", "runs.db", "--json"]);
    assert_eq!(cancelled.status, 0, "{cancelled:?}");
    assert!(cancelled.stderr.contains("cancelled"), "{cancelled:?}");
    let ran = driving.ended();
    assert_eq!((ran.status, ran.json()["reason"].as_str()), (5, Some("user")), "{ran:?}");
    let again = bench.phasm(&["cancel", "@last", "--store", "runs.db"]);
    assert_eq!(again.status, 2, "{again:?}");
}

/// A process that was killed leaves its socket behind, without a listener.
#[test]
fn a_bell_that_nobody_hears_is_in_nobodys_way() {
    let bench = Bench::new();
    approval(&bench, "1h");
    let arguments = ["run", "release.yaml", "--store", "runs.db", "--wait"];
    let driving = Driving::start(&bench, &arguments, "wait-external");
    kill_process(Pid::from_child(&driving.child), Signal::KILL).unwrap();
    assert_eq!(driving.ended().status, -1);
    assert!(bench.path("runs.db.sock").exists());
    let followed = bench.phasm(&["events", "@last", "-f", "--store", "runs.db"]);
    assert!(followed.stderr.contains("no process has the run now; resume it with: "), "{followed:?}");
    let watched = bench.phasm(&["watch", "@last", "--store", "runs.db"]);
    assert_eq!(watched.status, 6, "{watched:?}");
    assert!(watched.stderr.contains("no process has the run now; resume it with: "), "{watched:?}");
    let recovered = bench.phasm(&["recover", "--store", "runs.db"]);
    assert_eq!(recovered.status, 6, "{recovered:?}");
    let resumed = bench.phasm(&["resume", "@last", "wait-external", "--store", "runs.db"]);
    assert_eq!(resumed.status, 0, "{resumed:?}");
}
