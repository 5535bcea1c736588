//! The crates are the layers: who may depend on whom, and what an embedder's program does without.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

fn cargo(arguments: &[&str]) -> String {
    let ran = Command::new(env!("CARGO")).args(arguments).current_dir(crate::root()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// Returns the dependencies of each crate of the workspace, tests apart.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let metadata = cargo(&["metadata", "--no-deps", "--locked", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
    let list = |value: &Value, field: &str| value.get(field).and_then(Value::as_array).cloned().unwrap();
    let of = |package: &Value| {
        let normal = list(package, "dependencies").into_iter().filter(|one| text(one, "kind").is_none());
        (text(package, "name").unwrap(), normal.filter_map(|one| text(&one, "name")).collect())
    };
    list(&metadata, "packages").iter().map(of).collect()
}

/// The order of the layers. A crate that is new gets a row.
#[test]
fn a_crate_depends_on_those_below_it() {
    let below: [(&str, &[&str]); 18] = [
        ("phasm-duration", &[]),
        ("phasm-number", &[]),
        ("phasm-sdk", &["phasm-duration", "phasm-number"]),
        ("phasm-engine", &["phasm-duration", "phasm-number"]),
        ("phasm-workspace-hack", &[]),
        ("phasm-files", &[]),
        ("phasm-sandbox", &["phasm-engine", "phasm-files", "phasm-workspace-hack"]),
        ("phasm-builder", &["phasm-files", "phasm-sandbox"]),
        ("phasm-artifacts", &["phasm-engine", "phasm-files", "phasm-sandbox"]),
        ("phasm", &["phasm-artifacts", "phasm-engine", "phasm-files", "phasm-sandbox"]),
        ("phasm-convert", &["phasm-engine"]),
        ("phasm-graph", &["phasm-engine"]),
        ("phasm-server", &["phasm", "phasm-files", "phasm-graph"]),
        (
            "phasm-cli",
            &["phasm", "phasm-builder", "phasm-convert", "phasm-files", "phasm-graph", "phasm-server"],
        ),
        ("phasm-edge", &["phasm"]),
        ("phasm-tests", &["phasm", "phasm-engine"]),
        ("phasm-tidy", &[]),
        ("phasm-dist", &["phasm-builder"]),
    ];
    let ours = |names: Vec<String>| -> Vec<String> {
        let mut ours: Vec<_> = names.into_iter().filter(|name| name.starts_with("phasm")).collect();
        ours.sort();
        ours
    };
    let found: BTreeMap<_, _> = dependencies().into_iter().map(|(name, on)| (name, ours(on))).collect();
    let expected = below.map(|(name, on)| (name.to_owned(), on.iter().map(ToString::to_string).collect()));
    assert_eq!(found, BTreeMap::from(expected));
}

/// Whatever is heavy, or speaks to the system, has one crate that brings it; a client and a server are two.
#[test]
fn a_library_is_brought_by_one_crate() {
    let owners = [
        ("wasmtime", &["phasm-sandbox"][..]),
        ("wasmtime-wasi", &["phasm-sandbox"][..]),
        ("wit-component", &["phasm-builder"][..]),
        ("rhai", &["phasm-engine"][..]),
        ("rusqlite", &["phasm"][..]),
        ("tokio-postgres", &["phasm"][..]),
        ("hyper", &["phasm-sandbox", "phasm-server"]),
        ("clap", &["phasm-cli"][..]),
        ("indicatif", &["phasm-cli"][..]),
        ("console", &["phasm-cli"][..]),
        ("anstream", &["phasm-cli"][..]),
        ("mimalloc", &["phasm-cli"][..]),
    ];
    let all = dependencies();
    for (library, owners) in owners {
        let users: Vec<_> = all.iter().filter(|(_, on)| on.iter().any(|one| one == library)).collect();
        assert_eq!(users.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), owners, "{library}");
    }
}

/// Every selection of crates that has the compiler shares one build of wasmtime: its libraries have the features that they have in
/// the workspace, which `host/workspace-hack` asks for.
#[test]
fn a_selection_of_crates_has_the_features_of_the_workspace() {
    let features = |selection: &[&str]| -> BTreeSet<String> {
        let tree =
            ["tree", "--locked", "--edges", "normal,dev,no-proc-macro", "--prefix", "none", "--no-dedupe"];
        let tree = cargo(&[&tree[..], &["--format", "{p} {f}"], selection].concat());
        tree.lines().filter(|line| !line.starts_with("phasm")).map(str::to_owned).collect()
    };
    let workspace = features(&["--workspace"]);
    for package in ["phasm-sandbox", "phasm", "phasm-server", "phasm-cli", "phasm-tests"] {
        let others: Vec<_> = features(&["--package", package]).difference(&workspace).cloned().collect();
        assert_eq!(others, Vec::<String>::new(), "{package}");
    }
}

/// Libraries of the compiler, the SQLite and PostgreSQL stores, and the terminal.
const HEAVY: [&str; 12] = [
    "wasmtime-internal-cranelift",
    "cranelift-codegen",
    "regalloc2",
    "rusqlite",
    "libsqlite3-sys",
    "tokio-postgres",
    "hyper",
    "rustls",
    "ring",
    "clap",
    "console",
    "indicatif",
];

/// Returns the crates of [`HEAVY`] that a selection of packages and features links.
fn heavy(selection: &[&str]) -> Vec<&'static str> {
    let tree = cargo(&[&["tree", "--locked", "--edges", "normal", "--prefix", "none"], selection].concat());
    let is_in = |name: &&str| tree.lines().any(|line| line.split(' ').next() == Some(name));
    HEAVY.into_iter().filter(is_in).collect()
}

#[test]
fn no_compiler_without_the_feature() {
    let nothing: [&str; 0] = [];
    assert_eq!(heavy(&["--package", "phasm-edge"]), nothing);
    assert_eq!(heavy(&["--package", "phasm", "--no-default-features"]), nothing);
    let compiler = ["wasmtime-internal-cranelift", "cranelift-codegen", "regalloc2"];
    assert_eq!(heavy(&["--package", "phasm", "--no-default-features", "--features", "compile"]), compiler);
    let sqlite = ["rusqlite", "libsqlite3-sys"];
    assert_eq!(heavy(&["--package", "phasm", "--no-default-features", "--features", "sqlite"]), sqlite);
    let postgres = ["tokio-postgres", "rustls", "ring"];
    assert_eq!(heavy(&["--package", "phasm", "--no-default-features", "--features", "postgres"]), postgres);
    let http = ["hyper", "rustls", "ring"];
    assert_eq!(heavy(&["--package", "phasm", "--no-default-features", "--features", "http"]), http);
    assert_eq!(heavy(&["--package", "phasm-cli"]), HEAVY);
}
