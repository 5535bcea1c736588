//! `phasm rerun` (R-F5).

use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

/// `first`, then `last`, which ends with the code it is told.
fn coded(bench: &Bench) {
    let text = r#"apiVersion: aether/v1
kind: Workflow
metadata: { name: coded }
spec:
  entrypoint: main
  arguments: { parameters: [{ name: code, type: integer, value: 2 }, { name: word, value: hello }] }
  templates:
    - dag:
        name: main
        tasks:
          - name: first
            executor: { type: echo }
            inputs: { parameters: [{ name: text, value: "{{ workflow.parameters.word }}" }] }
          - name: last
            dependencies: [first]
            executor: { type: code }
            inputs: { parameters: [{ name: code, value: "{{ workflow.parameters.code }}" }] }
"#;
    bench.write("coded.yaml", text);
}

fn on_store(bench: &Bench, arguments: &[&str]) -> Ran {
    bench.phasm(&[arguments, &["--store", "runs.db"]].concat())
}

fn id(view: &Value) -> String {
    view["runID"].as_str().unwrap().to_owned()
}

/// By task below the root: phase, and whose result it is.
fn tasks(view: &Value) -> Vec<(&str, Option<&str>)> {
    let tasks = view["tasks"].as_array().unwrap().iter().skip(1);
    tasks.map(|task| (task["phase"].as_str().unwrap(), task["reused"].as_str())).collect()
}

