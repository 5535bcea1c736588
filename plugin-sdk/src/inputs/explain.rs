//! serde's words, put as "expected …, got …".

use serde_json::Error;

/// Enough to recognise a value by.
const SHOWN: usize = 120;

/// Why `text` could not be read.
pub(super) fn explain(error: &Error, text: &str) -> String {
    let message = error.to_string();
    let (what, position) = split_position(&message);
    let nested = text.trim_start().starts_with(['{', '[']);
    match (reworded(what), position) {
        (words, Some(position)) if nested => format!("{words} ({position} of its JSON)"),
        (words, _) => words,
    }
}

/// What a `T` is called, learned from what it says to a null.
pub(super) fn expectation(refusal: &Error) -> String {
    let message = refusal.to_string();
    match split_position(&message).0.split_once(", expected ") {
        Some((_, expected)) => expected.to_owned(),
        None => "a value".to_owned(),
    }
}

fn split_position(message: &str) -> (&str, Option<&str>) {
    match message.rfind(" at line ") {
        Some(at) => (&message[..at], message.get(at + " at ".len()..)),
        None => (message, None),
    }
}

fn reworded(what: &str) -> String {
    let prefixes = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "];
    let rest = prefixes.iter().find_map(|prefix| what.strip_prefix(prefix));
    match rest.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((given, expected)) => format!("expected {expected}, got {}", shortened(given)),
        None => shortened(what),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
