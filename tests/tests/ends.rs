//! Views of how runs, tasks and attempts ended, and in which order: nothing that went wrong is hidden.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::{collections::BTreeMap, sync::Arc};

use phasm_engine::{
    event::{Dispatch, Input, TaskId},
    outcome::Outcome,
    phase::Phase,
    plan::{Draft, ExecutorResolution, Executors, PinnedExecutor, Plan},
    run::{Run, RunView},
    tree::Tree,
    value::{Map, Value},
};
use phasm_tests::world::{Act, Script, World};
use serde_json::{Value as Json, json};

/// Codes and messages by path, attempt after attempt; the last one repeats. Without one a dispatch succeeds, and a negative code
/// hangs.
struct Acts(BTreeMap<&'static str, Vec<(i32, &'static str)>>);

impl Script for Acts {
    fn act(&mut self, path: &str, dispatch: &Dispatch) -> Act {
        let acts = self.0.get(path).map(Vec::as_slice).unwrap_or_default();
        let nth = dispatch.fence.dispatch as usize - 1;
        let (code, message) = acts.get(nth).or(acts.last()).copied().unwrap_or_default();
        let outcome = Outcome { code, message: message.into(), ..Outcome::default() };
        Act { start_after: 0, takes: (code >= 0).then_some(10), outcome }
    }
}

fn plan(templates: &Json) -> Arc<Plan> {
    plan_in("aether/v1", templates)
}

fn plan_in(dialect: &str, templates: &Json) -> Arc<Plan> {
    let document = json!({
        "apiVersion": dialect, "kind": "Workflow", "metadata": { "name": "test" },
        "spec": { "entrypoint": "main", "templates": templates },
    });
    let outputs = json!({ "type": "object", "properties": { "n": {}, "m": {} } });
    let known = PinnedExecutor { outputs: outputs.into(), ..PinnedExecutor::default() };
    let executors = Executors::any().with("known", ExecutorResolution::Executor(Box::new(known)));
    let planned = Draft::read(&Tree::from(&Value::from(document))).plan(&executors, &Value::Null);
    Arc::new(planned.unwrap_or_else(|problems| panic!("{problems:#?}")))
}

fn ended<const N: usize>(templates: &Json, acts: [(&'static str, Vec<(i32, &'static str)>); N]) -> Run {
    let mut world = World::submit(plan(templates), Map::new(), 1000, Acts(BTreeMap::from(acts)), false);
    world.finish();
    assert!(world.run.phase().is_terminal());
    world.run
}

fn view(run: &Run) -> Json {
    serde_json::to_value(RunView::of(run)).unwrap()
}

/// R-T12: whatever the phase, the views say which clock ended it, and where.
#[test]
fn an_end_by_a_clock_names_the_clock() {
    let rows = [
        (json!({ "maxRuntime": "1s" }), "exceeded maxRuntime (1 s)", Phase::Cancelled, Phase::Timeout),
        (json!({ "deadline": "90s" }), "exceeded deadline (1 min 30 s)", Phase::Cancelled, Phase::Timeout),
        (json!({ "timeout": "500ms" }), "exceeded timeout (500 ms)", Phase::Timeout, Phase::Timeout),
        (
            json!({ "deadline": { "timeout": "1s", "errorOnTimeout": true } }),
            "exceeded deadline (1 s)",
            Phase::Error,
            Phase::Error,
        ),
    ];
    for (clock, exceeded, phase, counts_as) in rows {
        let mut load = json!({ "name": "load", "executor": { "type": "echo" } });
        load.as_object_mut().unwrap().extend(clock.as_object().unwrap().clone());
        let templates = json!([
            { "dag": { "name": "main", "tasks": [{ "name": "job", "template": "inner" }] } },
            { "dag": { "name": "inner", "tasks": [load] } },
        ]);
        let run = ended(&templates, [("main/job/load", vec![(-1, "")])]);
        assert_eq!((run.phase(), run.counts_as()), (phase, counts_as), "{clock}");
        let view = view(&run);
        let leaf = view["tasks"].as_array().unwrap().last().unwrap();
        assert_eq!(leaf["timedOut"], exceeded, "{clock}");
        assert_eq!(leaf["attempts"][0]["reason"], exceeded, "{clock}");
        assert_eq!(view["timedOut"], format!("{exceeded} in main/job/load"), "{clock}");
        let drawn = phasm_graph::tree(&phasm_graph::Diagram::of_run(&run, phasm_graph::Limits::default()));
        assert_eq!(drawn.contains("load  Timed out · "), phase == Phase::Cancelled, "{drawn}");
    }
    let run = ended(
        &json!([{ "task": { "name": "main", "executor": { "type": "echo" } } }]),
        [("main", vec![(4, "")])],
    );
    assert_eq!((run.phase(), &view(&run)["timedOut"]), (Phase::Timeout, &Json::Null), "no clock ran out");
}

