//! The specification and the tests hold together: every requirement has a test that cites it, whatever is cited exists,
//! and the page about the seeds names tests that there are.
#![expect(clippy::unwrap_used, reason = "tests")]

mod plain;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// A file below the repository's root: its path with `/`, and its text.
struct File {
    path: String,
    text: String,
}

/// Every text file of the repository that may define, cite or test a requirement.
fn repository() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["host", "tests", "plugin-sdk", "plugins", "wit"] {
        walk(&root.join(folder), folder, &mut files);
    }
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    files.push(File { path: "README.md".to_owned(), text: readme });
    files
}

fn walk(folder: &Path, path: &str, found: &mut Vec<File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{path}/{name}");
        if entry.file_type().unwrap().is_dir() {
            if name != "target" {
                walk(&entry.path(), &path, found);
            }
        } else if [".rs", ".md", ".yaml", ".wit"].iter().any(|end| name.ends_with(end)) {
            // Inputs of fuzzers need not be text.
            let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
            found.push(File { path, text });
        }
    }
}

/// The ids in a text: `R-`, a capital letter, digits; not inside a word.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.split(move |c: char| !is_word(c)).filter(|word| {
        let number =
            word.strip_prefix("R-").and_then(|rest| rest.strip_prefix(|c: char| c.is_ascii_uppercase()));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// The ids that a page defines: a heading that begins with one.
fn defined(page: &str) -> impl Iterator<Item = &str> {
    let headings = page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#'));
    headings.filter_map(|heading| ids(heading).next().filter(|id| heading.trim_start().starts_with(id)))
}

/// The part of a file in which a citation counts: scenarios, files of tests, and the test module at a file's end.
fn tests_of(file: &File) -> &str {
    let within = file.path.strip_prefix("tests/").unwrap_or(&file.path);
    if within.starts_with("scenarios/") {
        return if within.ends_with(".yaml") { &file.text } else { "" };
    }
    if !within.ends_with(".rs") {
        return "";
    }
    let is_test = within.split('/').any(|part| part == "tests" || part == "tests.rs");
    if is_test { &file.text } else { test_module(&file.text) }
}

/// From `#[cfg(test)] mod … {` on.
fn test_module(text: &str) -> &str {
    let marks = text.match_indices("#[cfg(test)]").filter_map(|(at, _)| text.get(at..));
    let mut modules = marks.filter(|rest| {
        rest.find(['{', ';'])
            .and_then(|end| rest.get(..=end))
            .is_some_and(|head| head.contains("\nmod ") && head.ends_with('{'))
    });
    modules.next().unwrap_or_default()
}

/// These files cite ids that are not meant.
fn is_this(file: &File) -> bool {
    file.path.starts_with("tests/tests/specification/")
}

const PAGES: &str = "host/docs/specification/";

/// Where each id is defined.
fn definitions(files: &[File]) -> BTreeMap<&str, Vec<&str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.starts_with(PAGES)) {
        for id in defined(&file.text) {
            found.entry(id).or_default().push(&file.path);
        }
    }
    found
}

#[test]
fn every_requirement_is_defined_once_and_cited_by_a_test() {
    let files = repository();
    let definitions = definitions(&files);
    let twice: Vec<_> = definitions.iter().filter(|(_, pages)| pages.len() > 1).collect();
    assert!(twice.is_empty(), "defined more than once: {twice:?}");
    let tests = files.iter().filter(|file| !is_this(file));
    let cited: BTreeSet<&str> = tests.flat_map(|file| ids(tests_of(file))).collect();
    let uncovered: Vec<_> = definitions.keys().filter(|id| !cited.contains(*id)).collect();
    assert!(definitions.len() > 100, "the specification is not where it is looked for: {PAGES}");
    assert!(uncovered.is_empty(), "no test cites: {uncovered:?}");
}

#[test]
fn whatever_is_cited_is_defined() {
    let files = repository();
    let definitions = definitions(&files);
    let mut unknown = BTreeSet::new();
    for file in files.iter().filter(|file| !is_this(file)) {
        unknown.extend(ids(&file.text).filter(|id| !definitions.contains_key(id)).map(|id| (id, &file.path)));
    }
    assert!(unknown.is_empty(), "not in the specification: {unknown:?}");
}

