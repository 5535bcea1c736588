//! The language as tables.

mod arithmetic;
mod filters;
mod functions;
mod hostile;
mod idioms;
mod interpolation;
mod limits;
mod reads;
mod reference;
mod semantics;
mod syntax;

use super::*;

/// A JSON value as an environment.
pub(super) struct Json(Value);

impl Json {
    pub(super) fn new(text: &str) -> Self {
        Self(Value::from_json(text).unwrap_or_else(|error| panic!("{error} in {text}")))
    }
}

impl Env for Json {
    fn get(&self, path: &[Arc<str>]) -> Value {
        path.iter().try_fold(&self.0, |value, segment| value.member(segment)).cloned().unwrap_or_default()
    }
}

pub(super) fn compiled(text: &str) -> Expr {
    Expr::compile(text).unwrap_or_else(|error| panic!("{error} at {} in {text}", error.offset))
}

/// Each row: expression, value as JSON text.
#[track_caller]
pub(super) fn check(env: &str, rows: &[(&str, &str)]) {
    let env = Json::new(env);
    for (text, expected) in rows {
        let value = compiled(text)
            .eval(&env, &mut Doubts::default())
            .unwrap_or_else(|error| panic!("{error} in {text}"));
        // Compared by text, because `1` and `1.0` differ.
        assert_eq!(value.to_json(), *expected, "{text}");
    }
}

/// Each row: expression, a part of the error.
#[track_caller]
pub(super) fn check_fails(env: &str, rows: &[(&str, &str)]) {
    let env = Json::new(env);
    for (text, expected) in rows {
        match compiled(text).eval(&env, &mut Doubts::default()) {
            Ok(value) => panic!("{text} is {value}, not an error"),
            Err(EvalError(why)) => assert!(why.contains(expected), "{text}: {why:?} lacks {expected:?}"),
        }
    }
}
