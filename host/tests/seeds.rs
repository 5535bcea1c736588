//! The workflow snippets of the seeds, verbatim inside a document, through the real binary and the shipped `echo`.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{path::Path, process::Command};

use serde_json::{Value, json};

/// Seed 000, "Default vs. Expression-Controlled Retry".
const FLAKY: &str = r#"{
  "dag": {
    "name": "main",
    "tasks": [
      {
        "name": "flaky",
        "template": "flaky-task",
        "retry": {
          "limit": 3,
          "expression": "tasks.flaky.phase != 'Succeeded'"
        }
      }
    ]
  }
}"#;

/// Seed 000, "Retry Exhausted".
const DOOMED: &str = r#"{
  "dag": {
    "name": "main",
    "tasks": [
      {
        "name": "doomed",
        "template": "always-fail",
        "retry": {
          "limit": 2,
          "expression": "tasks.doomed.phase != 'Succeeded'"
        }
      }
    ]
  }
}"#;

/// Seed 000, "Per-Task Timeout".
const WAIT_EXTERNAL: &str = r#"{
  "name": "wait-external",
  "dependencies": ["prepare"],
  "timeout": "1s",
  "continueOn": {
    "timeout": true
  },
  "inputs": {
    "parameters": [
      { "name": "suspend", "value": true }
    ]
  },
  "executor": { "type": "echo" }
}"#;

/// Seed 001, "phaseConditions".
const CONDITIONS: &str = r#"{
        "succeeded": "tasks.run.code == 0 || tasks.run.code == 4",
        "failed":    "tasks.run.code == 1 || tasks.run.code == 2"
    }"#;

fn task(name: &str, config: &Value) -> String {
    json!({ "task": { "name": name, "executor": { "type": "echo", "config": config } } }).to_string()
}

fn document(templates: &[String]) -> String {
    let templates = templates.join(",");
    format!(
        r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "seed"}},
            "spec": {{"entrypoint": "main", "templates": [{templates}]}}}}"#
    )
}

/// Runs a document and returns the exit status and the run view.
fn run(document: &str) -> (Option<i32>, Value) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("seed.json");
    std::fs::write(&file, document).unwrap();
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let ran = Command::new(env!("CARGO_BIN_EXE_phasm"))
        .args(["run", "--json", "--plugins"])
        .args([&plugins, &file])
        .output()
        .unwrap();
    let view = serde_json::from_slice(&ran.stdout);
    (ran.status.code(), view.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr))))
}

fn found<'v>(view: &'v Value, task: &str) -> &'v Value {
    view["tasks"].as_array().unwrap().iter().find(|entry| entry["taskName"] == task).unwrap()
}

fn attempts(task: &Value) -> usize {
    task["attempts"].as_array().unwrap().len()
}

#[test]
fn an_expression_retries_failed_too() {
    let (status, view) = run(&document(&[FLAKY.to_owned(), task("flaky-task", &json!({ "fail-count": 3 }))]));
    let flaky = found(&view, "flaky");
    assert_eq!(
        (status, &flaky["phase"], &flaky["retries"], attempts(flaky)),
        (Some(0), &json!("Succeeded"), &json!(3), 4)
    );
}

/// "A task that always fails exhausts its two retries (attempts 1, 2, 3 total) and then transitions to PhaseFailed."
#[test]
fn an_exhausted_retry_has_called_the_executor_three_times() {
    let (status, view) = run(&document(&[DOOMED.to_owned(), task("always-fail", &json!({ "code": 2 }))]));
    let doomed = found(&view, "doomed");
    assert_eq!(
        (status, &doomed["phase"], &doomed["reason"]),
        (Some(1), &json!("Failed"), &json!("retry-exhausted"))
    );
    let codes: Vec<&Value> =
        doomed["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["code"]).collect();
    assert_eq!(codes, [&json!(2), &json!(2), &json!(2)]);
    assert_eq!(view["phase"], "Failed");
}

/// "If no Resume() arrives within one second, the timeout watchdog fires … the downstream finalize task still runs."
#[test]
fn a_suspended_task_times_out_and_the_run_goes_on() {
    let dag = format!(
        r#"{{"dag": {{"name": "main", "tasks": [
            {{"name": "prepare", "template": "work"}}, {WAIT_EXTERNAL},
            {{"name": "finalize", "template": "work", "dependencies": ["wait-external"]}}]}}}}"#
    );
    let (status, view) = run(&document(&[dag, task("work", &json!({}))]));
    let waited = found(&view, "wait-external");
    assert_eq!((status, &waited["phase"], &waited["code"]), (Some(0), &json!("Timeout"), &json!(4)));
    assert!(waited["suspendedAt"].is_string());
    assert_eq!(found(&view, "finalize")["phase"], "Succeeded");
}

/// Codes 0 to 4 give Succeeded, Failed, Failed, Error, Succeeded.
#[test]
fn conditions_override_the_table() {
    let dag = r#"{"dag": {"name": "main", "tasks": [{"name": "run", "template": "run"}]}}"#;
    let expected = [("Succeeded", 0), ("Failed", 1), ("Failed", 1), ("Error", 3), ("Succeeded", 0)];
    for (code, (phase, status)) in expected.into_iter().enumerate() {
        let run_template = format!(
            r#"{{"task": {{"name": "run", "executor": {{"type": "echo", "config": {{"code": {code}}}}},
                "phaseConditions": {CONDITIONS}}}}}"#
        );
        let (exit, view) = run(&document(&[dag.to_owned(), run_template]));
        assert_eq!((exit, &found(&view, "run")["phase"]), (Some(status), &json!(phase)), "code {code}");
    }
}
