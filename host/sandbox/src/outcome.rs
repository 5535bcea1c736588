//! Conversion of the result of a call to the outcome of its attempt.

use std::sync::Arc;

use phasm_engine::{
    outcome::{Outcome, Output, code},
    text,
    usage::ResourceUsage,
    value::{JsonError, Value},
};

use super::{
    attempt_context::AttemptContext,
    bindings::{self, phasm::executor::types::NamedValueResult},
    call_context::CallContext,
    call_result::CallResult,
    capability::refusals,
    executor::Observer,
    limits::Limit,
    poll_state::so_far,
    transcript::Transcript,
};

/// Maximum length of an output's name, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// Returns an empty transcript within the limits of the attempt.
pub(super) fn transcript(observer: Arc<dyn Observer>, attempt: &AttemptContext) -> Transcript {
    Transcript::new(observer, attempt.ceilings.ceiling(Limit::Log), attempt.limits.line)
}

/// Returns the engine's view of the result of a call. It ends the transcript.
pub(super) fn conclude(call: CallResult, transcript: &Transcript, context: &CallContext) -> Outcome {
    let stderr = transcript.finish();
    let attempt = &context.attempt;
    let mut outcome = match call.result {
        Ok(outcome) => read(outcome, attempt).unwrap_or_else(Outcome::error),
        Err(fault) => {
            context.sandbox.faults.add(&fault);
            // The outcome of an attempt that met its deadline is not passed on.
            transcript.used(so_far(call.metered));
            fault.outcome(&stderr, attempt.owner())
        }
    };
    outcome.message = transcript.brief(&outcome.message);
    if !matches!(outcome.code, code::SUCCEEDED | code::SUSPENDED) {
        let summary = call.refusals.summary(&outcome.message);
        outcome.message = refusals::explain(outcome.message, &summary);
    }
    outcome.metered = call.metered;
    outcome
}

/// Reads the outcome that a guest returned. Sizes are checked first, so that nothing too large is ever parsed.
fn read(outcome: bindings::Outcome, attempt: &AttemptContext) -> Result<Outcome, String> {
    let bindings::Outcome { code, message, outputs, detail } = outcome;
    let met = |limit| Err(attempt.ceilings.exceeded(limit).message(attempt.owner()));
    let values: usize = outputs.iter().map(|output| output.name.len() + output.value.len()).sum();
    let size = values + message.len() + detail.as_ref().map_or(0, String::len);
    if size as u64 > attempt.ceilings.most(Limit::Output) {
        return met(Limit::Output);
    }
    let texts = outputs.iter().map(|output| &output.value).chain(&detail);
    if texts.map(|text| most_values(text)).sum::<usize>() as u64 > attempt.ceilings.most(Limit::OutputValues)
    {
        return met(Limit::OutputValues);
    }
    let outputs = outputs.into_iter().map(output).collect::<Result<_, _>>()?;
    let detail = detail.map(|text| object(&text)).transpose()?;
    Ok(Outcome { code, message: message.into(), outputs, detail, metered: ResourceUsage::default() })
}

/// Returns an upper bound on the number of values in a JSON text, without parsing it: a value takes many times more memory than
/// the text `[],`.
fn most_values(text: &str) -> usize {
    let (mut values, mut quoted, mut escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' | b'[' | b'{' if !quoted => values += 1,
            _ => {}
        }
    }
    values
}

fn output(NamedValueResult { name, value }: NamedValueResult) -> Result<Output, String> {
    if name.is_empty() {
        return Err("an output has an empty name; expected a name".to_owned());
    }
    if name.len() > MAX_NAME_BYTES || name.contains(text::is_hidden) {
        let name = text::brief(&name);
        return Err(format!(
            "an output is called {name:?}; expected up to {MAX_NAME_BYTES} bytes that people can see"
        ));
    }
    let value = Value::from_json(&value)
        .map_err(|error| format!("output `{name}` {}", fault(&error, "one JSON value")))?;
    Ok(Output { name: name.into(), value })
}

fn object(text: &str) -> Result<Value, String> {
    let value = Value::from_json(text).map_err(|error| format!("detail {}", fault(&error, "an object")))?;
    if value.as_object().is_none() {
        return Err(format!("detail is of type {}; expected an object", value.type_name()));
    }
    Ok(value)
}

/// The fault of a text that is no value.
fn fault(error: &JsonError, expected: &str) -> String {
    match error {
        JsonError::Syntax(error) => format!("is not JSON: {error}; expected {expected}"),
        JsonError::Number(complaint) => format!("cannot be kept: {complaint}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I29.
    #[test]
    fn values_are_counted_without_parsing_and_never_too_few() {
        for (text, values) in [
            ("1", 1),
            ("[]", 2),
            ("[[],[]]", 5),
            (r#"{"a": 1, "b": [2, 3]}"#, 5),
            (r#"",[{\",[""#, 1),
            (r#"["\\", 1]"#, 3),
        ] {
            assert_eq!(most_values(text), values, "{text}");
        }
    }
}
