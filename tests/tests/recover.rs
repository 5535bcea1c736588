//! The attempts that are dispatched again after a crash, and their inputs (R-D3, R-R11, R-S9).
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::Arc;

use phasm::reader;
use phasm_engine::{
    event::{Dispatch, Input},
    outcome::{Outcome, code},
    plan::{Draft, Executors},
    time::Timestamp,
    value::{Map, Value},
};
use phasm_tests::{
    small::dag,
    world::{Act, Script, World},
};
use serde_json::json;

/// The first dispatch of `ask` suspends; nothing else ever returns.
struct Hangs;

impl Script for Hangs {
    fn act(&mut self, path: &str, dispatch: &Dispatch) -> Act {
        let suspends = path == "main/ask" && !dispatch.resumed;
        let outcome = Outcome { code: code::SUSPENDED, ..Outcome::default() };
        // `late` is dispatched, and has not started when the process dies.
        let start_after = if path == "main/late" { 1000 } else { 0 };
        Act { start_after, takes: suspends.then_some(1), outcome }
    }
}

const DOCUMENT: &str = "apiVersion: aether/v1
kind: Workflow
metadata: {name: w}
spec:
  entrypoint: main
  templates:
    - dag:
        name: main
        tasks:
          - {name: ask, executor: {type: echo}, inputs: {parameters: [{name: n, value: 1}]}, maxRuntime: 1s, timeout: 1m}
          - {name: late, executor: {type: echo, config: {a: [1.5]}}, maxInactivity: 2s}
          - {name: next, executor: {type: echo}, dependencies: [ask]}
";

fn world() -> World<Hangs> {
    let plan = Draft::read(&reader::read("w.yaml", DOCUMENT).unwrap())
        .plan(&Executors::any(), &Value::Null)
        .unwrap_or_else(|p| panic!("{p:?}"));
    let mut world = World::submit(Arc::new(plan), Map::new(), 9, Hangs, false);
    while world.next().is_some_and(|at| at <= Timestamp(10)) && world.advance() {}
    world
}

#[test]
fn what_is_in_flight_is_dispatched_again_as_it_was() {
    let mut world = world();
    let ask = world.find("ask").unwrap();
    world.at(Timestamp(20), Input::Resumed(ask, Map::from([("n".into(), 2.into())]), None));
    world.advance();
    let before = world.dispatched.split_off(1);
    let [late, asked] = before.as_slice() else { panic!("{before:?}") };
    assert_eq!((asked.fence.attempt, asked.fence.dispatch, asked.resumed), (1, 2, true));
    let seq = world.run.seq();
    world.dispatched.clear();
    // They could begin again only when the run was there again.
    let again = |before: &Dispatch| Dispatch { due: Timestamp(500), ..before.clone() };
    for crashes in 1..=2 {
        world.crash(Timestamp(500)).unwrap();
        assert_eq!(world.dispatched, [again(asked), again(late)], "in creation order");
        assert_eq!(world.run.seq(), seq + crashes, "nothing but another start of what was Running");
        world.dispatched.clear();
    }
    assert_eq!(world.run.next_wait(), Some(Timestamp(1500)), "maxRuntime starts anew");
}

/// No executor is called for a task that waits for people, and its clocks stand where they stood.
#[test]
fn what_is_suspended_stays_so() {
    let mut world = world();
    world.dispatched.clear();
    world.crash(Timestamp(30)).unwrap();
    let names: Vec<&str> = world.dispatched.iter().map(|dispatch| dispatch.task_name.as_ref()).collect();
    assert_eq!(names, ["late"]);
    assert_eq!(world.run.task(world.find("ask").unwrap()).unwrap().clocks.timeout, Some(Timestamp(60_000)));
}

/// The first attempt of `a` fails at once; everything else takes its time.
struct Queues;

impl Script for Queues {
    fn act(&mut self, path: &str, dispatch: &Dispatch) -> Act {
        let (takes, code) = match (path, dispatch.fence.attempt) {
            ("main/a", 1) => (10, code::ERROR),
            ("main/s", _) => (50, code::SUCCEEDED),
            _ => (100, code::SUCCEEDED),
        };
        Act { start_after: 0, takes: Some(takes), outcome: Outcome { code, ..Outcome::default() } }
    }
}

/// R-D3: whose delay was over while it waited for its turn keeps its place before those that became ready later.
#[test]
fn a_retry_keeps_its_place() {
    let tasks = [
        json!({ "name": "a", "template": "work", "retry": { "limit": 1, "delay": "10ms" } }),
        json!({ "name": "s", "template": "work" }),
        json!({ "name": "b", "template": "work" }),
        json!({ "name": "d", "template": "work" }),
        json!({ "name": "c", "template": "work", "dependencies": ["s"] }),
    ];
    for crashes in [false, true] {
        let mut world = World::submit(dag(&tasks).unwrap(), Map::new(), 2, Queues, false);
        while world.next().is_some_and(|at| at <= Timestamp(50)) && world.advance() {}
        if crashes {
            world.crash(Timestamp(60)).unwrap();
        }
        world.finish();
        let names: Vec<&str> = world.dispatched.iter().map(|dispatch| dispatch.task_name.as_ref()).collect();
        let again: &[&str] = if crashes { &["b", "d"] } else { &[] };
        assert_eq!(names, [&["a", "s", "b", "d"], again, &["a", "c"]].concat());
    }
}
