//! What is dispatched again after a crash, and with what (R-D3, R-R11, R-S9).
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
use phasm_tests::world::{Act, Script, World};

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
    world.at(Timestamp(20), Input::Resumed(ask, Map::from([("n".into(), 2.into())])));
    world.advance();
    let before = world.dispatched.split_off(1);
    let [late, asked] = before.as_slice() else { panic!("{before:?}") };
    assert_eq!((asked.fence.attempt, asked.fence.dispatch, asked.resumed), (1, 2, true));
    let seq = world.run.seq();
    world.dispatched.clear();
    for crashes in 1..=2 {
        world.crash(Timestamp(500)).unwrap();
        assert_eq!(world.dispatched, [asked.clone(), late.clone()], "in creation order");
        assert_eq!(world.run.seq(), seq + crashes, "nothing but another start of what was Running");
        world.dispatched.clear();
    }
    assert_eq!(world.run.next_wait(), Some(Timestamp(1500)), "maxRuntime starts anew");
}

/// Nobody is called for a task that waits for people, and its clocks stand where they stood.
#[test]
fn what_is_suspended_stays_so() {
    let mut world = world();
    world.dispatched.clear();
    world.crash(Timestamp(30)).unwrap();
    let names: Vec<&str> = world.dispatched.iter().map(|dispatch| dispatch.task_name.as_ref()).collect();
    assert_eq!(names, ["late"]);
    assert_eq!(world.run.task(world.find("ask").unwrap()).unwrap().clocks.timeout, Some(Timestamp(60_000)));
}
