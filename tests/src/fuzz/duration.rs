//! The parser of durations against a second, naive one.

use phasm_engine::{
    duration::{MAX_MILLIS, parse},
    time::Millis,
};

use super::points_into;

/// Every unit's spellings and length, as seed 003 lists them.
const UNITS: [(&str, u128); 5] = [
    ("milliseconds millisecond millis milli ms", 1),
    ("seconds second secs sec s", 1000),
    ("minutes minute mins min m", 60_000),
    ("hours hour hrs hr h", 3_600_000),
    ("days day d", 86_400_000),
];

/// Checks that the parser reads exactly the durations of R-U1 to R-U3, and names a place where there is none.
///
/// # Panics
/// When it does not.
pub fn duration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let found = parse(text);
    assert_eq!(found.as_ref().ok(), reference(text).as_ref(), "{text:?}: {found:?}");
    match found {
        Ok(millis) => {
            assert_eq!(parse(&format!("{millis}ms")), Ok(millis));
            assert_eq!(parse(&millis.to_string()), Ok(millis));
        }
        Err(error) => {
            assert!(points_into(text, error.offset), "{text:?}: {error:?}");
            assert!(!error.message.is_empty(), "{text:?}: {error:?}");
        }
    }
}

/// A part of a duration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Digit,
    Letter,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            ' ' | '\t' | '\n' | '\r' | '\u{c}' => Self::Space,
            '0'..='9' => Self::Digit,
            _ => Self::Letter,
        }
    }
}

/// The text split where the class of its characters changes, without the space.
fn words(text: &str) -> Vec<(Class, String)> {
    let mut words: Vec<(Class, String)> = Vec::new();
    for c in text.chars() {
        match (words.last_mut(), Class::of(c)) {
            (Some((last, word)), class) if *last == class => word.push(c),
            (_, class) => words.push((class, c.to_string())),
        }
    }
    words.retain(|(class, _)| *class != Class::Space);
    words
}

fn reference(text: &str) -> Option<Millis> {
    let words = words(text);
    if let [(Class::Digit, number)] = words.as_slice() {
        return bounded(value(number));
    }
    let (pairs, []) = words.as_chunks::<2>() else { return None };
    let lengths = pairs.iter().map(|[(class, number), (_, unit)]| {
        let length = (*class == Class::Digit).then(|| length_of(unit)).flatten();
        length.map(|length| value(number).saturating_mul(length))
    });
    let total = lengths.reduce(|sum, length| Some(sum?.saturating_add(length?)))??;
    bounded(total)
}

/// A number of any length; what is too large for 128 bits is too large anyway.
fn value(digits: &str) -> u128 {
    let digit = |c: char| u128::from(c.to_digit(10).unwrap_or_default());
    digits.chars().fold(0, |number: u128, c| number.saturating_mul(10).saturating_add(digit(c)))
}

fn length_of(unit: &str) -> Option<u128> {
    UNITS.iter().find(|(names, _)| names.split(' ').any(|name| name == unit)).map(|(_, length)| *length)
}

fn bounded(millis: u128) -> Option<Millis> {
    Millis::try_from(millis).ok().filter(|millis| *millis <= MAX_MILLIS)
}
