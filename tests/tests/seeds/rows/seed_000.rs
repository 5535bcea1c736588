//! Seed 000, Aether: retry and timeouts.

use phasm_engine::{
    duration,
    event::{Dispatch, Reason},
    outcome::Outcome,
    phase::Phase,
};
use phasm_tests::{
    small::{self, Answers, work},
    world::{Act, Script},
};
use serde_json::json;

use super::{always, end, ended_at, outcome, run_one};

/// "Per-Task Timeout", the table of units (R-U2).
#[test]
fn units() {
    let rows =
        [("500ms", 500), ("30s", 30_000), ("5m", 5 * 60_000), ("2h", 2 * 3_600_000), ("1d", 24 * 3_600_000)];
    for (example, millis) in rows {
        assert_eq!(duration::parse(example), Ok(millis), "{example}");
    }
}

/// "limit: Maximum number of retries. 0 disables retry." (R-R1)
#[test]
fn limit() {
    for (limit, attempts) in [(0, 1), (1, 2), (2, 3), (3, 4), (100, 101)] {
        let world = run_one(&json!({ "retry": { "limit": limit } }), always(3));
        let reason = (limit > 0).then_some(Reason::RetryExhausted);
        assert_eq!(end(&world, "t"), (Phase::Error, reason, attempts), "limit {limit}");
        assert_eq!(world.task("t").unwrap().retries as usize, attempts - 1, "Metrics.Retries");
    }
}

/// "retry on PhaseError and PhaseTimeout only. PhaseFailed is not retried by default" (R-R4)
#[test]
fn default_filter() {
    let rows = [
        (0, Phase::Succeeded, 1),
        (2, Phase::Failed, 1),
        (3, Phase::Error, 3),
        (4, Phase::Timeout, 3),
        (77, Phase::Error, 3),
    ];
    for (code, phase, attempts) in rows {
        let world = run_one(&json!({ "retry": { "limit": 2 } }), always(code));
        let reason = (attempts > 1).then_some(Reason::RetryExhausted);
        assert_eq!(end(&world, "t"), (phase, reason, attempts), "code {code}");
    }
}

/// "This retries on any phase that is not Succeeded — including Failed." (R-R4)
#[test]
fn expression_replaces_the_filter() {
    let retry = json!({ "retry": { "limit": 3, "expression": "tasks.t.phase != 'Succeeded'" } });
    for (code, phase, attempts) in
        [(0, Phase::Succeeded, 1), (2, Phase::Failed, 4), (3, Phase::Error, 4), (4, Phase::Timeout, 4)]
    {
        let world = run_one(&retry, always(code));
        assert_eq!((end(&world, "t").0, end(&world, "t").2), (phase, attempts), "code {code}");
    }
}

/// "The expression context exposes", one row a variable (R-R5): each expression holds for the attempt that just ended,
/// its negation does not.
#[test]
fn expression_context() {
    let rows = [
        ("tasks.<name>.phase", "tasks.t.phase == 'Failed'", 2),
        ("tasks.<name>.phase", "tasks.t.phase == 'Error'", 3),
        ("tasks.<name>.phase", "tasks.t.phase == 'Timeout'", 4),
        ("tasks.<name>.code", "tasks.t.code == 42", 42),
        ("tasks.<name>.msg", "tasks.t.msg == 'connection refused'", 3),
        ("tasks.<name>.outputs.parameters.<param>", "tasks.t.outputs.parameters.again == [true]", 3),
    ];
    for (variable, expression, code) in rows {
        let returned = outcome(code, "connection refused", &[("again", json!([true]))]);
        for (expression, attempts) in [(expression.to_owned(), 2), (format!("not ({expression})"), 1)] {
            let retry = json!({ "retry": { "limit": 1, "expression": expression } });
            let world = run_one(&retry, Answers::new([returned.clone()]));
            assert_eq!(end(&world, "t").2, attempts, "{variable}: {expression}");
        }
    }
}

/// "exhausts its two retries (attempts 1, 2, 3 total) and then transitions to PhaseFailed, causing the DAG to fail unless
/// continueOn.failed is set" (R-R1, R-S3)
#[test]
fn exhausted() {
    for (failed, run) in [(false, Phase::Failed), (true, Phase::Succeeded)] {
        let retry = json!({ "limit": 2, "expression": "tasks.t.phase != 'Succeeded'" });
        let world = run_one(&json!({ "retry": retry, "continueOn": { "failed": failed } }), always(2));
        assert_eq!(end(&world, "t"), (Phase::Failed, Some(Reason::RetryExhausted), 3));
        let numbers: Vec<u32> = world.task("t").unwrap().attempts.iter().map(|a| a.number).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(world.run.phase(), run);
    }
}

/// "The task runs again with the same inputs." (R-R6)
#[test]
fn same_inputs() {
    let arguments = json!({ "parameters": [{ "name": "n", "value": "{{ workflow.name }}" }] });
    let world = run_one(&json!({ "retry": { "limit": 2 }, "arguments": arguments }), always(3));
    let inputs: Vec<_> = world.dispatched.iter().map(|dispatch| &dispatch.inputs).collect();
    assert_eq!(inputs.len(), 3);
    assert!(inputs.iter().all(|bound| *bound == inputs[0]));
}

