//! Lengths of time and instants, as options take them.

use std::time::Duration;

use phasm::engine::duration;

/// Reads a length of time with its unit, such as `10s`. A bare number would be milliseconds, which nobody means here.
///
/// # Errors
/// What clap tells the user.
pub(super) fn length(text: &str) -> Result<Duration, String> {
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
    fn a_length_has_a_unit() {
        assert_eq!(length("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(length("0"), Ok(Duration::ZERO));
        for wrong in ["10", "", "s", "-1s", "1.5s"] {
            assert!(length(wrong).is_err(), "{wrong}");
        }
    }
}
