//! Names that expressions see, and comparisons.

use super::*;

/// R-X9, R-E1, R-E2, and types that are known.
#[test]
fn expressions_on_a_task() {
    check_tasks(&[
        (r#""template": "work", "when": "tasks.a.code = 0""#, &["P040 when"]),
        (r#""template": "work", "when": "tasks.a.msg | lowr == 'x'""#, &["P040 when"]),
        (r#""template": "work", "when": "tasks.a.outputs.parameters.x == 1""#, &[]),
        (r#""template": "work", "when": "tasks.b.code == 1""#, &["P042 when"]),
        (r#""template": "work", "when": "tasks.z.code == 1""#, &["P047 when"]),
        (r#""template": "work", "when": "tasks.a.status == 1""#, &["P048 when"]),
        (r#""template": "work", "when": "foo == 1""#, &["P041 when"]),
        (r#""template": "work", "when": "inputs.parameters.levl == 'low'""#, &["P044 when"]),
        (r#""template": "work", "when": "workflow.parameters.regio == 'eu'""#, &["P044 when"]),
        (
            r#""template": "work", "when": "workflow.arguments.parameters.region == 'eu' && workflow.labels.x == 1""#,
            &[],
        ),
        (r#""template": "work", "when": "inputs.parameters.count-1 == 2""#, &["P045 when"]),
        (
            r#""template": "work", "retry": {"limit": 1, "expression": "tasks.b.code == 1 and code == 1 and retries < 3"}"#,
            &[],
        ),
        (
            r#""template": "work", "retry": {"limit": 1, "expression": "outcome.status == 'ok'"}"#,
            &["P041 retry.expression"],
        ),
        (
            r#""template": "work", "phaseConditions": {"failed": "outputs.x == 1 or tasks.work.code == 1"}"#,
            &["P047 phaseConditions.failed"],
        ),
        (
            r#""template": "part", "phaseConditions": {"failed": "children.failed > 1 and tasks.x.code == 2 and msg == 'x'"}"#,
            &[],
        ),
        (
            r#""template": "work", "hooks": {"onExit": {"template": "work", "when": "hook.task.phase == 'Failed'"}}"#,
            &[],
        ),
        (r#""template": "work", "when": "hook.type == 'onExit'""#, &["P041 when"]),
        (r#""template": "work", "when": "loop.index == 1""#, &["P041 when"]),
        (r#""template": "work", "when": "{{ vars.anything == system.os }}""#, &[]),
    ]);
}

/// An expression is compared with a literal that it can never equal.
#[test]
fn comparisons_that_are_never_true() {
    check_tasks(&[
        (r#""template": "work", "when": "inputs.parameters.level == 'low'""#, &[]),
        (r#""template": "work", "when": "inputs.parameters.level == 'medium'""#, &["P049 when"]),
        (r#""template": "work", "when": "'medium' != inputs.parameters.level""#, &["P049 when"]),
        (r#""template": "work", "when": "inputs.parameters.level in ['low', 'hgih']""#, &["P049 when"]),
        (r#""template": "work", "when": "inputs.parameters.level == null""#, &[]),
        (r#""template": "work", "when": "inputs.parameters.level | upper == 'LOW'""#, &[]),
        (r#""template": "work", "when": "inputs.parameters.count == '1'""#, &["P049 when"]),
        (r#""template": "work", "when": "inputs.parameters.count == 1.0""#, &[]),
        (r#""template": "work", "when": "inputs.parameters.count == 1.5""#, &["P049 when"]),
        (r#""template": "work", "when": "inputs.parameters.flag == 'true'""#, &["P049 when"]),
        (r#""template": "work", "when": "inputs.parameters.flag == true""#, &[]),
        (r#""template": "work", "when": "inputs.parameters.text == 3""#, &["P049 when"]),
        (r#""template": "work", "when": "workflow.parameters.region == 3""#, &[]),
        (
            r#""template": "work", "arguments": {"parameters": [{"name": "x", "value": "is {{ inputs.parameters.level == 'no' }}"}]}"#,
            &["P049 arguments.parameters[0].value"],
        ),
        (
            r#""executor": {"type": "echo", "config": {"x": ["{{ inputs.parameters.count == 'x' }}"]}}"#,
            &["P049 executor.config.x[0]"],
        ),
        (
            r#""executor": {"type": "echo", "config": {"x": "{{ inputs.parameters.level == 'x' }}"}},
               "inputs": {"parameters": [{"name": "level", "value": "x"}]}"#,
            &[],
        ),
        (r#""template": "work", "when": "tasks.a.phase == 'succeeded'""#, &["W007 when"]),
        (r#""template": "work", "when": "tasks.a.code == '0'""#, &["W007 when"]),
        (r#""template": "work", "when": "system.os == 'Linux'""#, &["W007 when"]),
        (
            r#""template": "work", "policy": {"onUnmatched": "fail", "rules": [{"when": "outcome.status == 'failed'", "then": {"do": "retry"}}]}"#,
            &["W007 policy.rules[0].when"],
        ),
    ]);
}

/// R-B9: expressions cannot read a secret.
#[test]
fn secrets_read_as_null() {
    let secret = r#""valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}"#;
    let get = r#"{"task": {"name": "get", "executor": {"type": "echo", "config": {"t": "{{ inputs.parameters.t }}"}},
        "inputs": {"parameters": [{"name": "t", "default": ""}]}}}"#;
    let inline = |config: &str, input: &str| {
        format!(
            r#"{{"dag": {{"name": "main", "inputs": {{"parameters": [{{"name": "t", {secret}}}]}}, "tasks": [{{"name": "a",
                "executor": {{"type": "echo", "config": {{"x": "{config}"}}}}, "inputs": {{"parameters": [{{"name": "u", {input}}}]}}}}]}}}}"#
        )
    };
    let rows = [
        (inline("no", secret), vec![]),
        (inline("{{ inputs.parameters.u }}", secret), vec!["W010 [0].dag.tasks[0].executor.config.x"]),
        (inline("{{ inputs.parameters.t }}", secret), vec!["W010 [0].dag.tasks[0].executor.config.x"]),
        (
            inline("no", r#""value": "{{ inputs.parameters.t }}""#),
            vec!["W010 [0].dag.tasks[0].inputs.parameters[0].value"],
        ),
        (
            format!(
                r#"{{"dag": {{"name": "main", "tasks": [{{"name": "a", "template": "get", "arguments": {{"parameters": [{{"name": "t", {secret}}}]}}}}]}}}}, {get}"#
            ),
            vec!["W010 [1].task.executor.config.t"],
        ),
        (format!(r#"{{"loop": {{"name": "main", "body": "get", "items": [1]}}}}, {get}"#), vec![]),
    ];
    for (templates, expected) in rows {
        check_templates(&[(&templates, &expected)]);
    }
}

/// A text with very many wrong placeholders costs little more than a long one.
#[test]
fn hostile_texts_are_checked_once() {
    let text = "{{ a.b == 'c' }}".repeat(200_000);
    let templates = format!(
        r#"{{"task": {{"name": "main", "executor": {{"type": "echo", "config": {{"x": "{text}"}}}}}}}}"#
    );
    assert_eq!(findings(&templates), ["P041 spec.templates[0].task.executor.config.x"]);
}
