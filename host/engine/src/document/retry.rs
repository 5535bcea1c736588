//! `retry`: Aether's and Steep's spelling.

use serde_json::json;

use crate::{
    form::{
        Cursor, FRACTION, Field, Form, Object, PAUSE, POSITIVE, Report, Rule, Site, Table, count, joined,
    },
    problem::codes::{values, warnings::NO_EFFECT},
    settings::{Backoff, Growth, MaxAttempts},
    time::Millis,
    value::Value,
};

use super::{Dialect, ExprDoc, expression::CONDITION, foreign};

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

pub(super) const RETRY: Form<RetryDoc> = Form::new(RetryDoc::read, |defs| defs.object(&RETRY_TABLE));

static RETRY_TABLE: Table = Table::closed(
    "retry",
    "How often an attempt that did not succeed is retried, when, and after which delay: with `attempts`, or with \
     the older `limit` or `maxAttempts`, which both dialects read; `aether/v1` has no `attempts`.",
    &[
        &ATTEMPTS,
        &DELAY,
        &BACKOFF,
        &MAX_DELAY,
        &JITTER,
        &WHEN,
        &LIMIT,
        &MAX_ATTEMPTS,
        &EXPONENTIAL_BACKOFF,
        &EXPRESSION,
    ],
    &[Rule::Stated(|defs| {
        let together = |pair: [&str; 2]| json!({ "required": pair });
        let pairs = [["limit", "maxAttempts"], ["attempts", "limit"], ["attempts", "maxAttempts"]];
        let refused = ["attempts"].into_iter().chain(SPELLINGS.map(|[new, _]| new));
        let refused = refused.filter(|_| !Dialect::of_schema(defs).retry_by_attempts);
        let refused = refused.map(|field| json!({ "required": [field] }));
        let pairs = pairs.into_iter().chain(SPELLINGS).map(together).chain(refused);
        json!({ "not": { "anyOf": pairs.collect::<Vec<_>>() } })
    })],
)
.knowing(foreign::RETRIES)
.not_alone("write `retry: { attempts: 3 }`, in `aether/v1` `retry: { limit: 2 }`");

/// Fields of `phasm/v1`, each with the one of `aether/v1` that means the same.
const SPELLINGS: [[&str; 2]; 2] = [["backoff", "exponentialBackoff"], ["when", "expression"]];

static ATTEMPTS: Field<i64> = Field::optional(
    "attempts",
    COUNT.or_expression(),
    "Attempts in all: `attempts: 3` retries twice at most; -1 is unlimited, 0 never runs the task (Skipped). Error and Timeout are \
     retried, except errors that the executor calls not retryable, unless `when` says otherwise. Not in `aether/v1`.",
)
.or("1")
.such_as(&["3", "5"]);

static BACKOFF: Field<f64> = Field::optional(
    "backoff",
    POSITIVE.or_expression(),
    "Factor by which the delay grows from attempt to attempt, above 0. Not in `aether/v1`.",
)
.or("1")
.such_as(&["2"]);

static WHEN: Field<ExprDoc> = Field::optional(
    "when",
    CONDITION,
    "Evaluated after an attempt that did not succeed, while attempts are left: true retries it, whatever its phase. Not in \
     `aether/v1`.",
)
.such_as(&["code == 2", "phase == 'Timeout'"]);

const COUNT: Form<i64> = count::<i64, -1, { u32::MAX as i64 }>();

static LIMIT: Field<u32> = Field::optional(
    "limit",
    count::<u32, 0, 100>().or_expression(),
    "Retries after the first attempt, 0 to 100: `limit: 2` makes at most three attempts. Error and Timeout are retried unless \
     `expression` says otherwise.",
)
.or("0");

static MAX_ATTEMPTS: Field<i64> = Field::optional(
    "maxAttempts",
    COUNT.or_expression(),
    "Attempts in all; -1 is unlimited, 0 never runs the task (Skipped). Failed is retried, too, unless `expression` says \
     otherwise.",
)
.or("1");

static DELAY: Field<Millis> = Field::optional(
    "delay",
    PAUSE.or_expression(),
    "How long to wait after the first attempt; with unlimited attempts at least 1 ms.",
)
.or("0")
.such_as(&["2s", "30s"]);

