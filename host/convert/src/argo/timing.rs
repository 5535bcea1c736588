//! Durations and retries.

use crate::{expression::expression, fields::Field, names::parameter, yaml::Output};

use super::Place;

/// Returns the reference to a parameter of the workflow that a text consists of; none for any other text.
fn workflow_parameter(field: &Field<'_>) -> Option<String> {
    let text = field.peek()?;
    let inside = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    match inside.trim().split('.').collect::<Vec<_>>().as_slice() {
        ["workflow", "parameters", name] if !name.is_empty() => {
            Some(format!("workflow.parameters.{}", parameter(name)))
        }
        _ => None,
    }
}

/// Returns a whole number above 0, or the number in a parameter of the workflow.
pub(super) fn as_count(field: &Field<'_>) -> Option<Output> {
    if let Some(reference) = workflow_parameter(field) {
        return Some(Output::Text(format!("{{{{ {reference} | int }}}}")));
    }
    let number: i64 = field.peek()?.trim().parse().ok()?;
    (number >= 1).then(|| number.into())
}

/// Uses a whole number above 0, or the number in a parameter of the workflow.
pub(super) fn count(field: &Field<'_>) -> Option<Output> {
    let count = as_count(field)?;
    field.used();
    Some(count)
}

/// Uses a number of seconds, or that in a parameter of the workflow.
pub(super) fn seconds(field: &Field<'_>) -> Option<String> {
    if let Some(reference) = workflow_parameter(field) {
        field.used();
        return Some(format!("{{{{ {reference} }}}}s"));
    }
    let seconds: i64 = field.peek()?.trim().parse().ok()?;
    if !(1..=1_000_000_000).contains(&seconds) {
        return None;
    }
    field.used();
    Some(format!("{seconds}s"))
}

/// Advice on a duration that a parameter has.
pub(super) const WITHOUT_UNIT: &str =
    "a number without a unit is milliseconds in Phasm: append a unit to the parameter's value";

/// Uses a duration, in which a number without a unit is seconds, or that in a parameter of the workflow.
pub(super) fn duration(field: &Field<'_>) -> Option<String> {
    if let Some(reference) = workflow_parameter(field) {
        field.used();
        field.note(WITHOUT_UNIT);
        return Some(format!("{{{{ {reference} }}}}"));
    }
    seconds(field).or_else(|| {
        let text = field.peek()?;
        phasm_engine::duration::parse(text.trim()).ok()?;
        let has_unit = text.contains(|c: char| c.is_ascii_alphabetic());
        has_unit.then(|| field.used())?;
        Some(text.trim().to_owned())
    })
}

/// Converts `retryStrategy`.
pub(super) fn retry(strategy: &Field<'_>) -> Output {
    let mut out = Output::Map(Vec::new());
    if strategy.members().is_empty() {
        strategy.used();
    }
    let limit = strategy.get("limit");
    let reference = limit.as_ref().and_then(workflow_parameter);
    let attempts = match &limit {
        None => -1,
        Some(field) if reference.is_some() => {
            field.used();
            1
        }
        Some(field) => match field.peek().and_then(|text| text.trim().parse::<i64>().ok()) {
            Some(limit) if (0..=1_000_000).contains(&limit) => {
                field.used();
                limit + 1
            }
            _ => {
                field.leave("write the number of attempts as `retry.attempts`");
                1
            }
        },
    };
    match reference {
        Some(reference) => out.put("attempts", format!("{{{{ ({reference} | int) + 1 }}}}")),
        None => out.put("attempts", attempts),
    }
    backoff(strategy, attempts, &mut out);
    let filter = strategy.get("expression");
    let mut place = Place { is_retry: true, ..Place::default() };
    let mut conditions = Vec::new();
    if let Some(field) = &filter
        && let Some(text) = field.peek()
    {
        match expression(&text, &mut |path| place.path(path)) {
            Some(converted) => {
                field.used();
                conditions.push(converted);
            }
            None => field.leave("write `retry.when`, which sees `code`, `phase`, `msg` and `retries`"),
        }
    }
    let policy = strategy.get("retryPolicy");
    let default = if filter.is_some() { "Always" } else { "OnFailure" };
    let written = policy.as_ref().and_then(Field::peek);
    let phases = match written.as_deref().unwrap_or(default) {
        "Always" => Some("true"),
        "OnError" => Some("phase == 'Error'"),
        "OnFailure" => Some("phase in ['Failed', 'Timeout']"),
        _ => None,
    };
    match (&policy, phases) {
        (Some(policy), None) => policy.leave("write `retry.when`; without one Error and Timeout are retried"),
        (Some(policy), Some(_)) => policy.used(),
        (None, _) => {}
    }
    if let Some(phases) = phases
        && (phases != "true" || conditions.is_empty())
    {
        conditions.push(phases.to_owned());
    }
    let conditions = match conditions.as_slice() {
        [one] => one.clone(),
        all => all.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" && "),
    };
    if !conditions.is_empty() {
        out.put("when", conditions);
    }
    out
}

fn backoff(strategy: &Field<'_>, attempts: i64, out: &mut Output) {
    let Some(backoff) = strategy.get("backoff") else {
        if attempts < 0 {
            // Unlimited attempts need a delay.
            out.put("delay", "1ms");
        }
        return;
    };
    let delay = backoff.get("duration").and_then(|field| duration(&field));
    if delay.is_some() || attempts < 0 {
        out.put("delay", delay.unwrap_or_else(|| "1ms".to_owned()));
    }
    if let Some(field) = backoff.get("factor")
        && let Some(factor) = field.peek().and_then(|text| text.trim().parse::<f64>().ok())
        && factor > 0.0
        && factor.is_finite()
    {
        field.used();
        let whole = field.int();
        let number = serde_json::Number::from_f64(factor).map(Output::Number);
        out.put("backoff", whole.map(Output::from).or(number).unwrap_or(Output::Null));
    }
    if let Some(cap) = backoff.get("cap").and_then(|field| duration(&field)) {
        out.put("maxDelay", cap);
    }
}
