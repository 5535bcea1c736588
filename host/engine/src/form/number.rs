//! Numbers.

use serde_json::{Number, json};

use crate::{
    problem::codes::{Entry, shape, values},
    tree::TreeNode,
};

use super::{Cursor, Form, Report};

/// A whole number from `MIN` to `MAX`.
pub const fn whole<T: TryFrom<i128>, const MIN: i64, const MAX: i64>() -> Form<T> {
    Form::new(
        |cursor, report| {
            let whole = integer(&shape::OUT_OF_RANGE, cursor, report)?;
            within(whole, MIN, MAX, &shape::OUT_OF_RANGE, "", cursor, report)
        },
        |_| json!({ "type": "integer", "minimum": MIN, "maximum": MAX }),
    )
}

/// A count of attempts or retries from `MIN` to `MAX`.
pub const fn count<T: TryFrom<i128>, const MIN: i64, const MAX: i64>() -> Form<T> {
    Form::new(
        |cursor, report| {
            let whole = integer(&values::COUNT, cursor, report)?;
            let unlimited = if MIN == -1 { " (-1 is unlimited)" } else { "" };
            within(whole, MIN, MAX, &values::COUNT, unlimited, cursor, report)
        },
        |_| json!({ "type": "integer", "minimum": MIN, "maximum": MAX }),
    )
}

/// Returns the number's value if it has no fraction (1.0 has none). Numbers beyond 128 bits become the nearest bound.
pub fn as_whole(number: &Number) -> Option<i128> {
    let rounded = || number.as_f64().filter(|number| number.fract() == 0.0);
    #[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
    number.as_i128().or_else(|| rounded().map(|number| number as i128))
}

fn integer(entry: &Entry, cursor: &Cursor<'_>, report: &Report) -> Option<i128> {
    let TreeNode::Number(number) = &cursor.tree.node else {
        cursor.wrong_type("a whole number", report);
        return None;
    };
    let whole = as_whole(number);
    if whole.is_none() {
        report.problem(cursor.problem(entry, format!("found {number}; expected a whole number")));
    }
    whole
}

fn within<T: TryFrom<i128>>(
    found: i128,
    least: i64,
    most: i64,
    entry: &Entry,
    remark: &str,
    cursor: &Cursor<'_>,
    report: &Report,
) -> Option<T> {
    if (i128::from(least)..=i128::from(most)).contains(&found) {
        return T::try_from(found).ok();
    }
    let message = format!("found {found}; expected a whole number from {least} to {most}{remark}");
    report.problem(cursor.problem(entry, message));
    None
}

/// A number above 0.
pub const POSITIVE: Form<f64> = Form::new(
    |cursor, report| {
        let found = number(cursor, report)?;
        checked(found, found > 0.0, "a number above 0", cursor, report)
    },
    |_| json!({ "type": "number", "exclusiveMinimum": 0 }),
);

/// A number from 0 to 1.
pub const FRACTION: Form<f64> = Form::new(
    |cursor, report| {
        let found = number(cursor, report)?;
        checked(found, (0.0..=1.0).contains(&found), "a number from 0 to 1", cursor, report)
    },
    |_| json!({ "type": "number", "minimum": 0, "maximum": 1 }),
);

fn number(cursor: &Cursor<'_>, report: &Report) -> Option<f64> {
    if let TreeNode::Number(number) = &cursor.tree.node {
        return number.as_f64();
    }
    cursor.wrong_type("a number", report);
    None
}

fn checked(found: f64, fits: bool, expected: &str, cursor: &Cursor<'_>, report: &Report) -> Option<f64> {
    if !fits {
        let message = format!("found {found}; expected {expected}");
        report.problem(cursor.problem(&shape::OUT_OF_RANGE, message));
    }
    fits.then_some(found)
}

/// Units of sizes in bytes.
const UNITS: [(&str, u64); 14] = [
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
    ("GiB", 1 << 30),
];

/// A size in bytes, at least 1: a number, or text such as `64Mi`.
pub const SIZE: Form<u64> = Form::new(size, |defs| {
    defs.named("size", |_| {
        let units: Vec<_> = UNITS.iter().map(|(unit, _)| *unit).filter(|unit| !unit.is_empty()).collect();
        let pattern =
            format!("^[ \\t\\n\\f\\r]*0*[1-9][0-9]*[ \\t\\n\\f\\r]*({})?[ \\t\\n\\f\\r]*$", units.join("|"));
        json!({
            "description": "A size in bytes, or as text with a unit such as `64Mi`, `64MB` or `1GiB`.",
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": u64::MAX },
                { "type": "string", "pattern": pattern },
            ],
        })
    })
});

/// A size in bytes as [`SIZE`], or the number 0.
pub const SIZE_OR_0: Form<u64> = Form::new(
    |cursor, report| {
        let zero = matches!(&cursor.tree.node, TreeNode::Number(number) if as_whole(number) == Some(0));
        if zero { Some(0) } else { SIZE.read(cursor, report) }
    },
    |defs| json!({ "anyOf": [SIZE.schema(defs), { "const": 0 }] }),
);

fn size(cursor: &Cursor<'_>, report: &Report) -> Option<u64> {
    let size = match &cursor.tree.node {
        TreeNode::Number(number) => {
            as_whole(number).and_then(|bytes| u64::try_from(bytes).ok()).filter(|bytes| *bytes > 0)
        }
        TreeNode::String(text) => parse_size(text.trim_ascii()),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Array(_) | TreeNode::Object(_) => {
            cursor.wrong_type("a size, as text or bytes", report);
            return None;
        }
    };
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
    let (_, bytes) = UNITS.iter().find(|(name, _)| *name == unit.trim_ascii_start())?;
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
