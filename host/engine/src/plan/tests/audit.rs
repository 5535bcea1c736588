//! Sentence by sentence: what the specification calls a problem is one, and what it allows is none.

use super::*;

/// The codes and places of all problems, or else of all warnings, of a document with these templates.
fn findings(templates: &str) -> Vec<String> {
    let found = match build(templates) {
        Ok(plan) => plan.warnings,
        Err(problems) => problems,
    };
    found.iter().map(|problem| format!("{} {}", problem.code, problem.path)).collect()
}

/// Each row: the fields of the task `b`, which follows `a`; and what is found, its places below that task.
fn check_tasks(rows: &[(&str, &[&str])]) {
    let others = r#"{"dag": {"name": "part", "tasks": [{"name": "x", "template": "work"}]}}, {"task": {"name": "again", "template": "part"}},
        {"loop": {"name": "each", "body": "work", "items": [1]}}, {"pipeline": {"name": "steps", "tasks": [{"name": "x", "template": "work"}]}},
        {"task": {"name": "choosy", "executor": {"type": "echo"}, "inputs": {"parameters": [
            {"name": "level", "enum": ["low", "high"], "default": "low"}, {"name": "n", "type": "integer", "default": 1}]}}}"#;
    for (fields, expected) in rows {
        let templates = format!(
            r#"{{"dag": {{"name": "main", "inputs": {{"parameters": [
                {{"name": "level", "enum": ["low", "high"], "default": "low"}}, {{"name": "count", "type": "integer", "default": 1}},
                {{"name": "flag", "type": "boolean", "default": true}}, {{"name": "text", "type": "string", "default": "x"}}]}},
            "tasks": [{{"name": "a", "template": "work"}}, {{"name": "b", "dependencies": ["a"], {fields}}}]}}}}, {others},
            {{"dag": {{"name": "all", "tasks": [{{"name": "p", "template": "part"}}, {{"name": "g", "template": "again"}},
                {{"name": "e", "template": "each"}}, {{"name": "s", "template": "steps"}}, {{"name": "c", "template": "choosy"}}]}}}}"#
        );
        let found: Vec<_> = findings(&templates)
            .into_iter()
            .filter(|line| !line.starts_with("W004"))
            .map(|line| line.replace("spec.templates[0].dag.tasks[1].", ""))
            .collect();
        assert_eq!(found, *expected, "{fields}");
    }
}

/// Each row: templates, and what is found.
fn check_templates(rows: &[(&str, &[&str])]) {
    for (templates, expected) in rows {
        let found: Vec<_> =
            findings(templates).into_iter().filter(|line| !line.starts_with("W004")).collect();
        let found: Vec<_> = found.iter().map(|line| line.replace("spec.templates", "")).collect();
        assert_eq!(found, *expected, "{templates}");
    }
}

