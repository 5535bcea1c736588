//! Users meet plain words: `tests/words.toml` lists those they do not meet, and this test finds each of them with its place.
//!
//! Surfaces: README and pages; help of every command, as `reference/help.md` has it, which a test of the command compares with the
//! command; messages, which are the literals of the crates that users meet; the page, which is the literals and texts of
//! `host/server/src/page`; descriptions of the API and of schemas, which are comments of types with `JsonSchema` and JSON files.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
};

use phasm_tidy::{
    language::{without_code, without_targets},
    source::{Source, files, is_test, prose, root},
};
use serde::Deserialize;

/// The list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    word: Vec<Word>,
    #[serde(default)]
    exception: Vec<Exception>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Word {
    not: Vec<String>,
    but: String,
    why: Option<String>,
}

/// Words that may stand: a phrase anywhere, or a phrase below a path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    phrase: String,
    #[serde(default)]
    path: String,
    why: String,
}

/// A text that users read.
struct Text {
    surface: &'static str,
    path: String,
    line: usize,
    text: String,
}

/// Crates whose literals reach users, as messages.
const CRATES: [&str; 11] = [
    "host/cli/src",
    "host/server/src",
    "host/src",
    "host/engine/src",
    "host/sandbox/src",
    "host/builder/src",
    "host/artifacts/src",
    "host/files/src",
    "host/graph/src",
    "plugin-sdk",
    "plugins",
];

/// Pages about requirements and design, which have words of the inside, as their titles in the table of contents.
const OURS: [&str; 3] = ["host/docs/specification/", "host/docs/design/", "host/docs/seeds.md"];

fn list() -> List {
    toml::from_str(&fs::read_to_string(root().join("tests/words.toml")).unwrap()).unwrap()
}

fn texts() -> Vec<Text> {
    let mut found = Vec::new();
    for folder in ["README.md", "SECURITY.md", "host", "plugins", "plugin-sdk"] {
        if !root().join(folder).exists() {
            continue;
        }
        for source in files(&root(), folder, &["md"]).unwrap() {
            if !is_test(&source.path) && !OURS.iter().any(|page| source.path.starts_with(page)) {
                page(&source, &mut found);
            }
        }
    }
    for source in CRATES.iter().flat_map(|folder| files(&root(), folder, &["rs"]).unwrap()) {
        if !is_test(&source.path) {
            code(&source, &mut found);
        }
    }
    for source in files(&root(), "host", &["json"]).unwrap() {
        if source.path.ends_with(".schema.json") {
            descriptions(&source, &mut found);
        }
    }
    for source in files(&root(), "host/server/src/page/assets", &["js"]).unwrap() {
        code(&source, &mut found);
    }
    found
}

fn page(source: &Source, found: &mut Vec<Text>) {
    let is_help = source.path.ends_with("reference/help.md");
    let surface = if is_help { "help" } else { "pages" };
    let mut is_code = false;
    for (at, line) in source.text.lines().enumerate() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if (is_help || !is_code) && !line.contains("](design/") && !line.contains("](specification/") {
            let text = without_targets(&without_code(line));
            found.push(Text { surface, path: source.path.clone(), line: at + 1, text });
        }
    }
}

/// Literals of a file, and comments of its types that schemas are derived from.
fn code(source: &Source, found: &mut Vec<Text>) {
    let end = source.text.find("#[cfg(test)]\nmod tests {").unwrap_or(source.text.len());
    let text = source.text.get(..end).unwrap();
    let described = described(text);
    for one in prose(text) {
        let is_comment = one.text.starts_with("//");
        let surface = match one.text.strip_prefix("///") {
            Some(_) if described.contains(&one.line) => "schemas",
            _ if is_comment => continue,
            _ if source.path.starts_with("host/server/src/page") => "page",
            _ if source.path.starts_with("host/server/src/routes") => "schemas",
            _ if source.path.starts_with("host/server/src/openapi") => "schemas",
            _ => "messages",
        };
        let literal = unwrapped(&one.text);
        let is_inside = ["expect(", "unreachable!(", "assert!(", "panic!(", "reason ="]
            .iter()
            .any(|start| one.before.trim_end().ends_with(start));
        if !is_inside && !is_statement(&literal) && literal.trim().contains(char::is_whitespace) {
            let text = without_code(&without_variables(&literal));
            found.push(Text { surface, path: source.path.clone(), line: one.line, text });
        }
    }
}

/// A literal without the ends of its lines, which `\` hides.
fn unwrapped(literal: &str) -> String {
    let mut parts = literal.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start())
}

