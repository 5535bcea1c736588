//! Calls an executor natively, in an ordinary unit test.
//!
//! ```
//! use phasm_sdk::{prelude::*, testing::{HostCall, Test}};
//!
//! fn approve(call: Call) -> Outcome {
//!     progress(0.5, "asking");
//!     if call.resumed { Outcome::succeeded() } else { Outcome::suspended("a yes") }
//! }
//!
//! let asked = Test::new().run(approve);
//! assert_eq!(asked.outcome, Outcome::suspended("a yes"));
//! assert_eq!(asked.host, [HostCall::Progress(Some(0.5), "asking".to_owned())]);
//! assert_eq!(Test::new().resumed().run(approve).outcome.code, ExecCode::Succeeded);
//! ```

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;
use serde_json::Value;

pub use crate::recorder::HostCall;
use crate::{
    Call, FromInputs, Inputs, IntoOutcome, Invocation, Json, Outcome, call::RESUMED_BY, guest, recorder,
};

/// Result of a tested call.
#[derive(Clone, Debug, PartialEq)]
pub struct TestRun {
    /// Outcome that the host would get.
    pub outcome: Outcome,
    /// Calls to the host, in order.
    pub host: Vec<HostCall>,
}

/// An invocation in the making: the first attempt of the task `test`, without inputs, config or deadline.
#[derive(Clone, Debug)]
pub struct Test(Invocation, Option<String>);

/// Calls `executor` with the fields of `inputs`, an object.
pub fn call<I: FromInputs, R: IntoOutcome>(executor: impl Fn(Call<I>) -> R, inputs: Value) -> Outcome {
    Test::new().inputs(inputs).run(executor).outcome
}

impl Default for Test {
    fn default() -> Self {
        Self::new()
    }
}

impl Test {
    /// Returns an invocation without inputs.
    #[must_use]
    pub fn new() -> Self {
        Self(
            Call {
                inputs: Inputs::default(),
                config: Json::from_text("{}"),
                run_id: "run".to_owned(),
                workflow: "test".to_owned(),
                namespace: "default".to_owned(),
                task_run_id: "run/test".to_owned(),
                task: "test".to_owned(),
                attempt: 1,
                dispatch: 1,
                resumed: false,
                remaining: None,
                idempotency_key: "run/test/1/1".to_owned(),
            },
            None,
        )
    }

    /// Adds each field of `inputs`, an object.
    #[must_use]
    pub fn inputs(self, inputs: Value) -> Self {
        let Value::Object(inputs) = inputs else { return self };
        inputs.into_iter().fold(self, |test, (name, value)| test.input_json(&name, value.into()))
    }

    /// Adds an input.
    #[must_use]
    pub fn input(self, name: &str, value: impl Serialize) -> Self {
        let json = Json::of(&value).unwrap_or_else(|_| Json::from_text("null"));
        self.input_json(name, json)
    }

    /// Adds an input as JSON text.
    #[must_use]
    pub fn input_json(mut self, name: &str, json: Json) -> Self {
        self.0.inputs = self.0.inputs.into_iter().chain([(name.to_owned(), json)]).collect();
        self
    }

    /// Sets `executor.config`.
    #[must_use]
    pub fn config(mut self, config: Value) -> Self {
        self.0.config = config.into();
        self
    }

    /// Sets the attempt's number, and the dispatch's to the same.
    #[must_use]
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.0.attempt = attempt;
        self.0.dispatch = attempt;
        self
    }

    /// Makes it the second dispatch, after a suspension.
    #[must_use]
    pub fn resumed(mut self) -> Self {
        self.0.resumed = true;
        self.0.dispatch += 1;
        self
    }

    /// Makes it the second dispatch, after a suspension that this caller has resumed.
    #[must_use]
    pub fn resumed_by(self, caller: &str) -> Self {
        let Self(call, _) = self.resumed();
        Self(call, Some(caller.to_owned()))
    }

    /// Sets the time left.
    #[must_use]
    pub fn remaining(mut self, remaining: Duration) -> Self {
        self.0.remaining = Some(remaining);
        self
    }

    /// Calls `executor` as the host would.
    #[must_use]
    pub fn run<I: FromInputs, R: IntoOutcome>(self, executor: impl Fn(Call<I>) -> R) -> TestRun {
        recorder::take();
        let Self(mut call, by) = self;
        if call.resumed {
            call.config = with_caller(&call.config, by);
        }
        let outcome = guest::call(executor, call);
        TestRun { outcome, host: recorder::take() }
    }
}

/// The configuration as a host passes it to a resumed attempt.
fn with_caller(config: &Json, by: Option<String>) -> Json {
    let mut config: BTreeMap<String, Json> = config.parse().unwrap_or_default();
    config.insert(RESUMED_BY.to_owned(), by.map_or(Value::Null, Value::from).into());
    Json::of(&config).unwrap_or_else(|_| Json::from_text("{}"))
}