/// R-C2: every attempt that has ended has a reason.
#[test]
fn each_attempt_has_its_reason() {
    let templates = json!([{ "task": {
        "name": "main", "executor": { "type": "echo" }, "retry": { "limit": 3 }, "maxRuntime": "1s",
        "phaseConditions": { "error": "code == 0 and retries == 1", "failed": "code == 9" },
    } }]);
    let run = ended(&templates, [("main", vec![(3, ""), (0, ""), (-1, ""), (9, "")])]);
    let view = view(&run);
    let reasons: Vec<_> =
        view["tasks"][0]["attempts"].as_array().unwrap().iter().map(|one| &one["reason"]).collect();
    let expected = [
        "code 3",
        "phaseConditions.error was true",
        "exceeded maxRuntime (1 s)",
        "phaseConditions.failed was true",
    ];
    assert_eq!(reasons, expected);
}

/// R-T13: the message of the run names what failed; nothing is counted that never began.
#[test]
fn the_real_failure_is_in_the_view() {
    let templates = json!([{ "dag": { "name": "main", "tasks": [
        { "name": "job", "timeout": "1s", "retry": { "limit": 2, "delay": "10s" }, "executor": { "type": "echo" } },
    ] } }]);
    let run = ended(&templates, [("main/job", vec![(3, "connection refused by db-7")])]);
    let view = view(&run);
    let gave_up =
        "connection refused by db-7; gave up: the task's timeout passed during the delay before attempt 2";
    assert_eq!(view["message"], format!("task job ended Timeout: {gave_up}"));
    let job = &view["tasks"][1];
    assert_eq!((&job["message"], &job["retries"], &job["code"]), (&json!(gave_up), &json!(0), &json!(3)));
    assert_eq!(job["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(job["timedOut"], "exceeded timeout (1 s)");
}

/// R-L10: a good end says what did not succeed.
#[test]
fn good_ends_have_remarks() {
    let templates = |strict: bool| {
        json!([
            { "dag": { "name": "main", "tasks": [
                { "name": "before", "executor": { "type": "echo" } },
                { "name": "each", "template": "each", "dependencies": ["before"] },
                { "name": "again", "template": "again", "dependencies": ["before"] },
            ] } },
            { "loop": { "name": "each", "body": "work", "sequence": { "count": 500 }, "continueOn": { "failed": !strict } } },
            { "task": { "name": "work", "executor": { "type": "echo" } } },
            { "task": { "name": "again", "template": "once", "retry": { "limit": 1 } } },
            { "dag": { "name": "once", "tasks": [{ "name": "x", "executor": { "type": "echo" } }] } },
        ])
    };
    let acts = || {
        [
            ("main/each.loop[7]/work", vec![(2, "")]),
            ("main/each.loop[400]/work", vec![(2, "")]),
            ("main/again.attempt[1]/once/x", vec![(3, "")]),
        ]
    };
    let run = ended(&templates(false), acts());
    assert_eq!(run.phase(), Phase::Succeeded);
    let shown = view(&run);
    assert_eq!(shown["remarks"], json!(["2 of 500 failed (tolerated)"]), "a retried attempt is no remark");
    assert_eq!(shown["tasks"][2]["remarks"], json!(["2 of 500 failed (tolerated)"]));
    assert_eq!(shown["tasks"][1]["remarks"], Json::Null);
    let drawn = phasm_graph::tree(&phasm_graph::Diagram::of_run(&run, phasm_graph::Limits::default()));
    assert!(drawn.contains("dag · Succeeded") && drawn.contains("2 of 500 failed (tolerated)"), "{drawn}");
    assert!(
        drawn.contains("loop · Succeeded") && drawn.contains("498 of 500 Succeeded · 2 Failed"),
        "{drawn}"
    );
    let run = ended(&templates(true), acts());
    assert_eq!((run.phase(), &view(&run)["remarks"]), (Phase::Failed, &Json::Null), "no good end");
}

/// R-L123: the reason of a failure is that of the task that it comes from, through containers and attempts of them.
#[test]
fn a_failure_comes_from_a_task() {
    let templates = json!([
        { "dag": { "name": "main", "tasks": [{ "name": "outer", "template": "outer" }] } },
        { "task": { "name": "outer", "template": "each", "retry": { "limit": 1 } } },
        { "loop": { "name": "each", "body": "work", "sequence": { "count": 3 } } },
        { "task": { "name": "work", "executor": { "type": "echo" } } },
    ]);
    let first = "main/outer.attempt[1]/each.loop[1]/work";
    let second = "main/outer.attempt[2]/each.loop[1]/work";
    let run = ended(&templates, [(first, vec![(3, "once")]), (second, vec![(3, "no address")])]);
    let root = run.tasks().first().unwrap();
    assert_eq!(run.path(run.failure_origin(root)), second);
    assert_eq!(run.failure_reason(root), format!("{second}: no address"));
    let silent = ended(&templates, [(first, vec![(3, "")]), (second, vec![(3, "")])]);
    assert_eq!(silent.failure_reason(silent.tasks().first().unwrap()), format!("{second} ended Error"));
    // A condition that gives the container another phase has no task to name.
    let judged = json!([
        { "dag": { "name": "main", "tasks": [{ "name": "a", "executor": { "type": "echo" }, "phaseConditions": { "failed": "true" } }] } },
    ]);
    let run = ended(&judged, []);
    let root = run.tasks().first().unwrap();
    assert!(run.failure_reason(root).starts_with("main/a"), "{}", run.failure_reason(root));
}

/// R-L66: a `retry` that did not apply to the end is explained, once attempts were left.
#[test]
fn what_was_not_retried_says_why() {
    let why = |retry: Json, code: i32| {
        let task = json!({ "name": "job", "executor": { "type": "echo" }, "retry": retry });
        let run =
            ended(&json!([{ "dag": { "name": "main", "tasks": [task] } }]), [("main/job", vec![(code, "")])]);
        view(&run)["tasks"][1]["notRetried"].clone()
    };
    let rows = [
        (json!({ "limit": 2 }), 2, json!("`retry` applies to Error and Timeout")),
        (
            json!({ "limit": 2, "expression": "code == 7" }),
            2,
            json!("the condition of `retry` was false: code == 7"),
        ),
        (json!({ "limit": 2 }), 3, Json::Null),
        (json!({ "limit": 2 }), 0, Json::Null),
        (json!({ "maxAttempts": 2 }), 2, Json::Null),
        (json!({ "limit": 0 }), 2, Json::Null),
    ];
    for (retry, code, expected) in rows {
        assert_eq!(why(retry.clone(), code), expected, "{retry} {code}");
    }
}

/// Ends every attempt with an error that the executor calls not retryable.
struct Permanent;

impl Script for Permanent {
    fn act(&mut self, _: &str, _: &Dispatch) -> Act {
        let detail = json!({ "error": { "kind": "grant", "retryable": false } });
        let outcome = Outcome { detail: Some(detail.into()), ..Outcome::error("not granted") };
        Act { start_after: 0, takes: Some(10), outcome }
    }
}

/// R-R14, R-L66: an attempt that did not follow because of what the executor said is explained.
#[test]
fn an_error_that_is_not_retryable_says_so() {
    let task = json!({ "name": "job", "executor": { "type": "echo" }, "retry": { "limit": 2 } });
    let templates = json!([{ "dag": { "name": "main", "tasks": [task] } }]);
    let why = json!("its executor says that another attempt would fail, too");
    for (dialect, attempts, expected) in [("phasm/v1", 1, why), ("aether/v1", 3, Json::Null)] {
        let mut world = World::submit(plan_in(dialect, &templates), Map::new(), 1000, Permanent, false);
        world.finish();
        let task = &view(&world.run)["tasks"][1];
        assert_eq!(task["attempts"].as_array().unwrap().len(), attempts, "{dialect}");
        assert_eq!(task["notRetried"], expected, "{dialect}");
    }
}

/// R-L10: a rejection that the run goes on from is no plain success.
#[test]
fn a_rejection_is_a_remark() {
    for (approved, remarks) in [(false, json!(["main/ask rejected"])), (true, Json::Null)] {
        let templates = json!([{ "dag": { "name": "main", "tasks": [{ "name": "ask", "executor": { "type": "echo" } }] } }]);
        let acts = Acts(BTreeMap::from([("main/ask", vec![(1, "deploy?"), (0, "")])]));
        let mut world = World::submit(plan(&templates), Map::new(), 1000, acts, false);
        while !world.run.is_parked() {
            assert!(world.advance());
        }
        let answer = Map::from_iter([("approved".into(), Value::Bool(approved))]);
        world.take(Input::Resumed(TaskId(1), answer, None));
        world.finish();
        assert_eq!((world.run.phase(), &view(&world.run)["remarks"]), (Phase::Succeeded, &remarks));
    }
}

/// R-S5: names come from the plugin's manifest where nothing else declares them.
#[test]
fn lists_have_holes_for_outputs_of_the_manifest() {
    for (items, expected) in [(json!([1, 2]), json!([null, null])), (json!([]), json!([]))] {
        let templates = json!([
            { "loop": { "name": "main", "body": "work", "items": items, "continueOn": { "failed": true },
                "aggregate": { "strategy": "list" } } },
            { "task": { "name": "work", "executor": { "type": "known" } } },
        ]);
        let acts = [("main.loop[0]/work", vec![(2, "")]), ("main.loop[1]/work", vec![(2, "")])];
        let view = view(&ended(&templates, acts));
        let outputs = view["outputs"].as_array().unwrap().iter();
        let outputs: Vec<_> = outputs.map(|output| (&output["name"], &output["value"])).collect();
        assert_eq!(outputs, [(&json!("m"), &expected), (&json!("n"), &expected)]);
    }
}

/// R-N3: tasks of a pipeline that jumps are in the order of execution, and numbered.
#[test]
fn entries_are_numbered_in_the_order_of_execution() {
    let templates = json!([{ "pipeline": { "name": "main", "tasks": [
        { "name": "a", "executor": { "type": "echo" }, "policy": { "rules": [
            { "when": "{{ iter.again == null }}", "then": { "do": "jump", "to": "c" } }, { "else": { "then": { "do": "continue" } } }] } },
        { "name": "b", "executor": { "type": "echo" } },
        { "name": "c", "executor": { "type": "echo" }, "policy": { "rules": [
            { "when": "{{ iter.again == null }}", "then": { "do": "jump", "to": "a", "set_iter": { "again": true } } },
            { "else": { "then": { "do": "break" } } }] } },
        { "name": "d", "executor": { "type": "echo" } },
    ] } }]);
    let run = ended(&templates, []);
    let root = run.tasks().first().unwrap();
    let labels = |tasks: Vec<&phasm_engine::run::TaskRun>| -> Vec<String> {
        tasks.into_iter().map(|task| run.label(task)).collect()
    };
    let expected = ["1. a", "2. c", "3. a", "4. b", "5. c", "d"];
    assert_eq!(labels(run.children_in_order(root)), expected);
    assert_eq!(labels(run.tasks_in_order())[1..], expected);
    let diagram = phasm_graph::Diagram::of_run(&run, phasm_graph::Limits::default());
    let text = phasm_graph::tree(&diagram);
    let lines: Vec<_> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let after = |name: &str| lines.iter().find(|line| line.starts_with(name)).unwrap().clone();
    assert!(after("4. b").ends_with("after 3. a"), "{text}");
    assert!(!after("d ").contains("after"), "{text}");
    let order: Vec<_> = lines.iter().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(order, ["1.", "2.", "3.", "4.", "5.", "d"], "{text}");
}
