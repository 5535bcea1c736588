//! Instants as they are written: RFC 3339, with any distance from UTC.

use crate::time::Timestamp;

/// A regular expression for what is read, but for days that a month does not have.
pub(crate) const INSTANT_PATTERN: &str = r"^(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$";

/// Why a text is no instant from 1970 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstantError {
    /// Not written like an instant.
    Written,
    /// Its month does not have that day, or with its distance from UTC it is before 1970 or after 9999.
    NoSuchDay,
}

/// Reads an instant.
pub(crate) fn instant(text: &str) -> Result<Timestamp, InstantError> {
    if !is_written_so(text.as_bytes()).unwrap_or(false) {
        return Err(InstantError::Written);
    }
    let at = text.parse::<jiff::Timestamp>().map_err(|_| InstantError::NoSuchDay)?;
    Some(Timestamp(at.as_millisecond())).filter(|at| at.0 >= 0).ok_or(InstantError::NoSuchDay)
}

/// Whether [`INSTANT_PATTERN`] says so; nothing where the text ends too soon.
fn is_written_so(text: &[u8]) -> Option<bool> {
    let (at, mut rest) = text.split_at_checked(19)?;
    let number = |range: std::ops::Range<usize>| {
        at.get(range)?.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0'))
        })
    };
    let marks = [4, 7, 10, 13, 16].map(|mark| at.get(mark).copied().unwrap_or_default());
    let is_marked = matches!(marks, [b'-', b'-', b'T' | b't' | b' ', b':', b':']);
    let is_date =
        number(0..4)? >= 1970 && (1..=12).contains(&number(5..7)?) && (1..=31).contains(&number(8..10)?);
    let is_time = number(11..13)? < 24 && number(14..16)? < 60 && number(17..19)? < 60;
    if let Some(fraction) = rest.strip_prefix(b".") {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = fraction.get(digits..).filter(|_| (1..=9).contains(&digits))?;
    }
    let is_offset = match rest {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', hours @ .., b':', b'0'..=b'5', b'0'..=b'9'] => {
            matches!(hours, [b'0' | b'1', b'0'..=b'9'] | [b'2', b'0'..=b'3'])
        }
        _ => false,
    };
    Some(is_marked && is_date && is_time && is_offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_a_date_a_time_and_a_distance_from_utc() {
        let rows = [
            ("2026-11-20T08:00:00Z", Ok(1_795_161_600_000)),
            ("2026-11-20t09:30:00.25+01:30", Ok(1_795_161_600_250)),
            ("2026-11-20 00:00:00-08:00", Ok(1_795_161_600_000)),
            ("2026-11-20", Err(InstantError::Written)),
            ("2026-11-20T08:00:00", Err(InstantError::Written)),
            ("2026-11-20T08:00Z", Err(InstantError::Written)),
            ("2026-11-20T08:00:60Z", Err(InstantError::Written)),
            ("2026-11-20T08:00:00.Z", Err(InstantError::Written)),
            ("2026-11-20T08:00:00+1:00", Err(InstantError::Written)),
            ("2026-11-20T08:00:00+24:00", Err(InstantError::Written)),
            ("1969-12-31T23:59:59Z", Err(InstantError::Written)),
            ("1970-01-01T00:00:00+01:00", Err(InstantError::NoSuchDay)),
            ("2026-02-29T00:00:00Z", Err(InstantError::NoSuchDay)),
            ("", Err(InstantError::Written)),
        ];
        for (text, expected) in rows {
            assert_eq!(instant(text).map(|at| at.0), expected, "{text}");
        }
    }
}
