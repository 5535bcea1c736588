//! Values that fields have in common: names, words, numbers, durations, sizes.

use std::{ops::RangeInclusive, sync::Arc};

use crate::{
    duration,
    plan::catalogue::{shape, values},
    suggest::did_you_mean,
    time::Millis,
    timeout::TimeoutPolicy,
    tree::Node,
};

use super::{
    Report,
    walk::{Cursor, Name, listed},
};

/// The longest name of a workflow, template or task.
const LONGEST_NAME: usize = 63;

/// Text, with its place.
pub(super) fn text(cursor: &Cursor<'_>, report: &Report) -> Option<Name> {
    cursor.text(report).map(|text| cursor.located(text))
}

/// Text that is not empty, with its place.
pub(super) fn some_text(cursor: &Cursor<'_>, report: &Report) -> Option<Name> {
    let found = text(cursor, report)?;
    if found.value.trim().is_empty() {
        report.problem(cursor.problem(&shape::EMPTY, "empty text; expected a name"));
        return None;
    }
    Some(found)
}

/// A name of a workflow, template or task. One of the wrong form is reported and kept, so that what refers to it is
/// not reported as well.
pub(super) fn name(cursor: &Cursor<'_>, report: &Report) -> Option<Name> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    checked_name(cursor, report, inner, |c| c == '-', "lower-case letters, digits and inner hyphens")
}

/// A label of a pipeline's task, which may also hold `_`.
pub(super) fn label(cursor: &Cursor<'_>, report: &Report) -> Option<Name> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    checked_name(cursor, report, inner, |c| c == '-', "lower-case letters, digits, `_` and inner hyphens")
}

fn checked_name(
    cursor: &Cursor<'_>,
    report: &Report,
    edge: impl Fn(char) -> bool,
    inner: impl Fn(char) -> bool,
    expected: &str,
) -> Option<Name> {
    let name = cursor.text(report)?;
    let fits = name.starts_with(&edge) && name.ends_with(&edge) && name.chars().all(|c| edge(c) || inner(c));
    if !fits || name.len() > LONGEST_NAME {
        let message = format!("name {name:?}; expected {expected}, at most {LONGEST_NAME} characters");
        let problem = cursor.problem(&shape::INVALID_NAME, message);
        let mended = name.to_lowercase().replace([' ', '_', '.'], "-");
        let mends = mended != *name
            && mended.len() <= LONGEST_NAME
            && mended.starts_with(&edge)
            && mended.ends_with(&edge);
        let mends = mends && mended.chars().all(|c| edge(c) || inner(c));
        report.problem(if mends { problem.with_hint(format!("write `{mended}`")) } else { problem });
    }
    Some(cursor.located(name))
}

/// Reports text that cannot be the name of a parameter.
pub(super) fn check_parameter_name(name: &Name, report: &Report) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.value.starts_with(word) || !name.value.chars().all(|c| word(c) || c == '-') {
        let message = format!("name {:?}; expected letters, digits, `_` and, not first, `-`", name.value);
        report.problem(name.problem(&shape::INVALID_NAME, message));
    }
}

/// Texts that are meant as a truth value; YAML 1.2 reads them as text.
const BOOLEAN_WORDS: [(&str, bool); 6] =
    [("yes", true), ("no", false), ("on", true), ("off", false), ("true", true), ("false", false)];

pub(super) fn boolean(cursor: &Cursor<'_>, report: &Report) -> Option<bool> {
    if let Node::Bool(value) = cursor.tree.node {
        return Some(value);
    }
    let hint = match &cursor.tree.node {
        Node::String(text) => BOOLEAN_WORDS.iter().find(|(word, _)| text.eq_ignore_ascii_case(word)),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Array(_) | Node::Object(_) => None,
    };
    let Some((_, meant)) = hint else {
        cursor.wrong_type("true or false", report);
        return None;
    };
    let problem = cursor.problem(&shape::WRONG_TYPE, "found string; expected true or false");
    report.problem(problem.with_hint(format!("write `{meant}`, without quotes")));
    None
}

/// A number without a fraction.
pub(super) fn integer(cursor: &Cursor<'_>, report: &Report) -> Option<i128> {
    let Node::Number(number) = &cursor.tree.node else {
        cursor.wrong_type("a whole number", report);
        return None;
    };
    let whole = number.as_i128().or_else(|| {
        number.as_f64().filter(|f| f.fract() == 0.0).map(|f| {
            #[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
            let whole = f as i128;
            whole
        })
    });
    if whole.is_none() {
        report.problem(
            cursor.problem(&shape::OUT_OF_RANGE, format!("found {number}; expected a whole number")),
        );
    }
    whole
}

/// A whole number within `range`.
pub(super) fn whole<T: TryFrom<i128> + Copy + Into<i128>>(
    range: RangeInclusive<T>,
) -> impl FnOnce(&Cursor<'_>, &Report) -> Option<T> {
    move |cursor, report| {
        let found = integer(cursor, report)?;
        let (least, most): (i128, i128) = ((*range.start()).into(), (*range.end()).into());
        if (least..=most).contains(&found) {
            return T::try_from(found).ok();
        }
        let message = format!("found {found}; expected a whole number from {least} to {most}");
        report.problem(cursor.problem(&shape::OUT_OF_RANGE, message));
        None
    }
}

