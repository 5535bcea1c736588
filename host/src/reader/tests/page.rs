//! `host/docs/reference/problems.md`, the catalogue as a page. `PHASM_ACCEPT=1` rewrites it.

use std::{fs, path::Path};

use phasm_engine::problem::codes::{self, Entry};

use super::{examples, *};
use crate::config;

const INTRODUCTION: &str = "\
# Errors and warnings

This page lists all errors in a workflow file (`P…`) or a configuration (`C0…`), and all warnings (`W…`, `C1…`).
Errors are reported all at once, and nothing is stored or run when there is one; warnings never stop anything.
`phasm validate --explain P012` prints an entry of this page.

This page is made from the catalogue in `host/engine/src/problem/codes` and `host/src/config/codes.rs` by a test, which
fails when they differ and rewrites the page when `PHASM_ACCEPT` is set.
";

/// The groups of codes.
const GROUPS: [(&str, &str); 12] = [
    ("P00", "The text of a workflow file"),
    ("P01", "The form of a workflow file"),
    ("P02", "Names, and how templates and tasks refer to each other"),
    ("P03", "Durations, sizes, retries and other values"),
    ("P04", "Expressions"),
    ("P05", "Inputs, arguments and the parameters of a run"),
    ("P06", "Schedules"),
    ("P07", "Executors"),
    ("P08", "Functions of a workflow file"),
    ("W0", "Warnings"),
    ("C0", "Errors in a configuration"),
    ("C1", "Warnings about a configuration"),
];

fn page() -> String {
    let all: Vec<&Entry> = codes::all().chain(config::codes::ENTRIES.iter().copied()).collect();
    let mut page = INTRODUCTION.to_owned();
    for (prefix, title) in GROUPS {
        let group = || all.iter().filter(|entry| entry.code.starts_with(prefix));
        page += &format!("\n## {title}\n\n");
        for entry in group() {
            page += &format!("- [{0}](#{0}) {1}\n", entry.code, entry.title);
        }
        for entry in group() {
            page += &section(entry);
        }
    }
    page
}

fn section(Entry { code, title, explanation, wrong, right }: &Entry) -> String {
    let language = if code.starts_with('C') { "toml" } else { "yaml" };
    let shown = |example: &str| format!("```{language}\n{example}\n```\n");
    let reported = match examples::validated().find(|entry| entry.code == *code) {
        Some(entry) => reported(entry),
        None => String::new(),
    };
    let wrong = shown(wrong);
    let right = shown(right);
    format!(
        "\n<a id=\"{code}\"></a>\n### {code}: {title}\n\n{explanation}\n\n{wrong}{reported}\nRight:\n\n{right}"
    )
}

/// Returns the report about the wrong example.
fn reported(entry: &Entry) -> String {
    let found = examples::wrong(entry);
    let Some(Problem { message, hint, .. }) = found.first() else { return String::new() };
    let hint = hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("\n```text\n{message}{hint}\n```\n")
}

#[test]
fn the_page_is_what_the_catalogue_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/problems.md");
    let page = page();
    if std::env::var_os("PHASM_ACCEPT").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "host/docs/reference/problems.md is stale; PHASM_ACCEPT=1 rewrites it");
}

#[test]
fn every_code_is_in_one_group() {
    for entry in codes::all().chain(config::codes::ENTRIES.iter().copied()) {
        let groups = GROUPS.iter().filter(|(prefix, _)| entry.code.starts_with(prefix)).count();
        assert_eq!(groups, 1, "{}", entry.code);
    }
}
