//! Processes that are killed or interrupted, and what goes on afterwards (R-D2, R-D3).
#![cfg(unix)]

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStderr, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

/// A command that runs, and what it has said so far.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
    /// Dropped with it.
    _ended: mpsc::Sender<()>,
}

/// After which a process that does not say what it should is killed, so that a test fails instead of hanging.
const LONGEST: Duration = Duration::from_secs(120);

impl Running {
    pub(crate) fn start(bench: &Bench, arguments: &[&str]) -> Self {
        Self::start_into(bench, arguments, Stdio::piped())
    }

    /// [`Self::start`] with another stdout, which is not read.
    pub(crate) fn start_into(bench: &Bench, arguments: &[&str], stdout: Stdio) -> Self {
        let mut command = bench.command(arguments);
        command.stdout(stdout);
        Self::of(command)
    }

    /// Starts a command whose stdout is set.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (ended, ends) = mpsc::channel();
        let pid = Pid::from_child(&child);
        thread::spawn(move || {
            if ends.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                let _gone = kill_process(pid, Signal::KILL);
            }
        });
        Self { child, stderr, said: String::new(), _ended: ended }
    }

    /// Waits until all of this has been said.
    pub(crate) fn until(&mut self, words: &[&str]) {
        while !words.iter().all(|word| self.said.contains(word)) {
            assert!(self.stderr.read_line(&mut self.said).unwrap() > 0, "it ended: {}", self.said);
        }
    }

    /// Output of the process so far.
    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn end(mut self) -> Ran {
        self.stderr.read_to_string(&mut self.said).unwrap();
        let mut stdout = String::new();
        if let Some(mut piped) = self.child.stdout.take() {
            piped.read_to_string(&mut stdout).unwrap();
        }
        let status = self.child.wait().unwrap().code().unwrap_or(-1);
        Ran { status, stdout, stderr: self.said }
    }
}

/// Grants of the process that resumes, so that lingering attempts end. More grants than before do not prevent a run from being resumed.
const COME_TO_AN_END: &str = "[grants.linger]\nenv = { GO = \"on\" }\n";

const MIXED: &str = "apiVersion: aether/v1
kind: Workflow
metadata: { name: mixed }
spec:
  entrypoint: main
  templates:
    - dag:
        name: main
        continueOn: { failed: true }
        tasks:
          - { name: a, executor: { type: linger } }
          - { name: b, executor: { type: linger }, maxRuntime: 1h }
          - { name: ask, executor: { type: suspend }, timeout: 1d }
          - name: flaky
            executor: { type: code }
            inputs: { parameters: [{ name: code, value: 2 }] }
            retry: { maxAttempts: 3, delay: 2s }
          - { name: after, executor: { type: echo }, dependencies: [a, b, flaky] }
";

fn events(bench: &Bench, run: &str) -> Vec<Value> {
    bench.phasm(&["events", run, "--store", "runs.db"]).json_lines()
}

fn only_run(bench: &Bench) -> Value {
    let all = bench.phasm(&["list", "--store", "runs.db", "--json"]).json();
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    all.get(0).unwrap().clone()
}

fn view(bench: &Bench, run: &str) -> Value {
    bench.phasm(&["get", run, "--store", "runs.db", "--json"]).json()
}

fn task<'v>(view: &'v Value, name: &str) -> &'v Value {
    view["tasks"].as_array().unwrap().iter().find(|task| task["taskName"] == name).unwrap()
}

fn of_task<'e>(events: &'e [Value], kind: &str, name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["type"] == kind && event["taskName"] == name).collect()
}

