//! What an execution came to.

use std::{error::Error, fmt::Display};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::Json;

/// The executor's word on how it went. The engine alone maps it to a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecCode {
    /// 0: done.
    Succeeded,
    /// 1: waits for a resume; the outputs so far are kept.
    Suspended,
    /// 2: the answer is no, and would be no again. Not retried by default.
    Failed,
    /// 3: misuse or a fault.
    Error,
    /// 4: took too long.
    Timeout,
    /// Any other number: counts as an error and is kept for `phaseConditions`.
    Other(i32),
}

impl From<i32> for ExecCode {
    fn from(code: i32) -> Self {
        match code {
            0 => Self::Succeeded,
            1 => Self::Suspended,
            2 => Self::Failed,
            3 => Self::Error,
            4 => Self::Timeout,
            other => Self::Other(other),
        }
    }
}

impl From<ExecCode> for i32 {
    fn from(code: ExecCode) -> Self {
        match code {
            ExecCode::Succeeded => 0,
            ExecCode::Suspended => 1,
            ExecCode::Failed => 2,
            ExecCode::Error => 3,
            ExecCode::Timeout => 4,
            ExecCode::Other(other) => other,
        }
    }
}

/// Code, message, outputs and detail of one execution; also the error type of an executor's own functions.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Outcome {
    /// How it went.
    pub code: ExecCode,
    /// A sentence for people; may be empty.
    pub message: String,
    /// Outputs by name; of equal names the last wins.
    pub outputs: Vec<(String, Json)>,
    /// More about the result, read by policy rules: `error.{kind, message, code, retryable}` and whatever else.
    pub detail: Map<String, Value>,
}

/// What an executor's functions return: an [`Outcome`] either way, so that `?` leaves with one.
pub type Result<T = Outcome, E = Outcome> = std::result::Result<T, E>;

impl Outcome {
    /// An outcome with any code.
    pub fn new(code: impl Into<ExecCode>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), outputs: Vec::new(), detail: Map::new() }
    }

    /// Code 0.
    pub fn succeeded() -> Self {
        Self::new(ExecCode::Succeeded, "")
    }

    /// Code 1: waits for a resume, saying what for. The executor is then called again with `resumed` set.
    pub fn suspended(waits_for: impl Into<String>) -> Self {
        Self::new(ExecCode::Suspended, waits_for)
    }

    /// Code 2: a negative that was to be expected, such as a file that is not there.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::new(ExecCode::Failed, why)
    }

    /// Code 3: misuse or a fault.
    pub fn error(why: impl Into<String>) -> Self {
        Self::new(ExecCode::Error, why)
    }

    /// Code 4: took too long.
    pub fn timeout(why: impl Into<String>) -> Self {
        Self::new(ExecCode::Timeout, why)
    }

    /// Adds an output. A value without JSON form turns the outcome into an error that names the output.
    pub fn output(self, name: impl Into<String>, value: impl Serialize) -> Self {
        let name = name.into();
        match Json::of(&value) {
            Ok(json) => self.output_json(name, json),
            Err(why) => Self::error(format!("output `{name}` cannot be written as JSON: {why}")),
        }
    }

    /// Adds an output that is JSON text already.
    pub fn output_json(mut self, name: impl Into<String>, json: Json) -> Self {
        self.outputs.push((name.into(), json));
        self
    }

    /// Replaces the message.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Adds to the detail that policy rules read as `outcome.<key>`.
    pub fn detail(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.detail.insert(key.into(), value.into());
        self
    }

    /// Sets `error.kind`, a word that policy rules can compare.
    pub fn kind(self, kind: &str) -> Self {
        self.error_field("kind", kind)
    }

    /// Sets `error.code`, such as a status of the service that was asked.
    pub fn error_code(self, code: impl Into<Value>) -> Self {
        self.error_field("code", code)
    }

    /// Sets `error.retryable`. Without it the engine takes Error and Timeout for retryable.
    pub fn retryable(self, retryable: bool) -> Self {
        self.error_field("retryable", retryable)
    }

    /// The output called `name`, parsed.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        self.outputs.iter().rev().find(|(n, _)| n == name)?.1.parse().ok()
    }

    fn error_field(mut self, field: &str, value: impl Into<Value>) -> Self {
        let error = self.detail.entry("error").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(error) = error {
            error.insert(field.to_owned(), value.into());
        }
        self
    }
}

