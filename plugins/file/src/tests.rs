use std::fs;

use phasm_sdk::testing::call;
use tempfile::TempDir;

use super::*;

/// A directory with `a.txt`, the bytes `ff` in `b.bin`, and `sub/c.txt`.
fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.txt"), "hello").unwrap();
    fs::write(directory.path().join("b.bin"), [0xff]).unwrap();
    fs::create_dir(directory.path().join("sub")).unwrap();
    fs::write(directory.path().join("sub/c.txt"), "").unwrap();
    directory
}

/// Runs with `path` taken within `directory`, whose own path is cut from all texts.
fn run(directory: &TempDir, mut inputs: Value) -> (i32, String, Value) {
    let root = directory.path().to_str().unwrap();
    inputs["path"] = json!(format!("{root}/{}", inputs["path"].as_str().unwrap()));
    let outcome = call(file, inputs);
    let outputs =
        outcome.outputs.iter().map(|(name, _)| (name.clone(), outcome.get(name).unwrap())).collect();
    let outputs = Value::Object(outputs).to_string().replace(&format!("{root}/"), "").replace(root, ".");
    let message = outcome.message.replace(&format!("{root}/"), "");
    (outcome.code.into(), message, outputs.parse().unwrap())
}

fn succeeds(directory: &TempDir, inputs: Value, outputs: Value) {
    assert_eq!(run(directory, inputs), (0, String::new(), outputs));
}

fn fails(directory: &TempDir, inputs: Value, code: i32, message: &str) {
    assert_eq!(run(directory, inputs), (code, message.to_owned(), json!({})));
}

#[test]
fn it_reads() {
    let it = directory();
    let outputs = json!({ "content": "hello", "size": 5, "path": "a.txt" });
    succeeds(&it, json!({ "operation": "read", "path": "a.txt", "maxBytes": 5 }), outputs);
    let outputs = json!({ "content": "/w==", "size": 1, "path": "b.bin" });
    succeeds(&it, json!({ "operation": "read", "path": "b.bin", "encoding": "base64" }), outputs);
}

#[test]
fn it_does_not_read_what_it_cannot() {
    let it = directory();
    let read = |path: &str| json!({ "operation": "read", "path": path, "maxBytes": 4 });
    fails(&it, read("none"), 2, "cannot read `none`: it does not exist");
    fails(&it, read("sub"), 2, "cannot read `sub`: it is a directory");
    fails(&it, read("a.txt/x"), 2, "cannot read `a.txt/x`: a part of the path is not a directory");
    fails(&it, read("a.txt"), 2, "`a.txt` is larger than 4 bytes; `maxBytes` sets the limit");
    fails(&it, read("b.bin"), 2, "`b.bin` is not UTF-8 at byte 0; `encoding: base64` reads it nevertheless");
}

#[test]
fn it_writes_whole_files() {
    let it = directory();
    let write = |path: &str, content: &str| json!({ "operation": "write", "path": path, "content": content });
    succeeds(&it, write("a.txt", "new"), json!({ "size": 3, "path": "a.txt" }));
    assert_eq!(fs::read_to_string(it.path().join("a.txt")).unwrap(), "new");
    fails(&it, write("sub", ""), 2, "cannot write `sub`: it is a directory");
    fails(&it, write("x/y", ""), 2, "cannot write `x/y`: it does not exist");
    let names: Vec<_> = fs::read_dir(it.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "nothing is left over: {names:?}");
}

#[test]
fn it_makes_directories_when_told_and_decodes() {
    let it = directory();
    let inputs = json!({
        "operation": "write", "path": "x/y/z", "content": "/w==", "encoding": "base64", "createDirs": true,
    });
    succeeds(&it, inputs, json!({ "size": 1, "path": "x/y/z" }));
    assert_eq!(fs::read(it.path().join("x/y/z")).unwrap(), [0xff]);
}

#[test]
fn it_appends() {
    let it = directory();
    let append = |path: &str| json!({ "operation": "write", "path": path, "content": "!!", "append": true });
    succeeds(&it, append("a.txt"), json!({ "size": 7, "path": "a.txt" }));
    succeeds(&it, append("new"), json!({ "size": 2, "path": "new" }));
    assert_eq!(fs::read_to_string(it.path().join("a.txt")).unwrap(), "hello!!");
}

#[test]
fn it_does_not_write_what_makes_no_sense() {
    let it = directory();
    let message = "input `content` is missing; expected the text to write";
    fails(&it, json!({ "operation": "write", "path": "n" }), 3, message);
    let inputs = json!({ "operation": "write", "path": "n", "content": "12345", "maxBytes": 4 });
    fails(&it, inputs, 2, "`content` has 5 bytes; `maxBytes` allows 4");
    let (code, message, _) =
        run(&it, json!({ "operation": "write", "path": "n", "content": "?", "encoding": "base64" }));
    assert_eq!((code, message.starts_with("input `content`: expected base64: ")), (3, true), "{message}");
    assert!(!it.path().join("n").exists());
}

#[test]
fn it_lists() {
    let it = directory();
    let entry = |name: &str, path: &str, kind: &str, size: u64| json!({ "name": name, "path": path, "kind": kind, "size": size });
    let size = fs::metadata(it.path().join("sub")).unwrap().len();
    let mut entries = vec![
        entry("a.txt", "a.txt", "file", 5),
        entry("b.bin", "b.bin", "file", 1),
        entry("sub", "sub", "directory", size),
    ];
    let outputs = json!({ "entries": entries, "path": "" });
    succeeds(&it, json!({ "operation": "list", "path": "" }), outputs);
    entries.push(entry("c.txt", "sub/c.txt", "file", 0));
    let outputs = json!({ "entries": entries, "path": "" });
    succeeds(&it, json!({ "operation": "list", "path": "", "recursive": true, "maxEntries": 4 }), outputs);
    let (code, message, _) = run(&it, json!({ "operation": "list", "path": ".", "maxEntries": 2 }));
    assert_eq!((code, message.as_str()), (2, "`.` holds more than 2 entries; `maxEntries` sets the limit"));
    fails(&it, json!({ "operation": "list", "path": "none" }), 2, "cannot list `none`: it does not exist");
}

#[test]
fn it_tells_what_is_there() {
    let it = directory();
    let stat = |path: &str| json!({ "operation": "stat", "path": path });
    succeeds(&it, stat("a.txt"), json!({ "exists": true, "kind": "file", "size": 5, "path": "a.txt" }));
    succeeds(&it, stat("none"), json!({ "exists": false, "path": "none" }));
}

#[test]
fn a_missing_grant_is_named() {
    let outcome = phasm_sdk::files::not_granted("file", "cannot read `/x`");
    assert_eq!(outcome.code, ExecCode::Error);
    assert!(outcome.message.contains("`dirs` under `[grants.file]`"), "{}", outcome.message);
    let it = directory();
    let read_only = std::io::ErrorKind::ReadOnlyFilesystem.into();
    let outcome = problem::refused("write", it.path().to_str().unwrap(), &read_only);
    assert!(outcome.message.contains("a read-write one is needed"), "{}", outcome.message);
}

#[test]
fn every_bad_input_is_named() {
    let outcome = call(file, json!({ "operation": "delete", "maxBytes": -1 }));
    let message = "input `operation`: expected `read`, `write`, `list` or `stat`, got string \"delete\"; \
                   input `maxBytes`: expected an integer from 0 on, got integer `-1`";
    assert_eq!((outcome.code, outcome.message.as_str()), (ExecCode::Error, message));
}