/// Lines of types with a derived schema: from the attribute that says so to the brace that ends the type.
fn described(text: &str) -> BTreeSet<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        if line.contains("JsonSchema") && !line.trim_start().starts_with("use ") && line.contains("derive") {
            let first = lines[..at].iter().rposition(|line| !line.trim_start().starts_with("///"));
            let last = lines[at..].iter().position(|line| *line == "}" || line.ends_with(";"));
            let first = first.map_or(1, |first| first + 2);
            found.extend(first..=at + 1 + last.unwrap_or_default());
        }
    }
    found
}

/// Values of `description` and `title`.
fn descriptions(source: &Source, found: &mut Vec<Text>) {
    for (at, line) in source.text.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with("\"description\":") || line.starts_with("\"title\":") {
            let text = without_code(line.split_once(':').unwrap().1);
            found.push(Text { surface: "schemas", path: source.path.clone(), line: at + 1, text });
        }
    }
}

/// Leaves out the names of variables in a format string.
fn without_variables(text: &str) -> String {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "{" + part.split_once('}').map_or(part, |(_, rest)| rest))
}

/// Returns whether a literal is a statement for a database, whose tables have names of the inside.
fn is_statement(text: &str) -> bool {
    const VERBS: [&str; 12] = [
        "SELECT ", "INSERT ", "UPDATE ", "DELETE ", "LISTEN ", "CREATE ", "ALTER ", "DROP ", "WITH ",
        "FROM ", "WHERE ", "NOTIFY ",
    ];
    let start = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    VERBS.iter().any(|verb| start.starts_with(verb) || text.contains(&format!(" {verb}")))
}

/// Returns whether `text`, in lower case, has `word` as a whole.
fn holds(text: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word))
}

/// Faults of a text: the words, and what to write.
fn faults<'l>(list: &'l List, text: &Text) -> Vec<(&'l str, &'l Word)> {
    let mut left = text.text.to_lowercase();
    for exception in list.exception.iter().filter(|one| text.path.starts_with(&one.path)) {
        left = left.replace(&exception.phrase, "x");
    }
    let words = list.word.iter().flat_map(|word| word.not.iter().map(move |not| (not.as_str(), word)));
    words.filter(|(not, _)| holds(&left, not)).collect()
}

/// R-L47. Every fault with its place.
#[test]
fn users_meet_plain_words() {
    let list = list();
    let mut report = String::new();
    let mut by_surface = BTreeMap::<&str, usize>::new();
    for text in texts() {
        for (not, word) in faults(&list, &text) {
            let why = word.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            let shown: String = text.text.trim().chars().take(200).collect();
            let place = format!("{}:{}", text.path, text.line);
            writeln!(report, "  {place}: `{not}`, write: {}{why}: {shown}", word.but).unwrap();
            *by_surface.entry(text.surface).or_default() += 1;
        }
    }
    assert!(report.is_empty(), "{by_surface:?}\n{report}");
}

/// Every surface is read, and an exception that nothing needs is gone.
#[test]
fn every_surface_is_read_and_every_exception_is_needed() {
    let list = list();
    let texts = texts();
    for surface in ["pages", "help", "messages", "page", "schemas"] {
        let count = texts.iter().filter(|text| text.surface == surface).count();
        assert!(count > 100, "{surface}: {count}");
    }
    for exception in &list.exception {
        assert!(!exception.why.is_empty(), "{}", exception.phrase);
        let is_used = texts.iter().any(|text| {
            text.path.starts_with(&exception.path) && text.text.to_lowercase().contains(&exception.phrase)
        });
        assert!(is_used, "no text has `{}` below `{}`", exception.phrase, exception.path);
    }
}

/// Words are found in literals of several lines, with a capital, and outside of code alone.
#[test]
fn words_are_found() {
    let list = list();
    let found = |path: &str, text: &str| {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        let mut texts = Vec::new();
        if path.ends_with(".md") {
            page(&source, &mut texts);
        } else {
            code(&source, &mut texts);
        }
        let faults = texts
            .iter()
            .flat_map(|text| faults(&list, text).into_iter().map(|(not, _)| format!("{} {not}", text.line)));
        faults.collect::<Vec<_>>()
    };
    assert_eq!(found("a.rs", "f(\"Mend \\\n  the {beside} `letter`, go \\\n  on\")"), ["1 mend", "1 go on"]);
    assert_eq!(found("a.rs", "x.expect(\"a letter came\"); // a letter\ng(\"letter\")"), [""; 0]);
    assert_eq!(
        found("a.rs", "/// A letter.\n#[derive(JsonSchema)]\nstruct A {\n    /// A knob.\n    a: u8,\n}"),
        ["1 letter", "4 knob"]
    );
    assert_eq!(found("README.md", "A [knob](letter.md)\n```\nknob\n```\n"), ["1 knob"]);
}
