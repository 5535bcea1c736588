//! Tenants as an operator meets them.

use crate::bench::Bench;

/// A workflow of a namespace with so many tasks.
fn wide(namespace: &str, tasks: u32) -> String {
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{ name: w, namespace: {namespace} }}\nspec:\n  entrypoint: main\n  \
         templates:\n    - task: {{ name: work, executor: {{ type: echo }} }}\n    - loop: {{ name: main, sequence: {{ count: {tasks} }}, \
         body: work }}\n"
    )
}

/// R-Q8: what waits for its tenant's quota says so, in the command that drives it, and in the journal.
#[test]
fn a_run_says_that_its_tenants_quota_is_used_up() {
    let bench = Bench::new();
    bench.write("wide.yaml", wide("acme", 3));
    bench.write("phasm.toml", "[tenants.acme.quotas]\nrunning = 1\n");
    let run = |more: &[&str]| bench.phasm(&[&["run", "wide.yaml", "--config", "phasm.toml"], more].concat());
    let said =
        "waits for its tenant's quota: 1 running attempt at most (`running` under `[tenants.acme.quotas]`)";
    let plain = run(&[]);
    assert_eq!((plain.status, plain.stderr.matches(said).count()), (0, 1), "{plain:?}");
    let events = run(&["--events"]).json_lines();
    let waits: Vec<_> = events.iter().filter(|event| event["type"] == "run.waiting").collect();
    let [waits] = waits.as_slice() else { panic!("{waits:?}") };
    assert_eq!(waits["data"], serde_json::json!({ "for": "quota", "tenant": "acme", "running": 1 }));
    bench.write("wide.yaml", wide("other", 3));
    assert!(!run(&[]).stderr.contains("quota"));
}
