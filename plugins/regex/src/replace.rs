//! Matches are replaced by a text with parts of the match.
//!
//! The library's own replacement takes a group that is not there for an empty text; here it is an error.

use engine::{Captures, Regex};
use phasm_sdk::prelude::*;

use crate::{
    Task,
    limits::{too_large, too_many},
};

/// A part of the replacement.
enum Part<'r> {
    Text(&'r str),
    /// Number of a group; 0 is the whole match.
    Group(usize),
}

/// Replaces the matches, at most `limit` of them.
pub(crate) fn replace(pattern: &Regex, task: &Task) -> Result {
    let missing = "input `replacement` is missing; expected the text to put in place of each match";
    let replacement =
        task.replacement.as_deref().ok_or_else(|| Outcome::error(missing).kind("input").retryable(false))?;
    let parts = parts(pattern, replacement)?;
    let (mut text, mut count, mut end) = (Text::new(task.max_bytes), 0, 0);
    for captures in pattern.captures_iter(&task.text).take(task.limit.unwrap_or(usize::MAX)) {
        let Some(whole) = captures.get(0) else { continue };
        if count >= task.max_matches {
            return Err(too_many("matches", task.max_matches));
        }
        count += 1;
        text.push(task.text.get(end..whole.start()).unwrap_or_default())?;
        end = whole.end();
        for part in &parts {
            text.push(part.of(&captures))?;
        }
    }
    text.push(task.text.get(end..).unwrap_or_default())?;
    Ok(Outcome::succeeded().output("text", text.text).output("count", count))
}

impl<'r> Part<'r> {
    /// The text of the part; a group that did not take part in the match has none.
    fn of<'t: 'r>(&self, captures: &Captures<'t>) -> &'r str {
        match self {
            Self::Text(text) => text,
            Self::Group(number) => captures.get(*number).map_or("", |group| group.as_str()),
        }
    }
}

/// A text that does not grow beyond a limit.
struct Text {
    text: String,
    limit: usize,
}

impl Text {
    fn new(limit: usize) -> Self {
        Self { text: String::new(), limit }
    }

    fn push(&mut self, part: &str) -> Result<()> {
        if self.text.len().saturating_add(part.len()) > self.limit {
            return Err(too_large(self.limit));
        }
        self.text.push_str(part);
        Ok(())
    }
}

/// Reads `$1`, `$name`, `${1}`, `${name}` and `$$`. Code 3 for a group that the pattern does not have.
fn parts<'r>(pattern: &Regex, replacement: &'r str) -> Result<Vec<Part<'r>>> {
    let (mut parts, mut problems) = (Vec::new(), Vec::new());
    let mut rest = replacement;
    while let Some(at) = rest.find('$') {
        let (text, from) = (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
        parts.push(Part::Text(text));
        if let Some(after) = from.strip_prefix('$') {
            parts.push(Part::Text("$"));
            rest = after;
            continue;
        }
        let (name, after) = name(from);
        rest = after;
        match group(pattern, name) {
            Some(number) => parts.push(Part::Group(number)),
            None => problems.push(if name.is_empty() {
                "a `$` without a group; write `$$` for the character itself".to_owned()
            } else {
                format!(
                    "the pattern has no group `{}`; expected {}, as `${{{}}}` where an alphanumeric character or `_` follows",
                    shown(name),
                    known(pattern),
                    shown(digits(name)),
                )
            }),
        }
    }
    parts.push(Part::Text(rest));
    if problems.is_empty() {
        return Ok(parts);
    }
    Err(Outcome::error(format!("input `replacement`: {}", problems.join("; ")))
        .kind("input")
        .retryable(false))
}

/// Splits a text that follows `$` into the name of the group and the rest.
fn name(text: &str) -> (&str, &str) {
    if let Some((name, after)) = text.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
        return (name, after);
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    text.split_at(end)
}

fn group(pattern: &Regex, name: &str) -> Option<usize> {
    match name.parse::<usize>() {
        Ok(number) => (number < pattern.captures_len()).then_some(number),
        Err(_) => pattern.capture_names().position(|known| known == Some(name)),
    }
}

/// The digits that a name begins with: `$1a` was probably meant as `${1}a`.
fn digits(name: &str) -> &str {
    let end = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
    if end == 0 { name } else { name.get(..end).unwrap_or(name) }
}

fn known(pattern: &Regex) -> String {
    let names: Vec<String> = pattern
        .capture_names()
        .enumerate()
        .take(20)
        .map(|(number, name)| name.map_or_else(|| format!("`{number}`"), |name| format!("`{name}`")))
        .collect();
    names.join(", ")
}

fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}
