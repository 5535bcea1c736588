//! The program against plugins that were compiled for it, and others.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use phasm_sandbox::{Key, Sandbox, SandboxConfig};

const WORKFLOW: &str = r#"{"apiVersion": "aether/v1", "kind": "Workflow", "metadata": {"name": "edge"}, "spec": {"entrypoint": "main",
    "templates": [{"task": {"name": "main", "executor": {"type": "echo"}, "inputs": {"parameters":
    [{"name": "said", "value": "hello"}]}}}]}}"#;

/// A guest of the tests, in its world.
fn component(guest: &str) -> Vec<u8> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/guests");
    let read = |name: &str| fs::read_to_string(dir.join(format!("{name}.wat"))).unwrap();
    wat::parse_str(read("world").replace(";; GUEST", &read(guest))).unwrap()
}

/// A key, and a plugin `echo` that was compiled with it; a workflow.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let key = Key::read_or_make(&dir.path().join("key")).unwrap();
        let config = SandboxConfig { slots: 8, key: Some(key), ..SandboxConfig::default() };
        let sandbox = Sandbox::new(config).unwrap();
        let made = sandbox.precompile(component("echo").into(), r#"{"version":"1.0.0"}"#.to_owned());
        let made = sandbox.guest_runtime().block_on(made).unwrap();
        fs::write(dir.path().join("echo.cwasm"), made).unwrap();
        fs::write(dir.path().join("edge.json"), WORKFLOW).unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self) -> Output {
        let files = ["key", "edge.json", "echo.cwasm"].map(|name| self.path(name));
        Command::new(env!("CARGO_BIN_EXE_phasm-edge")).args(files).output().unwrap()
    }
}

#[test]
fn what_was_compiled_ahead_of_time_runs() {
    let ran = Bench::new().run();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{text} {:?}", String::from_utf8(ran.stderr));
    let view: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(view.get("phase").unwrap(), "Succeeded");
}

#[test]
fn a_changed_plugin_and_another_key_are_refused() {
    let bench = Bench::new();
    let good = fs::read(bench.path("echo.cwasm")).unwrap();
    let mut bad = good.clone();
    *bad.last_mut().unwrap() ^= 1;
    fs::write(bench.path("echo.cwasm"), bad).unwrap();
    let refused = |ran: Output| {
        let said = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
        assert!(
            !ran.status.success() && said.contains("sealed with another key, or changed since"),
            "{said}"
        );
    };
    refused(bench.run());
    fs::write(bench.path("echo.cwasm"), good).unwrap();
    fs::remove_file(bench.path("key")).unwrap();
    Key::read_or_make(&bench.path("key")).unwrap();
    refused(bench.run());
}
