//! The values of a run's parameters.

use crate::{expr::Env, path::Path};

use super::*;

/// `workflow.name` and nothing else.
struct World;

impl Env for World {
    fn get(&self, path: &[Arc<str>]) -> Value {
        let words: Vec<&str> = path.iter().map(|word| &**word).collect();
        if words == ["workflow", "name"] { "test".into() } else { Value::Null }
    }
}

/// Names with their values as JSON, or codes with paths and messages.
type Bound = Result<Vec<(String, String)>, Vec<(&'static str, String, String)>>;

fn bind(parameters: &str, given: &str) -> Bound {
    let text = format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "test"}}, "spec": {{"entrypoint": "main",
            "arguments": {{"parameters": {parameters}}}, "templates": [{{"task": {{"name": "main", "executor": {{"type": "echo"}}}}}}]}}}}"#
    );
    let plan = Draft::read(&Tree::from(&Value::from_json(&text).unwrap()))
        .plan(&Executors::any(), &Value::Null)
        .unwrap();
    let given = Value::from_json(given).unwrap().as_object().unwrap().clone();
    let bound = bind_arguments(&plan, &given, &World);
    bound
        .map(|bound| {
            bound.values.into_iter().map(|(name, value)| (name.to_string(), value.to_json())).collect()
        })
        .map_err(|problems| problems.into_iter().map(|p| (p.code, p.path, p.message)).collect())
}

fn binds(parameters: &str, given: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> =
        expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    assert_eq!(bind(parameters, given), Ok(expected), "{parameters} {given}");
}

/// R-B5.
#[test]
fn what_is_given_comes_first_and_null_falls_through() {
    let declared = r#"[{"name": "a", "value": 1, "default": 2}]"#;
    binds(declared, "{}", &[("a", "1")]);
    binds(declared, r#"{"a": 9}"#, &[("a", "9")]);
    binds(declared, r#"{"a": null}"#, &[("a", "1")]);
    binds(r#"[{"name": "a", "value": null, "default": 2}]"#, "{}", &[("a", "2")]);
    binds(r#"[{"name": "a", "value": null}]"#, "{}", &[("a", "null")]);
    binds(r#"[{"name": "a"}]"#, r#"{"a": null}"#, &[("a", "null")]);
    binds(
        r#"[{"name": "a", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]"#,
        "{}",
        &[("a", "null")],
    );
}

#[test]
fn values_see_the_world_and_what_is_bound_before() {
    let declared = r#"[{"name": "a", "value": "{{ workflow.name }}-x"},
        {"name": "b", "valueFrom": {"expression": "workflow.parameters.a + '!'"}},
        {"name": "c", "default": "{{ workflow.arguments.parameters.b }}"}]"#;
    binds(declared, "{}", &[("a", r#""test-x""#), ("b", r#""test-x!""#), ("c", r#""test-x!""#)]);
    binds(declared, r#"{"a": "y"}"#, &[("a", r#""y""#), ("b", r#""y!""#), ("c", r#""y!""#)]);
}

#[test]
fn all_problems_come_at_once() {
    let declared = r#"[{"name": "count", "type": "integer"}, {"name": "level", "enum": ["low", "high"]}, {"name": "needed"},
        {"name": "sum", "value": "{{ 1 / 0 }}"}]"#;
    let found = bind(declared, r#"{"count": "3", "level": "medium", "lvl": 1}"#).unwrap_err();
    let at =
        |index: usize| Path::root().key("spec").key("arguments").key("parameters").index(index).to_string();
    let codes: Vec<_> = found.iter().map(|(code, path, _)| (*code, path.clone())).collect();
    assert_eq!(
        codes,
        [
            ("P051", "spec.arguments.parameters".to_owned()),
            ("P035", at(0)),
            ("P036", at(1)),
            ("P052", at(2)),
            ("P053", at(3)),
        ]
    );
    assert_eq!(found[0].2, "unknown parameter `lvl`; expected `count`, `level`, `needed` or `sum`");
    assert_eq!(found[1].2, "parameter `count`: found string; expected a value of type integer");
}
