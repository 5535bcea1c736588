//! Conversions between the world's types and the author's function.

use std::time::Duration;

use serde_json::Value;

use crate::{
    Call, FromInputs, Inputs, IntoOutcome, Invocation, Json, Outcome,
    bindings::{self, phasm::executor::types::NamedValue},
    schema::Schema,
};

/// Executes an invocation of the world.
pub fn execute<I: FromInputs, R: IntoOutcome>(
    executor: impl Fn(Call<I>) -> R,
    invocation: bindings::Invocation,
) -> bindings::Outcome {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|panic| crate::log(crate::Level::Error, &panic.to_string())));
    call(executor, invocation.into()).into()
}

/// Calls the author's function, or returns the outcome of inputs that do not fit.
pub(crate) fn call<I: FromInputs, R: IntoOutcome>(
    executor: impl Fn(Call<I>) -> R,
    invocation: Invocation,
) -> Outcome {
    match invocation.typed() {
        Ok(call) => executor(call).into_outcome(),
        Err(problems) => problems.into(),
    }
}

/// Returns the schema of an executor's inputs, where the type of its function has one.
#[must_use]
pub const fn inputs_schema<I: FromInputs, R>(_: fn(Call<I>) -> R) -> Option<&'static Schema> {
    I::SCHEMA
}

impl From<bindings::Invocation> for Invocation {
    fn from(from: bindings::Invocation) -> Self {
        Self {
            inputs: from
                .inputs
                .into_iter()
                .map(|input| (input.name, Json::from_text(input.value)))
                .collect::<Inputs>(),
            config: Json::from_text(from.config),
            run_id: from.run_id,
            workflow: from.workflow,
            namespace: from.namespace,
            task_run_id: from.task_run_id,
            task: from.task,
            attempt: from.attempt,
            dispatch: from.dispatch,
            resumed: from.resumed,
            remaining: from.remaining_ms.map(Duration::from_millis),
            idempotency_key: from.idempotency_key,
        }
    }
}

impl From<Outcome> for bindings::Outcome {
    fn from(from: Outcome) -> Self {
        let named = |(name, json): (String, Json)| NamedValue { name, value: json.into_text() };
        let detail = (!from.detail.is_empty()).then(|| Value::Object(from.detail).to_string());
        Self {
            code: from.code.into(),
            message: from.message,
            outputs: from.outputs.into_iter().map(named).collect(),
            detail,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(name: &str, value: &str) -> NamedValue {
        NamedValue { name: name.to_owned(), value: value.to_owned() }
    }

    fn invocation() -> bindings::Invocation {
        bindings::Invocation {
            run_id: "run".to_owned(),
            workflow: "w".to_owned(),
            namespace: "n".to_owned(),
            task_run_id: "run/t".to_owned(),
            task: "t".to_owned(),
            attempt: 2,
            dispatch: 3,
            resumed: true,
            remaining_ms: Some(1_500),
            idempotency_key: "key".to_owned(),
            config: r#"{"c":1}"#.to_owned(),
            inputs: vec![named("a", "1.0")],
        }
    }

    #[test]
    fn every_field_of_the_invocation_arrives() {
        let outcome = execute(
            |call: Call| {
                let texts = [
                    call.run_id,
                    call.workflow,
                    call.namespace,
                    call.task_run_id,
                    call.task,
                    call.idempotency_key,
                ];
                let numbers = (call.attempt, call.dispatch, call.resumed, call.remaining, call.config);
                assert_eq!(texts, ["run", "w", "n", "run/t", "t", "key"]);
                let remaining = Some(Duration::from_millis(1_500));
                assert_eq!(numbers, (2, 3, true, remaining, Json::from_text(r#"{"c":1}"#)));
                Outcome { outputs: call.inputs.into_iter().collect(), ..Outcome::succeeded() }
            },
            invocation(),
        );
        let [output] = <[NamedValue; 1]>::try_from(outcome.outputs).unwrap();
        assert_eq!((output.name.as_str(), output.value.as_str()), ("a", "1.0"));
    }

    #[test]
    fn every_field_of_the_outcome_leaves() {
        let answer = || Outcome::new(7, "why").output("o", [1]).kind("k");
        let outcome = execute(|_: Call| answer(), invocation());
        assert_eq!((outcome.code, outcome.message.as_str()), (7, "why"));
        assert_eq!(outcome.detail, Some(json!({ "error": { "kind": "k" } }).to_string()));
        assert_eq!(execute(|_: Call| (), invocation()).detail, None);
    }
}
