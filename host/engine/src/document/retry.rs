//! `retry` in the spellings of Aether and Steep (SPEC section 4).

use crate::{
    plan::catalogue::{shape, values, warnings::NO_EFFECT},
    retry::{Backoff, Growth, MaxAttempts},
    time::Millis,
    tree::Node,
    value::Value,
};

use super::{
    ExprDoc, Report,
    field::{integer, number, pause},
    walk::{Cursor, Object, Site},
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
        if is_legacy(&object) {
            report_legacy(cursor, &mut object, false, report);
            return None;
        }
        if object.has("limit") && object.has("maxAttempts") {
            let message = "`limit` and `maxAttempts` together; expected one of them";
            let problem = cursor.problem(&values::TWO_RETRIES, message);
            report.problem(
                problem.with_hint("`limit: 2` and `maxAttempts: 3` mean the same: three attempts in all"),
            );
        }
        warn_without_effect(&object);
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

/// What is written and does nothing (R-R1, R-R3).
fn warn_without_effect(object: &Object<'_, '_>) {
    let warn = |site: &Site, message: &str, hint: &str| {
        object.report.warning(site.problem(&NO_EFFECT, message).with_hint(hint));
    };
    if !object.has("limit") && !object.has("maxAttempts") {
        let hint = "`limit: 2` and `maxAttempts: 3` mean the same: three attempts in all";
        warn(
            &object.site,
            "no `limit` and no `maxAttempts`, so there is one attempt; expected one of them",
            hint,
        );
    } else if let (Some(site), false) = (object.key_site("maxDelay"), object.has("exponentialBackoff")) {
        let hint = "without it all delays are equal";
        warn(&site, "`maxDelay` caps nothing; expected `exponentialBackoff` beside it", hint);
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

/// Seed 002 section 8: prints the rules that do the same, as `policy` or, in a labelled task, within `spec`.
pub(super) fn report_legacy(
    cursor: &Cursor<'_>,
    object: &mut Object<'_, '_>,
    labelled: bool,
    report: &Report,
) {
    let value = |cursor: Option<Cursor<'_>>| cursor.map(|cursor| cursor.tree.to_value());
    let attempts = value(object.get("max_attempts")).map_or_else(|| "3".to_owned(), |value| value.to_json());
    let when = value(object.get("retry_when"));
    let matching = retry_condition(when.as_ref().and_then(Value::as_str).unwrap_or(""));
    let rules = format!(
        "policy:\n  rules:\n  - when: {matching}\n    then: {{ do: retry, attempts: {attempts}, backoff: exponential, delay: 1.0 }}\n  \
         - when: \"{{{{ outcome.status == 'error' }}}}\"\n    then: {{ do: fail }}\n  - else:\n      then: {{ do: continue }}"
    );
    let hint = if labelled {
        format!("write\nspec:\n  {}", rules.replace('\n', "\n  "))
    } else {
        format!("write\n{rules}")
    };
    let message = "NoETL's legacy retry; expected policy rules";
    report.problem(cursor.problem(&values::LEGACY_RETRY, message).with_hint(hint));
}

/// The condition of the rule that does what `retry_when` says, in quotes.
fn retry_condition(retry_when: &str) -> String {
    let inner = retry_when.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
    let inner = inner.replace("status_code", "outcome.http.status");
    // These bind less tightly than `and`.
    let is_loose = [" or ", "||", "?"].iter().any(|operator| inner.contains(operator));
    let and = match (inner.is_empty(), is_loose) {
        (true, _) => String::new(),
        (false, true) => format!(" and ({inner})"),
        (false, false) => format!(" and {inner}"),
    };
    Value::from(format!("{{{{ outcome.status == 'error'{and} }}}}")).to_json()
}

/// Whether `retry` is written as NoETL wrote it before there were rules.
pub(super) fn is_legacy(object: &Object<'_, '_>) -> bool {
    object.has("max_attempts") || object.has("retry_when")
}
