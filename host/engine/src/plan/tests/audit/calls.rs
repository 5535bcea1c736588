//! Fields of calls, and the nesting of calls.

use super::*;

/// R-W9.
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
