//! Matches, and the parts between them.

use engine::{Captures, Regex};
use phasm_sdk::{prelude::*, serde_json::Map};

use crate::{Task, limits::too_many};

/// Whether there is a match, and the first one.
pub(crate) fn first(pattern: &Regex, task: &Task) -> Result {
    let captures = pattern.captures(&task.text);
    let outcome = Outcome::succeeded().output("matched", captures.is_some());
    let Some(captures) = captures else { return Ok(outcome) };
    Ok(outcome.output("first", described(pattern, &captures, &mut Characters::of(&task.text))))
}

/// All matches that do not overlap.
pub(crate) fn all(pattern: &Regex, task: &Task) -> Result {
    let mut characters = Characters::of(&task.text);
    let mut matches = Vec::new();
    for captures in pattern.captures_iter(&task.text).take(task.limit.unwrap_or(usize::MAX)) {
        if matches.len() >= task.max_matches {
            return Err(too_many("matches", task.max_matches));
        }
        matches.push(described(pattern, &captures, &mut characters));
    }
    let count = matches.len();
    Ok(Outcome::succeeded().output("matches", matches).output("count", count))
}

/// The parts between matches; a limit of 1 splits once.
pub(crate) fn split(pattern: &Regex, task: &Task) -> Result {
    let mut parts = Vec::new();
    let splits = task.limit.unwrap_or(usize::MAX).saturating_add(1);
    for part in pattern.splitn(&task.text, splits) {
        if parts.len() >= task.max_matches {
            return Err(too_many("parts", task.max_matches));
        }
        parts.push(part);
    }
    let count = parts.len().saturating_sub(1);
    Ok(Outcome::succeeded().output("parts", parts).output("count", count))
}

/// A match as a value: text, place in characters, groups by number and by name.
fn described(pattern: &Regex, captures: &Captures<'_>, characters: &mut Characters<'_>) -> Value {
    let text = |group: Option<engine::Match<'_>>| group.map_or(Value::Null, |group| group.as_str().into());
    let whole = captures.get(0);
    let start = whole.map_or(0, |whole| characters.before(whole.start()));
    let end = whole.map_or(start, |whole| characters.before(whole.end()));
    let numbered: Vec<Value> = captures.iter().skip(1).map(text).collect();
    let named: Map<String, Value> =
        pattern.capture_names().flatten().map(|name| (name.to_owned(), text(captures.name(name)))).collect();
    json!({ "text": text(whole), "start": start, "end": end, "captures": numbered, "groups": named })
}

/// Counts characters up to places that never go back, so that all places of a text are found in one pass.
struct Characters<'t> {
    text: &'t str,
    byte: usize,
    count: usize,
}

impl<'t> Characters<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, byte: 0, count: 0 }
    }

    fn before(&mut self, byte: usize) -> usize {
        self.count += self.text.get(self.byte..byte).map_or(0, |part| part.chars().count());
        self.byte = byte;
        self.count
    }
}
