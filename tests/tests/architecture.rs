//! Invariants of the code's layout that a reader relies on. `tests/tidy` has those that need no build of Phasm: circles of files,
//! names, language.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "architecture/crates.rs"]
mod crates;
#[path = "architecture/layers.rs"]
mod layers;

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The files below `dir` that hold one of `words`, as `path: word`.
fn holding(dir: &str, words: &[&str]) -> Vec<String> {
    let mut files = Vec::new();
    // Without the `..` that names this crate's own folder, which is called `tests`.
    sources(&root().canonicalize().unwrap().join(dir), &mut files);
    assert!(!files.is_empty(), "no source under {dir}");
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let hits = words.iter().filter(|word| text.contains(**word));
        found.extend(hits.map(|word| format!("{}: {word}", file.display())));
    }
    found
}

/// The engine is a function: it depends on seven crates, none of which is a runtime, and names no clock, file, thread,
/// network or environment.
#[test]
fn the_engine_is_pure() {
    let manifest = fs::read_to_string(root().join("host/engine/Cargo.toml")).unwrap();
    let dependencies: Vec<&str> = manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', ' ', '=']).next().filter(|name| !name.is_empty()))
        .collect();
    assert_eq!(
        dependencies,
        ["humantime", "jiff", "phasm-duration", "phasm-number", "rhai", "schemars", "serde", "serde_json"]
    );
    let impure = [
        "Instant::now",
        "SystemTime::now",
        "std::fs",
        "std::net",
        "std::env",
        "std::thread",
        "std::process",
        "tokio",
        "wasmtime::",
    ];
    // Its tests may start threads, to see how little stack is enough.
    let hits: Vec<String> =
        holding("host/engine/src", &impure).into_iter().filter(|hit| !hit.contains("/tests/")).collect();
    assert_eq!(hits, Vec::<String>::new());
}

/// wasmtime is wrapped once; rhai too.
#[test]
fn libraries_are_named_in_one_place() {
    let outside = |hits: Vec<String>, inside: &str| -> Vec<String> {
        hits.into_iter().filter(|hit| !hit.contains(inside)).collect()
    };
    let wasmtime = outside(holding("host", &["use wasmtime", "wasmtime::"]), "/host/sandbox/");
    assert_eq!(wasmtime, Vec::<String>::new());
    let rhai = outside(holding("host", &["use rhai", "rhai::"]), "/engine/src/expr");
    assert_eq!(rhai, Vec::<String>::new());
}

/// A run's state changes in `run/state` alone, by `apply` and the agenda. Beside the state itself only the decider and the run
/// hold it mutably, and what those may call is listed here; privacy does the rest, as no field of a state is visible
/// outside its folder (R-D1).
#[test]
fn state_changes_by_events_and_the_agenda() {
    let holds = |word: &str| -> Vec<String> {
        let hits = holding("host/engine/src", &[word]).into_iter().filter(|hit| !hit.contains("/run/state"));
        hits.map(|hit| hit.rsplit_once("/src/").unwrap().1.to_owned()).collect()
    };
    assert_eq!(holds("DerefMut"), Vec::<String>::new());
    assert_eq!(holds("mut State"), ["run/decide/decider.rs: mut State"]);
    assert_eq!(holds("mut self.state"), ["run.rs: mut self.state"]);
    assert_eq!(holds("mut TaskRun"), Vec::<String>::new());
    assert_eq!(holds("mut Scope"), Vec::<String>::new());

    let mut files = Vec::new();
    sources(&root().join("host/engine/src/run/state"), &mut files);
    files.push(root().join("host/engine/src/run/state.rs"));
    let mut ways_in = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap().replace("\n        ", " ");
        let signature = |line: &str| line.contains("fn ") && line.contains("&mut self");
        let outside = |line: &&str| line.trim_start().starts_with("pub") && !line.contains("pub(super)");
        for line in text.lines().filter(|line| signature(line)).filter(outside) {
            ways_in.push(line.split("fn ").nth(1).unwrap().split(['(', '<']).next().unwrap().to_owned());
        }
    }
    ways_in.sort();
    assert_eq!(
        ways_in,
        [
            "apply",
            "forget_values",
            "lose_attempt",
            "next_leaf",
            "pass_time",
            "take_due",
            "take_ready",
            "wake"
        ]
    );
}