fn failed(bench: &Bench) -> String {
    coded(bench);
    let ran = on_store(bench, &["run", "coded.yaml", "-p", "word=hi", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    id(&ran.json())
}

/// R-A104: a rerun that is repeated under its key starts one run; another under it is refused.
#[test]
fn a_rerun_is_repeated_by_its_key() {
    let bench = Bench::new();
    let run = failed(&bench);
    let first = on_store(&bench, &["rerun", &run, "--key", "k", "--json"]);
    let again = on_store(&bench, &["rerun", &run, "--key", "k"]);
    assert_eq!((again.status, again.stdout.trim()), (0, id(&first.json()).as_str()), "{again:?}");
    assert!(again.stderr.contains("had been submitted before"), "{again:?}");
    let other = on_store(&bench, &["rerun", &run, "--key", "k", "-p", "code=0"]);
    assert_eq!((other.status, other.stdout.as_str()), (2, ""), "{other:?}");
    assert!(other.stderr.contains("other parameters: `code`"), "{other:?}");
    let listed = on_store(&bench, &["list", "--json"]).json();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
}

/// R-F2: the order that inputs are written in does not matter: what is stored of a file has its members sorted.
#[test]
fn inputs_that_are_written_in_another_order_are_the_same() {
    let bench = Bench::new();
    bench.write(
        "order.yaml",
        "apiVersion: phasm/v1\nkind: Workflow\nmetadata: { name: order }\nspec:\n  entrypoint: main\n  templates:\n    - dag:\n        \
         name: main\n        tasks:\n          - { name: first, executor: { type: echo }, inputs: { text: hi, code: 0, log: [a] } }\n          \
         - { name: called, template: said, arguments: { b: 1, a: 2 } }\n          \
         - { name: last, dependencies: [first, called], executor: { type: assert } }\n    \
         - task: { name: said, inputs: { b: {}, a: {} }, executor: { type: echo } }\n",
    );
    let ran = on_store(&bench, &["run", "order.yaml"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let again = on_store(&bench, &["rerun", "@last", "--from-failed"]);
    assert!(again.status == 3 && again.stdout.contains("(2 reused)"), "{again:?}");
}

#[test]
fn a_run_is_run_again_from_what_had_failed() {
    let bench = Bench::new();
    let run = failed(&bench);
    let again = on_store(&bench, &["rerun", &run, "--from-failed", "--json"]);
    assert_eq!(again.status, 1, "{again:?}");
    let view = again.json();
    assert_eq!(tasks(&view), [("Succeeded", Some(run.as_str())), ("Failed", None)]);
    assert_eq!((&view["rerunOf"], id(&view) == run), (&json!(run), false));
    assert!(again.stderr.contains(&format!("rerun of {run}\n")), "{again:?}");
    assert_eq!(view["parameters"][1], json!({ "name": "word", "value": "hi" }), "as it was given");

    let fixed = on_store(&bench, &["rerun", &run, "--from-failed", "-p", "code=0"]);
    assert_eq!(fixed.status, 0, "{fixed:?}");
    assert!(fixed.stdout.starts_with("coded Succeeded"), "{fixed:?}");
    assert!(fixed.stdout.contains("2 tasks: 2 succeeded (1 reused)"), "{fixed:?}");
    assert!(fixed.stderr.contains("main/last#1 Succeeded"), "{fixed:?}");
    assert!(!fixed.stderr.contains("main/first#1"), "{fixed:?}");
    let hint = format!("rerun {run} --from-failed --store runs.db\n");
    let shown = [&run, "@last"].map(|run| on_store(&bench, &["get", run]).stdout);
    assert_eq!(shown.map(|shown| shown.contains(&hint)), [true, false]);

    let events = on_store(&bench, &["rerun", &run, "--from-failed", "--events"]);
    let lines: Vec<Value> = events.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["data"]["rerunOf"], json!(run));
    let reused: Vec<_> = lines.iter().filter(|line| line["type"] == "task.reused").collect();
    let [reused] = reused.as_slice() else { panic!("{events:?}") };
    assert_eq!((&reused["taskName"], &reused["data"]["of"]), (&json!("first"), &json!(run)));
}

#[test]
fn without_a_word_everything_is_executed() {
    let bench = Bench::new();
    let run = failed(&bench);
    let again = on_store(&bench, &["rerun", &run, "-p", "code=0", "-p", "word=ho", "--json"]);
    assert_eq!((again.status, tasks(&again.json())), (0, vec![("Succeeded", None); 2]), "{again:?}");
    assert_eq!(again.json()["tasks"][1]["outputs"][0]["value"], json!("ho"));
}

/// Nothing is stored for a call that is wrong.
#[test]
fn what_cannot_be_run_again_is_refused() {
    let bench = Bench::new();
    let run = failed(&bench);
    let refused = |arguments: &[&str], message: &str| {
        let ran = on_store(&bench, arguments);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains(message), "{message}: {ran:?}");
    };
    refused(&["rerun", "absent"], "there is no run absent");
    refused(&["rerun", &run, "-p", "cod=0"], "unknown parameter `cod`");
    refused(&["rerun", &run, "-p", "code=zero"], "parameter `code`");
    bench.write(
        "ask.yaml",
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: ask }\nspec:\n  entrypoint: main\n  templates:\n    - task: { name: \
         main, executor: { type: suspend } }\n",
    );
    let parked = on_store(&bench, &["run", "ask.yaml", "--json"]);
    let open = id(&parked.json());
    refused(&["rerun", &open], &format!("run {open} has not ended: Suspended"));
    let json = on_store(&bench, &["rerun", &run, "-p", "cod=0", "--json"]);
    assert_eq!((json.status, &json.json()["problems"][0]["code"]), (2, &json!("P051")), "{json:?}");
    let listed = on_store(&bench, &["list", "--json"]);
    assert_eq!(listed.json().as_array().unwrap().len(), 2, "{listed:?}");
}

/// A rerun parks and is answered as any run is.
#[test]
fn a_rerun_is_answered_as_a_run_is() {
    let bench = Bench::new();
    bench.write(
        "ask.yaml",
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: { name: ask }\nspec:\n  entrypoint: main\n  templates:\n    - dag: { name: \
         main, tasks: [{ name: one, executor: { type: suspend } }, { name: two, dependencies: [one], executor: { type: suspend } }] }\n",
    );
    let parked = on_store(&bench, &["run", "ask.yaml", "--resume", "one={}", "--json"]);
    let run = id(&parked.json());
    let cancelled = on_store(&bench, &["cancel", &run]);
    assert_eq!(cancelled.status, 5, "{cancelled:?}");
    let parked = on_store(&bench, &["rerun", &run, "--from-failed", "--json"]);
    assert_eq!(parked.status, 6, "{parked:?}");
    assert_eq!(tasks(&parked.json()), [("Succeeded", Some(run.as_str())), ("Suspended", None)]);
    let answered = on_store(&bench, &["rerun", &run, "--from-failed", "--resume", "two={}"]);
    assert_eq!(answered.status, 0, "{answered:?}");
}
