//! Names of types, and parameters that are packed into tuples.

use super::{
    source::{Source, code, without_tests},
    tokens::tokens,
};

/// Past participles that do not end in "ed", and words of one syllable used like them.
const IRREGULAR: [&str; 57] = [
    "Asked",
    "Bound",
    "Begun",
    "Borne",
    "Bought",
    "Broken",
    "Brought",
    "Built",
    "Caught",
    "Chosen",
    "Come",
    "Cut",
    "Done",
    "Drawn",
    "Driven",
    "Fallen",
    "Felt",
    "Found",
    "Given",
    "Gone",
    "Grown",
    "Heard",
    "Held",
    "Kept",
    "Known",
    "Laid",
    "Lent",
    "Left",
    "Lost",
    "Made",
    "Meant",
    "Met",
    "Paid",
    "Read",
    "Said",
    "Seen",
    "Sent",
    "Set",
    "Shown",
    "Shut",
    "Sold",
    "Spent",
    "Spoken",
    "Stood",
    "Sworn",
    "Taken",
    "Taught",
    "Thought",
    "Thrown",
    "Told",
    "Torn",
    "Understood",
    "Undone",
    "Withheld",
    "Won",
    "Worn",
    "Written",
];

/// Words in "ed" that are nouns, and "Read" and "Set", which are nouns or verbs more often.
const NOUNS: [&str; 14] = [
    "Bed", "Breed", "Feed", "Need", "Read", "Red", "Seed", "Set", "Shed", "Sled", "Speed", "Thread", "Weed",
    "Embed",
];

/// Returns whether the last word of a type's name is a past participle, as in `Kept` or `RunAsked`.
#[must_use]
pub fn is_participle(name: &str) -> bool {
    let last = name.rfind(|c: char| c.is_ascii_uppercase()).map_or(name, |at| &name[at..]);
    !NOUNS.contains(&last) && (last.ends_with("ed") || IRREGULAR.contains(&last))
}

/// Returns the names of the types that a file defines, tests apart.
#[must_use]
pub fn types(source: &Source) -> Vec<String> {
    let (code, _) = without_tests(&code(&source.text));
    let tokens = tokens(&code);
    let pairs = tokens.windows(2).filter_map(|pair| match pair {
        ["struct" | "enum" | "trait" | "type" | "union", name] => Some((*name).to_owned()),
        _ => None,
    });
    // Associated types have their trait's name for it, as `Error` and `Item`.
    pairs.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase())).collect()
}

/// Counts the parameters and assignments of a file that are packed into a tuple: `fn f((a, b): (A, B))`, `(self.a, self.b) = …`.
#[must_use]
pub fn packed_tuples(source: &Source) -> Vec<String> {
    let (code, _) = without_tests(&code(&source.text));
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = code.as_str();
    while let Some(at) = rest.find("fn ") {
        line += rest[..at].matches('\n').count();
        let head = &rest[at..];
        if has_tuple_parameter(head) {
            let name = head[3..].split(['(', '<']).next().unwrap_or_default();
            found.push(format!("{}:{line}: fn {name}", source.path));
        }
        rest = &rest[at + 3..];
    }
    for (at, line) in code.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("(self.") && line.contains(") = ") {
            found.push(format!("{}:{}: {line}", source.path, at + 1));
        }
    }
    found
}

/// Returns whether one of the parameters of the function at the start is a tuple's pattern.
fn has_tuple_parameter(head: &str) -> bool {
    let Some(open) = parameters(head) else { return false };
    let mut depth = 0_usize;
    let mut is_start = false;
    let mut before = ' ';
    for c in head[open..].chars() {
        match c {
            '(' if depth == 1 && is_start => return true,
            '(' | '[' | '{' | '<' => {
                depth += 1;
                is_start = depth == 1;
            }
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return false;
                }
            }
            // Unless it ends the arrow of `Fn() -> T`.
            '>' if before != '-' => depth = depth.saturating_sub(1),
            ',' if depth == 1 => is_start = true,
            c if c.is_whitespace() => {}
            _ => is_start = false,
        }
        before = c;
    }
    false
}

/// Where the parameters begin, behind the name and its `<…>`.
fn parameters(head: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in head.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => return Some(at),
            '{' | ';' => return None,
            _ => {}
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { path: "a.rs".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn participles_are_told_from_nouns() {
        for name in ["Kept", "RunAsked", "Withheld", "Judged", "Told"] {
            assert!(is_participle(name), "{name}");
        }
        for name in ["Feed", "Lease", "WriteThread", "ReadSet", "Seed", "KeptRun"] {
            assert!(!is_participle(name), "{name}");
        }
    }

    #[test]
    fn types_are_found() {
        let text = "pub struct A; enum B {} trait C { type D; } type E = u8; // struct F\n#[cfg(test)]\nmod tests { struct G; }";
        assert_eq!(types(&source(text)), ["A", "B", "C", "D", "E"]);
    }

    #[test]
    fn tuples_are_found_in_parameters_alone() {
        let text = "fn a(b: (u8, u8)) {}\nfn c<F: Fn((u8, u8)) -> u8>((d, e): (u8, u8)) {}\nfn f(&self, (g, h): X) -> (u8) {}\n\
                    fn i(x: Vec<(u8, u8)>, y: T) { (self.a, self.b) = (1, 2); }\n  (self.a, self.b) = (1, 2);\nfn j(f: impl Fn(u8) -> T, (k, l): X) {}";
        let found = packed_tuples(&source(text));
        assert_eq!(
            found,
            ["a.rs:2: fn c", "a.rs:3: fn f", "a.rs:6: fn j", "a.rs:5: (self.a, self.b) = (1, 2);"]
        );
    }
}
