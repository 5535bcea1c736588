//! Which calls come to the same again when they are bound to the same (R-F2, R-F3).

use std::collections::BTreeSet;

use super::*;

fn is_settled(templates: &str, task: &str) -> bool {
    with_node(templates, task, |plan, node| {
        let changed = BTreeSet::from(["region".into()]);
        Determinism::of(plan, &changed).holds(plan, node)
    })
}

/// A task with these fields beside its executor.
fn task(fields: &str) -> bool {
    is_settled("", &format!(r#"{{"name": "t", "executor": {{"type": "echo"}}, {fields}}}"#))
}

#[test]
fn what_judges_a_task_may_read_what_is_as_it_was() {
    let output = |expression: &str| {
        task(&format!(r#""outputs": {{"parameters": [{{"name": "y", "value": "{{{{ {expression} }}}}"}}]}}"#))
    };
    let rows = [
        ("1 + 1", true),
        ("workflow.name", true),
        ("workflow.namespace", true),
        ("workflow.id", false),
        ("workflow.parameters.region", false),
        ("workflow.arguments.parameters.region", false),
        ("workflow.parameters['size-']", true),
        ("workflow.parameters", false),
        ("tasks.t.code", true),
    ];
    for (expression, settled) in rows {
        assert_eq!(output(expression), settled, "{expression}");
    }
    let condition =
        |expression: &str| task(&format!(r#""phaseConditions": {{"succeeded": "{expression}"}}"#));
    assert!(condition("code == 2"));
    assert!(!condition("workflow.parameters.region == 'eu'"));
    let retry = |expression: &str| task(&format!(r#""retry": {{"limit": 1, "expression": "{expression}"}}"#));
    assert!(retry("code == 2"));
    assert!(!retry("workflow.parameters.region == 'eu'"));
}

#[test]
fn what_judges_a_container_may_read_what_is_inside() {
    let inner = r#"{"dag": {"name": "inner", "tasks": [{"name": "a", "executor": {"type": "echo"}}],
        "outputs": {"parameters": [{"name": "y", "value": "{{ tasks.a.code }}"}]}}}"#;
    let call = |more: &str| {
        let task =
            format!(r#"{{"name": "t", "template": "inner"{more}}}, {{"name": "u", "template": "work"}}"#);
        let plan = plan(&format!(r#"{inner}, {{"dag": {{"name": "main", "tasks": [{task}]}}}}"#));
        Determinism::of(&plan, &BTreeSet::new()).holds(&plan, &nodes(&plan)[0])
    };
    assert!(call(""));
    assert!(!call(r#", "phaseConditions": {"failed": "workflow.id == 'r'"}"#));
}

/// A binding's value is compared, whatever the binding reads.
#[test]
fn what_binds_a_task_may_read_anything() {
    assert!(task(r#""when": "workflow.id == 'r'""#));
    assert!(task(r#""inputs": {"parameters": [{"name": "x", "value": "{{ workflow.id }}"}]}"#));
}

/// Down to the last template that is called.
#[test]
fn containers_are_settled_with_all_inside() {
    let inner = |argument: &str| {
        let templates = format!(
            r#"{{"dag": {{"name": "inner", "tasks": [{{"name": "a", "executor": {{"type": "echo"}},
                "inputs": {{"parameters": [{{"name": "x", "value": "{{{{ {argument} }}}}"}}]}}}}]}}}},
               {{"loop": {{"name": "outer", "body": "inner", "items": [1]}}}}"#
        );
        is_settled(&templates, r#"{"name": "t", "template": "outer"}"#)
    };
    assert!(inner("workflow.name"));
    assert!(inner("loop.item"));
    assert!(!inner("workflow.id"));
    assert!(!inner("workflow.parameters.region"));
    let pipeline = |argument: &str| {
        let templates = format!(
            r#"{{"pipeline": {{"name": "steps", "tasks": [{{"name": "a", "executor": {{"type": "echo",
                "config": {{"x": "{{{{ {argument} }}}}"}}}}}}]}}}}"#
        );
        is_settled(&templates, r#"{"name": "t", "template": "steps"}"#)
    };
    assert!(pipeline("iter.n"));
    assert!(pipeline("workload['size-']"));
    assert!(!pipeline("workload.region"));
    assert!(!pipeline("ctx.n"));
    let rule = |then: &str| {
        let templates = format!(
            r#"{{"pipeline": {{"name": "steps", "tasks": [{{"name": "a", "executor": {{"type": "echo"}},
                "policy": {{"rules": [{{"else": {{"then": {{"do": "continue", {then}}}}}}}]}}}}]}}}}"#
        );
        is_settled(&templates, r#"{"name": "t", "template": "steps"}"#)
    };
    assert!(rule(r#""set_iter": {"n": 1}"#));
    assert!(!rule(r#""set_iter": {"n": "{{ workflow.id }}"}"#));
    assert!(!rule(r#""set_ctx": {"n": 1}"#), "others see it");
}
