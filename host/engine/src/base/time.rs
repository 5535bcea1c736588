//! Instants and lengths of time, in whole milliseconds. Nothing here reads a clock.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A length of time in milliseconds, at most 2^63 − 1.
pub type Millis = u64;

/// An instant: milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// The schema of a time that is shown as text: RFC 3339, in UTC.
#[derive(Clone, Copy, Debug)]
pub struct TimeText;

impl JsonSchema for TimeText {
    fn schema_name() -> Cow<'static, str> {
        "Instant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl Timestamp {
    /// The instant `length` later, or the last there is.
    #[must_use]
    pub fn after(self, length: Millis) -> Self {
        Self(self.0.saturating_add(i64::try_from(length).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; 0 if it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Millis {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// Reads RFC 3339 in UTC: `2026-11-20T08:00:00Z`, where `Z` may be missing and `T` be a space. Nothing for other text, and for
    /// instants before 1970.
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let time = humantime::parse_rfc3339_weak(text).ok()?;
        let since_epoch = time.duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since_epoch.as_millis()).ok().map(Self)
    }

    /// RFC 3339 with milliseconds, in UTC.
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        let millis = u64::try_from(self.0).unwrap_or(0);
        // humantime formats up to the year 9999; anything later is shown as its last instant.
        let latest = 253_402_300_799_999;
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(millis.min(latest));
        humantime::format_rfc3339_millis(time).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_in_utc_with_milliseconds() {
        assert_eq!(Timestamp(0).to_rfc3339(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp(1_700_000_000_123).to_rfc3339(), "2023-11-14T22:13:20.123Z");
        assert_eq!(Timestamp(i64::MAX).to_rfc3339(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp(-5).to_rfc3339(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn what_is_written_is_read() {
        for millis in [0, 1_700_000_000_123, 253_402_300_799_999] {
            assert_eq!(Timestamp::from_rfc3339(&Timestamp(millis).to_rfc3339()), Some(Timestamp(millis)));
        }
        for wrong in ["", "2023-13-01T00:00:00Z", "2023-11-14", "1969-12-31T23:59:59Z"] {
            assert_eq!(Timestamp::from_rfc3339(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Timestamp(5).after(u64::MAX), Timestamp(i64::MAX));
        assert_eq!(Timestamp(5).since(Timestamp(9)), 0);
    }
}