/// "If no Resume() arrives within one second, the timeout watchdog fires … the downstream finalize task still runs." And
/// if it is not set, "others cause the DAG to fail". (R-T3)
#[test]
fn watchdog() {
    for (tolerated, run, finalize) in
        [(true, Phase::Succeeded, Phase::Succeeded), (false, Phase::Timeout, Phase::Cancelled)]
    {
        let wait = json!({
            "name": "wait-external", "timeout": "1s", "continueOn": { "timeout": tolerated }, "template": "work"
        });
        let finish = json!({ "name": "finalize", "template": "work", "dependencies": ["wait-external"] });
        let world = small::finished(small::dag(&[wait, finish]).unwrap(), Suspends);
        let waited = world.task("wait-external").unwrap();
        assert_eq!((waited.phase, waited.code), (Phase::Timeout, Some(4)));
        assert_eq!(waited.finished_at.map(|at| at.0), Some(1000));
        assert_eq!((world.task("finalize").unwrap().phase, world.run.phase()), (finalize, run));
    }
}

/// Only `wait-external` suspends.
struct Suspends;

impl Script for Suspends {
    fn act(&mut self, _path: &str, dispatch: &Dispatch) -> Act {
        let code = i32::from(dispatch.task_name.as_ref() == "wait-external");
        Act { start_after: 0, takes: Some(10), outcome: Outcome { code, ..Outcome::default() } }
    }
}

/// "if the task has already completed normally before the watchdog fires …" (R-P3)
#[test]
fn the_watchdog_is_idempotent() {
    let mut world = run_one(&json!({ "timeout": "10ms" }), always(0));
    assert_eq!((end(&world, "t").0, ended_at(&world)), (Phase::Succeeded, 10));
    let seq = world.run.seq();
    world.take(phasm_engine::event::Input::Tick);
    assert_eq!((end(&world, "t").0, world.run.seq()), (Phase::Succeeded, seq));
}

/// An attempt that takes this long and returns this code.
struct Takes(Option<u64>, i32);

impl Script for Takes {
    fn act(&mut self, _path: &str, _dispatch: &Dispatch) -> Act {
        let outcome = Outcome { code: self.1, ..Outcome::default() };
        Act { start_after: 0, takes: self.0, outcome }
    }
}

/// "the deadline is set once at first dispatch and is not reset per retry attempt": with 10s and limit 3 (R-T2).
#[test]
fn retries_share_the_deadline() {
    // Duration of each attempt, time of the end, number of attempts; none begins after the deadline.
    let rows = [(None, 10_000, 1), (Some(4000), 10_000, 3), (Some(6000), 10_000, 2), (Some(2000), 8000, 4)];
    for (takes, at, started) in rows {
        let world = run_one(&json!({ "timeout": "10s", "retry": { "limit": 3 } }), Takes(takes, 3));
        let (phase, reason) =
            if at == 10_000 { (Phase::Timeout, None) } else { (Phase::Error, Some(Reason::RetryExhausted)) };
        assert_eq!(end(&world, "t"), (phase, reason, started), "{takes:?}");
        assert_eq!(ended_at(&world), at, "{takes:?}");
        let attempts = &world.task("t").unwrap().attempts;
        assert_eq!(attempts.iter().filter(|a| a.started_at.is_some()).count(), started, "{takes:?}");
    }
}

/// "Workflow-Level Timeout": spec.timeout 30m cancels all non-terminal tasks and marks the workflow Timeout.
#[test]
fn workflow_timeout() {
    use phasm_engine::{
        plan::{Draft, Executors},
        tree::Tree,
        value::Map,
        value::Value,
    };
    use phasm_tests::world::World;
    let tasks = json!([{ "name": "t", "template": "work" }, { "name": "u", "template": "work", "dependencies": ["t"] }]);
    let templates = json!([work(), { "dag": { "name": "main", "tasks": tasks } }]);
    let spec = json!({ "entrypoint": "main", "timeout": "30m", "templates": templates });
    let document =
        json!({ "apiVersion": "aether/v1", "kind": "Workflow", "metadata": { "name": "w" }, "spec": spec });
    let plan =
        Draft::read(&Tree::from(&Value::from(document))).plan(&Executors::any(), &Value::Null).unwrap();
    let mut world = World::submit(plan.into(), Map::new(), 10, Takes(None, 0), false);
    world.finish();
    assert_eq!((world.run.phase(), ended_at(&world)), (Phase::Timeout, 1_800_000));
    for (task, attempts) in [("t", 1), ("u", 0)] {
        assert_eq!(end(&world, task), (Phase::Cancelled, Some(Reason::WorkflowTimeout), attempts));
    }
}

/// "A task timeout fires first if the individual task exceeds its limit; the workflow timeout fires if the aggregate
/// execution time exceeds its limit".
#[test]
fn the_earlier_timeout_fires() {
    let rows = [("1s", Phase::Timeout, 1000), ("none", Phase::Succeeded, 5000)];
    for (timeout, phase, at) in rows {
        let timeout = if timeout == "none" { json!({}) } else { json!({ "timeout": timeout }) };
        let world = run_one(&timeout, Takes(Some(5000), 0));
        assert_eq!((world.run.phase(), ended_at(&world)), (phase, at));
    }
}
