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

/// R-X6, R-X7: conditions that are never true or false, and filters of what they do not take.
#[test]
fn conditions_and_filters_that_no_value_fits() {
    let when = |text: &str, expected: &[&str]| {
        check_tasks(&[(&format!(r#""template": "work", "when": "{text}""#), expected)]);
    };
    let (text, count, flag) = ("inputs.parameters.text", "inputs.parameters.count", "inputs.parameters.flag");
    for wrong in [
        count.to_owned(),
        format!("not {count}"),
        format!("!({count} + 1)"),
        format!("{flag} && {count}"),
        format!("{count} or {flag}"),
        format!("{flag} || {text} == 'x' and {count}"),
        format!("({count} ? 1 : 2) == 1"),
        format!("({count} | upper) == 'X'"),
        format!("{count}.trim() == 'x'"),
        format!("({count} | join(',')) == 'x'"),
        format!("({text} | keys) == 'x'"),
        format!("({flag} | int) == 1"),
        format!("({count} | length) > 1"),
        format!("{count} | contains('x')"),
        format!("{text} | startswith({count})"),
        format!("(workflow.parameters.region | round({text})) == 1"),
        format!("({text} | round) == 1"),
        format!("{count} | fromjson"),
    ] {
        when(&wrong, &["P049 when"]);
    }
    for right in [
        flag.to_owned(),
        text.to_owned(),
        format!("not {text}"),
        format!("{flag} && {text}"),
        format!("({flag} ? {count} : {text}) == 1"),
        "workflow.parameters.region and not tasks.a.outputs.parameters.x".to_owned(),
        format!("({count} | string | upper) == 'X'"),
        format!("({text} | int) == 1 and ({count} | round(2)) == 1"),
        format!("{text} | contains({count})"),
        format!("{text}.startswith('a')"),
        "null and null".to_owned(),
        "('true' or 'false') and null".to_owned(),
    ] {
        when(&right, &[]);
    }
    for doubtful in [
        "tasks.a.code",
        "5",
        "'yes'",
        "not 5",
        "tasks.a.phase && 1",
        "(tasks.a.code | upper) == 'X'",
        "[1] ? true : false",
        "(inputs.parameters.text | replace('a', 1)) == 'x'",
        "not (inputs.parameters.text | length)",
        "inputs.parameters.text | split(',')",
    ] {
        when(doubtful, &["W007 when"]);
    }
}

/// R-X6: operators are given values of types that never fit them.
#[test]
fn operations_that_no_value_fits() {
    let when = |text: &str, expected: &[&str]| {
        check_tasks(&[(&format!(r#""template": "work", "when": "{text}""#), expected)]);
    };
    let (text, count, flag) = ("inputs.parameters.text", "inputs.parameters.count", "inputs.parameters.flag");
    for wrong in [
        format!("{text} > 40000"),
        format!("4 <= {text}"),
        format!("{text} < {count}"),
        format!("{flag} >= true"),
        format!("{text} == {count}"),
        format!("{text} != (1 + 1)"),
        format!("{count} in 'text'"),
        format!("'x' in {count}"),
        format!("{count} not in {text}"),
        format!("{text} - 1 == 2"),
        format!("{count} * '2' == 2"),
        format!("{text} + {count} == 'x'"),
        format!("{text} + 1 == 'x'"),
        format!("-{text} == 2"),
        format!("workflow.parameters.region[{flag}] == 'x'"),
        format!("{count}[0] == 1"),
        format!("({flag} ? {text} : 'x') > 3"),
        format!("({text} | default('x')) > 3"),
        format!("({text} + {text}) > 3"),
    ] {
        when(&wrong, &["P049 when"]);
    }
    for right in [
        format!("{text} > '40000'"),
        format!("{count} > 4.5"),
        format!("({text} | float) > 4"),
        format!("{text} == null"),
        format!("{count} > null"),
        format!("{count} + null == 1"),
        format!("{text} in 'abc'"),
        format!("{text} in [{text}, 1]"),
        format!("{text} + 'x' == 'y'"),
        format!("{count} + 1 == 2"),
        format!("-{count} == 2"),
        format!("{text}[{count}] == 'x'"),
        "[1, 2][1.0] == 1".to_owned(),
        format!("workflow.parameters.region > {count}"),
        format!("(workflow.parameters.region + 1) > {count}"),
        format!("({flag} ? {text} : 1) > 3"),
        "tasks.a.outputs.parameters.x > 4".to_owned(),
    ] {
        when(&right, &[]);
    }
    for (path, fits) in [
        ("text.x", false),
        ("text['0']", false),
        ("text.length", true),
        ("text['length']", true),
        ("count.x", false),
        ("count['0']", false),
        ("count.length", false),
        ("flag.x.y", false),
        ("level.x", false),
        ("level.length", true),
    ] {
        let expected: &[&str] = if fits { &[] } else { &["P049 when"] };
        when(&format!("inputs.parameters.{path} == null"), expected);
    }
    when("workflow.parameters.region.x.y == null && workflow.parameters.region['0'] == null", &[]);
    when("tasks.a.code > '3'", &["W007 when"]);
    when("tasks.a.phase < 3", &["W007 when"]);
    // Members of values that the engine supplies.
    when("tasks.a.code.x == 1", &["W007 when"]);
    when("workflow.name.x == none", &["W007 when"]);
    when("tasks.a.phase.length > 3", &[]);
    for text in [
        "(inputs.parameters.text | upper) == 1",
        "tasks.a.phase + 1 == 2",
        "[1, 2][1.5] == 1",
        "{'a': 1}[1] == 1",
        "'5' > 4",
        "[] + 1 == 2",
        "5 in 'a'",
    ] {
        when(text, &["W007 when"]);
    }
}

/// R-X8: the notation of other tools stays as text, which is seldom meant.
#[test]
fn placeholders_of_other_tools_are_warnings() {
    let value = |text: &str, raw: bool| {
        format!(
            r#""executor": {{"type": "echo"}}, "inputs": {{"parameters": [{{"name": "x", "value": ["{text}"], "raw": {raw}}}]}}"#
        )
    };
    for text in ["${{ workflow.name }}", "{% if x %}a{% endif %}", "a {# why #} b", "{%- if x -%}"] {
        check_tasks(&[
            (&value(text, false), &["W025 inputs.parameters[0].value[0]"]),
            (&value(text, true), &[]),
        ]);
    }
    for text in ["${x}", "$(x)", "100 %}", "{%", "${#list}", "%{http_code}", "{{ workflow.name }}"] {
        check_tasks(&[(&value(text, false), &[])]);
    }
    check_tasks(&[(
        r#""executor": {"type": "echo", "config": {"a": {"b": "${{ workflow.name }} {% x %}"}}}"#,
        &["W025 executor.config.a.b", "W025 executor.config.a.b"],
    )]);
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
