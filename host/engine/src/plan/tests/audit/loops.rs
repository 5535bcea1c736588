//! Loops (R-S5).

use super::*;

const LOOPS: &[(&str, &[&str])] = &[
    (r#""items": [1, 2]"#, &[]),
    (r#""items": []"#, &[]),
    (r#""items": [1], "repeatCondition": "true""#, &["P013 [0].loop.maxIterations", "P016 [0].loop"]),
    (r#""repeatCondition": "loop.index < 3""#, &["P013 [0].loop.maxIterations"]),
    (
        r#""repeatCondition": "tasks.body.code == 2", "maxIterations": 3, "concurrency": 2"#,
        &["P018 [0].loop.concurrency"],
    ),
    (r#""repeatCondition": "tasks.other.code == 2", "maxIterations": 3"#, &["P047 [0].loop.repeatCondition"]),
    (r#""sequence": {"start": 1}"#, &["P016 [0].loop.sequence"]),
    (r#""sequence": {"end": 3, "format": "no"}"#, &["P035 [0].loop.sequence.format"]),
    (r#""sequence": {"end": 3.5}"#, &["P015 [0].loop.sequence.end"]),
    (r#""items": [{"n": 2}, {"n": 3.0, "level": "high"}]"#, &[]),
    (
        r#""items": [{"n": "2"}, {"n": "{{ workflow.name }}"}, {"n": "x{{ 1 }}"}]"#,
        &["P035 [0].loop.items[0].n", "P035 [0].loop.items[2].n"],
    ),
    (r#""items": [{"level": "no"}]"#, &["P036 [0].loop.items[0].level"]),
    (r#""items": [{"n": "2"}], "arguments": {"parameters": [{"name": "n", "value": 1}]}"#, &[]),
    (
        r#""items": [1, "2", null], "arguments": {"parameters": [{"name": "n", "value": "{{ loop.item }}"}]}"#,
        &["P035 [0].loop.items[1]"],
    ),
    (
        r#""items": [{"id": "x"}, {"id": 1}], "arguments": {"parameters": [{"name": "n", "valueFrom": {"parameter": "iterator.item.id"}}]}"#,
        &["P035 [0].loop.items[0]"],
    ),
    (
        r#""items": [{"id": "x"}], "arguments": {"parameters": [{"name": "level", "value": "{{ loop_iter.id }}"}]}"#,
        &["P036 [0].loop.items[0]"],
    ),
    (
        r#""sequence": {"count": 3}, "arguments": {"parameters": [{"name": "n", "value": "{{ loop.item }}"}]}"#,
        &[],
    ),
    (
        r#""sequence": {"count": 3, "format": "p%d"}, "arguments": {"parameters": [{"name": "n", "value": "{{ loop.item }}"}]}"#,
        &["P035 [0].loop.arguments.parameters[0].value"],
    ),
    (
        r#""items": [1], "arguments": {"parameters": [{"name": "level", "value": "{{ loop.index }}"}]}"#,
        &["P036 [0].loop.arguments.parameters[0].value"],
    ),
    (
        r#""items": [1], "aggregate": {"parameters": ["sum"]}, "outputs": {"parameters": [{"name": "sum"}]}"#,
        &[],
    ),
    (r#""items": [1], "aggregate": {"parameters": ["smu"]}"#, &["P043 [0].loop.aggregate.parameters[0]"]),
    (
        r#""items": [1], "outputs": {"parameters": [{"name": "smu"}, {"name": "x", "value": 1}]}"#,
        &["W009 [0].loop.outputs.parameters[0].name"],
    ),
    (
        r#""items": [1], "aggregate": {"parameters": []}, "outputs": {"parameters": [{"name": "sum"}]}"#,
        &["W009 [0].loop.outputs.parameters[0].name"],
    ),
    (r#""items": [1], "retry": {"limit": 3}"#, &["P028 [0].loop.retry"]),
    (r#""items": [1], "hooks": {}"#, &["P028 [0].loop.hooks"]),
    (r#""itemsFrom": "tasks.x.outputs.parameters.list""#, &["P041 [0].loop.itemsFrom"]),
    (r#""items": [1], "concurrency": 0, "maxIterations": 0"#, &["P015 [0].loop.maxIterations"]),
];

/// R-S5.
#[test]
fn loops() {
    let body = r#"{"task": {"name": "body", "executor": {"type": "echo"}, "inputs": {"parameters": [
        {"name": "n", "type": "integer", "default": 1}, {"name": "level", "enum": ["low", "high"], "default": "low"}]},
        "outputs": {"parameters": [{"name": "sum"}]}}}"#;
    for (fields, expected) in LOOPS {
        let templates = format!(r#"{{"loop": {{"name": "main", "body": "body", {fields}}}}}, {body}"#);
        check_templates(&[(&templates, expected)]);
    }
}