/// SPEC section 1.
#[test]
fn what_a_call_may_carry() {
    check_tasks(&[
        (r#""template": "work""#, &[]),
        (r#""executor": {"type": "echo"}, "inputs": {"parameters": [{"name": "x", "value": 1}]}"#, &[]),
        (r#""template": "work", "inputs": {}"#, &["P018 inputs"]),
        (r#""template": "again", "outputs": {}"#, &["P018 outputs"]),
        (
            r#""template": "part", "timeout": "1s", "when": "true", "hooks": {}, "continueOn": {}, "phaseConditions": {}"#,
            &[],
        ),
        (r#""template": "part", "retry": {"limit": 1}"#, &["P028 retry"]),
        (r#""template": "each", "policy": {"rules": []}"#, &["P028 policy"]),
        (
            r#""template": "part", "maxInactivity": "1s", "resources": {"memory": 1}"#,
            &["P028 maxInactivity", "P028 resources"],
        ),
        (
            r#""template": "again", "retry": {"limit": 1}, "maxRuntime": "1s", "deadline": "1h", "hooks": {}"#,
            &[],
        ),
        (r#""template": "again", "policy": {"rules": [{"else": {"then": {"do": "retry"}}}]}"#, &[]),
        (r#""template": "again", "maxInactivity": "1s""#, &["P018 maxInactivity"]),
        (r#""template": "work", "resources": {"memory": "64MB"}"#, &[]),
        (r#""template": "work", "resources": {"memory": "64 megs"}"#, &["P037 resources.memory"]),
        (r#""template": "work", "hooks": {"onExit": {"template": "part"}}"#, &["P027 hooks.onExit.template"]),
        (
            r#""template": "work", "hooks": {"onExit": {"template": "again"}}"#,
            &["P027 hooks.onExit.template"],
        ),
        (r#""template": "work", "hooks": {"onEnd": {"template": "work"}}"#, &["P011 hooks.onEnd"]),
    ]);
}

/// SPEC sections 1 and 4: R-R1 to R-R3.
#[test]
fn counts_and_delays() {
    check_tasks(&[
        (r#""template": "work", "retry": {"limit": 0}"#, &[]),
        (r#""template": "work", "retry": {"limit": 100}"#, &[]),
        (r#""template": "work", "retry": {"limit": 101}"#, &["P033 retry.limit"]),
        (r#""template": "work", "retry": {"limit": -1}"#, &["P033 retry.limit"]),
        (r#""template": "work", "retry": {"limit": 1.5}"#, &["P033 retry.limit"]),
        (r#""template": "work", "retry": {"limit": "3"}"#, &["P010 retry.limit"]),
        (r#""template": "work", "retry": {"maxAttempts": -1}"#, &[]),
        (r#""template": "work", "retry": {"maxAttempts": 0}"#, &[]),
        (r#""template": "work", "retry": {"maxAttempts": -2}"#, &["P033 retry.maxAttempts"]),
        (r#""template": "work", "retry": {"maxAttempts": 2.5}"#, &["P033 retry.maxAttempts"]),
        (r#""template": "work", "retry": {"limit": 2, "maxAttempts": 3}"#, &["P032 retry"]),
        (r#""template": "work", "retry": {"limit": 2}, "policy": {"rules": []}"#, &["P032 policy"]),
        (
            r#""template": "work", "retry": {"limit": 2, "delay": "1s", "exponentialBackoff": 0.5, "maxDelay": "9s", "jitter": 1}"#,
            &[],
        ),
        (r#""template": "work", "retry": {"limit": 2, "delay": 0, "jitter": 0}"#, &[]),
        (
            r#""template": "work", "retry": {"limit": 2, "exponentialBackoff": 0}"#,
            &["P015 retry.exponentialBackoff"],
        ),
        (
            r#""template": "work", "retry": {"limit": 2, "exponentialBackoff": -2}"#,
            &["P015 retry.exponentialBackoff"],
        ),
        (r#""template": "work", "retry": {"limit": 2, "jitter": 1.1}"#, &["P015 retry.jitter"]),
        (r#""template": "work", "retry": {"limit": 2, "delay": "-1s"}"#, &["P030 retry.delay"]),
        (r#""template": "work", "retry": {"limit": 2, "delay": -1}"#, &["P030 retry.delay"]),
        (r#""template": "work", "retry": {"limit": 2, "delay": 1.5}"#, &["P010 retry.delay"]),
        (r#""template": "work", "retry": {"limit": 2, "maxDelay": "9s"}"#, &["W013 retry.maxDelay"]),
        (r#""template": "work", "retry": {"delay": "9s"}"#, &["W013 retry"]),
        (r#""template": "work", "retry": {"expression": "true"}"#, &["W013 retry"]),
        (r#""template": "work", "retry": {"max_attempts": 3}"#, &["P034 retry"]),
        (
            r#""template": "work", "retry": {"retry_when": "{{ status_code >= 500 }}", "limit": 3}"#,
            &["P034 retry"],
        ),
    ]);
}

/// SPEC sections 5 and 10: R-T1, R-T2, R-T6.
#[test]
fn timeouts() {
    check_tasks(&[
        (
            r#""template": "work", "timeout": "10h 30 minutes", "maxRuntime": 5000, "deadline": {"timeout": "1 days"}"#,
            &[],
        ),
        (r#""template": "work", "deadline": {"timeout": "1s", "errorOnTimeout": true}"#, &[]),
        (r#""template": "work", "timeout": {"timeout": "1s"}"#, &["P010 timeout"]),
        (r#""template": "work", "maxRuntime": {"errorOnTimeout": true}"#, &["P013 maxRuntime.timeout"]),
        (
            r#""template": "work", "maxRuntime": {"timeout": "1s", "errorOnTimeout": "yes"}"#,
            &["P010 maxRuntime.errorOnTimeout"],
        ),
        (r#""template": "work", "maxRuntime": {"timeout": "1s", "error": true}"#, &["P011 maxRuntime.error"]),
        (r#""template": "work", "timeout": 0"#, &["P031 timeout"]),
        (r#""template": "work", "timeout": "0s""#, &["P031 timeout"]),
        (r#""template": "work", "timeout": -1"#, &["P031 timeout"]),
        (r#""template": "work", "maxInactivity": "-1s""#, &["P030 maxInactivity"]),
        (r#""template": "work", "deadline": "1h 30""#, &["P030 deadline"]),
        (r#""template": "work", "deadline": 1.5"#, &["P010 deadline"]),
        (r#""template": "work", "timeout": "none""#, &["P030 timeout"]),
        (r#""template": "work", "timeout": "9223372036854775808""#, &["P030 timeout"]),
        (r#""template": "work", "timeout": "1s", "retry": {"limit": 1}"#, &["W003 timeout"]),
        (r#""template": "work", "timeout": "1s", "retry": {"limit": 1}, "maxRuntime": "1s""#, &[]),
        (
            r#""template": "work", "timeout": "1s", "policy": {"rules": [{"else": {"then": {"do": "retry"}}}]}"#,
            &["W003 timeout"],
        ),
    ]);
}

/// SPEC section 6: R-E1, R-E2, and types that are known.
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

/// What an expression compares with a literal, and can never equal it.
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

/// SPEC section 7: nothing is converted.
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

/// R-S5.
#[test]
fn loops() {
    let body = r#"{"task": {"name": "body", "executor": {"type": "echo"}, "inputs": {"parameters": [
        {"name": "n", "type": "integer", "default": 1}, {"name": "level", "enum": ["low", "high"], "default": "low"}]},
        "outputs": {"parameters": [{"name": "sum"}]}}}"#;
    let rows: &[(&str, &[&str])] = &[
        (r#""items": [1, 2]"#, &[]),
        (r#""items": []"#, &[]),
        (r#""items": [1], "repeatCondition": "true""#, &["P016 [0].loop", "P013 [0].loop.maxIterations"]),
        (r#""repeatCondition": "loop.index < 3""#, &["P013 [0].loop.maxIterations"]),
        (
            r#""repeatCondition": "tasks.body.code == 2", "maxIterations": 3, "concurrency": 2"#,
            &["P018 [0].loop.concurrency"],
        ),
        (
            r#""repeatCondition": "tasks.other.code == 2", "maxIterations": 3"#,
            &["P047 [0].loop.repeatCondition"],
        ),
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
    for (fields, expected) in rows {
        let templates = format!(r#"{{"loop": {{"name": "main", "body": "body", {fields}}}}}, {body}"#);
        check_templates(&[(&templates, expected)]);
    }
}

/// R-S6.
#[test]
fn graphs_and_depth() {
    let part = |name: &str, callee: &str| {
        format!(r#"{{"dag": {{"name": "{name}", "tasks": [{{"name": "x", "template": "{callee}"}}]}}}}"#)
    };
    let wrapped = r#"{"task": {"name": "wrap", "template": "inner"}}"#;
    let rows: &[(String, &[&str])] = &[
        (format!("{}, {wrapped}, {}", part("main", "wrap"), part("inner", "work")), &[]),
        (
            format!("{}, {wrapped}, {}, {}", part("main", "wrap"), part("inner", "deep"), part("deep", "work")),
            &["P025 [3].dag.tasks[0].template"],
        ),
        (format!("{}, {wrapped}, {}", part("main", "wrap"), part("inner", "main")), &["P024 [0].dag.tasks[0].template"]),
        (part("main", "main"), &["P024 [0].dag.tasks[0].template"]),
        (
            r#"{"dag": {"name": "main", "entrypoints": "a", "tasks": [{"name": "a", "template": "work"}, {"name": "b", "template": "work"}]}}"#.to_owned(),
            &["W012 [0].dag.tasks[1].name"],
        ),
        (
            r#"{"dag": {"name": "main", "entrypoints": ["a"], "tasks": [{"name": "a", "template": "work"}, {"name": "b", "template": "work"},
                {"name": "c", "template": "work", "dependencies": ["b", "a"]}]}}"#.to_owned(),
            &["P026 [0].dag.tasks[2].dependencies[0]"],
        ),
        (
            r#"{"dag": {"name": "main", "entrypoints": [], "tasks": [{"name": "a", "template": "work"}]}}"#.to_owned(),
            &["P017 [0].dag.entrypoints"],
        ),
        (
            r#"{"dag": {"name": "main", "tasks": [{"name": "a", "template": "work", "dependencies": ["a"]}]}}"#.to_owned(),
            &["P023 [0].dag.tasks[0].dependencies[0]"],
        ),
        (
            r#"{"dag": {"name": "main", "retry": {"limit": 2}, "maxInactivity": "1s", "tasks": [{"name": "a", "template": "work"}]}}"#.to_owned(),
            &["P028 [0].dag.retry", "P028 [0].dag.maxInactivity"],
        ),
        (
            r#"{"task": {"name": "wrap", "template": "main", "maxInactivity": "1s"}}, {"dag": {"name": "main", "tasks": [{"name": "a", "template": "work"}]}}"#.to_owned(),
            &["P018 [0].task.maxInactivity"],
        ),
        (r#"{"task": {"name": "main", "template": "work"}}"#.to_owned(), &["P027 [0].task.template"]),
        (
            r#"{"task": {"name": "main", "executor": {"type": "echo"}, "when": "true", "dependencies": []}}"#.to_owned(),
            &["P018 [0].task.dependencies", "P018 [0].task.when"],
        ),
    ];
    for (templates, expected) in rows {
        check_templates(&[(templates, expected)]);
    }
}

/// SPEC section 9.
#[test]
fn policies_of_a_task() {
    let rows: &[(&str, &[&str])] = &[
        (r#"{"rules": []}"#, &[]),
        (r#"{}"#, &["P013 policy.rules"]),
        (r#"{"rules": [{"when": "outcome.code == 4", "then": {"do": "retry"}}]}"#, &["W006 policy"]),
        (
            r#"{"onUnmatched": "fail", "rules": [{"when": "outcome.code == 4", "then": {"do": "retry"}}]}"#,
            &[],
        ),
        (r#"{"rules": [{"when": "true", "then": {"do": "retry"}}]}"#, &[]),
        (
            r#"{"rules": [{"when": "{{ true }}", "then": {"do": "retry"}}, {"else": {"then": {"do": "fail"}}}]}"#,
            &["W011 policy.rules[1]"],
        ),
        (
            r#"{"rules": [{"when": "outcome.code == 4", "then": {"do": "retry"}}, {"when": "outcome.code == 4", "then": {"do": "fail"}},
                {"when": "false", "then": {"do": "fail"}}, {"else": null, "then": {"do": "continue"}}]}"#,
            &["W011 policy.rules[1]", "W011 policy.rules[2]"],
        ),
        (r#"{"rules": [{"else": {"do": "continue"}}]}"#, &["P038 policy.rules[0].else"]),
        (
            r#"{"rules": [{"else": {"then": {"do": "continue"}}}, {"else": {"then": {"do": "fail"}}}]}"#,
            &["P038 policy.rules[0]"],
        ),
        (
            r#"{"rules": [{"when": "true", "else": {"then": {"do": "fail"}}, "then": {"do": "fail"}}]}"#,
            &["P016 policy.rules[0]"],
        ),
        (r#"{"rules": [{"then": {"do": "fail"}}]}"#, &["P016 policy.rules[0]"]),
        (
            r#"{"rules": [{"else": {"then": {"do": "fail", "attempts": 3}}}]}"#,
            &["P039 policy.rules[0].else.then.attempts"],
        ),
        (
            r#"{"rules": [{"else": {"then": {"do": "retry", "to": "a"}}}]}"#,
            &["P039 policy.rules[0].else.then.to"],
        ),
        (
            r#"{"rules": [{"else": {"then": {"do": "retry", "attempts": 0}}}]}"#,
            &["P033 policy.rules[0].else.then.attempts"],
        ),
        (
            r#"{"rules": [{"else": {"then": {"do": "retry", "attempts": 2, "backoff": "linear", "delay": "1m"}}}]}"#,
            &[],
        ),
        (
            r#"{"rules": [{"else": {"then": {"do": "retry", "delay": -0.5}}}]}"#,
            &["P015 policy.rules[0].else.then.delay"],
        ),
        (r#"{"rules": [{"else": {"then": {"do": "jump", "to": "a"}}}]}"#, &["P039 policy.rules[0]"]),
        (
            r#"{"rules": [{"else": {"then": {"do": "break", "set_ctx": {"x": 1}}}}]}"#,
            &["P039 policy.rules[0]", "P039 policy.rules[0]"],
        ),
        (r#"{"rules": [{"else": {"then": {"do": "again"}}}]}"#, &["P014 policy.rules[0].else.then.do"]),
        (r#"{"rules": [{"else": {"then": {}}}]}"#, &["P013 policy.rules[0].else.then.do"]),
        (
            r#"{"rules": [{"when": "iter.x == 1", "then": {"do": "fail"}}, {"else": {"then": {"do": "fail"}}}]}"#,
            &["P041 policy.rules[0].when"],
        ),
    ];
    for (policy, expected) in rows {
        check_tasks(&[(&format!(r#""template": "work", "policy": {policy}"#), expected)]);
    }
}

/// R-N3, R-N5, R-N7, R-N8.
#[test]
fn pipelines() {
    let rows: &[(&str, &[&str])] = &[
        (
            r#"{"name": "a_b", "template": "work"}, {"c_d": {"kind": "echo", "x": "{{ a_b.y }} {{ _prev.z }} {{ args.q }}"}}"#,
            &[],
        ),
        (
            r#"{"name": "a", "template": "work", "dependencies": [], "continueOn": {}}"#,
            &["P018 [0].pipeline.tasks[0].dependencies", "P018 [0].pipeline.tasks[0].continueOn"],
        ),
        (r#"{"outcome": {"kind": "echo"}}"#, &["P029 [0].pipeline.tasks[0].outcome"]),
        (r#"{"name": "_prev", "template": "work"}"#, &["P029 [0].pipeline.tasks[0].name"]),
        (r#"{"A": {"kind": "echo"}}"#, &["P019 [0].pipeline.tasks[0].A"]),
        (r#"{"a": {"url": "x"}}"#, &["P013 [0].pipeline.tasks[0].a.kind"]),
        (r#"{"a": {"kind": "echo", "retry": {"max_attempts": 2}}}"#, &["P034 [0].pipeline.tasks[0].a.retry"]),
        (r#"{"a": {"kind": "echo", "retry": {"limit": 2}}}"#, &["P039 [0].pipeline.tasks[0].a.retry"]),
        (
            r#"{"a": {"kind": "echo", "spec": {"timeout": {"connect": 5}, "polcy": {}, "retry": {}, "pool": 1}}}"#,
            &["W014 [0].pipeline.tasks[0].a.spec.polcy", "W014 [0].pipeline.tasks[0].a.spec.retry"],
        ),
        (
            r#"{"a": {"kind": "echo", "spec": {"policy": {"rules": [{"else": {"then": {"do": "jump"}}}]}}}}"#,
            &["P013 [0].pipeline.tasks[0].a.spec.policy.rules[0].else.then.to"],
        ),
        (
            r#"{"a": {"kind": "echo", "spec": {"policy": {"rules": [{"else": {"then": {"do": "jump", "to": "z"}}}]}}}}"#,
            &["P022 [0].pipeline.tasks[0].a.spec.policy.rules[0].else.then.to"],
        ),
        (
            r#"{"a": {"kind": "echo", "spec": {"policy": {"rules": [{"else": {"then": {"do": "jump", "to": "c", "set_iter": {"n": 1}}}}]}}}},
               {"b": {"kind": "echo"}}, {"c": {"kind": "echo"}}"#,
            &["W012 [0].pipeline.tasks[1].b"],
        ),
        (
            r#"{"a": {"kind": "echo", "when": "false", "spec": {"policy": {"rules": [{"else": {"then": {"do": "break"}}}]}}}}, {"b": {"kind": "echo"}}"#,
            &[],
        ),
        (
            r#"{"a": {"kind": "echo", "spec": {"policy": {"onUnmatched": "fail", "rules": [{"when": "outcome.code == 1", "then": {"do": "retry"}}]}}}}, {"b": {"kind": "echo"}}"#,
            &["W012 [0].pipeline.tasks[1].b"],
        ),
        (r#"{"a": {"kind": "echo", "n": "{{ later.x }}"}}, {"later": {"kind": "echo"}}"#, &[]),
        (r#"{"a": {"kind": "echo", "n": "{{ nobody.x }}"}}"#, &["P041 [0].pipeline.tasks[0].a.n"]),
    ];
    for (tasks, expected) in rows {
        let templates = format!(r#"{{"pipeline": {{"name": "main", "tasks": [{tasks}]}}}}"#);
        check_templates(&[(&templates, expected)]);
    }
}

/// SPEC section 7: expressions cannot read a secret.
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