static EXPONENTIAL_BACKOFF: Field<f64> =
    Field::optional("exponentialBackoff", POSITIVE.or_expression(), "As `backoff`.").or("1");

static MAX_DELAY: Field<Millis> = Field::optional(
    "maxDelay",
    PAUSE.or_expression(),
    "The longest delay, jitter included; it counts only where `backoff` or `exponentialBackoff` is above 1.",
)
.such_as(&["1m", "10m"]);

static EXPRESSION: Field<ExprDoc> = Field::optional("expression", CONDITION, "As `when`.");

static JITTER: Field<f64> = Field::optional(
    "jitter",
    FRACTION.or_expression(),
    "Fraction of the delay, 0 to 1, that is at most added at random; sampled once and recorded.",
)
.or("0")
.such_as(&["0.2"]);

/// NoETL's legacy fields.
const LEGACY: [&str; 2] = ["max_attempts", "retry_when"];

/// Explains the common part of the two spellings, and their difference (R-R1, R-R2).
const LIMIT_OR_MAX_ATTEMPTS: &str = "`limit: 2` and `maxAttempts: 3` both make three attempts at most; only with `maxAttempts` is Failed tried again";

/// Explains the recommended spelling.
const ATTEMPTS_IN_ALL: &str = "`attempts: 3` makes three attempts at most, with `delay`, `backoff`, `maxDelay`, `jitter` and `when` next to it";

/// The three ways to count attempts.
const COUNTS: [&str; 3] = ["attempts", "limit", "maxAttempts"];

impl RetryDoc {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        if is_legacy(cursor) {
            report_legacy(cursor, false, report);
            return None;
        }
        let object = cursor.object(&RETRY_TABLE, report)?;
        let dialect = Dialect::of(report);
        if !dialect.retry_by_attempts {
            dialect.refuse(&["attempts"], &["limit", "maxAttempts"], &object);
            SPELLINGS.iter().for_each(|[new, old]| dialect.refuse(&[new], &[old], &object));
        }
        for fields in [&COUNTS[..], &SPELLINGS[0], &SPELLINGS[1]] {
            report_together(fields, &object, cursor);
        }
        let open = report.open_values();
        let max_attempts = max_attempts(&object);
        let read = Self {
            max_attempts,
            backoff: backoff(&object, max_attempts),
            expression: object.optional(&WHEN).or_else(|| object.optional(&EXPRESSION)),
            failed_too: object.has("maxAttempts") || !is_counted(&object) && has_steep_field(&object),
            jitter: object.or_default(&JITTER),
        };
        // Values that are not known yet are not compared.
        if report.open_values() == open {
            read.warn_without_effect(&object);
        }
        Some(read)
    }

    /// Warns about fields that have no effect (R-R1, R-R3).
    fn warn_without_effect(&self, object: &Object<'_, '_>) {
        let warn = |site: &Site, message: &str, hint: &str| {
            object.report.warning(site.problem(&NO_EFFECT, message).with_hint(hint));
        };
        let written = |field| object.key_site(field).map(|site| (field, site));
        let by_attempts = Dialect::of(object.report).retry_by_attempts;
        let counts_hint = counts_hint(object.report);
        if !is_counted(object) {
            let message = if by_attempts {
                "no `attempts`, so there is one attempt; expected `attempts`"
            } else {
                "no `limit` and no `maxAttempts`, so there is one attempt; expected one of them"
            };
            return warn(&object.site, message, counts_hint);
        }
        if matches!(self.max_attempts, MaxAttempts::Limited(0 | 1)) {
            let ignored =
                ["delay", "backoff", "exponentialBackoff", "maxDelay", "jitter", "when", "expression"];
            if let Some((field, site)) = ignored.into_iter().find_map(written) {
                let message =
                    format!("`{field}` without a retry has no effect; expected more than one attempt");
                warn(&site, &message, counts_hint);
            }
            return;
        }
        let Backoff { delay, growth, max_delay } = self.backoff;
        if delay == 0 {
            let ignored = [
                ("backoff", growth != Growth::default()),
                ("exponentialBackoff", growth != Growth::default()),
                ("maxDelay", true),
                ("jitter", self.jitter > 0.0),
            ];
            for (field, _) in ignored.into_iter().filter(|(_, matters)| *matters) {
                if let Some((_, site)) = written(field) {
                    let message =
                        format!("`{field}` without a delay has no effect; expected `delay` next to it");
                    warn(&site, &message, "without `delay` a retry follows at once");
                }
            }
            return;
        }
        let Some((_, site)) = written("maxDelay") else { return };
        if !matches!(growth, Growth::Factor(factor) if factor > 1.0) {
            let hint = "without it no delay is longer than the first, which `maxDelay` does not cap";
            let factor = if by_attempts { "backoff" } else { "exponentialBackoff" };
            let message = format!("`maxDelay` caps nothing; expected `{factor}` above 1 next to it");
            warn(&site, &message, hint);
        } else if max_delay.is_some_and(|most| most <= delay) {
            let hint = "every delay is `maxDelay`: nothing grows, and `jitter` adds nothing";
            warn(&site, "`maxDelay` is not above `delay`; expected a longer one", hint);
        }
    }
}

