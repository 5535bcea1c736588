//! Documents as they are written for Aether v1, through the real binary and the shipped `echo`.
//!
//! `aether/NAME.json` is a document, `aether/NAME.expect.json` what is expected of it: every member of [`Expected`] that is
//! written. host/docs/understand/aether.md says what such documents may rely on.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Expectations for a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Expectation {
    /// The exit status of the last command.
    status: i32,
    /// A configuration, in TOML.
    config: Option<String>,
    /// More arguments of `run`.
    #[serde(default)]
    arguments: Vec<String>,
    /// The run parks in a file first; then this command of it, without the run's id.
    then: Option<Vec<String>>,
    /// Whether it is a schedule, which is valid and does not run.
    #[serde(default)]
    cron: bool,
    /// Code and path of every problem.
    #[serde(default)]
    problems: Vec<String>,
    phase: Option<String>,
    /// How many task runs there are.
    count: Option<usize>,
    /// The run's outputs, all of them.
    outputs: Option<Map<String, Value>>,
    /// Members of task runs, by name or path; `outputs` by name, all of them.
    #[serde(default)]
    tasks: BTreeMap<String, Map<String, Value>>,
    /// Hooks that have run with their tasks and outputs, in order.
    hooks: Option<Vec<String>>,
}

/// The command in a directory of its own.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn phasm(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
        let ran = Command::new(env!("CARGO_BIN_EXE_phasm"))
            .current_dir(self.dir.path())
            .env_remove("PHASM_STORE")
            .env_remove("PHASM_CONFIG")
            .args(arguments)
            .args(["--json", "--plugins"])
            .arg(plugins)
            .output()
            .unwrap();
        let stderr = || json!({ "stderr": String::from_utf8_lossy(&ran.stderr) });
        (ran.status.code(), serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| stderr()))
    }

    /// Runs the document, and what comes after it.
    fn play(&self, document: &str, expected: &Expectation) -> (Option<i32>, Value) {
        let mut run = vec!["run", document];
        if let Some(config) = &expected.config {
            fs::write(self.dir.path().join("phasm.toml"), config).unwrap();
            run.extend(["--config", "phasm.toml"]);
        }
        run.extend(expected.arguments.iter().map(String::as_str));
        let Some(then) = &expected.then else { return self.phasm(&run) };
        run.extend(["--store", "runs.db"]);
        let (status, parked) = self.phasm(&run);
        let Some(id) = parked.get("runID").and_then(Value::as_str) else { return (status, parked) };
        assert_eq!(status, Some(6), "{document}: {parked}");
        let (command, rest) = then.split_first().unwrap();
        let mut arguments = vec![command.as_str(), id];
        arguments.extend(rest.iter().map(String::as_str).chain(["--store", "runs.db"]));
        self.phasm(&arguments)
    }
}

fn entries<'v>(view: &'v Value, list: &str) -> &'v [Value] {
    view[list].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Outputs by name.
fn named(outputs: &Value) -> Map<String, Value> {
    let outputs = outputs.as_array().into_iter().flatten();
    outputs.map(|output| (output["name"].as_str().unwrap().to_owned(), output["value"].clone())).collect()
}

/// The task run of that name, or at that path.
fn task<'v>(view: &'v Value, name: &str) -> &'v Value {
    let is_it = |entry: &&Value| {
        let (scope, task) = (entry["scope"].as_str().unwrap(), entry["taskName"].as_str().unwrap());
        name == task || name.strip_suffix(task).is_some_and(|rest| rest.strip_suffix('/') == Some(scope))
    };
    entries(view, "tasks").iter().find(is_it).unwrap_or_else(|| panic!("no task {name} in {view}"))
}

/// `<task> <type>`, and each output.
fn fired(view: &Value, hook: &Value) -> String {
    let owner = entries(view, "tasks").iter().find(|task| task["taskRunID"] == hook["hookOf"]).unwrap();
    let told = |(name, value): (String, Value)| format!(" {name} {}", value.as_str().unwrap());
    let outputs: String = named(&hook["outputs"]).into_iter().map(told).collect();
    format!("{} {}{outputs}", owner["taskName"].as_str().unwrap(), hook["hookType"].as_str().unwrap())
}

/// Returns the part of the view that is expected, in the form of the expectation.
fn found(view: &Value, expected: &Expectation) -> Value {
    let members = |(name, members): (&String, &Map<String, Value>)| {
        let entry = task(view, name);
        let member = |key: &String| match key.as_str() {
            "outputs" => named(&entry["outputs"]).into(),
            key => entry[key].clone(),
        };
        (name.clone(), Value::Object(members.keys().map(|key| (key.clone(), member(key))).collect()))
    };
    json!({
        "problems": entries(view, "problems").iter().map(|p| format!("{} {}", p["code"].as_str().unwrap(), p["path"].as_str().unwrap())).collect::<Vec<_>>(),
        "phase": expected.phase.as_ref().map(|_| &view["phase"]),
        "count": expected.count.map(|_| entries(view, "tasks").len()),
        "outputs": expected.outputs.as_ref().map(|_| named(&view["outputs"])),
        "tasks": expected.tasks.iter().map(members).collect::<Map<_, _>>(),
        "hooks": expected.hooks.as_ref().map(|_| entries(view, "hooks").iter().map(|hook| fired(view, hook)).collect::<Vec<_>>()),
    })
}

/// The documents, with what is expected of each.
fn documents() -> Vec<(PathBuf, Expectation)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/aether");
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| !file.to_str().unwrap().ends_with(".expect.json")).collect();
    files.sort();
    let expected = |file: &Path| {
        let text = fs::read_to_string(file.with_extension("expect.json")).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.into_iter().map(|file| (file.clone(), expected(&file))).collect()
}

/// R-X9, R-B1, R-R1, R-S1..R-S12: they run unchanged.
#[test]
fn documents_for_aether_run_as_they_are() {
    let documents = documents();
    for (file, expected) in documents.iter().filter(|(_, expected)| !expected.cron) {
        let (bench, name) = (Bench { dir: tempfile::tempdir().unwrap() }, file.to_str().unwrap());
        let (status, view) = bench.play(name, expected);
        assert_eq!(status, Some(expected.status), "{name}: {view}");
        let wanted = json!({
            "problems": expected.problems, "phase": expected.phase, "count": expected.count,
            "outputs": expected.outputs, "tasks": expected.tasks, "hooks": expected.hooks,
        });
        assert_eq!(found(&view, expected), wanted, "{name}");
    }
    assert!(documents.len() >= 20, "the documents were not found");
}

/// R-W4: read, validated, and refused by `run`, which says why.
#[test]
fn schedules_are_validated_and_do_not_run() {
    let documents: Vec<_> = documents().into_iter().filter(|(_, expected)| expected.cron).collect();
    for (file, expected) in &documents {
        let (bench, name) = (Bench { dir: tempfile::tempdir().unwrap() }, file.to_str().unwrap());
        let (status, found) = bench.phasm(&["validate", name]);
        assert_eq!(
            (status, found),
            (Some(0), json!({ "errors": [], "problems": [], "warnings": [] })),
            "{name}"
        );
        let (status, refusal) = bench.play(name, expected);
        let why = refusal["stderr"].as_str().unwrap_or_default();
        assert_eq!(status, Some(expected.status), "{name}: {refusal}");
        assert!(
            why.contains("CronWorkflow") && why.contains("cron add") && why.contains("cron trigger"),
            "{name}: {why}"
        );
    }
    assert_eq!(documents.len(), 3);
}
