//! Ctrl-C and SIGTERM.
#![cfg(unix)]

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::Stdio,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, Ran};

/// Starts a run that never ends, and interrupts it once its guest has said that it runs.
fn interrupted(bench: &Bench, arguments: &[&str], signal: Signal) -> Ran {
    let mut child = bench.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("started") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "it ended: {said}");
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    stderr.read_to_string(&mut said).unwrap();
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    let status = child.wait().unwrap().code().unwrap_or(-1);
    Ran { status, stdout, stderr: said }
}

/// The run is Cancelled, and its view is printed all the same (R-L6).
#[test]
fn the_first_one_cancels_the_run() {
    let bench = Bench::new();
    bench.task("sleep.yaml", "sleep", "");
    for (store, signal, status) in
        [("runs.db", Signal::INT, 130), ("memory", Signal::INT, 130), ("memory", Signal::TERM, 143)]
    {
        let ran = interrupted(&bench, &["run", "sleep.yaml", "--json", "--store", store], signal);
        assert_eq!(ran.status, status, "{ran:?}");
        let view = ran.json();
        assert_eq!((view["phase"].as_str(), view["reason"].as_str()), (Some("Cancelled"), Some("user")));
        assert!(ran.stderr.contains("cancelling the run"), "{ran:?}");
    }
}

#[test]
fn the_journal_tells_the_cancellation() {
    let bench = Bench::new();
    bench.task("sleep.yaml", "sleep", "");
    let ran = interrupted(&bench, &["run", "sleep.yaml", "--events"], Signal::INT);
    assert_eq!(ran.status, 130, "{ran:?}");
    let kinds: Vec<_> =
        ran.json_lines().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    assert!(kinds.iter().any(|kind| kind == "run.cancel.requested"), "{kinds:?}");
}

/// R-S10, R-S12: onCancel and onExit of the run and of its task, once each, and the command ends after them.
#[test]
fn the_hooks_of_a_cancelled_run_are_waited_for() {
    let bench = Bench::new();
    bench.write(
        "hooks.yaml",
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: hooked }\nspec:\n  entrypoint: main\n  \
         hooks: { onStart: { template: note }, onCancel: { template: note }, onSuccess: { template: note }, onExit: { template: note } }\n  \
         templates:\n    \
           - dag:\n        name: main\n        tasks:\n          \
             - { name: a, template: work, hooks: { onCancel: { template: note }, onExit: { template: note } } }\n          \
             - { name: never, template: work, dependencies: [a], hooks: { onExit: { template: note } } }\n    \
           - task: { name: work, executor: { type: sleep } }\n    \
           - task: { name: note, executor: { type: echo } }\n",
    );
    let ran = interrupted(&bench, &["run", "hooks.yaml", "--json"], Signal::INT);
    assert_eq!(ran.status, 130, "{ran:?}");
    let view = ran.json();
    assert_eq!((view["phase"].as_str(), view["reason"].as_str()), (Some("Cancelled"), Some("user")));
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let mut fired: Vec<_> = view["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hook| [text(&hook["scope"]), text(&hook["hookType"]), text(&hook["phase"])].join(" "))
        .collect();
    fired.sort();
    assert_eq!(
        fired,
        [
            "main.hook[onCancel] onCancel Succeeded",
            "main.hook[onExit] onExit Succeeded",
            "main.hook[onStart] onStart Succeeded",
            "main/a.hook[onCancel] onCancel Succeeded",
            "main/a.hook[onExit] onExit Succeeded",
        ]
    );
}
