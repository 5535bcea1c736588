//! Durations as people write them (R-U1): `10h 30 minutes`, `1500ms`, or a bare number of milliseconds.

use std::{fmt, str::FromStr, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{Unexpected, Visitor},
};

/// A length of time in whole milliseconds, at most 2^63 − 1.
///
/// Read from JSON it is a text such as `1h 30m`, or an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(u64);

const LONGEST: u64 = i64::MAX as u64;

impl Millis {
    /// Takes `millis`, or `None` past the longest.
    #[must_use]
    pub const fn new(millis: u64) -> Option<Self> {
        if millis > LONGEST { None } else { Some(Self(millis)) }
    }

    /// The number of milliseconds.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl From<Millis> for Duration {
    fn from(millis: Millis) -> Self {
        Self::from_millis(millis.0)
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}

/// Why a text is no duration, and the character, from 1, where that shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadDuration {
    at: usize,
    why: String,
}

impl fmt::Display for BadDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no duration: {} at character {}; write it like `1h 30m`, or as milliseconds",
            self.why, self.at
        )
    }
}

impl std::error::Error for BadDuration {}

impl FromStr for Millis {
    type Err = BadDuration;

    fn from_str(text: &str) -> Result<Self, BadDuration> {
        Scanner { text, rest: text.trim_start() }.duration()
    }
}

/// What of the text has not been read.
struct Scanner<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn duration(mut self) -> Result<Millis, BadDuration> {
        let mut total = Some(0);
        let mut pairs = 0;
        loop {
            let start = self.rest;
            let number = self.number()?;
            let unit = self.take_while(|c| !c.is_ascii_digit() && !c.is_whitespace());
            self.skip_space();
            let millis = match millis_of(unit) {
                Some(millis) => millis,
                None if unit.is_empty() && pairs == 0 && self.rest.is_empty() => 1,
                None if unit.is_empty() => return Err(self.problem(start, "a number without a unit")),
                None => return Err(self.problem(unit, &format!("`{unit}`, which is no unit,"))),
            };
            total = total.zip(number.checked_mul(millis)).and_then(|(a, b): (u64, u64)| a.checked_add(b));
            pairs += 1;
            if self.rest.is_empty() {
                let whole = total.and_then(Millis::new);
                return whole.ok_or_else(|| self.problem(start, "more than 2^63 − 1 milliseconds"));
            }
        }
    }

    fn number(&mut self) -> Result<u64, BadDuration> {
        let start = self.rest;
        let digits = self.take_while(|c| c.is_ascii_digit());
        self.skip_space();
        match digits.parse() {
            Ok(number) => Ok(number),
            Err(_) if digits.is_empty() => Err(self.problem(start, "no unsigned whole number")),
            Err(_) => Err(self.problem(start, "too great a number")),
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// `part` is a part of the text.
    fn problem(&self, part: &str, why: &str) -> BadDuration {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..offset).unwrap_or(self.text);
        BadDuration { at: before.chars().count() + 1, why: why.to_owned() }
    }
}

fn millis_of(unit: &str) -> Option<u64> {
    match unit {
        "milliseconds" | "millisecond" | "millis" | "milli" | "ms" => Some(1),
        "seconds" | "second" | "secs" | "sec" | "s" => Some(1_000),
        "minutes" | "minute" | "mins" | "min" | "m" => Some(60_000),
        "hours" | "hour" | "hrs" | "hr" | "h" => Some(3_600_000),
        "days" | "day" | "d" => Some(86_400_000),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MillisVisitor)
    }
}

struct MillisVisitor;

impl Visitor<'_> for MillisVisitor {
    type Value = Millis;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as `1h 30m`, or milliseconds")
    }

    fn visit_u64<E: serde::de::Error>(self, millis: u64) -> Result<Millis, E> {
        Millis::new(millis).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(millis), &self))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Millis, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_add_up() {
        let rows = [
            ("1000ms", 1_000),
            ("3 secs", 3_000),
            ("5m", 300_000),
            ("20mins", 1_200_000),
            ("10h 30 minutes", 37_800_000),
            ("1 hour 10minutes 5s", 4_205_000),
            ("1d 5h", 104_400_000),
            ("10 days 1hrs 30m 15 secs", 869_415_000),
            ("5s1m5s", 70_000),
            (" 7\t", 7),
            ("0", 0),
            ("0 days", 0),
            ("9223372036854775807", i64::MAX as u64),
        ];
        for (text, millis) in rows {
            assert_eq!(text.parse(), Ok(Millis(millis)), "{text}");
        }
    }

    #[test]
    fn whatever_else_is_a_problem_with_its_position() {
        let rows = [
            ("", 1, "no unsigned whole number"),
            ("  ", 3, "no unsigned whole number"),
            ("1h 30", 4, "a number without a unit"),
            ("30 1h", 1, "a number without a unit"),
            ("1.5s", 2, "`.`, which is no unit,"),
            ("-1s", 1, "no unsigned whole number"),
            ("2 weeks", 3, "`weeks`, which is no unit,"),
            ("5µs", 2, "`µs`, which is no unit,"),
            ("1H", 2, "`H`, which is no unit,"),
            ("٣s", 1, "no unsigned whole number"),
            ("1h µ", 4, "no unsigned whole number"),
            ("9223372036854775808", 1, "more than 2^63 − 1 milliseconds"),
            ("1ms 106751991168d", 5, "more than 2^63 − 1 milliseconds"),
            ("99999999999999999999s", 1, "too great a number"),
        ];
        for (text, at, why) in rows {
            assert_eq!(text.parse::<Millis>(), Err(BadDuration { at, why: why.to_owned() }), "{text}");
        }
    }

    #[test]
    fn json_gives_text_or_an_integer() {
        let read = |json: &str| serde_json::from_str::<Millis>(json).map(Millis::get).ok();
        assert_eq!(read("\"2s\""), Some(2_000));
        assert_eq!(read("250"), Some(250));
        assert_eq!(read("-1"), None);
        assert_eq!(read("1.5"), None);
        assert_eq!(read("9223372036854775808"), None);
        assert_eq!(read("null"), None);
    }
}
