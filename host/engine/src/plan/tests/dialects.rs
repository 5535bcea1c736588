//! The table of dialects: what the same words mean in a file of each.

use super::*;
use crate::{expr::ValueTemplate, time::Millis};

const DIALECTS: [&str; 2] = ["aether/v1", "phasm/v1"];

const HOUR: Millis = 3_600_000;

/// A file whose only task has these fields.
fn in_dialect(dialect: &str, spec: &str, task: &str) -> Result<Plan, Vec<Problem>> {
    let text = format!(
        r#"{{"apiVersion": "{dialect}", "kind": "Workflow", "metadata": {{"name": "test"}}, "spec": {{"entrypoint": "main"{spec},
            "templates": [{{"task": {{"name": "main", "executor": {{"type": "echo"}}{task}}}}}]}}}}"#
    );
    let tree = Tree::from(&Value::from_json(&text).unwrap());
    let recorded = Draft::read(&tree).assemble(&PinnedExecutors::new(), &[]);
    let planned = Draft::read(&tree).plan(&Executors::any(), &Value::Null)?;
    // A recovered run has the same plan.
    let outline = |plan: &Plan| format!("{:?} {:?}", (plan.timeout, plan.timeout_pauses), plan.root.settings);
    assert_eq!(outline(&recorded.unwrap()), outline(&planned), "{text}");
    Ok(planned)
}

