//! Invariants of the code's layout that a reader relies on.
#![expect(clippy::unwrap_used, reason = "tests")]

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

/// The engine is a function: it depends on five crates, none of which is a runtime, and names no clock, file, thread,
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
    assert_eq!(dependencies, ["humantime", "phasm-duration", "rhai", "serde", "serde_json"]);
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
