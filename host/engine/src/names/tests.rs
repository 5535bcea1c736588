//! The table of names against plans and runs: what is visible in a place has a value there, and what is not is refused.

use std::{cell::RefCell, collections::BTreeSet, sync::Arc};

use super::*;
use crate::{
    event::{Command, Facts, Input},
    outcome::{Outcome, Output},
    plan::{Draft, Executors},
    problem::Problem,
    run::{Run, Submission},
    time::Timestamp,
    tree::Tree,
};

thread_local! {
    /// Reads on this thread: the name, and whether it had a value.
    static READ: RefCell<Vec<(String, bool)>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn record(path: Members<'_>, value: &Value) {
    let name = path.first().map(ToString::to_string).unwrap_or_default();
    READ.with_borrow_mut(|read| read.push((name, !value.is_null())));
}

/// Templates with an expression at `HOLE`; `main` is the entrypoint, `work` a task, and `fails` one with code 3.
const PLACES: [(&str, &str); 12] = [
    (
        "a node",
        r#"{"dag": {"name": "main", "inputs": IN, "tasks": [
            {"name": "a", "template": "work"}, {"name": "b", "template": "work", "dependencies": ["a"], "when": "HOLE"}]}}"#,
    ),
    (
        "a template",
        r#"{"task": {"name": "main", "inputs": IN, "executor": {"type": "echo", "config": {"x": "{{ HOLE }}"}}}}"#,
    ),
    (
        "a retry expression",
        r#"{"task": {"name": "main", "inputs": IN, "executor": {"type": "fails"}, "retry": {"limit": 1, "expression": "HOLE"}}}"#,
    ),
    (
        "a condition",
        r#"{"task": {"name": "main", "inputs": IN, "executor": {"type": "echo"}, "phaseConditions": {"failed": "HOLE"}}}"#,
    ),
    (
        "a rule",
        r#"{"pipeline": {"name": "main", "inputs": IN, "tasks": [{"name": "a", "template": "work"},
            {"name": "b", "template": "work", "policy": {"rules": [
                {"when": "HOLE", "then": {"do": "fail"}}, {"else": {"then": {"do": "continue"}}}]}}]}}"#,
    ),
    (
        "a hook",
        r#"{"task": {"name": "main", "inputs": IN, "executor": {"type": "echo"},
            "hooks": {"onExit": {"template": "work", "when": "HOLE"}}}}"#,
    ),
    (
        "a dag's outputs",
        r#"{"dag": {"name": "main", "inputs": IN, "tasks": [{"name": "a", "template": "work"}],
            "outputs": {"parameters": [{"name": "x", "value": "{{ HOLE }}"}]}}}"#,
    ),
    (
        "a dag's conditions",
        r#"{"dag": {"name": "main", "inputs": IN, "tasks": [{"name": "a", "template": "work"}],
            "phaseConditions": {"failed": "HOLE"}}}"#,
    ),
    (
        "a loop's body",
        r#"{"loop": {"name": "main", "body": "a", "items": [7]}},
            {"task": {"name": "a", "inputs": IN, "executor": {"type": "echo", "config": {"x": "{{ HOLE }}"}}}}"#,
    ),
    (
        "a loop's condition",
        r#"{"loop": {"name": "main", "inputs": IN, "body": "a", "repeatCondition": "HOLE", "maxIterations": 2}},
            {"task": {"name": "a", "executor": {"type": "echo"}}}"#,
    ),
    (
        "a pipeline's task",
        r#"{"pipeline": {"name": "main", "inputs": IN, "tasks": [
            {"name": "a", "template": "work"}, {"name": "b", "template": "work", "when": "HOLE"}]}}"#,
    ),
    (
        "a pipeline's outputs",
        r#"{"pipeline": {"name": "main", "inputs": IN, "tasks": [{"name": "a", "template": "work"}],
            "outputs": {"parameters": [{"name": "x", "value": "{{ HOLE }}"}]}}}"#,
    ),
];

