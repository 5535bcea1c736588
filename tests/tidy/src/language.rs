//! Plain English in comments, documentation and messages.
//!
//! A doc comment begins with a noun or a verb ("Returns", "Number of", "Set when"), a sentence has a subject, and people are "you"
//! and "they". The rule is a list of words, so it finds the fault and not the cure: rewrite the sentence instead of the word.
//! Words that users do not meet are in `tests/words.toml`.

use super::source::Source;

/// Words that no line of a comment begins with.
const FIRST: [&str; 15] = [
    "What", "Who", "Whoever", "Whose", "Whom", "Nobody", "Somebody", "Of", "As", "So many", "So much",
    "Those", "It", "He", "His",
];

/// Words that no sentence within a line begins with.
const SENTENCE: [&str; 10] =
    ["What", "Who", "Whoever", "Whose", "Whom", "Nobody", "Somebody", "Of", "So many", "So much"];

/// Words that stand nowhere, in lower case; a capital at their start counts too.
const NOWHERE: [&str; 21] = [
    "whoever",
    "nobody",
    "nobody's",
    "somebody",
    "somebody's",
    "mend",
    "mends",
    "mended",
    "mending",
    "goes on with",
    "go on with",
    "is told of",
    "are told of",
    "was told of",
    "comes to nothing",
    "his",
    "himself",
    "he",
    "him",
    "that of",
    "none of it",
];

/// Words of [`NOWHERE`] that are faults only where a line begins with them.
const FIRST_ONLY: [&str; 2] = ["that of", "none of it"];

/// A line against the rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Path and line: `path:line`.
    pub place: String,
    /// The words that are against the rule.
    pub words: &'static str,
    /// The line.
    pub line: String,
}

/// Finds the lines of a file that are against the rule: comments and messages of `.rs` and `.wit`, prose of `.md`.
#[must_use]
pub fn faults(source: &Source) -> Vec<Fault> {
    let mut found = Vec::new();
    for (number, line, prose) in read(source) {
        let fault = match prose {
            Prose::Sentence(text) => in_prose(&text),
            Prose::Message(text) => anywhere(&text),
        };
        found.extend(fault.map(|words| Fault {
            place: format!("{}:{number}", source.path),
            words,
            line: line.trim().to_owned(),
        }));
    }
    found
}

/// Text for people.
enum Prose {
    /// A line of a comment or page.
    Sentence(String),
    /// A literal in code.
    Message(String),
}

/// The prose of a file by line, with code in backquotes left out.
fn read(source: &Source) -> Vec<(usize, &str, Prose)> {
    let is_page = source.path.ends_with(".md");
    let mut is_code = false;
    let mut found = Vec::new();
    for (at, line) in source.text.lines().enumerate() {
        let number = at + 1;
        if is_page {
            if line.starts_with("```") {
                is_code = !is_code;
            } else if !is_code {
                found.push((number, line, Prose::Sentence(without_targets(&without_code(line)))));
            }
        } else if let Some(text) = comment(line) {
            found.push((number, line, Prose::Sentence(without_code(text))));
        } else {
            found.extend(
                literals(line).into_iter().map(|text| (number, line, Prose::Message(without_code(text)))),
            );
        }
    }
    found
}

/// The text of the comment that a line is, or that stands at its end.
fn comment(line: &str) -> Option<&str> {
    if let Some(text) = line.trim_start().strip_prefix("//") {
        return Some(text.strip_prefix(['/', '!']).unwrap_or(text));
    }
    let (code, text) = line.rsplit_once(" // ")?;
    code.trim_end().ends_with([';', '{', '}', ')', ',']).then_some(text)
}

/// The literals of a line of code.
fn literals(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = None;
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if start.is_some() => is_escaped = true,
            '"' => match start.take() {
                Some(start) => found.extend(line.get(start..at)),
                None => start = Some(at + 1),
            },
            _ => {}
        }
    }
    found
}

/// Returns `text` with `x` for code in backquotes.
#[must_use]
pub fn without_code(text: &str) -> String {
    text.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "x" }).collect()
}

/// Returns `text` without the targets of links, which are names of files and headings.
#[must_use]
pub fn without_targets(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "](" + part.split_once(')').map_or(part, |(_, rest)| rest))
}

fn in_prose(text: &str) -> Option<&'static str> {
    let start = text.trim_start();
    let start = start.strip_prefix("- ").or(start.strip_prefix("* ")).unwrap_or(start);
    let begins =
        |text: &str, word: &str| text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_word));
    let first = FIRST.into_iter().find(|word| begins(start, word) && !start.starts_with("Of course"));
    let capital = |word: &&str| starts_with_word(start, &capitalised(word));
    let first = first.or_else(|| FIRST_ONLY.into_iter().find(capital));
    let sentences =
        text.match_indices(['.', '!', '?', ':']).filter_map(|(at, _)| text[at + 1..].strip_prefix(' '));
    let mut within = sentences.filter_map(|rest| SENTENCE.into_iter().find(|word| begins(rest, word)));
    first.or_else(|| within.next()).or_else(|| anywhere(text))
}

fn anywhere(text: &str) -> Option<&'static str> {
    NOWHERE.into_iter().filter(|word| !FIRST_ONLY.contains(word)).find(|word| holds(text, word))
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_word))
}

/// Returns whether `text` holds `word` as a whole, also with a capital at its start.
fn holds(text: &str, word: &str) -> bool {
    [word.to_owned(), capitalised(word)].iter().any(|word| {
        text.match_indices(word)
            .any(|(at, _)| !text[..at].ends_with(is_word) && starts_with_word(&text[at..], word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        faults(&source).into_iter().map(|fault| format!("{} {}", fault.place, fault.words)).collect()
    }

    #[test]
    fn comments_are_read_by_line() {
        let text = "/// What it is.\n/// Number of runs. Who is next?\n//! As of now\nlet x = 1; // nobody\n// as before\n// `Of` and It\n";
        assert_eq!(found("a.rs", text), ["a.rs:1 What", "a.rs:2 Who", "a.rs:3 As", "a.rs:4 nobody"]);
        assert_eq!(
            found("a.rs", "// Of course\n// - It is\n// That of a run\n// a run and that of\n"),
            ["a.rs:2 It", "a.rs:3 that of"]
        );
    }

    #[test]
    fn messages_are_read_for_words_alone() {
        assert_eq!(found("a.rs", "f(\"What is this\", \"nobody's run\");\nlet he = 1;\n"), ["a.rs:1 nobody"]);
    }

    #[test]
    fn pages_are_read_outside_of_code() {
        assert_eq!(
            found("a.md", "It is\n```\nIt is\n```\nHis. The\nthe `he`\n"),
            ["a.md:1 It", "a.md:5 His"]
        );
        assert_eq!(found("a.md", "[a](nobody.md) b\n[nobody](a.md)\n"), ["a.md:2 nobody"]);
    }
}
