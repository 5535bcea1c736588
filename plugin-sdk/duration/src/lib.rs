//! Durations as people write them, in workflows and in the inputs of executors: `10h 30 minutes`, `1500ms`, or a bare
//! number of milliseconds.

use std::fmt;

/// A length of time in milliseconds.
type Millis = u64;

/// Maximum duration, 2^63 − 1 ms.
pub const MAX_MILLIS: Millis = i64::MAX.unsigned_abs();

/// Every unit's spellings, case-sensitive, with its length in milliseconds.
const UNITS: [(&[&str], Millis); 5] = [
    (&["milliseconds", "millisecond", "millis", "milli", "ms"], 1),
    (&["seconds", "second", "secs", "sec", "s"], 1000),
    (&["minutes", "minute", "mins", "min", "m"], 60 * 1000),
    (&["hours", "hour", "hrs", "hr", "h"], 60 * 60 * 1000),
    (&["days", "day", "d"], 24 * 60 * 60 * 1000),
];

/// Text that is no duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationError {
    /// Byte offset in the text.
    pub offset: usize,
    /// The error and the expectation.
    pub message: String,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.offset)
    }
}

impl std::error::Error for DurationError {}

/// Reads `(number unit)+`, such as `10h 30 minutes`, or a bare number of milliseconds.
///
/// Pairs add up, in any order; white space between numbers and units is optional; units are case-sensitive.
///
/// # Errors
/// Where and why the text is no duration: empty, a sign or fraction, an unknown unit, a number without a unit next to
/// other pairs, or more than [`MAX_MILLIS`].
pub fn parse(text: &str) -> Result<Millis, DurationError> {
    let mut scanner = Scanner { text, offset: 0 };
    scanner.skip_space();
    let first = scanner.number()?;
    scanner.skip_space();
    if scanner.at_end() {
        return first.times(1);
    }
    let mut total = first.times(scanner.unit(&first)?)?;
    scanner.skip_space();
    while !scanner.at_end() {
        let number = scanner.number()?;
        scanner.skip_space();
        let length = number.times(scanner.unit(&number)?)?;
        total = within_bounds(total.checked_add(length), number.offset)?;
        scanner.skip_space();
    }
    Ok(total)
}

/// A regular expression (of the kind that JSON Schema uses) for what [`parse`] reads, but for the bound of the sum.
#[must_use]
pub fn pattern() -> String {
    const SPACE: &str = r"[ \t\n\f\r]*";
    let units: Vec<_> = UNITS.iter().flat_map(|(names, _)| names.iter().copied()).collect();
    let unit = format!("({}){SPACE}", units.join("|"));
    let number = format!("[0-9]+{SPACE}");
    format!("^{SPACE}{number}({unit}({number}{unit})*)?$")
}

/// A number as written and where.
struct Number<'a> {
    digits: &'a str,
    offset: usize,
}

impl Number<'_> {
    fn times(&self, unit: Millis) -> Result<Millis, DurationError> {
        within_bounds(self.digits.parse::<Millis>().ok().and_then(|n| n.checked_mul(unit)), self.offset)
    }
}

fn within_bounds(length: Option<Millis>, offset: usize) -> Result<Millis, DurationError> {
    length
        .filter(|millis| *millis <= MAX_MILLIS)
        .ok_or_else(|| error(offset, format!("too long; expected at most {MAX_MILLIS} ms in all")))
}

fn error(offset: usize, message: String) -> DurationError {
    DurationError { offset, message }
}

struct Scanner<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.offset += length;
        rest.get(..length).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        self.take_while(|c| c.is_ascii_whitespace());
    }

    fn number(&mut self) -> Result<Number<'a>, DurationError> {
        let offset = self.offset;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(error(offset, self.no_number()));
        }
        if let Some(c @ ('.' | ',')) = self.rest().chars().next() {
            return Err(error(self.offset, format!("`{c}` after a number; expected whole numbers only")));
        }
        Ok(Number { digits, offset })
    }

    fn no_number(&self) -> String {
        match self.rest().chars().next() {
            None => "empty; expected a duration such as `1h 30m`".to_owned(),
            Some(sign) if is_sign(sign) => format!("sign `{sign}`; expected an unsigned number"),
            Some(c) => format!("`{c}` where a number belongs; expected a duration such as `1h 30m`"),
        }
    }

    fn unit(&mut self, number: &Number<'_>) -> Result<Millis, DurationError> {
        let offset = self.offset;
        let word = self.take_while(|c| !c.is_ascii_whitespace() && !c.is_ascii_digit() && !is_sign(c));
        if word.is_empty() && self.rest().starts_with(is_sign) {
            return Err(error(offset, self.no_number()));
        }
        if word.is_empty() {
            let message =
                format!("`{}` has no unit; only a number standing alone is milliseconds", number.digits);
            return Err(error(number.offset, message));
        }
        length_of(word).ok_or_else(|| error(offset, unknown_unit(word)))
    }
}

fn is_sign(c: char) -> bool {
    matches!(c, '-' | '+')
}

fn length_of(word: &str) -> Option<Millis> {
    UNITS.iter().find(|(names, _)| names.contains(&word)).map(|(_, length)| *length)
}

