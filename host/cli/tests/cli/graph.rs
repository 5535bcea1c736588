//! `phasm graph`.

use crate::{bench::Bench, stored::approval};

/// Off a terminal a document is an SVG, without its plugins; `--svg` writes it to a file.
#[test]
fn a_document_is_drawn() {
    let bench = Bench::new();
    approval(&bench, "1h");
    let ran = bench.phasm(&["graph", "release.yaml"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert!(ran.stdout.starts_with("<svg ") && ran.stdout.contains("Graph of release</title>"), "{ran:?}");
    for task in ["prepare", "wait-external", "finalize"] {
        assert!(ran.stdout.contains(&format!(">{task}</text>")), "{task}: {ran:?}");
    }
    let written = bench.phasm(&["graph", "release.yaml", "--svg", "release.svg"]);
    assert_eq!((written.status, written.stdout.as_str()), (0, ""), "{written:?}");
    assert_eq!(std::fs::read_to_string(bench.path("release.svg")).unwrap(), ran.stdout);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let bench = Bench::new();
    bench.write("wrong.yaml", "apiVersion: aether/v1\nkind: Workflow\n");
    approval(&bench, "1h");
    for (arguments, says) in [
        (vec!["wrong.yaml"], "wrong.yaml:1:1"),
        (vec!["missing.yaml"], "missing.yaml"),
        (vec!["release.yaml", "--timeline"], "only a run has a timeline"),
        (vec!["@last"], "no store is named, and the default store"),
        (vec!["release.yaml", "--svg", "nowhere/x.svg"], "nowhere/x.svg cannot be written"),
    ] {
        let ran = bench.phasm(&[&["graph"], arguments.as_slice()].concat());
        assert!(ran.status > 0 && ran.stderr.contains(says) && ran.stdout.is_empty(), "{says}: {ran:?}");
    }
}

/// A run is drawn as it stands, and in time.
#[test]
fn a_run_is_drawn() {
    let bench = Bench::new();
    approval(&bench, "1h");
    assert_eq!(bench.phasm(&["run", "release.yaml", "--store", "runs.db"]).status, 6);
    let ran = bench.phasm(&["graph", "@last", "--store", "runs.db"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    for says in ["Graph of release, run ", "3 tasks: 1 Not started, 1 Waiting for approval, 1 Succeeded"] {
        assert!(ran.stdout.contains(says), "{says}: {ran:?}");
    }
    let ran = bench.phasm(&["graph", "@last", "--store", "runs.db", "--timeline", "--svg", "-"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    for says in ["Timeline of release, run ", "attempt 1: Succeeded", "waited for approval"] {
        assert!(ran.stdout.contains(says), "{says}: {ran:?}");
    }
}
