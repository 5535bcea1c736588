//! Rules and pipelines (R-N1 to R-N11).

use super::*;

const POLICIES: &[(&str, &[&str])] = &[
    (r#"{"rules": []}"#, &[]),
    (r#"{}"#, &["P013 policy.rules"]),
    (r#"{"rules": [{"when": "outcome.code == 4", "then": {"do": "retry"}}]}"#, &["W006 policy"]),
    (r#"{"onUnmatched": "fail", "rules": [{"when": "outcome.code == 4", "then": {"do": "retry"}}]}"#, &[]),
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
        r#"{"rules": [{"else": {"then": {"do": "retry", "attempts": 1, "delay": 5}}}]}"#,
        &["W013 policy.rules[0].else.then.delay"],
    ),
    (
        r#"{"rules": [{"else": {"then": {"do": "retry", "backoff": "linear", "delay": 0}}}]}"#,
        &["W013 policy.rules[0].else.then.backoff"],
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

/// R-N10, R-N11.
#[test]
fn policies_of_a_task() {
    for (policy, expected) in POLICIES {
        check_tasks(&[(&format!(r#""template": "work", "policy": {policy}"#), expected)]);
    }
}

const PIPELINES: &[(&str, &[&str])] = &[
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
        &[],
    ),
    (r#"{"a": {"kind": "echo", "n": "{{ later.x }}"}}, {"later": {"kind": "echo"}}"#, &[]),
    (r#"{"a": {"kind": "echo", "n": "{{ nobody.x }}"}}"#, &["P041 [0].pipeline.tasks[0].a.n"]),
];

/// R-N3, R-N5, R-N7, R-N8.
#[test]
fn pipelines() {
    for (tasks, expected) in PIPELINES {
        let templates = format!(r#"{{"pipeline": {{"name": "main", "tasks": [{tasks}]}}}}"#);
        check_templates(&[(&templates, expected)]);
    }
}
