//! Users and embedders read plain words: requirements and the seeds' numbers stay with the specification, the tests and private
//! comments.

use crate::{File, ids, repository, test_module};

/// Pages that are about requirements and seeds.
const ABOUT: [&str; 2] = ["host/docs/specification/", "host/docs/seeds.md"];

/// Returns whether only the project's own people read the file.
fn is_ours(path: &str) -> bool {
    let is_test = path.split('/').any(|part| part == "tests" || part == "tests.rs" || part == "benches");
    is_test || path.ends_with(".yaml") || ABOUT.iter().any(|page| path.starts_with(page))
}

/// Returns the first citation of a line that is not for users.
fn cited(line: &str) -> Option<String> {
    let seed = ["seed 00", "Seed 00", "seeds 00"].iter().find(|word| line.contains(*word));
    ids(line).next().or(seed.copied()).map(str::to_owned)
}

/// The item that a documentation comment in line `at` is about: the first line behind it that is neither comment nor attribute.
fn item<'t>(lines: &[&'t str], at: usize) -> &'t str {
    let mut open = 0;
    for line in lines.iter().skip(at).map(|line| line.trim_start()) {
        let is_attribute = open > 0 || line.starts_with("#[");
        if is_attribute {
            open += line.matches('[').count();
            open -= line.matches(']').count().min(open);
        } else if !line.starts_with("//") && !line.is_empty() {
            return line;
        }
    }
    ""
}

/// Public items, and the variants of enums; all of the command's, as its help is made of them.
fn is_public(item: &str, path: &str) -> bool {
    path.starts_with("host/cli/")
        || item.starts_with("pub ")
        || item.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Whether people outside read the line: documentation of what is public, and every text in the code.
fn is_read(lines: &[&str], at: usize, path: &str) -> bool {
    let line = lines.get(at).map_or("", |line| line.trim_start());
    match line {
        _ if line.starts_with("//!") => true,
        _ if line.starts_with("///") => is_public(item(lines, at), path),
        _ if line.starts_with("//") => false,
        _ => !line.contains("reason = "),
    }
}

/// `path:line: what` of each citation in front of users.
fn in_front_of_users(file: &File) -> Vec<String> {
    let end = file.text.len() - test_module(&file.text).len();
    let production = file.text.get(..end).unwrap_or_default();
    let lines: Vec<&str> = production.lines().collect();
    let is_code = file.path.ends_with(".rs");
    let read = lines.iter().enumerate().filter(|(at, _)| !is_code || is_read(&lines, *at, &file.path));
    read.filter_map(|(at, line)| Some(format!("{}:{}: {}", file.path, at + 1, cited(line)?))).collect()
}

#[test]
fn users_read_plain_words() {
    let files = repository();
    let found: Vec<_> =
        files.iter().filter(|file| !is_ours(&file.path)).flat_map(in_front_of_users).collect();
    assert!(found.is_empty(), "say it in words:\n{}", found.join("\n"));
}

#[test]
fn private_comments_may_cite() {
    let text = "//! R-A1\n/// R-A2\npub fn a() {}\n/// R-A3\nfn b() {}\n// R-A4\nlet x = \"R-A5\";\n/// R-A6\n\
                #[x(\n  y\n)]\npub(crate) fn c() {}\n/// seed 000\nOne,\n#[cfg(test)]\nmod tests {\n// R-A7\n}\n";
    let found = |path: &str| in_front_of_users(&File { path: path.to_owned(), text: text.to_owned() });
    let of = |lines: &[(usize, &str)], path: &str| -> Vec<String> {
        lines.iter().map(|(line, what)| format!("{path}:{line}: {what}")).collect()
    };
    let library = [(1, "R-A1"), (2, "R-A2"), (7, "R-A5"), (13, "seed 00")];
    assert_eq!(found("host/src/x.rs"), of(&library, "host/src/x.rs"));
    let command = [(1, "R-A1"), (2, "R-A2"), (4, "R-A3"), (7, "R-A5"), (8, "R-A6"), (13, "seed 00")];
    assert_eq!(found("host/cli/src/x.rs"), of(&command, "host/cli/src/x.rs"));
    assert!(
        is_ours("host/docs/seeds.md")
            && is_ours("tests/src/world.rs")
            && !is_ours("host/docs/reference/cli.md")
    );
}
