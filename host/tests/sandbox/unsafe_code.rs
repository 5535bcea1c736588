//! One file may load machine code; no other has `unsafe` in it.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn unsafe_code_is_in_one_file_only() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for dir in ["src", "engine/src", "sandbox/src", "builder/src", "cli/src"] {
        rust_files(&host.join(dir), &mut files);
    }
    // Either the block itself, or leave to write one.
    let unsafe_code = |path: &&PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let blocks = ["{", "fn", "impl", "extern"].map(|what| format!("{} {what}", "unsafe"));
        blocks.iter().any(|block| text.contains(block)) || text.contains(concat!("unsafe", "_code"))
    };
    let with: Vec<_> = files.iter().filter(unsafe_code).collect();
    assert_eq!(with, [&host.join("sandbox/src/sealed_code.rs")]);
}
