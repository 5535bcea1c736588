//! Waits that do not fit the clocks around them (R-T14).

use super::*;
use crate::plan::{ExecutorResolution, PinnedExecutor};

/// Returns code, path below the templates, and message of every finding; `ask` waits for people.
fn findings(spec: &str) -> Vec<String> {
    let document = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "test"}}, "spec": {{"entrypoint": "main", {spec}}}}}"#
    );
    let asks = PinnedExecutor { suspends: true, ..PinnedExecutor::default() };
    let executors = Executors::any().with("ask", ExecutorResolution::Executor(Box::new(asks)));
    let tree = Tree::from(&Value::from_json(&document).unwrap());
    let found = match Draft::read(&tree).plan(&executors, &Value::Null) {
        Ok(plan) => plan.warnings,
        Err(problems) => problems,
    };
    let found = found.iter().filter(|problem| ["W024", "P079"].contains(&problem.code));
    found
        .map(|problem| {
            format!("{} {}: {}", problem.code, problem.path.replace("spec.templates", ""), problem.message)
        })
        .collect()
}

/// One task with these fields in a dag with others.
fn of_task(spec: &str, dag: &str, task: &str) -> Vec<String> {
    let templates = format!(
        r#"{spec} "templates": [{{"dag": {{"name": "main", {dag} "tasks": [{{"name": "a", {task}}}]}}}}]"#
    );
    findings(&templates).into_iter().map(|found| found.replace("[0].dag.tasks[0].", "")).collect()
}

