use serde_json::json;

use super::*;
use crate::{
    event::{Facts, Input, TaskId},
    plan::{Draft, Executors},
    run::{Run, RunView, Submission},
    tree::Tree,
    value::{Map, Value},
};

fn run_of_two() -> (Run, Vec<(Timestamp, Vec<Event>)>) {
    let task = |name: &str| json!({ "name": name, "executor": { "type": "echo" } });
    let document = json!({
        "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "w" },
        "spec": {
            "entrypoint": "main",
            "templates": [{ "dag": { "name": "main", "tasks": [task("a"), task("b")] } }],
        },
    });
    let document = Value::from_json(&document.to_string()).unwrap();
    let plan = Arc::new(Draft::read(&Tree::from(&document)).plan(&Executors::any(), &Value::Null).unwrap());
    let submission = Submission {
        run_id: "r".into(),
        parameters: Arc::new(Map::new()),
        doubts: Vec::new(),
        facts: Facts::default(),
        secrets: Vec::new(),
        origin: None,
        trace: None,
        by: None,
    };
    let (mut run, first) = Run::start(plan, submission, Timestamp(0));
    let second = run.step(Timestamp(1), Input::Lent(1));
    (run, vec![(Timestamp(0), first.events), (Timestamp(1), second.events)])
}

/// A decision that cannot follow is not recorded (R-P2): the run ends, says which event it was, stops what it has begun,
/// and hears nothing more (R-D5).
#[test]
fn a_refused_decision_ends_the_run_loudly() {
    let (mut run, mut journal) = run_of_two();
    let attempt = run.tasks()[1].fence();
    let broken = run.decide(Timestamp(2), |decider| {
        decider.emit(Event::Repeated(TaskId(1)));
        // Work that was queued is not decided any more.
        decider.set_phase(TaskIndex::ROOT, Phase::Succeeded, None, None);
        decider.settle();
    });
    assert_eq!(broken.commands, [Command::Abort(attempt)]);
    let [Event::Broken(message), Event::RunPhase(Phase::Error)] = &broken.events[..] else {
        panic!("{:?}", broken.events);
    };
    assert!(message.contains("`scope.opened`"), "{message}");
    assert!(message.contains("task run 1 is not an open loop"), "{message}");
    assert_eq!(run.task(TaskId::ROOT).unwrap().message, *message);
    assert!(run.is_over() && run.next_wait().is_none() && run.wanted_slots() == 0);
    assert!(run.tasks().iter().all(|task| task.phase.is_terminal()));

    journal.push((Timestamp(2), broken.events));
    let records = journal.iter().map(|(time, events)| (*time, events.as_slice()));
    let replayed = Run::replay(Arc::clone(run.plan()), records).unwrap();
    let shown = |run: &Run| serde_json::to_value(RunView::of(run)).unwrap();
    assert_eq!(shown(&replayed), shown(&run));

    for input in [
        Input::Started(attempt),
        Input::Cancelled(None),
        Input::TaskCancelled(TaskId(2), None),
        Input::Lent(9),
    ] {
        assert_eq!(run.step(Timestamp(3), input), Step::default());
    }
}
