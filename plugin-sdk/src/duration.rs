//! Durations as people write them: `10h 30 minutes`, `1500ms`, or a bare number of milliseconds.

use std::{fmt, str::FromStr, time::Duration};

pub use phasm_duration::DurationError;
use phasm_duration::MAX_MILLIS;
use serde::{
    Deserialize, Deserializer,
    de::{Unexpected, Visitor},
};

/// A length of time in whole milliseconds, at most 2^63 − 1.
///
/// Read from JSON it is a text such as `1h 30m`, or an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(u64);

impl Millis {
    /// Returns a duration, or `None` above 2^63 − 1 ms.
    #[must_use]
    pub const fn new(millis: u64) -> Option<Self> {
        if millis > MAX_MILLIS { None } else { Some(Self(millis)) }
    }

    /// Number of milliseconds.
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

impl FromStr for Millis {
    type Err = DurationError;

    /// Reads a duration exactly as workflows do.
    fn from_str(text: &str) -> Result<Self, DurationError> {
        phasm_duration::parse(text).map(Self)
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
        text.parse().map_err(|why| E::custom(format_args!("no duration: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_engine_reads_and_refuses_is_what_executors_read_and_refuse() {
        for text in
            ["10h 30 minutes", " 7\t", "5s1m5s", "5\u{a0}s", "\u{a0}5s", "1h 30", "9223372036854775808"]
        {
            assert_eq!(text.parse(), phasm_duration::parse(text).map(Millis), "{text:?}");
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