pub(super) fn number(cursor: &Cursor<'_>, report: &Report) -> Option<f64> {
    if let Node::Number(number) = &cursor.tree.node {
        return number.as_f64();
    }
    cursor.wrong_type("a number", report);
    None
}

/// One of a few words.
pub(super) fn word<T: Copy>(words: &[(&'static str, T)], cursor: &Cursor<'_>, report: &Report) -> Option<T> {
    let found = cursor.text(report)?;
    if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == &*found) {
        return Some(*meaning);
    }
    let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    let problem =
        cursor.problem(&shape::UNKNOWN_WORD, format!("found `{found}`; expected {}", listed(&known)));
    let hint = if known.len() > 1 { did_you_mean(&found, known.iter().copied()) } else { None };
    report.problem(problem.with_hint_if(hint));
    None
}

/// A duration of at least `least` milliseconds: text, or a whole number of milliseconds.
fn duration(cursor: &Cursor<'_>, report: &Report) -> Option<Millis> {
    match &cursor.tree.node {
        Node::String(text) => parse_duration(text, cursor, report),
        Node::Number(number) if !number.is_f64() => parse_duration(&number.to_string(), cursor, report),
        Node::Number(_) | Node::Null | Node::Bool(_) | Node::Array(_) | Node::Object(_) => {
            cursor.wrong_type("a duration, as text or whole milliseconds", report);
            None
        }
    }
}

fn parse_duration(text: &str, cursor: &Cursor<'_>, report: &Report) -> Option<Millis> {
    match duration::parse(text) {
        Ok(length) => Some(length),
        Err(error) => {
            let before = text.get(..error.offset).map_or(0, |text| text.chars().count());
            let at = if before > 0 { format!(" (character {})", before + 1) } else { String::new() };
            report.problem(cursor.problem(&values::DURATION, format!("{}{at}", error.message)));
            None
        }
    }
}

/// A pause, which may be 0.
pub(super) fn pause(cursor: &Cursor<'_>, report: &Report) -> Option<Millis> {
    duration(cursor, report)
}

/// A timeout, at least 1 ms (R-T6).
pub(super) fn timeout(cursor: &Cursor<'_>, report: &Report) -> Option<Millis> {
    let negative = matches!(&cursor.tree.node, Node::Number(n) if n.as_i64().is_some_and(|n| n < 0));
    let length = if negative { Some(0) } else { duration(cursor, report) };
    if length == Some(0) {
        let problem = cursor.problem(&values::NO_TIME, "no time; expected a timeout of at least 1 ms");
        report.problem(problem.with_hint("remove the field to have no timeout"));
        return None;
    }
    length
}

/// Steep's timeout policy: a duration or `{timeout, errorOnTimeout}` (R-T1).
pub(super) fn timeout_policy(cursor: &Cursor<'_>, report: &Report) -> Option<TimeoutPolicy> {
    if !cursor.is_object() {
        return timeout(cursor, report).map(|timeout| TimeoutPolicy { timeout, error_on_timeout: false });
    }
    let mut object = cursor.object(report)?;
    let length = object.required("timeout", "a duration", timeout);
    let error_on_timeout = object.optional("errorOnTimeout", boolean).unwrap_or(false);
    object.finish();
    Some(TimeoutPolicy { timeout: length?, error_on_timeout })
}

/// Units of sizes in bytes.
const SIZES: [(&str, u64); 13] = [
    ("", 1),
    ("B", 1),
    ("K", 1000),
    ("KB", 1000),
    ("M", 1_000_000),
    ("MB", 1_000_000),
    ("G", 1_000_000_000),
    ("GB", 1_000_000_000),
    ("Ki", 1 << 10),
    ("KiB", 1 << 10),
    ("Mi", 1 << 20),
    ("MiB", 1 << 20),
    ("Gi", 1 << 30),
];

/// A size in bytes, at least 1: a number, or text such as `64Mi`.
pub(super) fn size(cursor: &Cursor<'_>, report: &Report) -> Option<u64> {
    let text: Arc<str> = match &cursor.tree.node {
        Node::Number(number) => number.to_string().into(),
        Node::String(text) => text.clone(),
        Node::Null | Node::Bool(_) | Node::Array(_) | Node::Object(_) => {
            cursor.wrong_type("a size, as text or bytes", report);
            return None;
        }
    };
    let size = parse_size(text.trim());
    if size.is_none() {
        let message =
            "no size; expected a whole number of bytes above 0, or one with KB, MB, GB, Ki, Mi or Gi";
        report.problem(cursor.problem(&values::SIZE, message));
    }
    size
}

/// The bytes that text such as `64Mi`, `64 MiB` or `1024` means; none if it is no size, or 0.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let unit = unit.trim_start();
    let unit = if unit == "GiB" { "Gi" } else { unit };
    let (_, bytes) = SIZES.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*bytes).filter(|size| *size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let rows = [
            ("64Mi", Some(64 << 20)),
            ("64MB", Some(64_000_000)),
            ("1024", Some(1024)),
            ("2 GiB", Some(2 << 30)),
            ("1K", Some(1000)),
            ("0", None),
            ("64 megs", None),
            ("-1", None),
            ("1.5Gi", None),
            ("Mi", None),
            ("", None),
            ("99999999999999999999", None),
            ("18446744073709551615Gi", None),
        ];
        for (text, bytes) in rows {
            assert_eq!(parse_size(text), bytes, "{text}");
        }
    }
}