/// The tests that tables name in their last column, where that is headed `shown by`: one list for each row.
fn shown_by(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut rows = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        let Some(last) = line.strip_suffix('|').and_then(|row| row.rsplit('|').next()) else {
            inside = false;
            continue;
        };
        if last.trim() == "shown by" {
            inside = true;
        } else if inside && !last.trim().starts_with("---") {
            rows.push((line, last.split('`').skip(1).step_by(2).collect()));
        }
    }
    rows
}

/// A scenario by its path below `tests/scenarios`, any other test by its function's name.
fn exists(test: &str, files: &[File]) -> bool {
    if test.contains('/') {
        let path = format!("tests/scenarios/{test}.yaml");
        return files.iter().any(|file| file.path == path);
    }
    let function = format!("fn {test}(");
    files.iter().any(|file| tests_of(file).contains(&function))
}

#[test]
fn the_page_about_the_seeds_names_tests_that_exist() {
    let files = repository();
    let page = files.iter().find(|file| file.path == "host/docs/seeds.md").unwrap();
    let rows = shown_by(&page.text);
    assert!(rows.len() > 50, "the tables are not where they are looked for");
    let shown = |tests: &[&str]| !tests.is_empty() && tests.iter().all(|test| exists(test, &files));
    let wrong: Vec<_> = rows.iter().filter(|(_, tests)| !shown(tests)).map(|(row, _)| *row).collect();
    assert!(wrong.is_empty(), "no test, or one that does not exist:\n{}", wrong.join("\n"));
}

#[test]
fn ids_are_found_in_prose_and_not_in_words() {
    let text = "R-A1, (R-B22). `R-C3`: R-D4/R-E5 R-F6–R-G7 | XR-H8 R-I9x R-j1 R-K R-LL1 R-M-1 R-1 r-N1 R_O1";
    assert_eq!(ids(text).collect::<Vec<_>>(), ["R-A1", "R-B22", "R-C3", "R-D4", "R-E5", "R-F6", "R-G7"]);
}

#[test]
fn a_definition_is_a_heading_that_begins_with_an_id() {
    let page = "# Retry\n\n### R-A1: one\nas R-A2\n## About R-A3\n####  R-A4 and R-A5\n| R-A6 |\n### R-A7x";
    assert_eq!(defined(page).collect::<Vec<_>>(), ["R-A1", "R-A4"]);
}

fn tested(path: &str, text: &str) -> String {
    tests_of(&File { path: path.to_owned(), text: text.to_owned() }).to_owned()
}

#[test]
fn citations_count_in_tests_only() {
    let module = "#[cfg(test)]\n#[expect(clippy::panic, reason = \"tests\")]\nmod tests {\n// R-A2\n}\n";
    let production = format!("//! R-A1\n#[cfg(test)]\nuse x::y;\n#[cfg(test)]\nfn f() {{}}\n{module}");
    assert_eq!(tested("host/engine/src/settings/retry.rs", &production), module);
    assert_eq!(
        tested("host/engine/src/settings/retry.rs", "// R-A1\n#[cfg(test)]\nmod tests;\nfn f() {}\n"),
        ""
    );
    assert_eq!(tested("tests/src/world.rs", "// R-A1"), "");
    assert_eq!(tested("host/docs/retry.md", "R-A1"), "");
    assert_eq!(tested("tests/guests/echo.yaml", "R-A1"), "");
    for path in [
        "tests/scenarios/retry/a.yaml",
        "tests/tests/docs.rs",
        "host/cli/tests/cli/main.rs",
        "host/src/reader/tests.rs",
        "host/engine/src/expr/tests/filters.rs",
    ] {
        assert_eq!(tested(path, "R-A1"), "R-A1", "{path}");
    }
}

#[test]
fn tests_are_read_from_the_last_column() {
    let page = "| `no` | id | other |\n|---|---|---|\n| `no` | `no` | `no` |\n\n| seed | shown by |\n|---|---|\n\
                | `no` | `a/b`, `c` |\n| x | none |\n\n| `no` |";
    let rows: Vec<_> = shown_by(page).into_iter().map(|(_, tests)| tests).collect();
    assert_eq!(rows, [vec!["a/b", "c"], vec![]]);
}
