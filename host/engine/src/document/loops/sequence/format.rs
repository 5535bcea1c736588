//! `sequence.format`.

use std::sync::Arc;

use serde_json::json;

use crate::{
    form::{Cursor, Form, Report},
    problem::codes::values,
};

/// Exactly one placeholder for an integer.
pub(super) const FORMAT: Form<Format> = Form::new(Format::read, |_| {
    let text = "([^%]|%%)*";
    let pattern = format!("^{text}%[0+-]*([1-9]|[1-5][0-9]|6[0-4])?[dixXo]{text}$");
    json!({ "type": "string", "pattern": pattern })
});

/// `printf` of one integer: text, `%[flags][width](d|i|x|X|o)`, text; `%%` is a percent sign.
pub(super) struct Format {
    before: String,
    after: String,
    zero: bool,
    left: bool,
    plus: bool,
    width: usize,
    conversion: char,
}

/// Columns that a format may fill.
const MAX_WIDTH: usize = 64;

impl Format {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let parsed = Self::parse(&cursor.text(report)?);
        if parsed.is_none() {
            let message =
                "format without exactly one integer; expected one placeholder such as `%d` or `%03d`";
            report.problem(
                cursor.problem(&values::WRONG_LITERAL, message).with_hint("write a percent sign as `%%`"),
            );
        }
        parsed
    }

    fn parse(format: &str) -> Option<Self> {
        let mut found: Option<Self> = None;
        let mut before = String::new();
        let mut rest = format;
        while let Some((text, tail)) = rest.split_once('%') {
            before.push_str(text);
            if let Some(tail) = tail.strip_prefix('%') {
                before.push('%');
                rest = tail;
                continue;
            }
            if found.is_some() {
                return None;
            }
            let (parsed, tail) = Self::placeholder(tail)?;
            found = Some(Self { before: std::mem::take(&mut before), ..parsed });
            rest = tail;
        }
        before.push_str(rest);
        found.map(|found| Self { after: before, ..found })
    }

    fn placeholder(text: &str) -> Option<(Self, &str)> {
        let flags = text.find(|c| !matches!(c, '0' | '-' | '+')).unwrap_or(text.len());
        let (flags, text) = text.split_at_checked(flags)?;
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (width, text) = text.split_at_checked(digits)?;
        let conversion = text.chars().next().filter(|c| matches!(c, 'd' | 'i' | 'x' | 'X' | 'o'))?;
        let width =
            if width.is_empty() { 0 } else { width.parse().ok().filter(|width| *width <= MAX_WIDTH)? };
        let format = Self {
            before: String::new(),
            after: String::new(),
            zero: flags.contains('0'),
            left: flags.contains('-'),
            plus: flags.contains('+'),
            width,
            conversion,
        };
        Some((format, text.get(1..)?))
    }

    pub(super) fn apply(&self, number: i64) -> Arc<str> {
        let magnitude = number.unsigned_abs();
        let digits = match self.conversion {
            'x' => format!("{magnitude:x}"),
            'X' => format!("{magnitude:X}"),
            'o' => format!("{magnitude:o}"),
            _ => magnitude.to_string(),
        };
        let sign = match (number < 0, self.plus) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        let number = match (self.left, self.zero) {
            (true, _) => format!("{sign}{digits}{}", " ".repeat(missing)),
            (false, true) => format!("{sign}{}{digits}", "0".repeat(missing)),
            (false, false) => format!("{}{sign}{digits}", " ".repeat(missing)),
        };
        format!("{}{number}{}", self.before, self.after).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_as_printf_does() {
        let rows = [
            ("%d", 7, Some("7")),
            ("part-%03d.csv", 7, Some("part-007.csv")),
            ("%4d|", 42, Some("  42|")),
            ("%-4d|", 42, Some("42  |")),
            ("%+d", 5, Some("+5")),
            ("%04d", -5, Some("-005")),
            ("%x%%", 255, Some("ff%")),
            ("%X", 255, Some("FF")),
            ("%o", 8, Some("10")),
            ("%%", 1, None),
            ("none", 1, None),
            ("%d-%d", 1, None),
            ("%s", 1, None),
            ("%", 1, None),
            ("%999d", 1, None),
        ];
        for (format, number, expected) in rows {
            let found = Format::parse(format).map(|format| format.apply(number));
            assert_eq!(found.as_deref(), expected, "{format}");
        }
    }
}