/// Something that is never null behind `name` where it is visible.
fn sample(name: &str, place: &str) -> String {
    let member = match name {
        "workflow" => ".id",
        "system" => ".os",
        "inputs" => ".parameters.p",
        "tasks" if place.contains("retry") || place.contains("a condition") || place == "a hook" => {
            ".main.phase"
        }
        "tasks" => ".a.phase",
        "loop" | "iterator" | "loop_iter" => ".index",
        "hook" => ".task.name",
        "outcome" => ".meta.attempt",
        "children" => ".total",
        _ => "",
    };
    format!("{name}{member} == 'x'")
}

fn plan(templates: &str, expression: &str) -> Result<Arc<crate::plan::Plan>, Vec<Problem>> {
    let inputs = r#"{"parameters": [{"name": "p", "default": 1}]}"#;
    let templates = templates.replace("HOLE", expression).replace("IN,", &format!("{inputs},"));
    let document = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "test"}}, "spec": {{"entrypoint": "main",
            "templates": [{templates}, {{"task": {{"name": "work", "executor": {{"type": "echo"}}}}}}]}}}}"#
    );
    let document = Value::from_json(&document).unwrap();
    Draft::read(&Tree::from(&document)).plan(&Executors::any(), &Value::Null).map(Arc::new)
}

fn drive(plan: Arc<crate::plan::Plan>) {
    let facts = Facts { vars: Map::new().into(), ..Facts::default() };
    let submission = Submission {
        run_id: "r".into(),
        parameters: Arc::new(Map::new()),
        doubts: Vec::new(),
        facts,
        secrets: Vec::new(),
        origin: None,
        trace: None,
        by: None,
    };
    let (mut run, _) = Run::start(plan, submission, Timestamp(0));
    for now in 1..50 {
        let step = run.step(Timestamp(now * 1000), Input::Lent(100));
        for command in step.commands {
            let Command::Dispatch(dispatch) = command else { continue };
            let outcome = if &*dispatch.executor_type == "fails" {
                Outcome::error("no")
            } else {
                Outcome::succeeded(vec![Output { name: "x".into(), value: 1i64.into() }])
            };
            let _ = run.step(Timestamp(now * 1000 + 1), Input::Started(dispatch.fence));
            let _ = run.step(Timestamp(now * 1000 + 2), Input::Finished(dispatch.fence, outcome));
        }
    }
    assert!(run.is_over());
}

/// R-E2: one table serves submit and run, so a name that is visible in a place has a value there; one that is not is a
/// problem; and there is no name that is visible nowhere.
#[test]
fn what_is_visible_in_a_place_has_a_value_there() {
    let mut somewhere = BTreeSet::new();
    for (place, templates) in PLACES {
        for root in ROOTS {
            let name = root.name;
            match plan(templates, &sample(name, place)) {
                Ok(plan) => {
                    READ.take();
                    drive(plan);
                    let read = READ.take();
                    let values: Vec<bool> =
                        read.iter().filter(|(found, _)| found == name).map(|(_, some)| *some).collect();
                    assert!(
                        !values.is_empty() && values.iter().all(|some| *some),
                        "{place}: {name} is {values:?}"
                    );
                    somewhere.insert(name);
                }
                Err(problems) => {
                    let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
                    assert_eq!(codes, ["P041"], "{place}: {name}: {problems:?}");
                    assert!(!root.hint.is_empty(), "{place}: {name} has no hint");
                }
            }
        }
    }
    assert_eq!(somewhere, ROOTS.iter().map(|root| root.name).collect());
}

#[test]
fn names_are_unique() {
    let names: BTreeSet<_> = ROOTS.iter().map(|root| root.name).collect();
    assert_eq!(names.len(), ROOTS.len());
    assert!(ROOTS.iter().all(|root| std::ptr::eq(find(root.name).unwrap(), *root)));
}

/// R-X9: the page of expressions has every name.
#[test]
fn the_page_has_every_name() {
    let page = include_str!("../../../docs/reference/expressions.md");
    for root in ROOTS {
        assert!(page.contains(&format!("`{}`", root.name)), "{}", root.name);
    }
}
