//! The approval example, through the real binary and the shipped `echo`.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{path::Path, process::Command};

use serde_json::{Value, json};

/// Runs the command in a directory of its own; its exit status and the run view.
fn phasm(dir: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    let ran = Command::new(env!("CARGO_BIN_EXE_phasm"))
        .current_dir(dir)
        .env_remove("PHASM_CONFIG")
        .args(arguments)
        .args(["--json", "--store", "runs.db", "--plugins"])
        .arg(plugins)
        .output()
        .unwrap();
    let view = serde_json::from_slice(&ran.stdout);
    (ran.status.code(), view.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr))))
}

#[test]
fn the_release_waits_for_a_word() {
    let dir = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/approval.yaml");
    let example = example.to_str().unwrap();
    let rows = [
        (r#"{"approved": true, "by": "Ada"}"#, json!("Succeeded"), [json!("phasm-1.0"), json!("Ada")]),
        (r#"{"approved": false, "by": "Ada"}"#, json!("Skipped"), [json!(null), json!("Ada")]),
    ];
    for (answer, publish, outputs) in rows {
        let (status, parked) = phasm(dir.path(), &["run", example]);
        let run = parked["runID"].as_str().unwrap();
        assert_eq!((status, &parked["tasks"][2]["message"]), (Some(6), &json!("release it?")));
        let (status, view) = phasm(dir.path(), &["resume", run, "approve", answer]);
        assert_eq!((status, &view["tasks"][3]["phase"]), (Some(0), &publish), "{view}");
        let found = view["outputs"].as_array().unwrap().iter().map(|output| output["value"].clone());
        assert_eq!(found.collect::<Vec<_>>(), outputs);
    }
}

/// R-S14: a refused answer is status 2 and leaves nothing behind, whatever was wrong with it.
#[test]
fn a_refused_answer_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let ask = "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: m }\nspec:\n  entrypoint: ask\n  templates:\n    - task:\n        \
               name: ask\n        inputs: { parameters: [{ name: message, value: \"deploy to PRODUCTION?\" }] }\n        executor: { type: \
               approval, config: { schema: { type: object, required: [approved], additionalProperties: false, properties: { approved: { \
               type: boolean } } } } }\n";
    std::fs::write(dir.path().join("ask.yaml"), ask).unwrap();
    let (status, asks) = phasm(dir.path(), &["run", "ask.yaml"]);
    let run = asks["runID"].as_str().unwrap();
    assert_eq!(status, Some(6));
    for (answer, why) in [
        (r#"{"approved": "maybe"}"#, "approved: expected"),
        (r#"{"approved": true, "by": "x"}"#, "by is not asked for"),
        (r#"{"aproved": true}"#, "approved is missing; aproved is not asked for"),
    ] {
        let (status, view) = phasm(dir.path(), &["resume", run, "ask", answer]);
        let task = &view["tasks"][0];
        assert_eq!((status, &task["outputs"]), (Some(2), &asks["tasks"][0]["outputs"]), "{view}");
        let says = |text: &Value| text.as_str().unwrap().contains(why);
        assert!(says(&task["refused"]) && says(&task["message"]), "{task}");
        assert!(task["message"].as_str().unwrap().starts_with("deploy to PRODUCTION?"), "{task}");
    }
    let (status, view) = phasm(dir.path(), &["resume", run, "ask", r#"{"approved": true}"#]);
    let outputs = view["tasks"][0]["outputs"].as_array().unwrap();
    let names: Vec<_> = outputs.iter().map(|output| output["name"].as_str().unwrap()).collect();
    assert_eq!((status, names), (Some(0), vec!["asked", "approved"]), "{view}");
}
