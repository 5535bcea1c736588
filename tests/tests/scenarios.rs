//! Every scenario against the trace in its file. `PHASM_ACCEPT=1` rewrites the traces.
#![expect(clippy::expect_used, reason = "tests")]

use std::path::{Path, PathBuf};

use phasm::reader;
use phasm_engine::{
    document::{Conversion, convert},
    tree::{Tree, TreeNode},
};
use phasm_tests::scenario::{expected_trace, run_scenario, run_text, with_trace};

fn scenarios(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder of scenarios") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
}

#[test]
fn scenarios_leave_their_golden_traces() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files = Vec::new();
    scenarios(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no scenario under {}", root.display());
    let update = std::env::var_os("PHASM_ACCEPT").is_some();
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        let text = std::fs::read_to_string(&file).expect("a scenario");
        match run_scenario(&file) {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok(trace) if update => {
                std::fs::write(&file, with_trace(&text, &trace)).expect("the trace is written");
            }
            Ok(trace) => {
                let expected = expected_trace(&text);
                if trace != expected {
                    wrong.push(format!("{name}: expected\n{expected}but got\n{trace}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The workflow file in a scenario.
fn document(scenario: &Tree) -> Option<&Tree> {
    let TreeNode::Object(members) = &scenario.node else { return None };
    members.iter().find(|(key, _)| &*key.name == "document").map(|(_, tree)| tree)
}

fn converted(name: &str, text: &str) -> Option<Conversion> {
    let tree = reader::read(name, text).expect("a scenario");
    convert(text, document(&tree)?)
}

/// Scenario of the one difference that a conversion does not keep (R-R14).
const NOT_KEPT: &str = "retry/seed-000-not-retryable.yaml";

/// R-W22. Scenarios of `aether/v1` run in `phasm/v1` as before, event by event.
#[test]
fn converted_scenarios_leave_the_same_traces() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files = Vec::new();
    scenarios(&root, &mut files);
    files.sort();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    files.retain(|file| !file.ends_with(NOT_KEPT));
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a scenario");
        let expected = expected_trace(&text);
        // A list of problems has columns.
        if !expected.contains("run submitted") {
            continue;
        }
        let name = file.display().to_string();
        let Some(Conversion { text: converted, .. }) = converted("scenario.yaml", &text) else { continue };
        compared += 1;
        // Messages quote expressions.
        let quoted = |trace: &str| {
            trace.replace("inputs.parameters.", "inputs.").replace(".outputs.parameters.", ".outputs.")
        };
        match run_text("scenario.yaml", &converted) {
            Ok(trace) if quoted(&trace) == quoted(&expected) => {}
            Ok(trace) => wrong.push(format!("{name}: {converted}\nbut got\n{trace}")),
            Err(error) => wrong.push(format!("{name}: {error}\n{converted}")),
        }
    }
    assert!(compared > 100, "{compared} scenarios");
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
}

/// R-W22. Every edit in block and flow layout and in JSON, with comments between.
#[test]
fn conversions_keep_comments_and_layout() {
    let block = "document:
  apiVersion: aether/v1 # Language.
  spec:
    # Where it begins.
    entrypoint: main
    templates:
    - task:
        name: main # One task.
        maxRuntime:
          timeout: 5m # Long.
        deadline: 1h # Longer.
        retry:
          limit: 2 # Twice.
          exponentialBackoff: 2
          expression: code == 2
    - task: { retry: { maxAttempts: 3, delay: 1s }, maxInactivity: { timeout: 1m }, deadline: { timeout: 1m, errorOnTimeout: true } }
    - pipeline: { tasks: [{ load: { kind: http, spec: { maxRuntime: 5 } } }] }
";
    let expected = "document:
  apiVersion: phasm/v1 # Language.
  spec:
    # Where it begins.
    timeout: {active: 1h}
    entrypoint: main
    templates:
    - task:
        name: main # One task.
        maxRuntime:
          errorOnTimeout: false
          timeout: 5m # Long.
        deadline: {timeout: 1h, errorOnTimeout: false} # Longer.
        retry:
          attempts: 3 # Twice.
          backoff: 2
          when: code == 2
    - task: { retry: { maxAttempts: 3, delay: 1s }, maxInactivity: { errorOnTimeout: false, timeout: 1m }, deadline: { timeout: 1m, errorOnTimeout: true } }
    - pipeline: { tasks: [{ load: { kind: http, spec: { maxRuntime: {timeout: 5, errorOnTimeout: false} } } }] }
";
    let found = converted("x.yaml", block).expect("a file of aether/v1");
    assert_eq!(found.text, expected);
    assert_eq!(found.kept.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [16]);
    assert_eq!(converted("x.yaml", expected), None);
    let json = r#"{"document": {"apiVersion": "aether/v1", "spec": {"entrypoint": "a", "templates": [{"task": {"deadline": "5m", "retry": {"limit": 1}}}]}}}"#;
    let expected = r#"{"document": {"apiVersion": "phasm/v1", "spec": {"timeout": {"active": "1h"}, "entrypoint": "a", "templates": [{"task": {"deadline": {"timeout": "5m", "errorOnTimeout": false}, "retry": {"attempts": 2}}}]}}}"#;
    assert_eq!(converted("x.json", json).expect("a file of aether/v1").text, expected);
    // A written time limit stays.
    let timed = block.replace("entrypoint: main", "timeout: none");
    assert_eq!(converted("x.yaml", &timed).expect("a file of aether/v1").text.matches("active").count(), 0);
}

/// R-W35. Parameters under their names, where nothing is lost; paths without `parameters`.
#[test]
fn conversions_write_short_forms() {
    let long = r#"document:
  apiVersion: aether/v1
  kind: Workflow
  metadata: { name: w }
  spec:
    entrypoint: main
    timeout: none
    arguments:
      parameters:
      - name: region
        value: eu
      - { name: size, type: integer, default: 3 }
      - name: rest
        default: [1, "a b"]
    templates:
    - dag:
        name: main
        outputs: { parameters: [{ name: y, valueFrom: { path: tasks.a.outputs.parameters.y } }] }
        inputs:
          parameters:
            - name: size
            - name: region
        tasks:
          - name: a
            template: work
            arguments:
              parameters:
                - name: x
                  value: "{{ inputs.parameters.size }} and 'inputs.parameters.size'"
                - name: where
                  value: inputs.parameters.region
          - { name: b, template: work, dependencies: [a], arguments: { parameters: [{ name: x, value: "{{ tasks.a.outputs.parameters.y }}" }] } }
    - task:
        name: work
        executor: { type: echo, config: { inputs: { parameters: [{ name: mine }] } } }
        inputs:
          parameters:
            - { name: x } # Needed.
            - { name: where, default: here }
        outputs: { parameters: [{ name: y }, { name: z, valueFrom: { expression: code == 0 } }] }
"#;
    let short = r#"document:
  apiVersion: phasm/v1
  kind: Workflow
  metadata: { name: w }
  spec:
    entrypoint: main
    timeout: none
    parameters:
      region: {value: eu}
      size: {type: integer, default: 3}
      rest: [1, "a b"]
    templates:
    - dag:
        name: main
        outputs: { y: tasks.a.outputs.y }
        inputs:
          size:
          region:
        tasks:
          - name: a
            template: work
            arguments:
              x: "{{ inputs.size }} and 'inputs.parameters.size'"
              where: inputs.parameters.region
          - { name: b, template: work, dependencies: [a], arguments: { x: "{{ tasks.a.outputs.y }}" } }
    - task:
        name: work
        executor: { type: echo, config: { inputs: { parameters: [{ name: mine }] } } }
        inputs:
          parameters:
            - { name: x } # Needed.
            - { name: where, default: here }
        outputs: { y: , z: code == 0 }
"#;
    assert_eq!(converted("x.yaml", long).expect("a file of aether/v1").text, short);
    let uncommented = long.replace(" # Needed.", "");
    let found = converted("x.yaml", &uncommented).expect("a file of aether/v1").text;
    assert!(
        found.contains("        inputs:\n          parameters:\n            x:\n            where: here\n"),
        "{found}"
    );
}

#[test]
fn a_trace_is_read_as_it_is_written() {
    let trace = "      0 run submitted\n\nrerun\n     10 run Succeeded\n";
    let text = with_trace("about: x\n", trace);
    assert_eq!(text, "about: x\n\ntrace: |2\n        0 run submitted\n\n  rerun\n       10 run Succeeded\n");
    assert_eq!(expected_trace(&text), trace);
    assert_eq!(with_trace(&with_trace(&text, "other\n"), trace), text);
}
