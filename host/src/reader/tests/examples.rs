//! The examples of the catalogue: each wrong one, put where it belongs, has exactly its own problem, and the right one has
//! none.

use phasm_engine::problem::codes::{self, Entry};

use super::*;

/// Their cause lies outside of the document: how large it is, which plugins there are, what a run is given.
const ELSEWHERE: [&str; 23] = [
    "P000", "P002", "P006", "P007", "P051", "P052", "P053", "P070", "P071", "P072", "P073", "P074", "P075",
    "P077", "P076", "P078", "P079", "W000", "W002", "W008", "W015", "W026", "W027",
];

/// The templates that examples call.
const LIBRARY: [(&str, &str); 4] = [
    ("work", "task: {name: work, executor: {type: echo}}"),
    (
        "fetch",
        "task: {name: fetch, executor: {type: echo}, inputs: {parameters: [{name: url, type: string}]}}",
    ),
    ("part", "dag: {name: part, tasks: [{name: x, template: work}]}"),
    ("part-again", "task: {name: part-again, template: part}"),
];

/// The entries whose examples can be validated.
pub(super) fn validated() -> impl Iterator<Item = &'static Entry> {
    codes::all().filter(|entry| !ELSEWHERE.contains(&entry.code))
}

/// Returns the problems of the entry's wrong example, else its warnings.
pub(super) fn wrong(entry: &Entry) -> Vec<Problem> {
    match plan(&document(entry.wrong)) {
        Ok(plan) => plan.warnings,
        Err(problems) => problems,
    }
}

/// A document around an example, which is recognised by how it begins.
fn document(example: &str) -> String {
    let word = example.split(':').next().unwrap_or_default();
    match word {
        "spec" | "apiVersion" => example.to_owned(),
        "metadata" => workflow(example, &spec("", &task(""))),
        "schedule" => cron(example),
        "timezone" | "startAt" => cron(&format!("schedule: \"@daily\"\n  {example}")),
        "entrypoint" | "functions" | "priority" | "maxNestedDepth" | "templates" => {
            workflow("", &spec(example, &task("")))
        }
        "dag" | "loop" | "task" | "pipeline" => workflow("", &spec("", &item(example, 2))),
        _ if example.starts_with("- ") => workflow("", &spec("", &dag(example))),
        _ => workflow("", &spec("", &task(example))),
    }
}

fn cron(schedule: &str) -> String {
    let spec = spec("", &task("")).replace('\n', "\n  ");
    let kind = "apiVersion: aether/v1\nkind: CronWorkflow\nmetadata: {name: example}";
    format!("{kind}\nspec:\n  {schedule}\n  workflowSpec:{spec}\n")
}

fn workflow(metadata: &str, spec: &str) -> String {
    let metadata = if metadata.is_empty() { "metadata: {name: example}" } else { metadata };
    format!("apiVersion: aether/v1\nkind: Workflow\n{metadata}\nspec:{spec}\n")
}

/// The spec with `fields` and, unless they have their own, these templates; below them what of the library is called.
fn spec(fields: &str, templates: &str) -> String {
    let own = |field: &str| fields.lines().any(|line| line.starts_with(field));
    let mut text = String::new();
    if !own("entrypoint:") {
        text += "\nentrypoint: main";
    }
    text += "\narguments: {parameters: [{name: region, value: eu}]}";
    if !fields.is_empty() {
        text += &format!("\n{fields}");
    }
    if !own("templates:") {
        text += &format!("\ntemplates:\n{templates}");
    }
    for definition in called(&text) {
        text += &format!("\n- {definition}");
    }
    text.replace('\n', "\n  ")
}

/// Returns the parts of the library that are called, directly or through others, and not defined already.
fn called(templates: &str) -> Vec<&'static str> {
    let written =
        templates.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    let mut found: Vec<&str> = Vec::new();
    let is_new = |text: &str, name: &str| {
        let names = |key: &str| {
            text.contains(&format!("{key}: {name},")) || text.contains(&format!("{key}: {name}}}"))
        };
        let ends = text.lines().any(|line| line.ends_with(&format!("template: {name}")));
        (names("template") || names("body") || ends) && !names("{name")
    };
    loop {
        let text = format!("{written}\n{}", found.join("\n"));
        let Some((_, definition)) = LIBRARY.iter().find(|(name, _)| is_new(&text, name)) else {
            return found;
        };
        found.push(definition);
    }
}

/// A dag with these tasks.
fn dag(tasks: &str) -> String {
    item(&format!("dag:\n  name: main\n  tasks:\n  {}", tasks.replace('\n', "\n  ")), 2)
}

/// A dag whose second task has these fields.
fn task(fields: &str) -> String {
    let template = if fields.contains("executor:") { "" } else { "\n  template: work" };
    let fields = if fields.is_empty() { String::new() } else { format!("\n{fields}").replace('\n', "\n  ") };
    dag(&format!("- {{name: a, template: work}}\n- name: b\n  dependencies: [a]{template}{fields}"))
}

/// An element of a list.
fn item(text: &str, indent: usize) -> String {
    format!("- {}", text.replace('\n', &format!("\n{:indent$}", "")))
}

#[test]
fn wrong_examples_have_exactly_their_own_problem() {
    for entry in validated() {
        let found = wrong(entry);
        let codes: Vec<_> = found.iter().map(|problem| problem.code).collect();
        assert!(
            !codes.is_empty() && codes.iter().all(|code| *code == entry.code),
            "{}\n{found:#?}",
            document(entry.wrong)
        );
    }
}

#[test]
fn right_examples_have_no_problem() {
    for entry in validated() {
        let found = match plan(&document(entry.right)) {
            Ok(plan) => plan.warnings,
            Err(problems) => problems,
        };
        // For a text that could not be read at all only the corrected part is shown.
        let is_whole = entry.code != "P001";
        let left: Vec<_> = found.iter().filter(|problem| is_whole || problem.code == entry.code).collect();
        assert!(left.is_empty(), "{}\n{left:#?}", document(entry.right));
    }
}