/// Two attempts in flight, a delay pending, a task suspended, one that waits for others.
#[test]
fn a_run_survives_the_death_of_its_process() {
    let bench = Bench::new();
    bench.write("mixed.yaml", MIXED);
    let mut first = Running::start(&bench, &["run", "mixed.yaml", "--store", "runs.db", "--wait"]);
    // Lines about the journal are told once it is durable.
    let flaky = "main/flaky#1 Failed; attempt 2 in 2.0 s";
    first.until(&["main/a#1 Running", "main/b#1 Running", "main/ask#1 Waiting", flaky]);
    first.signal(Signal::KILL);
    first.end();
    let run = only_run(&bench)["runID"].as_str().unwrap().to_owned();
    let (before, journal) = (view(&bench, &run), events(&bench, &run));
    bench.write("go.toml", COME_TO_AN_END);
    let parked = bench.phasm(&["recover", "--store", "runs.db", "--config", "go.toml"]);
    assert_eq!(parked.status, 6, "{parked:?}");
    // R-L2: it says which attempts are executed again.
    for (task, is_repeated) in [("a#1", true), ("b#1", true), ("ask#1", false), ("flaky#1", false)] {
        let line = format!("main/{task} was running when its process ended; it is executed again\n");
        assert_eq!(parked.stderr.contains(&line), is_repeated, "{task}: {parked:?}");
    }
    let (after, whole) = (view(&bench, &run), events(&bench, &run));
    assert_eq!(whole[..journal.len()], journal, "what was recorded stays");
    let seqs: Vec<_> = whole.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>());
    for name in ["a", "b"] {
        let (was, is) = (task(&before, name), task(&after, name));
        assert_eq!((&is["phase"], &is["retries"]), (&json!("Succeeded"), &json!(0)), "{is}");
        assert_eq!(is["startedAt"], was["startedAt"], "the same attempt");
        assert_eq!(is["attempts"].as_array().unwrap().len(), 1);
        assert_eq!(of_task(&whole, "task.attempt.done", name)[0]["attempt"], 1);
    }
    assert_eq!(task(&after, "ask"), task(&before, "ask"), "it stays suspended, its timeout where it was");
    assert_eq!(task(&after, "flaky")["attempts"].as_array().unwrap().len(), 3);
    assert_eq!(task(&after, "flaky")["reason"], "retry-exhausted");
    let scheduled = of_task(&whole, "task.retry.scheduled", "flaky");
    let started = of_task(&whole, "task.attempt.started", "flaky");
    assert_eq!((scheduled.len(), started.len()), (2, 3), "every retry was decided once");
    assert_eq!(scheduled[0]["data"]["wakeAt"], task(&before, "flaky")["wakeAt"]);
    for (scheduled, started) in scheduled.iter().zip(&started[1..]) {
        let (wake_at, time) = (scheduled["data"]["wakeAt"].as_str(), started["time"].as_str());
        assert!(time >= wake_at, "{started} before {scheduled}");
    }
    assert_eq!(task(&after, "after")["phase"], "Succeeded");
    let done = bench.phasm(&["resume", &run, "ask", "{}", "--store", "runs.db"]);
    assert_eq!(done.status, 0, "{done:?}");
    assert_eq!(only_run(&bench)["phase"], "Succeeded");
}

/// However often it is killed while it works, nothing is lost, decided twice or out of order.
#[test]
fn a_run_survives_one_death_after_the_other() {
    let bench = Bench::new();
    chains(&bench, 4, "doze", 40);
    let mut next = Running::start(&bench, &["run", "chain.yaml", "--store", "runs.db"]);
    for at in [0, 7, 16, 25] {
        next.until(&[&format!("main/t{at}#1 Succeeded")]);
        next.signal(Signal::KILL);
        next.end();
        next = Running::start(&bench, &["recover", "--store", "runs.db"]);
    }
    let ended = next.end();
    assert_eq!(ended.status, 0, "{ended:?}");
    let run = only_run(&bench)["runID"].as_str().unwrap().to_owned();
    let (events, view) = (events(&bench, &run), view(&bench, &run));
    let seqs: Vec<_> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>());
    assert_eq!((&view["phase"], &view["progress"]), (&json!("Succeeded"), &json!("40/40")));
    for at in 0..40 {
        let name = format!("t{at}");
        assert_eq!(of_task(&events, "task.done", &name).len(), 1, "{name}");
        assert_eq!(task(&view, &name)["attempts"].as_array().unwrap().len(), 1, "{name}");
    }
}

