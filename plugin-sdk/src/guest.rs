//! Between the world's types and the author's function.

use std::time::Duration;

use serde_json::Value;

use crate::{
    Call, FromInputs, Inputs, IntoOutcome, Invocation, Json, Outcome,
    bindings::{self, phasm::executor::types::NamedValue},
};

/// Does what the world's `execute` promises.
pub fn execute<I: FromInputs, R: IntoOutcome>(
    executor: impl Fn(Call<I>) -> R,
    invocation: bindings::Invocation,
) -> bindings::Outcome {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|panic| crate::log(crate::Level::Error, &panic.to_string())));
    call(executor, invocation.into()).into()
}

/// Calls the author's function, or says which inputs it cannot be called with.
pub(crate) fn call<I: FromInputs, R: IntoOutcome>(
    executor: impl Fn(Call<I>) -> R,
    invocation: Invocation,
) -> Outcome {
    match invocation.typed() {
        Ok(call) => executor(call).into_outcome(),
        Err(problems) => problems.into(),
    }
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
