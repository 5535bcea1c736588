//! R-L15: `phasm logs`.

use phasm::store::Sqlite;
use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

/// A run in `runs.db` whose task `a` says something, whose task `b` gives up twice, and whose task `c` says nothing.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write(
        "w.yaml",
        r"apiVersion: aether/v1
kind: Workflow
metadata: { name: w }
spec:
  entrypoint: main
  templates:
    - dag:
        name: main
        failFast: false
        tasks:
          - { name: a, executor: { type: say } }
          - { name: b, executor: { type: assert }, retry: { maxAttempts: 2, delay: 0s } }
          - { name: c, executor: { type: echo } }
",
    );
    let ran = bench.phasm(&["run", "w.yaml", "--store", "runs.db"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    bench
}

fn logs(bench: &Bench, arguments: &[&str]) -> Ran {
    bench.phasm(&[&["logs", "@last", "--store", "runs.db"], arguments].concat())
}

const A: &str = "main/a@1 Succeeded
  error one
  error two
  info out1
  info out2
  warn err
  info out3
";

fn b(attempt: u32) -> String {
    format!(
        "main/b@{attempt} Error: trap: wasm `unreachable` instruction executed; the guest said: main.c:7: work Assertion failed: \
         fruit > 0\n  info started\n  warn main.c:7: work\n  warn Assertion failed: fruit > 0\n"
    )
}

/// Each attempt under its heading, also while another process holds the file.
#[test]
fn a_run_is_read_attempt_by_attempt() {
    let bench = bench();
    let _held = Sqlite::open(bench.path("runs.db")).unwrap();
    let (first, second) = (b(1), b(2));
    let rows: [(&[&str], String); 6] = [
        (&[], [A, &first, &second].concat()),
        (&["a"], A.to_owned()),
        (&["main/b"], [first.as_str(), &second].concat()),
        (&["b@2"], second.clone()),
        (&["b@3"], String::new()),
        (&["a", "--log-level", "error"], "main/a@1 Succeeded\n  error one\n  error two\n".to_owned()),
    ];
    for (arguments, expected) in rows {
        let ran = logs(&bench, arguments);
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (0, expected.as_str()),
            "{arguments:?}: {}",
            ran.stderr
        );
        let silent = expected.is_empty();
        assert_eq!(ran.stderr.contains("no attempt that has ended wrote to its log"), silent, "{ran:?}");
    }
}

#[test]
fn programs_get_an_object_for_each_attempt() {
    let bench = bench();
    let attempts = logs(&bench, &["--json"]).json_lines();
    let of = |entry: &Value| (entry["task"].clone(), entry["attempt"].clone(), entry["phase"].clone());
    assert_eq!(
        attempts.iter().map(of).collect::<Vec<_>>(),
        [
            (json!("main/a"), json!(1), json!("Succeeded")),
            (json!("main/b"), json!(1), json!("Error")),
            (json!("main/b"), json!(2), json!("Error")),
        ]
    );
    let second = &attempts[2];
    assert_eq!((&second["bytesCut"], &second["dispatch"]), (&json!(0), &json!(2)));
    assert_eq!(second["lines"][0], json!({ "level": "info", "text": "started" }));
    assert!(second["taskRunID"].as_str().unwrap().ends_with("-2"), "{second}");
}

#[test]
fn the_end_of_a_long_log_is_kept_and_the_rest_counted() {
    let bench = bench();
    bench.write("phasm.toml", "[limits]\nkept-log = 28\n");
    bench.phasm(&["run", "w.yaml", "--store", "runs.db", "--config", "phasm.toml"]);
    let ran = logs(&bench, &["a"]);
    assert_eq!(ran.stdout, "main/a@1 Succeeded\n  … 40 bytes before are not kept\n  warn err\n  info out3\n");
    bench.write("phasm.toml", "[limits]\nkept-log = 0\n");
    bench.phasm(&["run", "w.yaml", "--store", "runs.db", "--config", "phasm.toml"]);
    assert_eq!(logs(&bench, &[]).stdout, "");
}

#[test]
fn what_is_asked_for_wrongly_is_told() {
    let bench = bench();
    for (task, expected) in [
        ("d", "has no task `d`; all of its tasks: "),
        ("b@0", "expected a task, or a task and the number of an attempt such as `parse@2`"),
    ] {
        let ran = logs(&bench, &[task]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    }
}
