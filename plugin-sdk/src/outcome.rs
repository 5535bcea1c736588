//! Outcome of an execution.

mod code;
mod convert;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::Json;
pub use code::ExecCode;
pub use convert::{IntoOutcome, OrOutcome};

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

/// Result of an executor's functions: an [`Outcome`] either way, so that `?` returns one.
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

    /// Code 1 after a resume: refuses the response and waits for another. The task is as it was before the response; `why` is shown
    /// next to what it waits for.
    pub fn refused(why: impl Into<String>) -> Self {
        let why = why.into();
        Self::suspended(why.clone()).detail("refused", why)
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

    /// Sets `error.retryable`. Without it the engine takes Error and Timeout for retryable. After false, `retry` without a condition
    /// makes no other attempt, but in files of `aether/v1`.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
