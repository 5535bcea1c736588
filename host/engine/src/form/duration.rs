//! Durations and timeouts.

use serde_json::json;

use crate::{
    duration::{self, MAX_MILLIS},
    problem::codes::{shape, values, warnings::BARE_NUMBER},
    time::Millis,
    tree::TreeNode,
};

use super::{Cursor, Form, Report, as_whole};

/// A pause, which may be 0.
pub const PAUSE: Form<Millis> = Form::new(duration, |defs| {
    defs.named("duration", |_| {
        json!({
            "description": "A duration such as `1h 30m` or `500ms`; a bare number is milliseconds.",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": MAX_MILLIS },
                { "type": "string", "pattern": duration::pattern() },
            ],
        })
    })
});

/// A timeout, at least 1 ms.
pub const TIMEOUT: Form<Millis> = Form::new(
    |cursor, report| timeout(cursor, report, "remove the field to have no timeout"),
    |defs| {
        defs.named("timeout", |_| {
        json!({
            "description": "A duration of at least 1 ms, such as `1h 30m` or `500ms`; a bare number is milliseconds.",
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": MAX_MILLIS },
                { "type": "string", "pattern": duration::pattern(), "allOf": [{ "pattern": "[1-9]" }] },
            ],
        })
    })
    },
);

/// Seconds as a number, or a duration as text.
pub const SECONDS: Form<Millis> = Form::new(seconds, |defs| {
    let text = PAUSE.schema(defs);
    json!({
        "anyOf": [
            { "type": "number", "minimum": 0, "maximum": MAX_EXACT_SECONDS },
            { "type": "string", "allOf": [text] },
        ],
    })
});

/// Text, or a whole number of milliseconds.
fn duration(cursor: &Cursor<'_>, report: &Report) -> Option<Millis> {
    match &cursor.tree.node {
        TreeNode::String(text) => parse(text, cursor, report),
        TreeNode::Number(number) => match as_whole(number) {
            Some(whole) => parse(&whole.to_string(), cursor, report),
            None => wrong_type(cursor, report),
        },
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Array(_) | TreeNode::Object(_) => {
            wrong_type(cursor, report)
        }
    }
}

fn wrong_type(cursor: &Cursor<'_>, report: &Report) -> Option<Millis> {
    cursor.wrong_type("a duration, as text or whole milliseconds", report);
    None
}

fn parse(text: &str, cursor: &Cursor<'_>, report: &Report) -> Option<Millis> {
    match duration::parse(text) {
        Ok(length) => {
            warn_of_bare_number(text.trim_ascii(), cursor, report);
            Some(length)
        }
        Err(error) => {
            let before = text.get(..error.offset).map_or(0, |text| text.chars().count());
            let at = if before > 0 { format!(" (character {})", before + 1) } else { String::new() };
            report.problem(cursor.problem(&values::DURATION, format!("{}{at}", error.message)));
            None
        }
    }
}

/// A number alone is milliseconds, where people often mean seconds.
fn warn_of_bare_number(text: &str, cursor: &Cursor<'_>, report: &Report) {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && text.bytes().any(|byte| byte != b'0') {
        let message = format!("`{text}` is {text} ms; expected a number with its unit");
        let hint = format!("write `{text}ms`, or for seconds `{text}s`");
        report.warning(cursor.problem(&BARE_NUMBER, message).with_hint(hint));
    }
}

/// A timeout; the hint says how to have none.
pub fn timeout(cursor: &Cursor<'_>, report: &Report, none: &str) -> Option<Millis> {
    let negative =
        matches!(&cursor.tree.node, TreeNode::Number(number) if as_whole(number).is_some_and(|n| n < 0));
    let length = if negative { Some(0) } else { duration(cursor, report) };
    if length == Some(0) {
        let problem = cursor.problem(&values::NO_TIME, "no time; expected a timeout of at least 1 ms");
        report.problem(problem.with_hint(none));
        return None;
    }
    length
}

/// The longest duration in whole seconds; even, so that a double holds it exactly.
const MAX_EXACT_SECONDS: u64 = (MAX_MILLIS / 1000) & !1;

fn seconds(cursor: &Cursor<'_>, report: &Report) -> Option<Millis> {
    let TreeNode::Number(number) = &cursor.tree.node else { return duration(cursor, report) };
    #[expect(clippy::cast_precision_loss, reason = "it is exact")]
    let most = MAX_EXACT_SECONDS as f64;
    let seconds = number.as_f64().filter(|seconds| (0.0..=most).contains(seconds));
    if seconds.is_none() {
        let message = format!("found {number}; expected a number of seconds, 0 or more");
        report.problem(cursor.problem(&shape::OUT_OF_RANGE, message));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to lie in range")]
    seconds.map(|seconds| ((seconds * 1000.0).round() as Millis).min(MAX_MILLIS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{tree::Tree, value::Value};

    fn read<T>(form: &Form<T>, json: &str) -> Option<T> {
        let report = Report::default();
        let tree = Tree::from(&Value::from_json(json).unwrap());
        form.read(&Cursor::root(&tree), &report).filter(|_| report.is_sound())
    }

    #[test]
    fn timeouts_are_text_or_whole_milliseconds() {
        for (json, millis) in [
            (r#""1h""#, Some(3_600_000)),
            ("5000", Some(5000)),
            ("5000.0", Some(5000)),
            ("9223372036854775807", Some(MAX_MILLIS)),
            ("9223372036854775808", None),
            ("1.5", None),
            ("0", None),
            ("-5.0", None),
            ("1e300", None),
            ("true", None),
        ] {
            assert_eq!(read(&TIMEOUT, json), millis, "{json}");
        }
        assert_eq!(read(&PAUSE, "0.0"), Some(0));
    }

    /// R-R2.
    #[test]
    fn delays_of_rules_are_seconds() {
        for (json, millis) in [
            ("2", Some(2000)),
            ("0.0004", Some(0)),
            ("1.0005", Some(1001)),
            (r#""2""#, Some(2)),
            (r#""2s""#, Some(2000)),
            ("-0.0001", None),
            ("9223372036854774", Some(9_223_372_036_854_773_760)),
            ("1e16", None),
        ] {
            assert_eq!(read(&SECONDS, json), millis, "{json}");
        }
    }
}
