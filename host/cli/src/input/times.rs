//! Lengths of time and instants, as options take them.

use std::time::Duration;

use phasm::engine::{duration, time::Timestamp};

/// The beginning of what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// So long ago.
    Ago(Duration),
    /// Then.
    At(Timestamp),
}

impl Since {
    /// Returns the time, as of now.
    pub(crate) fn instant(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(length) => {
                Timestamp(now.0.saturating_sub(i64::try_from(length.as_millis()).unwrap_or(i64::MAX)))
            }
            Self::At(at) => at,
        }
    }
}

/// Reads how long ago (`2h`), a day (`2026-11-20`) or a time (`2026-11-20T08:00:00Z`), in UTC.
///
/// # Errors
/// The message that clap shows to the user.
pub(crate) fn since(text: &str) -> Result<Since, String> {
    if let Ok(length) = length(text) {
        return Ok(Since::Ago(length));
    }
    let day = format!("{text}T00:00:00");
    let at = Timestamp::from_rfc3339(text).or_else(|| Timestamp::from_rfc3339(&day));
    at.map(Since::At)
        .ok_or_else(|| "expected such as `2h`, `2026-11-20` or `2026-11-20T08:00:00Z`".to_owned())
}

/// Reads a duration with its unit, such as `10s`. A bare number is refused, as it would be milliseconds.
///
/// # Errors
/// The message that clap shows to the user.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    let bare = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if bare && text != "0" {
        return Err(format!("a number without a unit; expected such as `{text}s` or `{text}m`"));
    }
    duration::parse(text).map(Duration::from_millis).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_a_length_a_day_or_an_instant() {
        let now = Timestamp(1_700_000_000_123);
        for (text, expected) in [
            ("2h", 1_699_992_800_123),
            ("0", now.0),
            ("2023-11-14", 1_699_920_000_000),
            ("2023-11-14T22:13:20Z", 1_700_000_000_000),
            ("2023-11-14 22:13:20", 1_700_000_000_000),
        ] {
            assert_eq!(since(text).unwrap().instant(now).0, expected, "{text}");
        }
        for wrong in ["", "2", "yesterday", "2023-13-01", "14.11.2023"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_length_has_a_unit() {
        assert_eq!(length("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(length("0"), Ok(Duration::ZERO));
        for wrong in ["10", "", "s", "-1s", "1.5s"] {
            assert!(length(wrong).is_err(), "{wrong}");
        }
    }
}
