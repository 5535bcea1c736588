//! Files of the repository, and Rust code without comments, literals and tests.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A text file: its path below the repository's root, with `/`, and its text.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path below the repository's root, with `/`.
    pub path: String,
    /// Whole text, read leniently: corpora of fuzzers need not be UTF-8.
    pub text: String,
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads every file below `folder` whose extension is one of `extensions`, in the order of their paths.
///
/// `folder` is relative to `root` and may be a file. Build directories are left out.
///
/// # Errors
/// A directory or file cannot be read.
pub fn files(root: &Path, folder: &str, extensions: &[&str]) -> io::Result<Vec<Source>> {
    let mut found = Vec::new();
    walk(&root.join(folder), folder, extensions, &mut found)?;
    Ok(found)
}

fn walk(path: &Path, name: &str, extensions: &[&str], found: &mut Vec<Source>) -> io::Result<()> {
    if !path.is_dir() {
        if path.extension().is_some_and(|end| extensions.iter().any(|extension| end == *extension)) {
            let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
            found.push(Source { path: name.to_owned(), text });
        }
        return Ok(());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    for below in names.iter().filter(|below| !matches!(below.as_str(), "target" | "node_modules" | ".git")) {
        walk(&path.join(below), &format!("{name}/{below}"), extensions, found)?;
    }
    Ok(())
}

/// Returns whether the file at `path` is part of tests or benchmarks.
#[must_use]
pub fn is_test(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "fuzz"))
}

/// Returns `text` with comments and literals replaced by spaces; lines keep their numbers.
#[must_use]
pub fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    let mut is_in_word = false;
    while let Some(c) = text[at..].chars().next() {
        match opaque(&text[at..], is_in_word) {
            Some(length) => {
                code.extend(text[at..at + length].chars().map(blank));
                at += length;
                is_in_word = false;
            }
            None => {
                code.push(c);
                at += c.len_utf8();
                is_in_word = c.is_alphanumeric() || c == '_';
            }
        }
    }
    code
}

/// Text of a file of code for people: the number of its line, and what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Prose {
    /// Number of its first line, from 1.
    pub line: usize,
    /// A comment with its slashes, or a literal with its quotes.
    pub text: String,
    /// End of the code in front of it.
    pub before: String,
}

/// Returns the comments and literals of `text` in their order.
#[must_use]
pub fn prose(text: &str) -> Vec<Prose> {
    let mut found = Vec::new();
    let mut before = String::new();
    let mut at = 0;
    let mut line = 1;
    while let Some(c) = text[at..].chars().next() {
        let is_in_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = opaque(&text[at..], is_in_word).filter(|length| *length > 0);
        let part = &text[at..at + length.unwrap_or(c.len_utf8())];
        if length.is_some() {
            let tail = before.char_indices().rev().nth(40).map_or(0, |(at, _)| at);
            found.push(Prose { line, text: part.to_owned(), before: before[tail..].to_owned() });
        }
        before.push_str(if length.is_some() { " " } else { part });
        line += part.matches('\n').count();
        at += part.len();
    }
    found
}

fn blank(c: char) -> char {
    if c == '\n' { '\n' } else { ' ' }
}

/// The length of the comment or literal at the start of `text`.
fn opaque(text: &str, is_in_word: bool) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment(text));
    }
    if text.starts_with('"') {
        return Some(string(text));
    }
    if text.starts_with('\'') {
        return character(text);
    }
    if is_in_word { None } else { raw_string(text) }
}

/// Comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A character, not a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        let end = text.get(3..)?.find('\'')?;
        return Some(3 + end + 1);
    }
    let (at, second) = chars.next()?;
    (second == '\'').then_some(at + 1)
}

fn raw_string(text: &str) -> Option<usize> {
    let start = ["br", "cr", "r"].iter().find(|start| text.starts_with(**start))?.len();
    let hashes = text[start..].bytes().take_while(|b| *b == b'#').count();
    let open = start + hashes;
    if !text[open..].starts_with('"') {
        return None;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    Some(text[open + 1..].find(&end).map_or(text.len(), |at| open + 1 + at + end.len()))
}

/// `code` with its test items replaced by spaces.
///
/// Also returns the names of modules in files of their own that tests alone have: `#[cfg(test)] mod NAME;`.
#[must_use]
pub fn without_tests(code: &str) -> (String, Vec<String>) {
    const MARK: &str = "#[cfg(test)]";
    let mut rest = code;
    let mut kept = String::with_capacity(code.len());
    let mut modules = Vec::new();
    while let Some(at) = rest.find(MARK) {
        let end = at + MARK.len() + item_length(&rest[at + MARK.len()..]);
        let words = rest[at + MARK.len()..end].split(|c: char| !c.is_alphanumeric() && c != '_');
        let mut words = words.skip_while(|word| *word != "mod").skip(1);
        if let Some(name) = words.next().filter(|_| rest[at..end].ends_with(';')) {
            modules.push(name.to_owned());
        }
        kept.push_str(&rest[..at]);
        kept.extend(rest[at..end].chars().map(blank));
        rest = &rest[end..];
    }
    kept.push_str(rest);
    (kept, modules)
}

/// The length of an item: to its `;` or the end of its braces, attributes included.
fn item_length(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if c == '}' && depth == 0 {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blank() {
        let rows = [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("x\"y", 'z', '\'', '\u{1}')"#, "f(      ,    ,     ,        )"),
            ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)"),
            ("let r = r#\"a\"b\"#; var\"c\"", "let r =         ; var   "),
        ];
        for (text, expected) in rows {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn comments_and_literals_are_prose() {
        let text = "/// a\nf(\"b \\\n  \\\"c\", '\"', r#\"d\"e\"#); // f";
        let found: Vec<(usize, String)> = prose(text).into_iter().map(|one| (one.line, one.text)).collect();
        let expected = [(1, "/// a"), (2, "\"b \\\n  \\\"c\""), (3, "'\"'"), (3, "r#\"d\"e\"#"), (3, "// f")];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(prose("expect(\"x\")").first().map(|one| one.before.as_str()), Some("expect("));
    }

    #[test]
    fn tests_are_blank() {
        let text = "use a;\n#[cfg(test)]\nmod tests {\n  fn f() { x(); }\n}\n#[cfg(test)]\n#[path = x]\nmod y;\nfn g() {}";
        let (kept, modules) = without_tests(text);
        assert_eq!(kept.split_whitespace().collect::<Vec<_>>(), ["use", "a;", "fn", "g()", "{}"]);
        assert_eq!(kept.lines().count(), text.lines().count());
        assert_eq!(modules, ["y"]);
    }
}
