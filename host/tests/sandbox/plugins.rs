//! From `executor.type` to a component.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

use phasm::{
    executor::Executor,
    plugins::{Builder, PluginError, Plugins},
    sandbox::{Digest, DirGrant, Grants, Sandbox},
};
use phasm_engine::outcome::code::{ERROR, SUCCEEDED};
use tokio::task::JoinSet;

use crate::harness::{Deaf, call, config, guest, invocation, plugins};

/// R-C1, R-I6.
#[tokio::test]
async fn an_unknown_type_is_an_outcome_that_lists_the_known_ones() {
    let none = plugins(config(), &[]);
    let outcome = call(&none, invocation("pear")).await;
    assert_eq!((outcome.code, &*outcome.message), (ERROR, "unknown executor type `pear`; known: none"));
    let some = plugins(config(), &["echo", "count"]);
    for unknown in ["pear", "echo@1.0.0", "@", "", "sha256:00", &format!("sha256:{}", "0".repeat(64))] {
        let outcome = call(&some, invocation(unknown)).await;
        let message = format!("unknown executor type `{unknown}`; known: count, echo");
        assert_eq!((outcome.code, &*outcome.message), (ERROR, &*message));
    }
}

/// A directory with two versions of a plugin beside each other, and what does not count as a plugin.
fn versions() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (sub, name, version) in [("old", "echo", "1.0.0"), ("new", "count", "2.0.0")] {
        let sub = dir.path().join(sub);
        fs::create_dir_all(sub.join("folder-without-source")).unwrap();
        fs::write(sub.join("x.wasm"), guest(name)).unwrap();
        fs::write(sub.join("x.toml"), format!("version = '{version}'\ndescription = 'of {sub:?}'")).unwrap();
        fs::write(sub.join("README.md"), "").unwrap();
    }
    dir
}

/// R-I6.
#[tokio::test]
async fn names_versions_and_digests_are_found() {
    let dir = versions();
    let plugins = plugins(config(), &["nap"]);
    for sub in ["old", "new"] {
        assert_eq!(plugins.add_dir(&dir.path().join(sub), &BTreeMap::new()).unwrap(), ["x"]);
    }
    let (old, new) = (Digest::of(&guest("echo")), Digest::of(&guest("count")));
    let by_digest = new.to_string();
    let rows = [
        ("x", old),
        ("x@1.0.0", old),
        ("x@2.0.0", new),
        (&*by_digest, new),
        ("nap", Digest::of(&guest("nap"))),
    ];
    for (executor_type, digest) in rows.into_iter().chain(rows) {
        let resolved = plugins.resolve(executor_type).await.unwrap();
        assert_eq!(resolved.digest, digest, "{executor_type}");
        assert_eq!(call(&plugins, invocation(executor_type)).await.code, SUCCEEDED);
    }
    assert_eq!(plugins.resolve("x@2.0.0").await.unwrap().manifest.version.unwrap(), "2.0.0");
    assert!(matches!(plugins.resolve("x@3.0.0").await, Err(PluginError::Unknown { .. })));
    assert_eq!(plugins.names(), ["nap".into(), "x".into()]);
    assert!(plugins.add_dir(&dir.path().join("gone"), &BTreeMap::new()).is_err());
}

#[tokio::test]
async fn grants_go_by_the_plugins_name() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["with", "without"] {
        fs::write(dir.path().join(name).with_extension("wasm"), guest("directories")).unwrap();
    }
    let grant = DirGrant::read_only(dir.path(), "/");
    let grants = BTreeMap::from([("with".to_owned(), Grants { dirs: vec![grant], ..Grants::default() })]);
    let plugins = plugins(config(), &[]);
    plugins.add_dir(dir.path(), &grants).unwrap();
    assert_eq!(call(&plugins, invocation("with")).await.code, 3);
    assert_eq!(call(&plugins, invocation("without")).await.code, 2);
}

/// Counts how often it is asked, and gives the artefact of one guest.
struct Counting(AtomicU32, Result<PathBuf, String>);

impl Builder for Counting {
    fn artefact(&self, folder: &Path) -> Result<PathBuf, String> {
        assert!(folder.join("Cargo.toml").is_file());
        self.0.fetch_add(1, SeqCst);
        self.1.clone()
    }
}

#[tokio::test]
async fn a_source_folder_is_built_when_it_is_first_needed_and_once_for_all() {
    let dir = tempfile::tempdir().unwrap();
    let artefact = dir.path().join("artefact.out");
    fs::write(&artefact, guest("echo")).unwrap();
    let plugins_dir = dir.path().join("plugins");
    fs::create_dir_all(plugins_dir.join("made")).unwrap();
    fs::write(plugins_dir.join("made/Cargo.toml"), "[package.metadata.phasm]\n").unwrap();
    let failed = "plugin `made`: no compiler";
    for (artefact, code, message) in
        [(Ok(artefact), SUCCEEDED, ""), (Err("no compiler".to_owned()), ERROR, failed)]
    {
        let builder = Arc::new(Counting(AtomicU32::new(0), artefact));
        let plugins = Plugins::new(Sandbox::new(config()).unwrap()).with_builder(builder.clone());
        assert_eq!(plugins.add_dir(&plugins_dir, &BTreeMap::new()).unwrap(), ["made"]);
        assert_eq!(builder.0.load(SeqCst), 0);
        let mut calls = JoinSet::new();
        for _ in 0..20 {
            calls.spawn(plugins.execute(invocation("made"), Arc::new(Deaf)));
        }
        for outcome in calls.join_all().await {
            assert_eq!((outcome.code, &*outcome.message), (code, message));
        }
        assert_eq!(builder.0.load(SeqCst), 1);
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_an_outcome_that_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("source");
    fs::create_dir(&folder).unwrap();
    fs::write(dir.path().join("bad.wasm"), guest("echo")).unwrap();
    fs::write(dir.path().join("bad.json"), "{").unwrap();
    let plugins = plugins(config(), &[]);
    for (name, path) in [("gone", "gone.wasm"), ("source", "source"), ("bad", "bad.wasm")] {
        plugins.register(name, dir.path().join(path), Grants::default());
    }
    let at = |path: &str| dir.path().join(path).display().to_string();
    let rows = [
        ("gone", format!("plugin `gone`: {}: No such file or directory (os error 2)", at("gone.wasm"))),
        (
            "source",
            format!("plugin `source`: {} is a plugin's source, and nothing here can build it", at("source")),
        ),
        (
            "bad",
            format!(
                "plugin `bad`: manifest {}: EOF while parsing an object at line 1 column 1",
                at("bad.json")
            ),
        ),
    ];
    for (name, message) in rows {
        let outcome = call(&plugins, invocation(name)).await;
        assert_eq!((outcome.code, &*outcome.message), (ERROR, &*message));
        assert_eq!(plugins.resolve(name).await.unwrap_err().to_string(), message);
    }
}
