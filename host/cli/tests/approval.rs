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
