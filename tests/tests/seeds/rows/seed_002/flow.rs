//! The step after an attempt, run: the defaults of section 2 and the flow of section 5.2.

use phasm_engine::{
    event::{Event, TaskId},
    phase::Phase,
};
use phasm_tests::{
    small::{self, Answers},
    world::{Script, World},
};
use serde_json::{Value as Json, json};

use super::pipeline;

/// Runs a pipeline of `t` with this policy and of `next`; `t` returns these codes.
fn run(policy: Option<&Json>, codes: &[i32]) -> World<impl Script + use<>> {
    let mut task = json!({ "kind": "http" });
    if let Some(policy) = policy {
        task["spec"] = json!({ "policy": policy });
    }
    let plan = pipeline(&[json!({ "t": task }), json!({ "next": { "kind": "http" } })]);
    small::finished(plan, Answers::codes(codes.iter().copied()))
}

/// Section 2, "Defaults": without a policy ok continues and error fails; with one that does not match, both continue
/// (R-N1).
#[test]
fn defaults() {
    let unmatched =
        json!({ "rules": [{ "when": "{{ outcome.status == 'other' }}", "then": { "do": "break" } }] });
    let rows = [
        (None, 0, Phase::Succeeded, true),
        (None, 2, Phase::Failed, false),
        (None, 3, Phase::Error, false),
        (Some(&unmatched), 0, Phase::Succeeded, true),
        // `next` returns the same code, and has no policy.
        (Some(&unmatched), 3, Phase::Error, true),
    ];
    for (policy, code, phase, goes_on) in rows {
        let world = run(policy, &[code]);
        let goes = world.task("next").unwrap().dispatched_at.is_some();
        assert_eq!((world.run.phase(), goes), (phase, goes_on), "{policy:?} {code}");
    }
}

/// Section 5.2, one word an event; R-N6 adds the evaluation of the attempt that ended well.
#[test]
fn attempt_flow() {
    let retry = json!({ "do": "retry", "attempts": 10, "backoff": "exponential", "delay": 2.0 });
    let rules = json!([
        { "when": "{{ outcome.status == 'error' }}", "then": retry },
        { "else": { "then": { "do": "continue" } } },
    ]);
    let world = run(Some(&json!({ "rules": rules })), &[3, 3, 0]);
    let task = world.find("t").unwrap();
    let events = world.journal.iter().flat_map(|(_, events)| events);
    let words: Vec<_> = events.filter_map(|event| word(event, task)).collect();
    let again =
        ["task.attempt.started", "task.attempt.failed", "policy.task.evaluated", "task.retry.scheduled"];
    let end = ["task.attempt.started", "task.attempt.done", "policy.task.evaluated", "task.done"];
    assert_eq!(words, [again, again, end].concat());
    assert_eq!(world.delays(), [2000, 4000]);
}

/// The seed's word for an event of this task.
fn word(event: &Event, task: TaskId) -> Option<&'static str> {
    let of = |other: TaskId, word| (other == task).then_some(word);
    if let Event::AttemptStarted(fence) = event {
        of(fence.task, "task.attempt.started")
    } else if let Event::AttemptEnded(ended) = event {
        let well = ended.phase == Phase::Succeeded;
        of(ended.fence.task, if well { "task.attempt.done" } else { "task.attempt.failed" })
    } else if let Event::PolicyEvaluated(evaluated) = event {
        of(evaluated.fence.task, "policy.task.evaluated")
    } else if let Event::RetryScheduled(scheduled) = event {
        of(scheduled.task, "task.retry.scheduled")
    } else if let Event::TaskEnded(ended, well) = event {
        of(*ended, if *well { "task.done" } else { "task.failed" })
    } else {
        None
    }
}