fn unknown_unit(word: &str) -> String {
    let lower = word.to_lowercase();
    if lower != word && length_of(&lower).is_some() {
        return format!("unknown unit `{word}`; units are case-sensitive, expected `{lower}`");
    }
    format!("unknown unit `{word}`; expected ms, s, m, h, d or their long forms (milliseconds … days)")
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fails_at(text: &str) -> (usize, String) {
        let failure = parse(text).unwrap_err();
        (failure.offset, failure.message)
    }

    /// The examples of seeds 000 and 003, with the worked values of R-U4.
    #[test]
    fn examples_of_the_seeds() {
        let rows = [
            ("500ms", 500),
            ("30s", 30_000),
            ("2h", 7_200_000),
            ("1d", 86_400_000),
            ("1000ms", 1000),
            ("3 secs", 3000),
            ("5m", 300_000),
            ("20mins", 1_200_000),
            ("10h 30 minutes", 37_800_000),
            ("1 hour 10minutes 5s", 4_205_000),
            ("1d 5h", 104_400_000),
            ("10 days 1hrs 30m 15 secs", 869_415_000),
        ];
        for (text, millis) in rows {
            assert_eq!(parse(text), Ok(millis), "{text}");
        }
    }

    /// R-U2.
    #[test]
    fn every_spelling_of_every_unit() {
        let spellings = "milliseconds millisecond millis milli ms 1 seconds second secs sec s 1000 \
                         minutes minute mins min m 60000 hours hour hrs hr h 3600000 days day d 86400000";
        let mut waiting = Vec::new();
        for word in spellings.split(' ') {
            let Ok(length) = word.parse::<Millis>() else {
                waiting.push(word);
                continue;
            };
            for unit in waiting.drain(..) {
                for text in [format!("7{unit}"), format!("7 {unit}"), format!(" 7\t{unit}\n")] {
                    assert_eq!(parse(&text), Ok(7 * length), "{text:?}");
                }
            }
        }
    }

    /// R-U1.
    #[test]
    fn bare_numbers_zero_order_and_repeats() {
        let rows = [
            ("0", 0),
            ("250", 250),
            (" 250 ", 250),
            ("0s", 0),
            ("000012s", 12_000),
            ("1s1s1s", 3000),
            ("5s 1h", 3_605_000),
            ("1h5s2h", 10_805_000),
            ("9223372036854775807", MAX_MILLIS),
            ("9223372036854775806ms 1ms", MAX_MILLIS),
        ];
        for (text, millis) in rows {
            assert_eq!(parse(text), Ok(millis), "{text}");
        }
    }

    /// R-U3.
    #[test]
    fn what_is_no_duration_says_where() {
        let rows = [
            ("", 0, "empty"),
            ("   ", 3, "empty"),
            ("1h 30", 3, "`30` has no unit"),
            ("5 5s", 0, "`5` has no unit"),
            ("-5s", 0, "sign `-`"),
            ("+5s", 0, "sign `+`"),
            ("1h -5m", 3, "sign `-`"),
            ("1h-5m", 2, "sign `-`"),
            ("5 -3s", 2, "sign `-`"),
            ("5+3s", 1, "sign `+`"),
            ("1.5h", 1, "`.` after a number"),
            ("1,5h", 1, "`,` after a number"),
            (".5h", 0, "`.` where a number belongs"),
            ("2 weeks", 2, "unknown unit `weeks`"),
            ("3µs", 1, "unknown unit `µs`"),
            ("1h30x", 4, "unknown unit `x`"),
            ("5S", 1, "case-sensitive, expected `s`"),
            ("5 MS", 2, "case-sensitive, expected `ms`"),
            ("s", 0, "`s` where a number belongs"),
            ("none", 0, "`n` where a number belongs"),
            ("1e3", 1, "unknown unit `e`"),
            ("5s;", 1, "unknown unit `s;`"),
            ("5\u{a0}s", 1, "unknown unit"),
            ("٣s", 0, "`٣` where a number belongs"),
            ("9223372036854775808", 0, "too long"),
            ("99999999999999999999999", 0, "too long"),
            ("9223372036854775807ms 1ms", 22, "too long"),
            ("106751991168d", 0, "too long"),
        ];
        for (text, offset, message) in rows {
            let (found, said) = fails_at(text);
            assert_eq!(found, offset, "{text:?}: {said}");
            assert!(said.contains(message), "{text:?}: {said}");
        }
    }

    proptest! {
        #[test]
        fn pairs_add_up(
            pairs in prop::collection::vec((0u64..1_000_000, 0usize..5, any::<prop::sample::Index>(), "[ \t]{0,2}"), 1..8)
        ) {
            let (mut text, mut total) = (String::new(), 0);
            for (number, unit, spelling, space) in pairs {
                let (names, length) = UNITS[unit];
                text += &format!("{number}{space}{}{space}", spelling.get(names));
                total += number * length;
            }
            prop_assert_eq!(parse(&text), Ok(total), "{}", text);
        }

        #[test]
        fn any_text_is_read_or_refused_at_a_character(text in "\\PC{0,40}") {
            match parse(&text) {
                Ok(millis) => prop_assert!(millis <= MAX_MILLIS),
                Err(failure) => prop_assert!(text.is_char_boundary(failure.offset)),
            }
        }

        #[test]
        fn nearly_durations_never_panic(text in "[0-9hmsd .+-]{0,24}") {
            if let Ok(millis) = parse(&text) {
                prop_assert!(millis <= MAX_MILLIS);
            }
        }
    }
}