/// Hint for a file whose attempts are counted in no way, or in several.
fn counts_hint(report: &Report) -> &'static str {
    if Dialect::of(report).retry_by_attempts { ATTEMPTS_IN_ALL } else { LIMIT_OR_MAX_ATTEMPTS }
}

fn is_counted(object: &Object<'_, '_>) -> bool {
    COUNTS.iter().any(|field| object.has(field))
}

/// Reports two of `fields`, of which a file has one.
fn report_together(fields: &[&'static str], object: &Object<'_, '_>, cursor: &Cursor<'_>) {
    let found: Vec<_> = fields.iter().copied().filter(|field| object.has(field)).collect();
    if found.len() > 1 {
        let message = format!("{} together; expected one of them", joined(&found, "and"));
        let problem = cursor.problem(&values::TWO_RETRIES, message);
        object.report.problem(problem.with_hint(counts_hint(object.report)));
    }
}

fn max_attempts(object: &Object<'_, '_>) -> MaxAttempts {
    let attempts = object.optional(&ATTEMPTS).unwrap_or_else(|| object.or_default(&MAX_ATTEMPTS));
    match object.optional(&LIMIT) {
        Some(limit) => MaxAttempts::Limited(limit.saturating_add(1)),
        None => u32::try_from(attempts).map_or(MaxAttempts::Unlimited, MaxAttempts::Limited),
    }
}

/// With neither count written, the other fields tell whose default filter the author knows; one attempt follows anyway.
fn has_steep_field(object: &Object<'_, '_>) -> bool {
    ["delay", "exponentialBackoff", "maxDelay"].iter().any(|field| object.has(field))
}

fn backoff(object: &Object<'_, '_>, max_attempts: MaxAttempts) -> Backoff {
    // R-R3: without end, at least 1 ms lies between two attempts.
    let least: Millis = u64::from(max_attempts == MaxAttempts::Unlimited);
    Backoff {
        delay: object.or_default(&DELAY).max(least),
        growth: Growth::Factor(
            object.optional(&BACKOFF).unwrap_or_else(|| object.or_default(&EXPONENTIAL_BACKOFF)),
        ),
        max_delay: object.optional(&MAX_DELAY).map(|most| most.max(least)),
    }
}

/// Whether `retry` is written as NoETL wrote it before there were rules.
pub(super) fn is_legacy(cursor: &Cursor<'_>) -> bool {
    LEGACY.iter().any(|field| cursor.has(field))
}

/// Seed 002 section 8: prints the rules that do the same, as `policy` or, in a labelled task, within `spec`.
pub(super) fn report_legacy(cursor: &Cursor<'_>, labelled: bool, report: &Report) {
    let written = cursor.tree.to_value();
    let attempts = written.member("max_attempts").map_or_else(|| "3".to_owned(), Value::to_json);
    let when = written.member("retry_when").and_then(Value::as_str);
    let matching = retry_condition(when.unwrap_or(""));
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
