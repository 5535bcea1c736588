//! Every expression of the seeds, verbatim, with environments for both truth values.

use std::sync::Arc;

use phasm_engine::{
    expr::{Doubts, Env, Expr, ValueTemplate},
    tree::Tree,
    value::Value,
};

/// A JSON value as an environment.
struct Json(Value);

impl Json {
    fn new(text: &str) -> Self {
        Self(Value::from_json(text).unwrap_or_else(|error| panic!("{error} in {text}")))
    }
}

impl Env for Json {
    fn get(&self, path: &[Arc<str>]) -> Value {
        path.iter().try_fold(&self.0, |value, segment| value.member(segment)).cloned().unwrap_or_default()
    }
}

/// Expression, an environment where it is true, one where it is false.
const CONDITIONS: [(&str, &str, &str); 13] = [
    // Seed 000.
    (
        "tasks.flaky.phase != 'Succeeded'",
        r#"{"tasks":{"flaky":{"phase":"Failed"}}}"#,
        r#"{"tasks":{"flaky":{"phase":"Succeeded"}}}"#,
    ),
    (
        "tasks.doomed.phase != 'Succeeded'",
        r#"{"tasks":{"doomed":{"phase":"Error"}}}"#,
        r#"{"tasks":{"doomed":{"phase":"Succeeded"}}}"#,
    ),
    // Seed 001.
    (
        "tasks.run.code == 0 || tasks.run.code == 4",
        r#"{"tasks":{"run":{"code":4}}}"#,
        r#"{"tasks":{"run":{"code":3}}}"#,
    ),
    (
        "tasks.run.code == 1 || tasks.run.code == 2",
        r#"{"tasks":{"run":{"code":1}}}"#,
        r#"{"tasks":{"run":{"code":0}}}"#,
    ),
    // Seed 002.
    (
        "{{ outcome.status == 'error' and outcome.http.status in [429,500,502,503,504] }}",
        r#"{"outcome":{"status":"error","http":{"status":503}}}"#,
        r#"{"outcome":{"status":"error","http":{"status":404}}}"#,
    ),
    (
        "{{ outcome.status == 'error' and outcome.http.status in [429,500,502,503,504] }}",
        r#"{"outcome":{"status":"error","http":{"status":429.0}}}"#,
        r#"{"outcome":{"status":"error"}}"#,
    ),
    (
        "{{ outcome.status == 'error' }}",
        r#"{"outcome":{"status":"error"}}"#,
        r#"{"outcome":{"status":"ok"}}"#,
    ),
    (
        "{{ outcome.status == 'error' and outcome.http.status in [401,403] }}",
        r#"{"outcome":{"status":"error","http":{"status":401}}}"#,
        r#"{"outcome":{"status":"ok","http":{"status":401}}}"#,
    ),
    (
        "{{ outcome.status == 'error' and outcome.pg.code in ['40001','40P01'] }}",
        r#"{"outcome":{"status":"error","pg":{"code":"40P01"}}}"#,
        r#"{"outcome":{"status":"error","pg":{"code":40001}}}"#,
    ),
    (
        "{{ outcome.status == 'error' and 'timeout' in (outcome.error.message|lower) }}",
        r#"{"outcome":{"status":"error","error":{"message":"Read TIMEOUT after 5 s"}}}"#,
        r#"{"outcome":{"status":"error","error":{"message":"refused"}}}"#,
    ),
    (
        "{{ outcome.status == 'error' and 'timeout' in (outcome.error.message|lower) }}",
        r#"{"outcome":{"status":"error","error":{"message":"timeout"}}}"#,
        r#"{"outcome":{"status":"error","error":null}}"#,
    ),
    ("{{ status_code >= 500 }}", r#"{"status_code":500}"#, r#"{"status_code":499}"#),
    (
        "{{ outcome.status == 'error' and outcome.http.status >= 500 }}",
        r#"{"outcome":{"status":"error","http":{"status":599}}}"#,
        r#"{"outcome":{"status":"error","http":{}}}"#,
    ),
];

#[test]
fn conditions_of_the_seeds_take_both_values() {
    for (text, true_in, false_in) in CONDITIONS {
        let expr =
            Expr::compile(text).unwrap_or_else(|error| panic!("{error} at {} in {text}", error.offset));
        assert_eq!(expr.test(&Json::new(true_in), &mut Doubts::default()), Ok(true), "{text} in {true_in}");
        assert_eq!(
            expr.test(&Json::new(false_in), &mut Doubts::default()),
            Ok(false),
            "{text} in {false_in}"
        );
    }
}

#[test]
fn placeholders_of_the_seeds_keep_types_and_fill_texts() {
    let env = Json::new(
        r#"{"workload":{"api_url":"http://x","page_size":50},"iter":{"page":3},"_prev":{"rows":[1]},"workflow":{}}"#,
    );
    for (text, expected) in [
        ("{{ workload.api_url }}/items", r#""http://x/items""#),
        ("{{ workload.api_url }}/api/v1/items", r#""http://x/api/v1/items""#),
        ("{{ iter.page }}", "3"),
        ("{{ workload.page_size }}", "50"),
        ("{{ _prev }}", r#"{"rows":[1]}"#),
    ] {
        let tree = Tree::from(&Value::from(text));
        let bound = ValueTemplate::compile(&tree, false).unwrap().eval(&env, &mut Doubts::default()).unwrap();
        assert_eq!(bound.to_json(), expected, "{text}");
    }
}