/// Code 3, with the error and what caused it.
impl<E: Error> From<E> for Outcome {
    fn from(error: E) -> Self {
        Self::error(with_causes(&error))
    }
}

/// The error's message and its causes', without those that the message already ends with.
fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !message.ends_with(&text) {
            message = format!("{message}: {text}");
        }
        cause = error.source();
    }
    message
}

/// What an executor may return.
pub trait IntoOutcome {
    /// The outcome.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Outcome {
        Outcome::succeeded()
    }
}

impl<T: IntoOutcome, E: Into<Outcome>> IntoOutcome for std::result::Result<T, E> {
    fn into_outcome(self) -> Outcome {
        self.map_or_else(Into::into, IntoOutcome::into_outcome)
    }
}

/// Leaves with an outcome of a chosen code where an error, or nothing, is in the way.
pub trait OrOutcome<T> {
    /// Code 2 with `what` before the cause.
    ///
    /// # Errors
    ///
    /// The outcome, when there is no value.
    fn or_failed(self, what: impl Display) -> Result<T>;

    /// Code 3 with `what` before the cause.
    ///
    /// # Errors
    ///
    /// The outcome, when there is no value.
    fn or_error(self, what: impl Display) -> Result<T>;
}

impl<T, E: Display> OrOutcome<T> for std::result::Result<T, E> {
    fn or_failed(self, what: impl Display) -> Result<T> {
        self.map_err(|why| Outcome::failed(format!("{what}: {why}")))
    }

    fn or_error(self, what: impl Display) -> Result<T> {
        self.map_err(|why| Outcome::error(format!("{what}: {why}")))
    }
}

impl<T> OrOutcome<T> for Option<T> {
    fn or_failed(self, what: impl Display) -> Result<T> {
        self.ok_or_else(|| Outcome::failed(what.to_string()))
    }

    fn or_error(self, what: impl Display) -> Result<T> {
        self.ok_or_else(|| Outcome::error(what.to_string()))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn codes_convert_both_ways() {
        for code in [i32::MIN, -1, 0, 1, 2, 3, 4, 5, i32::MAX] {
            assert_eq!(i32::from(ExecCode::from(code)), code);
        }
        assert_eq!(ExecCode::from(4), ExecCode::Timeout);
        assert_eq!(ExecCode::from(5), ExecCode::Other(5));
    }

    #[test]
    fn an_error_becomes_code_3_with_its_causes() {
        #[derive(Debug)]
        struct Outer(std::num::ParseIntError);
        impl Display for Outer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("no port")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        fn executor() -> Result {
            Err(Outer("x".parse::<u16>().unwrap_err()))?
        }
        assert_eq!(executor().into_outcome(), Outcome::error("no port: invalid digit found in string"));
    }

    #[test]
    fn the_code_of_an_error_can_be_chosen() {
        let not_found: Result<(), &str> = Err("not found");
        assert_eq!(not_found.or_failed("cannot read a"), Err(Outcome::failed("cannot read a: not found")));
        assert_eq!(None::<()>.or_error("no key"), Err(Outcome::error("no key")));
    }

    #[test]
    fn error_fields_gather_in_one_object() {
        let outcome =
            Outcome::failed("gone").kind("http").error_code(410).retryable(false).detail("tries", 2);
        let expected = json!({ "error": { "kind": "http", "code": 410, "retryable": false }, "tries": 2 });
        assert_eq!(Value::Object(outcome.detail), expected);
    }

    #[test]
    fn an_output_without_json_form_is_an_error_that_names_it() {
        let outcome = Outcome::succeeded().output("pairs", std::collections::BTreeMap::from([((1, 2), 3)]));
        assert_eq!(outcome.code, ExecCode::Error);
        assert!(outcome.message.starts_with("output `pairs` cannot"), "{}", outcome.message);
    }

    #[test]
    fn of_equal_names_the_last_wins() {
        let outcome = Outcome::succeeded().output("a", 1).output("a", 2);
        assert_eq!(outcome.get("a"), Some(json!(2)));
        assert_eq!(outcome.get("b"), None);
    }
}