#[test]
fn a_limit_that_never_runs_out_is_a_warning_with_both_numbers() {
    let echo = r#""executor": {"type": "echo"}"#;
    let rows = [
        (
            "",
            "",
            r#""timeout": "7d""#,
            "timeout: `timeout` of 7 d never runs out; the default `spec.timeout` ends the task after 1 h",
        ),
        (
            "",
            "",
            r#""deadline": "90m""#,
            "deadline: `deadline` of 1 h 30 min never runs out; the default `spec.timeout` ends the task after 1 h",
        ),
        (
            r#""timeout": "5m","#,
            "",
            r#""timeout": "6m""#,
            "timeout: `timeout` of 6 min never runs out; `spec.timeout` ends the task after 5 min",
        ),
        (
            "",
            r#""timeout": "10s","#,
            r#""timeout": "1m""#,
            "timeout: `timeout` of 1 min never runs out; `timeout` of `main` ends the task after 10 s",
        ),
    ];
    for (spec, dag, task, expected) in rows {
        assert_eq!(of_task(spec, dag, &format!("{echo}, {task}")), [format!("W024 {expected}")], "{task}");
    }
    let fitting = [
        ("", "", r#""timeout": "1h""#),
        (r#""timeout": "none","#, "", r#""timeout": "7d""#),
        (r#""timeout": "8d","#, r#""timeout": "8d","#, r#""timeout": "7d", "maxRuntime": "1d""#),
        ("", "", r#""maxInactivity": "5m", "deadline": "1h", "maxRuntime": "10h""#),
    ];
    for (spec, dag, task) in fitting {
        assert_eq!(of_task(spec, dag, &format!("{echo}, {task}")), [""; 0], "{task}");
    }
}

#[test]
fn delays_are_compared_one_by_one_and_in_all() {
    let echo = r#""executor": {"type": "echo"}"#;
    let rows = [
        (
            r#""timeout": "1s", "retry": {"limit": 2, "delay": "10s"}"#,
            "retry: a delay of 10 s before a retry; `timeout` ends the task after 1 s, so that no retry begins",
        ),
        (
            r#""deadline": "10s", "retry": {"maxAttempts": -1, "delay": "10s"}"#,
            "retry: a delay of 10 s before a retry; `deadline` ends the task after 10 s, so that no retry begins",
        ),
        (
            r#""retry": {"limit": 3, "delay": "2h"}"#,
            "retry: a delay of 2 h before a retry; the default `spec.timeout` ends the task after 1 h, so that no retry begins",
        ),
        (
            r#""deadline": "10s", "retry": {"maxAttempts": 5, "delay": "1s", "exponentialBackoff": 2}"#,
            "retry: the delays between 5 attempts take 15 s in all; `deadline` ends the task after 10 s",
        ),
        (
            r#""policy": {"rules": [{"else": {"then": {"do": "retry", "attempts": 4, "delay": "30m"}}}]}"#,
            "policy.rules[0]: the delays between 4 attempts take 1 h 30 min in all; the default `spec.timeout` ends the task after 1 h",
        ),
    ];
    for (task, expected) in rows {
        assert_eq!(of_task("", "", &format!("{echo}, {task}")), [format!("W024 {expected}")], "{task}");
    }
    for fits in [
        r#""deadline": "16s", "retry": {"maxAttempts": 5, "delay": "1s", "exponentialBackoff": 2}"#,
        r#""timeout": "1s", "retry": {"limit": 0, "delay": "10s"}"#,
        r#""retry": {"limit": 100, "delay": "1s"}"#,
    ] {
        assert_eq!(of_task("", "", &format!("{echo}, {fits}")), [""; 0], "{fits}");
    }
}

#[test]
fn people_may_take_longer_than_the_default_but_not_than_what_is_written() {
    let ask = r#""executor": {"type": "ask"}, "timeout": "7d""#;
    assert_eq!(of_task("", "", ask), [""; 0]);
    let never = |clock: &str| {
        [format!(
            "P079 timeout: `timeout` of 7 d waits for people longer than {clock} allows; expected it to fit"
        )]
    };
    assert_eq!(of_task(r#""timeout": "1h","#, "", ask), never("`spec.timeout` of 1 h"));
    assert_eq!(of_task("", r#""timeout": "1d","#, ask), never("`timeout` of `main` of 1 d"));
    assert_eq!(of_task(r#""timeout": "7d","#, "", ask), [""; 0]);
    // Work that people are not waited for in fits the default, or does not.
    assert_eq!(of_task("", "", r#""executor": {"type": "echo"}, "timeout": "7d""#).len(), 1);
}

#[test]
fn waits_are_found_in_templates_loops_wrappers_and_hooks_once() {
    let found = findings(
        r#""hooks": {"onExit": {"template": "note"}}, "templates": [
            {"dag": {"name": "main", "tasks": [
                {"name": "a", "template": "work"}, {"name": "b", "template": "work"}, {"name": "c", "template": "each"},
                {"name": "d", "template": "again"}, {"name": "e", "template": "work", "timeout": "1h"}]}},
            {"task": {"name": "work", "executor": {"type": "echo"}, "timeout": "2h"}},
            {"loop": {"name": "each", "body": "item", "items": [1], "timeout": "1m"}},
            {"task": {"name": "item", "executor": {"type": "echo"}, "deadline": "2m"}},
            {"task": {"name": "again", "template": "part", "maxRuntime": "5s", "retry": {"limit": 1, "delay": "2h"}}},
            {"dag": {"name": "part", "tasks": [{"name": "x", "executor": {"type": "echo"}, "timeout": "10s"}]}},
            {"task": {"name": "note", "executor": {"type": "echo"}, "retry": {"limit": 1, "delay": "10m"}}}]"#,
    );
    let found: Vec<_> = found.iter().map(|line| line.split(": ").next().unwrap()).collect();
    let expected = [
        "W024 [1].task.timeout",
        "W024 [3].task.deadline",
        "W024 [4].task.retry",
        "W024 [5].dag.tasks[0].timeout",
        "W024 [6].task.retry",
    ];
    assert_eq!(found, expected);
}

/// Many calls of many templates are looked at as often as there are clocks, not as there are ways.
#[test]
fn many_ways_down_take_no_time() {
    let calls = |to: usize| -> String {
        (0..40)
            .map(|at| format!(r#"{{"name": "t{at}", "template": "d{to}", "when": "1 == 1"}}"#))
            .collect::<Vec<_>>()
            .join(",")
    };
    let dags = (1..9).map(|at| format!(r#"{{"dag": {{"name": "d{at}", "tasks": [{}]}}}}"#, calls(at + 1)));
    let dags: Vec<_> = dags.collect();
    let found = findings(&format!(
        r#""maxNestedDepth": 10, "templates": [{{"dag": {{"name": "main", "tasks": [{}]}}}}, {},
            {{"task": {{"name": "d9", "executor": {{"type": "echo"}}, "timeout": "2h"}}}}]"#,
        calls(1),
        dags.join(",")
    ));
    assert_eq!(found.len(), 1, "{found:?}");
}

/// R-S12: a hook cannot be resumed.
#[test]
fn a_hook_that_suspends_is_a_problem() {
    let asks = PinnedExecutor { suspends: true, ..PinnedExecutor::default() };
    let executors = Executors::any().with("ask", ExecutorResolution::Executor(Box::new(asks)));
    let problems = |hooks: [&str; 2]| -> Vec<String> {
        let [of_run, of_task] =
            hooks.map(|template| format!(r#"{{"onExit": {{"template": "{template}"}}}}"#));
        let document = format!(
            r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "test"}}, "spec": {{"entrypoint": "main", "hooks": {of_run},
                "templates": [{{"dag": {{"name": "main", "tasks": [{{"name": "a", "template": "note", "hooks": {of_task}}}]}}}},
                {{"task": {{"name": "ask", "executor": {{"type": "ask"}}}}}}, {{"task": {{"name": "note", "executor": {{"type": "echo"}}}}}}]}}}}"#
        );
        let tree = Tree::from(&Value::from_json(&document).unwrap());
        let planned = Draft::read(&tree).plan(&executors, &Value::Null);
        planned
            .err()
            .into_iter()
            .flatten()
            .map(|problem| format!("{} {}", problem.code, problem.path))
            .collect()
    };
    assert_eq!(problems(["note", "note"]), [""; 0]);
    assert_eq!(problems(["ask", "note"]), ["P078 spec.hooks.onExit.template"]);
    assert_eq!(problems(["note", "ask"]), ["P078 spec.templates[0].dag.tasks[0].hooks.onExit.template"]);
}

/// Templates that call themselves are reported, and waits in them compared all the same.
#[test]
fn other_problems_hide_no_wait() {
    let found = findings(
        r#""timeout": "1h", "templates": [
            {"dag": {"name": "main", "tasks": [{"name": "a", "template": "main"}, {"name": "b", "executor": {"type": "ask"}, "timeout": "7d"}]}}]"#,
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("P079 [0].dag.tasks[1].timeout"), "{found:?}");
}
