//! `--config`.

use serde_json::json;

use crate::bench::Bench;

/// Never picked up without the flag; paths are relative to it (R-L7, R-B9).
#[test]
fn plugins_variables_and_secrets_come_from_the_configuration() {
    let bench = Bench::new();
    std::fs::rename(bench.path("plugins"), bench.path("executors")).unwrap();
    bench.write(
        "etc/phasm.toml",
        "plugins = [\"../executors\"]\n[vars]\nregion = \"eu\"\n[secrets]\ndb = { pw = { file = \"pw\" } }\n",
    );
    bench.write("etc/pw", "hunter2\n");
    bench.task(
        "w.yaml",
        "echo",
        "outputs: { parameters: [{ name: region, value: \"{{ vars.region }}\" }, { name: pw }] }",
    );
    let text = std::fs::read_to_string(bench.path("w.yaml")).unwrap();
    let secret = "inputs: { parameters: [{ name: pw, valueFrom: { secretKeyRef: { name: db, key: pw } } },";
    bench.write("w.yaml", text.replace("inputs: { parameters: [", secret));
    let ran = bench.phasm(&["run", "w.yaml", "--config", "etc/phasm.toml", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let outputs = ran.json()["outputs"].clone();
    assert_eq!((&outputs[0]["value"], &outputs[1]["value"]), (&json!("eu"), &json!("•••")), "{outputs}");
    assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"));
    let without = bench.phasm(&["run", "w.yaml"]);
    assert_eq!(without.status, 2, "without the flag there is no such executor: {without:?}");
    assert!(without.stderr.contains("P070"), "{without:?}");
}

/// R-B9: what a plugin makes of a secret without meaning harm.
#[test]
fn secrets_are_hidden_in_other_forms_too() {
    let bench = Bench::new();
    bench.write("c.toml", "[secrets]\na = { pin = { file = \"pin\" }, key = { file = \"key\" } }\n");
    bench.write("pin", "0481516\n");
    bench.write("key", "first line of \"it\"\nand another, that is longer\n");
    bench.task("w.yaml", "echo", "outputs: { parameters: [{ name: code }] }");
    for (code, expected) in [
        ("481516", json!("•••")),
        ("[\"x=0481516\"]", json!(["x=•••"])),
        ("and another, that is longer", json!("•••")),
        (r#"{"a": "first line of \\\"it\\\"\\nand another, that is longer"}"#, json!({ "a": "•••" })),
        ("MDQ4MTUxNg==", json!("•••==")),
    ] {
        let ran =
            bench.phasm(&["run", "w.yaml", "--config", "c.toml", "--json", "-p", &format!("code={code}")]);
        assert_eq!((ran.status, &ran.json()["outputs"][0]["value"]), (0, &expected), "{code}: {ran:?}");
    }
}

/// R-X9: a variable is a root by its own name too; a label of that name goes first.
#[test]
fn variables_are_read_without_their_prefix_too() {
    let bench = Bench::new();
    bench.write("c.toml", "[vars]\ndepot = { town = \"Hull\" }\noffice = { town = \"York\" }\n");
    bench.write("w.yaml", TOWNS);
    let valid = bench.phasm(&["validate", "w.yaml", "--config", "c.toml"]);
    assert_eq!(valid.status, 0, "{valid:?}");
    let ran = bench.phasm(&["run", "w.yaml", "--config", "c.toml", "--json"]);
    assert_eq!(
        (ran.status, &ran.json()["outputs"][0]["value"]),
        (0, &json!("Bath York Hull Hull")),
        "{ran:?}"
    );
    let without = bench.phasm(&["run", "w.yaml"]);
    assert_eq!((without.status, without.stderr.matches("P041").count()), (2, 2), "{without:?}");
}

/// Reads `office` and `depot`, of which the first is a label.
const TOWNS: &str = "
apiVersion: aether/v1
kind: Workflow
metadata: { name: towns }
spec:
  entrypoint: main
  arguments: { parameters: [{ name: depot, valueFrom: { parameter: depot.town } }] }
  templates:
    - pipeline:
        name: main
        tasks:
          - { name: office, executor: { type: echo }, outputs: { parameters: [{ name: town, value: Bath }] } }
          - name: b
            executor: { type: echo }
            outputs:
              parameters:
                - name: towns
                  value: '{{ office.town }} {{ vars.office.town }} {{ depot.town }} {{ workflow.parameters.depot }}'
";

#[test]
fn problems_of_the_configuration_have_places_and_nothing_runs() {
    let bench = Bench::new();
    bench.task("w.yaml", "echo", "");
    bench.write("c.toml", "plugin = []\n[limits]\nmemory = \"lots\"\n");
    let ran = bench.phasm(&["run", "w.yaml", "--config", "c.toml"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("c.toml:1:1: P011: plugin: "), "{ran:?}");
    assert!(ran.stderr.contains("did you mean `plugins`?"), "{ran:?}");
    assert!(ran.stderr.contains("c.toml:3:10: P037: limits.memory: "), "{ran:?}");
    let json = bench.phasm(&["run", "w.yaml", "--config", "c.toml", "--json"]).json();
    assert_eq!(
        (&json["problems"][0]["file"], &json["problems"][0]["code"]),
        (&json!("c.toml"), &json!("P011"))
    );
    let missing = bench.phasm(&["run", "w.yaml", "--config", "none.toml"]);
    assert_eq!(missing.status, 2, "{missing:?}");
}

#[test]
fn doubts_are_told_and_directories_made() {
    let bench = Bench::new();
    bench.task("w.yaml", "echo", "");
    bench.write(
        "c.toml",
        "[grants.echo]\ndirs = [{ host = \"made/here\", guest = \"/out\", mode = \"rw\", create = true }]\n[grants.ehco]\n",
    );
    let ran = bench.phasm(&["run", "w.yaml", "--config", "c.toml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("c.toml:3:9: warning C104: grants.ehco: "), "{ran:?}");
    assert!(bench.path("made/here").is_dir());
}

/// The operator's limits hold.
#[test]
fn limits_are_the_guests() {
    let bench = Bench::new();
    bench.task("w.yaml", "echo", "");
    bench.write("c.toml", "[limits]\nmemory = 1000\nslots = 2\nthreads = 1\n");
    let ran = bench.phasm(&["run", "w.yaml", "--config", "c.toml", "--json"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let message = ran.json()["tasks"][0]["message"].clone();
    assert!(message.as_str().unwrap().contains("memory limit of 1000 bytes"), "{message}");
}

/// R-L7: grants without a plugin are reported with the plugins there are, by running and by validating.
#[test]
fn grants_for_nobody_say_who_there_is() {
    let bench = Bench::new();
    bench.task("w.yaml", "echo", "");
    bench.write("phasm.toml", "[grants.ehco]\nhttp = []\n[grants.'echo@1.0.0']\nhttp = []\n[tenants.acme.grants.'sleep@1']\nhttp = []\n");
    for command in ["run", "validate"] {
        let ran = bench.phasm(&[command, "w.yaml", "--config", "phasm.toml"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        for says in [
            "C104",
            "no plugin is named `ehco`; expected",
            "did you mean `echo`?",
            "no plugin is named `echo@1.0.0`",
            "a grant is for all versions of a plugin: `echo`",
            "a grant is for all versions of a plugin: `sleep`",
        ] {
            assert!(ran.stderr.contains(says), "{command}: {says}: {}", ran.stderr);
        }
    }
    let json = bench.phasm(&["validate", "w.yaml", "--config", "phasm.toml", "--json"]).json();
    assert_eq!(json["warnings"].as_array().unwrap().len(), 3, "{json}");
}