/// R-W21. Fields, and for each dialect what they mean or the problem that they are.
#[test]
fn dialects_differ_as_the_table_says() {
    let spec = |text: &str, dialect: &str| match in_dialect(dialect, text, "") {
        Ok(plan) => format!("{:?} {}", plan.timeout, plan.timeout_pauses),
        Err(problems) => codes(&problems),
    };
    for (text, expected) in [
        ("", [format!("{:?} true", Some(HOUR)), "None false".to_owned()]),
        (r#", "timeout": "none""#, ["None false".to_owned(), "None false".to_owned()]),
        (r#", "timeout": "1h""#, [format!("{:?} false", Some(HOUR)), format!("{:?} false", Some(HOUR))]),
        (
            r#", "timeout": {"active": "1h"}"#,
            ["P009 spec.timeout".to_owned(), format!("{:?} true", Some(HOUR))],
        ),
    ] {
        assert_eq!(DIALECTS.map(|dialect| spec(text, dialect)), expected, "{text}");
    }
    let expiry = |text: &str, dialect: &str| {
        let plan = in_dialect(dialect, "", text).unwrap();
        let Settings { max_runtime, max_inactivity, deadline, .. } = &*plan.root.settings;
        [max_runtime, max_inactivity, deadline]
            .into_iter()
            .flatten()
            .map(|policy| policy.expiry)
            .next()
            .unwrap()
    };
    for field in ["maxRuntime", "maxInactivity", "deadline"] {
        for (policy, expected) in [
            (r#""1s""#, [Expiry::Cancelled, Expiry::Timeout]),
            (r#"{"timeout": "1s"}"#, [Expiry::Cancelled, Expiry::Timeout]),
            (r#"{"timeout": "1s", "errorOnTimeout": false}"#, [Expiry::Cancelled; 2]),
            (r#"{"timeout": "1s", "errorOnTimeout": true}"#, [Expiry::Error; 2]),
        ] {
            let text = format!(r#", "{field}": {policy}"#);
            assert_eq!(DIALECTS.map(|dialect| expiry(&text, dialect)), expected, "{text}");
        }
    }
}

/// R-R13.
#[test]
fn attempts_say_what_limit_and_max_attempts_say() {
    let retry = |dialect: &str, text: &str| match in_dialect(dialect, "", &format!(r#", "retry": {text}"#)) {
        Ok(plan) => match &plan.root.settings.recovery {
            Some(Recovery::Retry(retry)) => {
                let filter = match &retry.filter {
                    RetryFilter::ErrorOrTimeout | RetryFilter::Retryable => "error",
                    RetryFilter::AnyFailure => "any",
                    RetryFilter::Expression(_) => "expression",
                };
                format!("{:?} {:?} {filter} {}", retry.max_attempts, retry.backoff, retry.jitter)
            }
            other => panic!("{other:?}"),
        },
        Err(problems) => codes(&problems),
    };
    for (new, old) in [
        (r#"{"attempts": 3}"#, r#"{"limit": 2}"#),
        (r#"{"attempts": 1}"#, r#"{"limit": 0}"#),
        (
            r#"{"attempts": 4, "delay": "1s", "backoff": 2, "maxDelay": "9s", "jitter": 0.5}"#,
            r#"{"limit": 3, "delay": "1s", "exponentialBackoff": 2, "maxDelay": "9s", "jitter": 0.5}"#,
        ),
        (r#"{"attempts": 3, "when": "code == 2"}"#, r#"{"limit": 2, "expression": "code == 2"}"#),
        (r#"{"attempts": -1, "when": "code == 2"}"#, r#"{"maxAttempts": -1, "expression": "code == 2"}"#),
    ] {
        assert_eq!(retry("phasm/v1", new), retry("aether/v1", old), "{new}");
        // Files of the recommended dialect keep the older words.
        assert_eq!(retry("phasm/v1", old), retry("aether/v1", old), "{old}");
    }
    for (text, problems) in [
        (r#"{"attempts": 3}"#, "P009 retry.attempts"),
        (r#"{"limit": 3, "delay": 9, "backoff": 2}"#, "P009 retry.backoff"),
        (r#"{"limit": 3, "when": "true"}"#, "P009 retry.when"),
    ] {
        assert_eq!(retry("aether/v1", text), problems, "{text}");
    }
    for text in [
        r#"{"attempts": 3, "limit": 2}"#,
        r#"{"attempts": 3, "maxAttempts": 3}"#,
        r#"{"attempts": 3, "delay": 9, "backoff": 2, "exponentialBackoff": 2}"#,
        r#"{"attempts": 3, "when": "true", "expression": "true"}"#,
    ] {
        assert_eq!(retry("phasm/v1", text), "P032 retry", "{text}");
    }
    assert_eq!(retry("phasm/v1", r#"{"attempts": -2}"#), "P033 retry.attempts");
}

/// R-W23.
#[test]
fn parameters_under_their_names_are_those_of_a_list() {
    let outline = |dialect: &str, spec: &str, task: &str| match in_dialect(dialect, spec, task) {
        Ok(plan) => {
            let inputs = plan.root.inputs.iter().chain(&plan.arguments).map(|input| {
                let value = |value: &Option<ValueTemplate>| {
                    value.as_ref().and_then(ValueTemplate::as_literal).cloned()
                };
                format!(
                    "{} {:?} {:?} {:?}",
                    input.name,
                    input.kind,
                    value(&input.value),
                    value(&input.default)
                )
            });
            let outputs = plan.root.outputs.iter().map(|output| {
                let source = match &output.value_from {
                    Some(ValueFrom::Expression(expression)) => expression.source(),
                    Some(ValueFrom::Secret(_)) | None => "-",
                };
                format!("{} {:?} {source}", output.name, output.kind)
            });
            inputs.chain(outputs).collect::<Vec<_>>().join(", ")
        }
        Err(problems) => codes(&problems),
    };
    for (spec, task, long_spec, long_task) in [
        (
            "",
            r#", "inputs": {"deep": {"type": "y"}, "url": "x"}"#,
            "",
            r#", "inputs": {"parameters": [{"name": "deep", "value": {"type": "y"}}, {"name": "url", "value": "x"}]}"#,
        ),
        (
            "",
            r#", "inputs": {"parameters": {"url": "x", "size": {"type": "int", "value": 2}, "list": [1]}}"#,
            "",
            r#", "inputs": {"parameters": [{"name": "list", "default": [1]}, {"name": "size", "type": "int", "value": 2},
                {"name": "url", "default": "x"}]}"#,
        ),
        (
            "",
            r#", "outputs": {"body": null, "size": "workflow.id", "good": true}"#,
            "",
            r#", "outputs": {"parameters": [{"name": "body"}, {"name": "good", "valueFrom": {"expression": "true"}},
                {"name": "size", "valueFrom": {"expression": "workflow.id"}}]}"#,
        ),
        (
            r#", "parameters": {"region": {"type": "string", "default": "eu"}, "size": 3, "open": null}"#,
            r#", "inputs": {"open": null}"#,
            r#", "arguments": {"parameters": [{"name": "open"}, {"name": "region", "type": "string", "default": "eu"},
                {"name": "size", "default": 3}]}"#,
            r#", "inputs": {"parameters": [{"name": "open"}]}"#,
        ),
        (
            r#", "arguments": {"region": "eu"}"#,
            "",
            r#", "arguments": {"parameters": [{"name": "region", "value": "eu"}]}"#,
            "",
        ),
    ] {
        let long = outline("aether/v1", long_spec, long_task);
        assert!(!long.contains("P0"), "{long}");
        assert_eq!(outline("phasm/v1", spec, task), long, "{spec} {task}");
        let refused = outline("aether/v1", spec, task);
        assert!(refused.starts_with("P009") || refused.starts_with("P010"), "{spec} {task}: {refused}");
    }
    for (spec, task, problems) in [
        ("", r#", "inputs": {"-": 1}"#, "P019 inputs.-"),
        ("", r#", "inputs": {"parameters": [], "url": 1}"#, "P011 inputs.url"),
        (
            "",
            r#", "inputs": {"parameters": {"url": {"typ": "string", "default": 1}}}"#,
            "P011 inputs.parameters.url.typ",
        ),
        (
            "",
            r#", "inputs": {"parameters": {"url": {"name": "x", "default": 1}}}"#,
            "P011 inputs.parameters.url.name",
        ),
        ("", r#", "outputs": {"size": 3}"#, "P010 outputs.size"),
        ("", r#", "outputs": {"size": {"type": "int"}}"#, "P010 outputs.size"),
        ("", r#", "outputs": {"size": "1 +"}"#, "P040 outputs.size"),
        (r#", "parameters": {"a": 1}, "arguments": {}"#, "", "P018 spec.parameters"),
        (r#", "parameters": {"a": {"type": "int", "default": "x"}}"#, "", "P035 spec.parameters.a.default"),
    ] {
        assert_eq!(outline("phasm/v1", spec, task), problems, "{spec} {task}");
    }
}

/// R-W24.
#[test]
fn paths_leave_parameters_out() {
    let task = |path: &str| {
        format!(
            r#", "inputs": {{"parameters": [{{"name": "a", "value": 1}}]}}, "outputs": {{"parameters": [{{"name": "x", "value": "{{{{ {path} }}}}"}}]}}"#
        )
    };
    let found = |dialect: &str, path: &str| {
        in_dialect(dialect, "", &task(path)).map_or_else(|problems| codes(&problems), |_| String::new())
    };
    for path in ["inputs.a", "inputs['a'].b", "inputs.parameters.a", "inputs.a + tasks.main.outputs.q"] {
        assert_eq!(found("phasm/v1", path), "", "{path}");
    }
    assert_eq!(found("phasm/v1", "inputs.b"), "P044 outputs.parameters[0].value");
    assert_eq!(found("aether/v1", "inputs.a"), "P048 outputs.parameters[0].value");
}

/// R-W21, R-S12, R-B2: a hook may leave inputs of its template out; those that it gives have to fit.
#[test]
fn hooks_may_leave_inputs_out() {
    let open = r#", "inputs": {"parameters": [{"name": "open", "type": "string"}]}"#;
    let closed = r#", "inputs": {"parameters": [{"name": "open", "type": "string", "default": "x"}]}"#;
    let given = r#""template": "main", "arguments": {"parameters": [{"name": "open", "value": "y"}]}"#;
    let unfit = r#""template": "main", "arguments": {"parameters": [{"name": "open", "value": 1}]}"#;
    let value = "P035 spec.hooks.onExit.arguments.parameters[0].value";
    let nothing = r#""template": "main""#;
    for (hook, task, expected) in [
        (nothing, open, ["", ""]),
        (nothing, closed, ["", ""]),
        (given, open, ["", ""]),
        (unfit, open, [value, value]),
    ] {
        let spec = format!(
            r#", "arguments": {{"parameters": [{{"name": "open", "value": "x"}}]}}, "hooks": {{"onExit": {{{hook}}}}}"#
        );
        let found = DIALECTS.map(|dialect| match in_dialect(dialect, &spec, task) {
            Ok(_) => String::new(),
            Err(problems) => codes(&problems),
        });
        assert_eq!(found, expected, "{hook} {task}");
    }
}

/// Codes, with the end of each path.
fn codes(problems: &[Problem]) -> String {
    let end = |path: &str| path.rsplit_once(".task.").map_or(path, |(_, end)| end).to_owned();
    let all: Vec<_> =
        problems.iter().map(|problem| format!("{} {}", problem.code, end(&problem.path))).collect();
    all.join(", ")
}

/// R-W23: what belongs into the long form is not passed as an object.
#[test]
fn a_raw_value_has_a_place_in_the_long_form_only() {
    let raw = r#"{"raw": true, "value": "{{ who }}"}"#;
    let problems = in_dialect("phasm/v1", "", &format!(r#", "inputs": {{"text": {raw}}}"#)).unwrap_err();
    let [problem] = problems.as_slice() else { panic!("{problems:#?}") };
    assert_eq!(
        (problem.code, problem.hint.as_deref()),
        ("P018", Some("write `parameters: {text: {raw: …, value: …}}`")),
        "{problem}"
    );
    in_dialect("phasm/v1", "", &format!(r#", "inputs": {{"parameters": {{"text": {raw}}}}}"#)).unwrap();
}