/// The second interrupt does not wait for what the first has begun, and leaves the run open.
#[test]
fn a_second_interrupt_exits_at_once_and_leaves_the_run_open() {
    let bench = Bench::new();
    bench.task("sleep.yaml", "sleep", "");
    let mut running = Running::start(&bench, &["run", "sleep.yaml", "--store", "runs.db"]);
    running.until(&["started", "main#1 Running"]);
    // While another process writes to the file, the cancellation cannot be recorded.
    let other = rusqlite::Connection::open(bench.path("runs.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    running.signal(Signal::INT);
    running.until(&["interrupted: cancelling the run; a second signal exits at once"]);
    running.signal(Signal::INT);
    let ran = running.end();
    assert_eq!((ran.status, ran.stdout.as_str()), (130, ""), "{ran:?}");
    drop(other);
    let row = only_run(&bench);
    assert_eq!((&row["open"], &row["phase"]), (&json!(true), &json!("Running")));
    let cancelled = bench.phasm(&["cancel", row["runID"].as_str().unwrap(), "--store", "runs.db", "--json"]);
    assert_eq!((cancelled.status, &cancelled.json()["reason"]), (5, &json!("user")), "{cancelled:?}");
    assert!(!cancelled.stderr.contains("started"), "what is cancelled is not begun again: {cancelled:?}");
}

/// Stopping a `recover` leaves the runs open.
#[test]
fn an_interrupted_recover_leaves_the_runs_open() {
    let bench = Bench::new();
    bench.task("sleep.yaml", "sleep", "");
    let mut running = Running::start(&bench, &["run", "sleep.yaml", "--store", "runs.db"]);
    running.until(&["started", "main#1 Running"]);
    running.signal(Signal::KILL);
    running.end();
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut running = Running::start(&bench, &["recover", "--store", "runs.db", "--grace", "0"]);
        running.until(&["recovered w", "main#1 info started"]);
        running.signal(signal);
        let ran = running.end();
        assert_eq!(ran.status, status, "{ran:?}");
        assert!(ran.stdout.starts_with("w left Running"), "{ran:?}");
        assert!(ran.stderr.contains("ed: the run stays open"), "{ran:?}");
    }
    let run = only_run(&bench);
    assert_eq!((&run["open"], &run["phase"]), (&json!(true), &json!("Running")));
    let view = view(&bench, run["runID"].as_str().unwrap());
    assert_eq!(view["tasks"][0]["attempts"].as_array().unwrap().len(), 1);
}

/// Returns a workflow of this many tasks, in parallel chains.
fn chains(bench: &Bench, chains: usize, executor: &str, tasks: usize) {
    let tasks: String = (0..tasks)
        .map(|at| {
            let after = at.checked_sub(chains).map(|before| format!("dependencies: [t{before}], "));
            let after = after.unwrap_or_default();
            format!("          - {{ name: t{at}, {after}executor: {{ type: {executor} }} }}\n")
        })
        .collect();
    let head = "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: chain }\nspec:\n  entrypoint: main\n  templates:\n    - \
                dag:\n        name: main\n        tasks:\n";
    bench.write("chain.yaml", format!("{head}{tasks}"));
}

/// R-L6: SIGTERM leaves a run of a file open; the printed command resumes it.
#[test]
fn a_run_that_is_terminated_goes_on_later() {
    let bench = Bench::new();
    bench.task("linger.yaml", "linger", "");
    let store = ["--store", "my runs.db"];
    let mut running = Running::start(&bench, &[&["run", "linger.yaml", "--grace", "0"][..], &store].concat());
    running.until(&["main#1 info started"]);
    running.signal(Signal::TERM);
    let ran = running.end();
    assert_eq!(ran.status, 143, "{ran:?}");
    assert!(ran.stdout.starts_with("w left Running"), "{ran:?}");
    let shown = bench.phasm(&[&["get", "@last"][..], &store].concat());
    assert!(shown.stdout.starts_with("w orphaned Running"), "{shown:?}");
    let says = |said: &str| said.lines().find(|line| line.starts_with("resume with: ")).map(str::to_owned);
    assert_eq!(says(&shown.stdout), says(&ran.stderr));
    let events = bench.phasm(&[&["events", "@last"][..], &store].concat());
    assert!(!events.stdout.contains("cancel"), "{events:?}");
    bench.write("go.toml", COME_TO_AN_END);
    let went_on = bench.paste(&ran.stderr, "resume with: ", &[("PHASM_CONFIG", "go.toml")]);
    assert_eq!(went_on.status, 0, "{went_on:?}");
    let view = bench.phasm(&[&["get", "@last", "--json"][..], &store].concat()).json();
    assert_eq!(
        (&view["phase"], view["tasks"][0]["attempts"].as_array().unwrap().len()),
        (&json!("Succeeded"), 1)
    );
}

/// Running attempts may end, and their results are recorded; nothing else is begun.
#[test]
fn attempts_may_end_when_their_process_is_terminated() {
    let bench = Bench::new();
    chains(&bench, 1, "doze", 100);
    let mut running = Running::start(&bench, &["run", "chain.yaml", "--store", "runs.db", "--grace", "1h"]);
    running.until(&["main/t1#1 Running"]);
    running.signal(Signal::TERM);
    let ran = running.end();
    assert_eq!(ran.status, 143, "{ran:?}");
    assert!(
        ran.stderr.contains("terminated: the run stays open; running attempts have 1 h 00 min to end"),
        "{ran:?}"
    );
    let row = only_run(&bench);
    assert_eq!((&row["open"], &row["phase"]), (&json!(true), &json!("Running")));
    let events = events(&bench, row["runID"].as_str().unwrap());
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    let (started, done) = (count("task.attempt.started"), count("task.attempt.done"));
    assert!(started == done && (1..100).contains(&done), "{started} {done}");
    assert_eq!(count("run.cancel.requested"), 0);
}

/// Nothing is executed, so nothing is waited for.
#[test]
fn a_parked_run_is_left_at_once() {
    let bench = Bench::new();
    bench.task("ask.yaml", "suspend", "");
    let arguments = ["run", "ask.yaml", "--store", "runs.db", "--wait", "--grace", "1h"];
    let mut running = Running::start(&bench, &arguments);
    running.until(&["waiting: main needs a response"]);
    running.signal(Signal::TERM);
    let ran = running.end();
    assert_eq!(ran.status, 143, "{ran:?}");
    assert!(ran.stdout.starts_with("w left Waiting") && ran.stdout.contains("to respond, put"), "{ran:?}");
    assert!(ran.stderr.ends_with(" --wait --store runs.db\n"), "{ran:?}");
    let listed = only_run(&bench);
    assert_eq!((&listed["status"], &listed["state"]), (&"suspended".into(), &"parked".into()), "{listed}");
}

/// The second one does not wait for what is executed.
#[test]
fn who_is_terminated_twice_exits_at_once() {
    let bench = Bench::new();
    bench.task("sleep.yaml", "sleep", "");
    let mut running = Running::start(&bench, &["run", "sleep.yaml", "--store", "runs.db", "--grace", "1h"]);
    running.until(&["started", "main#1 Running"]);
    running.signal(Signal::TERM);
    running.until(&["a second signal exits at once"]);
    running.signal(Signal::TERM);
    let ran = running.end();
    assert_eq!((ran.status, ran.stdout.as_str()), (143, ""), "{ran:?}");
    assert!(ran.stderr.contains("resume with: "), "{ran:?}");
    let row = only_run(&bench);
    assert_eq!((&row["open"], &row["phase"]), (&json!(true), &json!("Running")));
}

/// R-S12: a run is open until its hooks have ended, whatever its phase; a hook is executed again like any attempt.
#[test]
fn a_hook_survives_the_death_of_its_process() {
    let bench = Bench::new();
    bench.write(
        "hook.yaml",
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: hooked }\nspec:\n  entrypoint: main\n  hooks: { onExit: { \
         template: tell } }\n  templates:\n    - task: { name: main, executor: { type: echo } }\n    - task: { name: tell, \
         executor: { type: linger } }\n",
    );
    let mut first = Running::start(&bench, &["run", "hook.yaml", "--store", "runs.db"]);
    first.until(&["info started"]);
    // The hook is granted nothing, so it may have begun before the record of what it follows is durable (R-D6).
    let is_recorded = |_: &u32| only_run(&bench)["phase"] == json!("Succeeded");
    assert!((0..100).find(is_recorded).is_some(), "{}", only_run(&bench));
    first.signal(Signal::KILL);
    first.end();
    let row = only_run(&bench);
    assert_eq!((&row["phase"], &row["open"]), (&json!("Succeeded"), &json!(true)));
    let cancelled = bench.phasm(&["cancel", row["runID"].as_str().unwrap(), "--store", "runs.db"]);
    assert_eq!(cancelled.status, 2, "{cancelled:?}");
    assert!(cancelled.stderr.contains("has already ended: Succeeded"), "{cancelled:?}");
    bench.write("go.toml", COME_TO_AN_END);
    let recovered = bench.phasm(&["recover", "--store", "runs.db", "--config", "go.toml", "--json"]);
    assert_eq!(recovered.status, 0, "{recovered:?}");
    let hook = recovered.json()[0]["hooks"][0].clone();
    assert_eq!((&hook["hookType"], &hook["phase"]), (&json!("onExit"), &json!("Succeeded")), "{hook}");
    assert_eq!(hook["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(only_run(&bench)["open"], json!(false));
}

const HOSTILE: &str = "apiVersion: aether/v1
kind: Workflow
metadata: { name: hostile }
spec:
  entrypoint: main
  templates:
    - dag:
        name: main
        tasks:
          - { name: spins, executor: { type: spin } }
          - { name: fills, executor: { type: fill } }
          - { name: waits, executor: { type: linger } }
";

/// The processes that this one started and that have not ended.
fn children(parent: Pid) -> Vec<Pid> {
    let numbers = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
    let processes = numbers.filter_map(|name| Pid::from_raw(name.to_str()?.parse().ok()?));
    processes.filter(|process| state(*process).is_some_and(|(of, _)| of == parent.as_raw_pid())).collect()
}

/// Children of a command, once there are `count` of them: an attempt is announced before its process has started.
fn attempts_apart(command: &Running, count: usize) -> Vec<Pid> {
    let until = Instant::now() + LONGEST;
    loop {
        let apart = children(Pid::from_child(&command.child));
        if apart.len() >= count {
            return apart;
        }
        assert!(Instant::now() < until, "only {apart:?} have started");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Parent of a process, and whether the process is a zombie.
fn state(process: Pid) -> Option<(i32, bool)> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_pid())).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let has_ended = matches!(fields.next()?, "Z" | "X");
    Some((fields.next()?.parse().ok()?, has_ended))
}

fn has_ended(process: Pid) -> bool {
    state(process).is_none_or(|(_, has_ended)| has_ended)
}

/// R-I27: guests that compute for ever are in flight when their process is killed. None of them outlives it, whatever it is at, and the run can go on.
#[test]
fn hostile_guests_die_with_their_process() {
    for isolation in ["shared", "process"] {
        let bench = Bench::new();
        ["spin", "fill"].iter().for_each(|guest| bench.guest(guest));
        bench.write("tier.toml", format!("[limits]\nisolation = \"{isolation}\"\n"));
        bench.write("hostile.yaml", HOSTILE);
        let start = ["run", "hostile.yaml", "--store", "runs.db", "--wait", "--config", "tier.toml"];
        let mut first = Running::start(&bench, &start);
        first.until(&["main/spins#1 Running", "main/fills#1 Running", "main/waits#1 Running"]);
        let apart = attempts_apart(&first, if isolation == "shared" { 0 } else { 3 });
        first.signal(Signal::KILL);
        first.end();
        let until = Instant::now() + LONGEST;
        while !apart.iter().all(|child| has_ended(*child)) {
            assert!(Instant::now() < until, "some of {apart:?} live on");
            thread::sleep(Duration::from_millis(2));
        }
        let run = only_run(&bench)["runID"].as_str().unwrap().to_owned();
        assert_eq!(view(&bench, &run)["phase"], "Running");
        let cancelled = bench.phasm(&["cancel", &run, "--store", "runs.db", "--config", "tier.toml"]);
        assert!(matches!(cancelled.status, 0 | 5), "{cancelled:?}");
        assert_eq!(only_run(&bench)["phase"], "Cancelled");
    }
}
