//! Whole runs on a real sandbox through the embedding API: guests that misbehave beside one that does not, and a thousand
//! that wait.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{fs, path::Path};

use phasm::{
    Host, Notice,
    engine::{event::Event, phase::Phase, run::RunView, value::Map},
};

/// The component of a guest in `tests/guests`.
fn guest(name: &str) -> Vec<u8> {
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/guests");
    let text = fs::read_to_string(guests.join(name).with_extension("wat")).unwrap();
    if text.contains("(core module $guest") && !text.contains("(component") {
        wat::parse_str(fs::read_to_string(guests.join("world.wat")).unwrap().replace(";; GUEST", &text))
            .unwrap()
    } else {
        wat::parse_str(text).unwrap()
    }
}

fn host(guests: &[&str]) -> Host {
    let builder = Host::builder().allow_missing();
    guests.iter().fold(builder, |builder, name| builder.plugin(*name, guest(name))).open().unwrap()
}

fn document(tasks: &str) -> String {
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "whole"}}, "spec": {{"entrypoint": "main",
            "templates": [{{"dag": {{"name": "main", "continueOn": {{"failed": true, "error": true, "timeout": true}},
            "tasks": [{tasks}]}}}}]}}}}"#
    )
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Every misbehaviour is an outcome whose message names the cause (R-C1), and none keeps a neighbour from its work.
#[test]
fn guests_that_misbehave_end_as_outcomes_beside_a_healthy_one() {
    let rows = [
        ("spin", r#", "timeout": "2s""#, Phase::Timeout, "timeout of 2s"),
        ("allocate", "", Phase::Error, "memory limit"),
        ("trap", "", Phase::Error, "trap: "),
        ("flood", "", Phase::Error, "log"),
        // A hundred MiB do not fit into a guest's memory, let alone through the limit on outputs.
        ("big-output", "", Phase::Error, "memory limit"),
        ("overflow", "", Phase::Error, "stack"),
        ("echo", "", Phase::Succeeded, ""),
        ("unknown", "", Phase::Error, "unknown executor type"),
    ];
    let tasks: Vec<String> = rows
        .iter()
        .map(|(name, more, ..)| format!(r#"{{"name": "{name}", "executor": {{"type": "{name}"}}{more}}}"#))
        .collect();
    let known: Vec<&str> = rows.iter().map(|row| row.0).filter(|name| *name != "unknown").collect();
    let host = host(&known);
    let (view, ended) = runtime().block_on(async {
        let plan = host.plan("whole.json", &document(&tasks.join(","))).await.unwrap();
        let new = host.new_run(&plan, &Map::new()).await.unwrap();
        let mut notices = new.watch();
        let run = new.start().await.unwrap();
        let view = run.wait().await.unwrap();
        let mut ended = Vec::new();
        while let Some(notice) = notices.next().await.unwrap() {
            if let Notice::Record(record) = notice {
                ended.extend(notices.views(&record).filter_map(|view| ended_task(&view.json())));
            }
        }
        (view, ended)
    });
    for (name, _, phase, cause) in rows {
        let task = view.tasks.iter().find(|task| task.task_name.as_ref() == name).unwrap();
        assert_eq!(task.phase, phase, "{name}: {}", task.message);
        assert!(task.message.contains(cause), "{name}: {}", task.message);
    }
    assert_eq!(view.phase, Phase::Succeeded);
    let position = |name: &str| ended.iter().position(|ended| ended == name).unwrap();
    assert!(position("echo") < position("spin"), "{ended:?}");
}

/// The name of the task whose end an event tells.
fn ended_task(event: &serde_json::Value) -> Option<String> {
    let kind = event.get("type")?.as_str()?;
    let over = matches!(kind, "task.done" | "task.failed");
    over.then(|| event.get("taskName").and_then(|name| name.as_str()).unwrap_or_default().to_owned())
}

/// Guests that wait in host calls hold no thread: a thousand of them are Running at once.
#[test]
fn a_thousand_tasks_wait_at_once() {
    const WAITING: usize = 1000;
    let tasks: Vec<String> = (0..WAITING)
        .map(|index| format!(r#"{{"name": "t{index}", "executor": {{"type": "sleep"}}}}"#))
        .collect();
    let host = host(&["sleep"]);
    let view = runtime().block_on(async {
        let plan = host.plan("whole.json", &document(&tasks.join(","))).await.unwrap();
        let new = host.new_run(&plan, &Map::new()).await.unwrap();
        let mut notices = new.watch();
        let run = new.start().await.unwrap();
        let mut running = 0;
        while running < WAITING {
            match notices.next().await.unwrap() {
                Some(Notice::Record(record)) => {
                    let started = |event: &&Event| matches!(event, Event::AttemptStarted(_));
                    running += record.body.iter().filter(started).count();
                }
                Some(_) => {}
                None => panic!("the run ended with {running} tasks started"),
            }
        }
        let waiting = run.view().await.unwrap();
        run.cancel().await.unwrap();
        assert_eq!(run.wait().await.unwrap().phase, Phase::Cancelled);
        waiting
    });
    assert_eq!(count(&view, Phase::Running), WAITING);
}

fn count(view: &RunView, phase: Phase) -> usize {
    view.tasks.iter().filter(|task| task.depth > 0 && task.phase == phase).count()
}

/// R-D2, R-D6: a run of one task costs two commits, the submission and the result, and a chain of pure tasks at most one more for each
/// task; one more for each attempt that its epoch stops. On a busy machine it may stop any, so that the best of several runs counts.
#[test]
fn short_attempts_cost_a_commit_each_at_most() {
    let host = host(&["echo"]);
    for tasks in [1, 4] {
        let chain: Vec<String> = (0..tasks)
            .map(|n| {
                let before = if n == 0 { String::new() } else { format!(r#""t{}""#, n - 1) };
                format!(r#"{{"name": "t{n}", "executor": {{"type": "echo"}}, "dependencies": [{before}]}}"#)
            })
            .collect();
        let records = || {
            runtime().block_on(async {
                let plan = host.plan("chain.json", &document(&chain.join(","))).await.unwrap();
                let run = host.submit(&plan, &Map::new()).await.unwrap();
                assert_eq!(run.wait().await.unwrap().phase, Phase::Succeeded);
                let records = host.store().load(run.id()).await.unwrap();
                let mut starts = 0;
                phasm::journal::replay(run.id(), &records, |_, _, _, events| {
                    starts += events.iter().filter(|event| matches!(event, Event::AttemptStarted(_))).count();
                })
                .unwrap();
                assert_eq!(starts, tasks);
                records.len()
            })
        };
        assert!(
            (0..1000).any(|_| (2..=1 + tasks).contains(&records())),
            "{tasks}: no run of 1000 has so few records"
        );
    }
}

/// R-I42: what attempts used is known of those that end, of those that a clock stops, and of all together; and it is kept.
#[test]
fn what_attempts_used_is_part_of_the_run() {
    let tasks = [
        r#"{"name": "spin", "executor": {"type": "spin"}, "timeout": "2s"}"#,
        r#"{"name": "brief", "executor": {"type": "spin"}, "maxRuntime": "1s"}"#,
        r#"{"name": "asks", "executor": {"type": "suspend"}}"#,
        r#"{"name": "say", "executor": {"type": "say"}}"#,
    ];
    let dir = tempfile::tempdir().unwrap();
    let store = phasm::store::Sqlite::open(dir.path().join("runs.db")).unwrap();
    let builder = Host::builder().store(std::sync::Arc::new(store));
    let plugins = ["spin", "suspend", "say"];
    let host =
        plugins.iter().fold(builder, |builder, name| builder.plugin(*name, guest(name))).open().unwrap();
    let (view, again) = runtime().block_on(async {
        let plan = host.plan("whole.json", &document(&tasks.join(","))).await.unwrap();
        let run = host.submit(&plan, &Map::new()).await.unwrap();
        run.wait_or_park().await.unwrap();
        let view = run.view().await.unwrap();
        let records = host.store().load(run.id()).await.unwrap();
        let replayed = phasm::journal::replay(run.id(), &records, |_, _, _, _| {}).unwrap();
        (view, RunView::of(&replayed))
    });
    let used = |view: &RunView, name: &str| {
        let task = view.tasks.iter().find(|task| &*task.task_name == name).unwrap();
        assert_eq!(task.metrics.usage, task.attempts[0].usage, "{name}");
        task.metrics.usage.unwrap_or_else(|| panic!("{name}: {task:?}"))
    };
    let all = ["spin", "brief", "asks", "say"].map(|name| used(&view, name));
    assert!(all[0].cpu_us > 10_000 && all[1].cpu_us > 10_000, "{all:?}");
    assert!(all.iter().all(|used| used.memory_bytes == 65_536), "{all:?}");
    let sum = view.usage.unwrap();
    assert_eq!(sum.cpu_us, all.iter().map(|used| used.cpu_us).sum::<u64>());
    assert_eq!((sum.memory_bytes, again.usage), (65_536, view.usage));
}

/// R-I42: the use of an attempt that the run's end stops is recorded with that end, after it, and nothing follows.
#[test]
fn the_use_of_an_attempt_that_the_end_stops_is_recorded_with_it() {
    let host = Host::builder().plugin("spin", guest("spin")).open().unwrap();
    let spin = r#"{"name": "spin", "executor": {"type": "spin"}}"#;
    let text = document(spin).replace(r#""entrypoint""#, r#""timeout": "1s", "entrypoint""#);
    let kinds = runtime().block_on(async {
        let plan = host.plan("whole.json", &text).await.unwrap();
        let run = host.submit(&plan, &Map::new()).await.unwrap();
        assert_eq!(run.wait().await.unwrap().phase, Phase::Timeout);
        let records = host.store().load(run.id()).await.unwrap();
        let mut last = Vec::new();
        phasm::journal::replay(run.id(), &records, |run, _, _, events| {
            if run.is_over() {
                last.extend(events.iter().map(Event::name));
            }
        })
        .unwrap();
        last
    });
    let at = |kind: &str| kinds.iter().position(|found| *found == kind);
    assert!(at("run.phase") < at("task.attempt.metered"), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&"task.attempt.metered"), "{kinds:?}");
}
