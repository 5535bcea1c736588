//! Errors of serde, worded as "expected …, got …" with the names of JSON.

use serde_json::Error;

/// Characters of a value in a message.
const MAX_VALUE_CHARS: usize = 120;

/// Serde's names of types, each with JSON's.
const WORDS: [(&str, &str); 17] = [
    ("sequence", "a list"),
    ("a sequence", "a list"),
    ("map", "an object"),
    ("a map", "an object"),
    ("u8", "an integer from 0 to 255"),
    ("u16", "an integer from 0 to 65535"),
    ("u32", "an integer from 0 to 4294967295"),
    ("u64", "an integer from 0 on"),
    ("usize", "an integer from 0 on"),
    ("i8", "an integer from -128 to 127"),
    ("i16", "an integer from -32768 to 32767"),
    ("i32", "an integer from -2147483648 to 2147483647"),
    ("i64", "an integer"),
    ("isize", "an integer"),
    ("f32", "a number"),
    ("f64", "a number"),
    ("unit", "null"),
];

/// Explains why `text` could not be read.
pub(super) fn explain(error: &Error, text: &str) -> String {
    let message = error.to_string();
    let (what, position) = split_position(&message);
    let nested = text.trim_start().starts_with(['{', '[']) && error.column() > 0;
    match (reword(what), position) {
        (words, Some(position)) if nested => {
            format!("{words} ({} of its JSON)", position.replacen(" column", ", column", 1))
        }
        (words, _) => words,
    }
}

/// Returns the name of the type that was expected, taken from serde's refusal of a null.
pub(super) fn expectation(refusal: &Error) -> String {
    let message = refusal.to_string();
    let expected = split_position(&message).0.split_once(", expected ").map(|(_, expected)| expected);
    expected.map_or("a value", in_json).to_owned()
}

fn split_position(message: &str) -> (&str, Option<&str>) {
    let at = message.rfind(" at line ").and_then(|at| message.split_at_checked(at));
    match at {
        Some((what, position)) => (what, position.strip_prefix(" at ")),
        None => (message, None),
    }
}

fn reword(what: &str) -> String {
    let prefixes = ["invalid type: ", "invalid value: ", "unknown variant "];
    let rest = prefixes.iter().find_map(|prefix| what.strip_prefix(prefix));
    match rest.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((given, expected)) => {
            format!("expected {}, got {}", in_json(expected), shorten(in_json(given)))
        }
        None => shorten(what),
    }
}

fn in_json(word: &str) -> &str {
    WORDS.iter().find(|(rust, _)| *rust == word).map_or(word, |(_, json)| json)
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE_CHARS).and_then(|(end, _)| text.get(..end)) {
        Some(start) => format!("{start}…"),
        None => text.to_owned(),
    }
}
