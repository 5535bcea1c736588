//! `retry` in the spellings of Aether and Steep (SPEC section 4).

use crate::{
    plan::catalogue::{shape, values},
    retry::{Backoff, Growth, MaxAttempts},
    time::Millis,
    tree::Node,
};

use super::{
    ExprDoc, Report,
    field::{integer, number, pause},
    walk::{Cursor, Object},
};

/// `retry`, not yet knowing whose names its expression sees.
#[derive(Clone, Debug)]
pub(crate) struct RetryDoc {
    pub(crate) max_attempts: MaxAttempts,
    pub(crate) backoff: Backoff,
    /// Absent: the spelling's default filter.
    pub(crate) expression: Option<ExprDoc>,
    /// Whether Failed is tried again when there is no expression (Steep's default).
    pub(crate) failed_too: bool,
    pub(crate) jitter: f64,
}

/// Retries that `limit` allows.
const MOST_RETRIES: i128 = 100;

impl RetryDoc {
    pub(super) fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        if object.has("max_attempts") || object.has("retry_when") {
            report_legacy(cursor, &mut object, report);
            return None;
        }
        if object.has("limit") && object.has("maxAttempts") {
            let message = "`limit` and `maxAttempts` together; expected one of them";
            let problem = cursor.problem(&values::TWO_RETRIES, message);
            report.problem(
                problem.with_hint("`limit: 2` and `maxAttempts: 3` mean the same: three attempts in all"),
            );
        }
        let steep = object.has("maxAttempts") || !object.has("limit") && has_steep_field(&object);
        let limit = object.optional("limit", |cursor, report| count(cursor, report, 0, MOST_RETRIES));
        let attempts =
            object.optional("maxAttempts", |cursor, report| count(cursor, report, -1, i128::from(u32::MAX)));
        let max_attempts = match (limit, attempts) {
            (Some(limit), _) => MaxAttempts::Limited(u32::try_from(limit).unwrap_or(0).saturating_add(1)),
            (None, Some(-1)) => MaxAttempts::Unlimited,
            (None, Some(attempts)) => MaxAttempts::Limited(u32::try_from(attempts).unwrap_or(1)),
            (None, None) => MaxAttempts::Limited(1),
        };
        let retry = Self {
            max_attempts,
            backoff: backoff(&mut object, max_attempts),
            expression: object.optional("expression", ExprDoc::read),
            failed_too: steep,
            jitter: object.optional("jitter", jitter).unwrap_or(0.0),
        };
        object.finish();
        Some(retry)
    }
}

/// With neither count written, the other fields tell whose default filter the author knows; one attempt follows anyway.
fn has_steep_field(object: &Object<'_, '_>) -> bool {
    ["delay", "exponentialBackoff", "maxDelay"].iter().any(|field| object.has(field))
}

fn backoff(object: &mut Object<'_, '_>, max_attempts: MaxAttempts) -> Backoff {
    let delay = object.optional("delay", pause).unwrap_or(0);
    // R-R3: without end, at least 1 ms lies between two attempts.
    let least: Millis = u64::from(max_attempts == MaxAttempts::Unlimited);
    Backoff {
        delay: delay.max(least),
        growth: Growth::Factor(object.optional("exponentialBackoff", factor).unwrap_or(1.0)),
        max_delay: object.optional("maxDelay", pause).map(|most| most.max(least)),
    }
}

pub(super) fn count(cursor: &Cursor<'_>, report: &Report, least: i128, most: i128) -> Option<i128> {
    if let Node::Number(number) = &cursor.tree.node
        && number.as_f64().is_some_and(|found| found.fract() != 0.0)
    {
        report.problem(cursor.problem(&values::COUNT, format!("found {number}; expected a whole number")));
        return None;
    }
    let found = integer(cursor, report)?;
    if (least..=most).contains(&found) {
        return Some(found);
    }
    let unlimited = if least == -1 { " (-1 is unlimited)" } else { "" };
    let message = format!("found {found}; expected a whole number from {least} to {most}{unlimited}");
    report.problem(cursor.problem(&values::COUNT, message));
    None
}

fn factor(cursor: &Cursor<'_>, report: &Report) -> Option<f64> {
    let factor = number(cursor, report)?;
    if factor > 0.0 {
        return Some(factor);
    }
    report
        .problem(cursor.problem(&shape::OUT_OF_RANGE, format!("found {factor}; expected a number above 0")));
    None
}

fn jitter(cursor: &Cursor<'_>, report: &Report) -> Option<f64> {
    let jitter = number(cursor, report)?;
    if (0.0..=1.0).contains(&jitter) {
        return Some(jitter);
    }
    report.problem(
        cursor.problem(&shape::OUT_OF_RANGE, format!("found {jitter}; expected a number from 0 to 1")),
    );
    None
}

/// Seed 002 section 8: prints the rules that do the same.
fn report_legacy(cursor: &Cursor<'_>, object: &mut Object<'_, '_>, report: &Report) {
    let text = |cursor: Option<Cursor<'_>>| cursor.map(|cursor| cursor.tree.to_value());
    let attempts = text(object.get("max_attempts")).map_or_else(|| "3".to_owned(), |value| value.to_json());
    let when = text(object.get("retry_when"));
    let when = when.as_ref().and_then(crate::value::Value::as_str).unwrap_or("");
    let inner = when.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
    let condition = inner.replace("status_code", "outcome.http.status");
    let and = if condition.is_empty() { String::new() } else { format!(" and {condition}") };
    let hint = format!(
        "write\npolicy:\n  rules:\n  - when: \"{{{{ outcome.status == 'error'{and} }}}}\"\n    then: {{ do: retry, attempts: \
         {attempts}, backoff: exponential, delay: 1.0 }}\n  - when: \"{{{{ outcome.status == 'error' }}}}\"\n    then: {{ do: fail \
         }}\n  - else:\n      then: {{ do: continue }}"
    );
    let message = "NoETL's legacy retry; expected policy rules";
    report.problem(cursor.problem(&values::LEGACY_RETRY, message).with_hint(hint));
}
