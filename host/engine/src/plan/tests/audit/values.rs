//! Inputs and arguments.

use super::*;

/// R-B8: nothing is converted.
#[test]
fn what_is_passed_must_be_able_to_fit() {
    let argument = |name: &str, source: &str| {
        format!(r#""template": "choosy", "arguments": {{"parameters": [{{"name": "{name}", {source}}}]}}"#)
    };
    let rows: &[(&str, &str, &[&str])] = &[
        ("n", r#""value": 3"#, &[]),
        ("n", r#""value": 3.0"#, &[]),
        ("n", r#""value": null"#, &[]),
        ("n", r#""value": "3""#, &["P035 arguments.parameters[0].value"]),
        ("n", r#""value": "{{ inputs.parameters.count }}""#, &[]),
        ("n", r#""value": "{{ tasks.a.code }}""#, &[]),
        ("n", r#""value": "{{ tasks.a.outputs.parameters.x }}""#, &[]),
        ("n", r#""value": "{{ inputs.parameters.text | int }}""#, &[]),
        ("n", r#""value": "{{ workflow.parameters.region }}""#, &[]),
        ("n", r#""value": "{{ inputs.parameters.text }}""#, &["P035 arguments.parameters[0].value"]),
        ("n", r#""value": " {{ inputs.parameters.count }}""#, &["P035 arguments.parameters[0].value"]),
        (
            "n",
            r#""valueFrom": {"parameter": "inputs.parameters.flag"}"#,
            &["P035 arguments.parameters[0].valueFrom.parameter"],
        ),
        (
            "n",
            r#""valueFrom": {"expression": "tasks.a.phase"}"#,
            &["P035 arguments.parameters[0].valueFrom.expression"],
        ),
        ("level", r#""value": "medium""#, &["P036 arguments.parameters[0].value"]),
        ("level", r#""value": "{{ inputs.parameters.level }}""#, &[]),
        ("level", r#""value": "{{ inputs.parameters.text }}""#, &[]),
        ("level", r#""value": "{{ inputs.parameters.count }}""#, &["P036 arguments.parameters[0].value"]),
        ("level", r#""value": "{{ tasks.a.phase }}""#, &["P036 arguments.parameters[0].value"]),
        ("lvl", r#""value": 1"#, &["W005 arguments.parameters[0].name"]),
    ];
    for (name, source, expected) in rows {
        check_tasks(&[(&argument(name, source), expected)]);
    }
}

#[test]
fn declarations_and_the_entrypoint_fit() {
    let leaf = |inputs: &str| {
        format!(
            r#"{{"task": {{"name": "main", "executor": {{"type": "echo"}}, "inputs": {{"parameters": {inputs}}}}}}}"#
        )
    };
    let rows: &[(&str, &[&str])] = &[
        (r#"[{"name": "region", "type": "string"}, {"name": "size-"}]"#, &[]),
        (r#"[{"name": "region", "enum": ["us"]}]"#, &["P036 spec.arguments.parameters[0].value"]),
        (r#"[{"name": "size-", "type": "boolean"}]"#, &["P035 spec.arguments.parameters[1].default"]),
        (r#"[{"name": "other"}]"#, &["P050 spec.entrypoint"]),
        (
            r#"[{"name": "n", "type": "integer", "default": 1}, {"name": "t", "type": "string", "value": "{{ inputs.parameters.n }}"}]"#,
            &["P035 [0].task.inputs.parameters[1].value"],
        ),
        (
            r#"[{"name": "n", "type": "int", "enum": [1, "2"], "value": 1}]"#,
            &["P035 [0].task.inputs.parameters[0].enum[1]"],
        ),
        (
            r#"[{"name": "n", "type": "number", "default": true}]"#,
            &["P035 [0].task.inputs.parameters[0].default"],
        ),
        (r#"[{"name": "n", "enum": [], "default": 1}]"#, &["P017 [0].task.inputs.parameters[0].enum"]),
        (
            r#"[{"name": "n", "valueFrom": {"secretKeyRef": {"name": "", "key": "k"}}}]"#,
            &["P017 [0].task.inputs.parameters[0].valueFrom.secretKeyRef.name"],
        ),
        (r#"[{"name": "-n", "value": 1}]"#, &["P019 [0].task.inputs.parameters[0].name"]),
        (
            r#"[{"name": "9_n-", "value": 1}, {"name": "9_n-", "value": 2}]"#,
            &["P021 [0].task.inputs.parameters[1].name"],
        ),
    ];
    for (inputs, expected) in rows {
        check_templates(&[(&leaf(inputs), expected)]);
    }
}
