//! The seeds' own snippets, in documents that are accepted.

use std::sync::Arc;

use phasm_engine::plan::Plan;

use crate::blocks::play::plan;

/// Accepts a document, warnings with exactly these codes.
fn accepts(text: &str, warnings: &[&str]) -> Arc<Plan> {
    let plan = plan(text).unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"));
    let found: Vec<_> = plan.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(found, warnings, "{:#?}\n{text}", plan.warnings);
    plan
}

/// A document with these templates and the entrypoint `main`.
fn document(templates: &str) -> String {
    let indented: String = templates.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{name: seed}}\nspec:\n  entrypoint: main\n  templates:\n{indented}"
    )
}

const FLAKY: &str =
    r#"{"task": {"name": "flaky-task", "executor": {"type": "echo", "config": {"failCount": 2}}}}"#;

#[test]
fn seed_000_retry() {
    for (name, task, limit) in [("flaky", "flaky-task", 3), ("doomed", "always-fail", 2)] {
        let dag = format!(
            r#"{{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{"name": "seed"}}, "spec": {{"entrypoint": "main",
  "templates": [{{
  "dag": {{
    "name": "main",
    "tasks": [
      {{
        "name": "{name}",
        "template": "{task}",
        "retry": {{
          "limit": {limit},
          "expression": "tasks.{name}.phase != 'Succeeded'"
        }}
      }}
    ]
  }}
}}, {}]}}}}"#,
            FLAKY.replace("flaky-task", task)
        );
        accepts(&dag, &[]);
    }
}

#[test]
fn seed_000_timeouts() {
    let text = r#"{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {"name": "seed"}, "spec": {
    "entrypoint": "main",
    "timeout": "30m",
    "templates": [{"dag": {"name": "main", "tasks": [
{"name": "prepare", "executor": {"type": "echo"}},
{
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
},
{
  "name": "flaky",
  "template": "flaky-task",
  "timeout": "10s",
  "retry": {
    "limit": 3
  }
},
{"name": "finalize", "dependencies": ["wait-external"], "executor": {"type": "echo"}}
    ]}}, FLAKY]}}"#;
    let plan = accepts(&text.replace("FLAKY", FLAKY), &["W003"]);
    assert_eq!(plan.timeout, Some(1_800_000));
}

#[test]
fn seed_001_phase_conditions() {
    let text = r#"
- task:
    name: run
    executor: {type: echo}
    phaseConditions:
      {
          "succeeded": "tasks.run.code == 0 || tasks.run.code == 4",
          "failed":    "tasks.run.code == 1 || tasks.run.code == 2"
      }
- dag: {name: main, tasks: [{name: other, template: run}]}"#;
    accepts(&document(text), &[]);
}

/// R-N9.
#[test]
fn seed_002_labelled_tasks() {
    let text = r#"
- pipeline:
    name: main
    tasks:
    - fetch_page:
        kind: http
        method: GET
        url: "{{ workload.api_url }}/api/v1/items"
        params:
          page: "{{ iter.page }}"
          pageSize: "{{ workload.page_size }}"
        spec:
          timeout: { connect: 5, read: 15 }
          policy:
            rules:
            - when: "{{ outcome.status == 'error' and outcome.http.status in [429,500,502,503,504] }}"
              then: { do: retry, attempts: 10, backoff: exponential, delay: 2.0 }
            - when: "{{ outcome.status == 'error' and outcome.http.status in [401,403] }}"
              then: { do: fail }
            - when: "{{ outcome.status == 'error' }}"
              then: { do: retry, attempts: 3, backoff: linear, delay: 1.0 }
            - else:
                then: { do: continue }
    - transform:
        kind: python
        args: { data: "{{ _prev }}" }
        code: |
          result = do_transform(data)
        spec:
          policy:
            rules:
            - when: "{{ outcome.status == 'error' and 'timeout' in (outcome.error.message|lower) }}"
              then: { do: retry, attempts: 3, backoff: linear, delay: 1.0 }
            - when: "{{ outcome.status == 'error' }}"
              then: { do: fail }
            - else:
                then: { do: continue }
    - store_page:
        kind: postgres
        auth: pg_k8s
        command: "INSERT INTO ..."
        spec:
          policy:
            rules:
            - when: "{{ outcome.status == 'error' and outcome.pg.code in ['40001','40P01'] }}"
              then: { do: retry, attempts: 5, backoff: exponential, delay: 2.0 }
            - when: "{{ outcome.status == 'error' }}"
              then: { do: fail }
            - else:
              then: { do: continue }"#;
    accepts(&document(text), &[]);
}

#[test]
fn seed_002_in_our_spelling() {
    let text = r#"
- pipeline:
    name: main
    tasks:
    - name: fetch_page
      executor: {type: http, config: {method: GET, url: "{{ workload.api_url }}/items"}}
      policy:
        rules:
        - when: "{{ outcome.status == 'error' and outcome.http.status in [429,500,502,503,504] }}"
          then: { do: retry, attempts: 10, backoff: exponential, delay: 2.0 }
        - when: "{{ outcome.status == 'ok' and iter.page < 3 }}"
          then: { do: jump, to: fetch_page, set_iter: { page: "{{ iter.page + 1 }}" }, set_ctx: { seen: "{{ _prev }}" } }
        - when: "{{ outcome.status == 'error' }}"
          then: { do: fail }
        - else: {then: { do: break }}"#;
    accepts(&document(text), &[]);
}

/// R-T1.
#[test]
fn seed_003_policies() {
    let text = r#"
- dag:
    name: main
    tasks:
    - name: service
      executor: {type: echo}
      maxInactivity: 5m
      deadline:
        timeout: 1h
        errorOnTimeout: true
      maxRuntime: 10h 30 minutes
      retry:
        maxAttempts: 5
        delay: 1s
        exponentialBackoff: 2
        maxDelay: 10s"#;
    accepts(&document(text), &[]);
}
