//! Hints that say what to write instead.

use super::*;

const FETCH: &str = r#"{"task": {"name": "fetch", "executor": {"type": "echo"}, "inputs": {"parameters": [{"name": "url"}]}}}"#;

/// The message and hint of the only problem.
fn only(templates: &str) -> (String, String) {
    let problems = build(templates).unwrap_err();
    let [problem] = problems.as_slice() else { panic!("{problems:#?}") };
    (problem.message.clone(), problem.hint.clone().unwrap_or_default())
}

fn hint_in_dag(dependencies: &str, when: &str) -> String {
    only(&format!(
        r#"{{"dag": {{"name": "main", "inputs": {{"parameters": [{{"name": "city", "value": "York"}}]}}, "tasks": [
            {{"name": "fetch", "template": "work"}},
            {{"name": "b", "template": "work", "dependencies": [{dependencies}], "when": "{when}"}}]}}}}"#
    ))
    .1
}

/// R-E2.
#[test]
fn a_name_that_means_nothing_is_told_what_it_would_be_called() {
    let rows = [
        (r#""fetch""#, "fetch.outputs.parameters.body == 1", "write `tasks.fetch.outputs.parameters.body`"),
        (r#""fetch""#, "fetch.outputs.body == 1", "write `tasks.fetch.outputs.parameters.body`"),
        (r#""fetch""#, "fetch.body == 1", "write `tasks.fetch.outputs.parameters.body`"),
        (r#""fetch""#, "fetch.code == 1", "write `tasks.fetch.code`"),
        (r#""fetch""#, "fetch == 1", "write `tasks.fetch`"),
        (r#""fetch""#, "steps.fetch.outputs.result == 1", "write `tasks.fetch.outputs.parameters.result`"),
        ("", "fetch.code == 1", "write `tasks.fetch.code`, and add `fetch` to the dependencies of `b`"),
        (r#""fetch""#, "tasks.fetch.outputs.body == 1", "write `tasks.fetch.outputs.parameters.body`"),
        (r#""fetch""#, "tasks.fetch.attempt == 1", "write `retries`"),
        (r#""fetch""#, "tasks.fetch.status == 1", "write `phase`"),
        ("", "inputs.city == 1", "write `inputs.parameters.city`"),
        ("", "city == 1", "write `inputs.parameters.city`"),
        ("", "region == 1", "write `workflow.parameters.region`"),
        ("", "item.x == 1", "the item of an iteration is `loop.item`"),
    ];
    for (dependencies, when, hint) in rows {
        assert_eq!(hint_in_dag(dependencies, when), hint, "{when}");
    }
    let (_, hint) = only(
        r#"{"task": {"name": "main", "executor": {"type": "echo"}, "retry": {"limit": 2, "expression": "attempt < 2"}}}"#,
    );
    assert!(hint.starts_with("how often a task was tried again is `retries`"), "{hint}");
}

/// R-E2: a label of a pipeline that is misspelt, and one that there is.
#[test]
fn labels_are_suggested_and_listed() {
    let found = |when: &str| {
        only(&format!(
            r#"{{"pipeline": {{"name": "main", "tasks": [{{"name": "fetch_page", "template": "work"}},
                {{"name": "b", "template": "work", "when": "{when}"}}]}}}}"#
        ))
    };
    let (message, hint) = found("fetch_pge.page == 1");
    assert!(message.ends_with("or the label `fetch_page` or `b`"), "{message}");
    assert_eq!(hint, "did you mean `fetch_page`?");
    assert_eq!(found("nothing.page == 1").1, "put text in quotes");
}

/// R-I6: a missing executor.
#[test]
fn a_missing_executor_can_be_started_or_left_out() {
    let hint = |name: &str, allowed: bool| {
        let templates = format!(r#"{{"task": {{"name": "main", "executor": {{"type": "{name}"}}}}}}"#);
        let executors =
            Executors::any().with(name, ExecutorResolution::Unknown).installed(vec!["echo".into()]);
        let draft = Draft::read(&Tree::from(&Value::from_json(&document(&templates)).unwrap()));
        let found = draft.plan(&executors.allow_missing(allowed), &Value::Null);
        let found = found.map_or_else(|problems| problems, |plan| plan.warnings);
        found.iter().find_map(|problem| problem.hint.clone()).unwrap_or_default()
    };
    let start = "`phasm plugin new greet` starts one, and `--plugins DIR` adds a folder of plugins";
    assert_eq!(hint("greet", false), format!("{start}; `--allow-missing` runs the workflow all the same"));
    assert_eq!(hint("greet@1.0.0", true), start);
    assert_eq!(hint("ehco", false), "did you mean `echo`?");
    assert_eq!(hint("echo@7", false), "");
    assert_eq!(hint("Big", false), "");
}

/// R-B2.
#[test]
fn an_argument_that_the_template_does_not_declare_is_named() {
    let rows = [
        ("urll", "the argument `urll` is not an input of `fetch`: write `url`"),
        ("link", "pass an argument `url`, or declare a `default` for it; `link` is not an input of `fetch`"),
    ];
    for (argument, hint) in rows {
        let (message, found) = only(&format!(
            r#"{FETCH}, {{"dag": {{"name": "main", "tasks": [{{"name": "a", "template": "fetch",
                "arguments": {{"parameters": [{{"name": "{argument}", "value": "x"}}]}}}}]}}}}"#
        ));
        assert!(message.starts_with("input `url` of `fetch` has no source"), "{message}");
        assert_eq!(found, hint);
    }
}

#[test]
fn parameters_as_a_map_are_told_how_a_list_is_written() {
    let (message, hint) = only(
        r#"{"task": {"name": "main", "executor": {"type": "echo"}, "inputs": {"parameters": {"url": "x"}}}}"#,
    );
    assert_eq!(message, "found object; expected a list");
    assert_eq!(
        hint,
        r#"write each as an element of a list: `- {name: url, value: "x"}`; files of `phasm/v1` may have objects"#
    );
}

#[test]
fn placeholders_where_none_are_replaced_are_told_so() {
    let rows = [
        r#"{"task": {"name": "main", "executor": {"type": "echo"}, "timeout": "{{ workflow.parameters.region }}"}}"#,
        r#"{"task": {"name": "main", "executor": {"type": "echo"}, "retry": {"limit": "{{ workflow.parameters.region }}"}}}"#,
        r#"{"dag": {"name": "main", "tasks": [{"name": "a", "template": "{{ workflow.parameters.region }}"}]}}"#,
        r#"{"dag": {"name": "main", "tasks": [{"name": "a", "template": "work", "dependencies": ["{{ item }}"]}]}}"#,
    ];
    for templates in rows {
        let (message, hint) = only(templates);
        assert_eq!(hint, "no `{{ }}` is replaced here: write the value itself", "{message}");
    }
}
