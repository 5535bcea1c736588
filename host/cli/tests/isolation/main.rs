//! Attempts in processes of their own: the same outcomes, and nothing of one plugin in another's process.
#![expect(clippy::unwrap_used, reason = "tests")]
#![cfg(target_os = "linux")]

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use phasm::{
    executor::{Executor as _, Invocation, Level, Observer},
    plugins::Plugins,
    sandbox::{Children, Grants, Isolation, Sandbox, SandboxConfig},
};
use phasm_engine::{
    outcome::Outcome,
    value::Value,
};

/// A guest of the tests: the file itself, or the world around its core module.
fn guest(name: &str) -> Vec<u8> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests");
    let read = |name: &str| fs::read_to_string(dir.join(format!("{name}.wat"))).unwrap();
    let text = read(name);
    if text.contains("(component") {
        return wat::parse_str(text).unwrap();
    }
    wat::parse_str(read("world").replace(";; GUEST", &text)).unwrap()
}

fn plugins(isolation: Isolation, names: &[&str]) -> Plugins {
    granted(isolation, names, &Grants::default())
}

fn granted(isolation: Isolation, names: &[&str], grants: &Grants) -> Plugins {
    let children = Some(Children::of(env!("CARGO_BIN_EXE_phasm")));
    let config = SandboxConfig { slots: 32, children, isolation, ..SandboxConfig::default() };
    let plugins = Plugins::new(Sandbox::new(config).unwrap());
    names.iter().for_each(|name| plugins.register(*name, guest(name), grants.clone()));
    plugins
}

fn invocation(executor_type: &str) -> Invocation {
    Invocation {
        run_id: "run".into(),
        workflow: "workflow".into(),
        namespace: "default".into(),
        task_run_id: "run.task".into(),
        task: "task".into(),
        executor_type: executor_type.into(),
        attempt: 1,
        dispatch: 1,
        resumed: false,
        deadline: None,
        config: Value::Object(Arc::default()),
        inputs: Arc::new(vec![("greeting".into(), Value::from("hello"))]),
        memory: None,
    }
}

/// Remembers what it hears.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Observer for Heard {
    fn log(&self, level: Level, text: &str) {
        self.0.lock().unwrap().push(format!("{level:?} {text}"));
    }
    fn progress(&self, fraction: Option<f64>, text: &str) {
        self.0.lock().unwrap().push(format!("{fraction:?} {text}"));
    }
    fn activity(&self) {}
}

async fn call(plugins: &Plugins, invocation: Invocation) -> (Outcome, Vec<String>) {
    let heard = Arc::new(Heard::default());
    let outcome = plugins.execute(invocation, Arc::clone(&heard) as _).await;
    let heard = heard.0.lock().unwrap().clone();
    (outcome, heard)
}

/// R-I17.
#[tokio::test]
async fn every_guest_comes_to_the_same() {
    let names = [
        "allocate", "allocate-at-once", "assert", "bad-detail", "bad-json", "bad-text", "big-log", "big-memory", "big-output",
        "code", "count", "deep-json", "describe", "directories", "echo", "empty-name", "environment", "exit", "flood",
        "flood-empty", "flood-stdout", "many-outputs", "network", "overflow", "panic", "say", "suspend", "table", "timers",
        "trap", "two-memories", "wild-pointer",
    ];
    let [shared, apart] = [Isolation::Shared, Isolation::Process].map(|tier| plugins(tier, &names));
    for name in names {
        let [shared, apart] = [call(&shared, invocation(name)).await, call(&apart, invocation(name)).await];
        assert_eq!(shared, apart, "{name}");
    }
}
