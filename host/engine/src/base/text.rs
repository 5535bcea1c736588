//! Texts that come from outside: how long they may be, and which characters people cannot see for what they are.

use std::borrow::Cow;

use crate::time::Millis;

/// The most that is kept of a text for people that comes from outside, in bytes.
pub const MAX_BYTES: usize = 1024;

/// `text`, cut to [`MAX_BYTES`] bytes.
#[must_use]
pub fn brief(text: &str) -> Cow<'_, str> {
    cut(text, MAX_BYTES)
}

/// At most `longest` bytes of `text`, at a character's edge; one that is cut says at its end how long it was.
#[must_use]
pub fn cut(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest {
        return text.into();
    }
    let note = format!("… ({} bytes)", text.len());
    let end = text.floor_char_boundary(longest.saturating_sub(note.len()));
    [text.get(..end).unwrap_or_default(), &note].concat().into()
}

/// A length of time, roughly: `35 ms`, `1.3 s`, `12 s`, `3 min 05 s`, `2 h 07 min`, `7 d 00 h`.
#[must_use]
pub fn elapsed(millis: Millis) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..10 => format!("{seconds}.{} s", millis % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3600..172_800 => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// A length of time, exactly: `500 ms`, `1 s`, `1 h 30 min`, `7 d`.
#[must_use]
pub fn length(millis: Millis) -> String {
    let units = [
        (86_400_000, u64::MAX, "d"),
        (3_600_000, 24, "h"),
        (60_000, 60, "min"),
        (1000, 60, "s"),
        (1, 1000, "ms"),
    ];
    let parts = units.into_iter().map(|(unit, whole, name)| (millis / unit % whole, name));
    let parts: Vec<_> =
        parts.filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    if parts.is_empty() { "0 ms".to_owned() } else { parts.join(" ") }
}

/// Whether a character is none that people see: it steers a terminal, ends a line, or turns the order of what stands around it.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("abc", 3), "abc");
        let long = "é".repeat(MAX_BYTES);
        let text = brief(&long);
        assert!(
            text.ends_with("é… (2048 bytes)") && (MAX_BYTES - 1..=MAX_BYTES).contains(&text.len()),
            "{text}"
        );
        assert_eq!(cut("0123456789", 4), "… (10 bytes)");
    }

    #[test]
    fn hidden_are_characters_that_steer() {
        for c in ['\n', '\u{1b}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{2028}', '\u{200f}', '\u{feff}'] {
            assert!(is_hidden(c), "{c:?}");
        }
        for c in ['a', ' ', 'ü', '日', '\u{200d}', '😀'] {
            assert!(!is_hidden(c), "{c:?}");
        }
    }

    #[test]
    fn lengths_that_are_written_are_exact() {
        for (millis, text) in [
            (0, "0 ms"),
            (500, "500 ms"),
            (1000, "1 s"),
            (1500, "1 s 500 ms"),
            (5_400_000, "1 h 30 min"),
            (604_800_000, "7 d"),
        ] {
            assert_eq!(length(millis), text);
        }
    }

    #[test]
    fn lengths_of_time_read_well() {
        for (millis, text) in [
            (0, "0 ms"),
            (349, "349 ms"),
            (1_349, "1.3 s"),
            (9_999, "9.9 s"),
            (10_000, "10 s"),
            (185_000, "3 min 05 s"),
            (7_620_000, "2 h 07 min"),
            (604_800_000, "7 d 00 h"),
        ] {
            assert_eq!(elapsed(millis), text);
        }
    }
}
