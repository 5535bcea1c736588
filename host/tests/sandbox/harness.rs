//! Helpers of the tests: guests from text, a sandbox for them, and an observer that remembers.

use std::{
    collections::BTreeMap,
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use phasm::{
    executor::{Executor, Invocation, Level, Observer},
    plugins::Plugins,
    sandbox::{Grants, Sandbox, SandboxConfig},
};
use phasm_engine::{outcome::Outcome, value::Value};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

fn guests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/guests")
}

/// The component of a guest in `tests/guests`: the file itself, or the world around its core module.
pub(crate) fn guest(name: &str) -> Vec<u8> {
    let text = fs::read_to_string(guests().join(name).with_extension("wat")).unwrap();
    if text.contains("(core module $guest") && !text.contains("(component") {
        let world = fs::read_to_string(guests().join("world.wat")).unwrap();
        wat::parse_str(world.replace(";; GUEST", &text)).unwrap()
    } else {
        wat::parse_str(text).unwrap()
    }
}

/// A small sandbox with two guest threads.
pub(crate) fn config() -> SandboxConfig {
    SandboxConfig { slots: 32, threads: NonZeroUsize::new(2), ..SandboxConfig::default() }
}

/// Plugins in a sandbox of `config`, with `names` registered and granted nothing.
pub(crate) fn plugins(config: SandboxConfig, names: &[&str]) -> Plugins {
    let plugins = Plugins::new(Sandbox::new(config).unwrap());
    for name in names {
        plugins.register(*name, guest(name), Grants::default());
    }
    plugins
}

/// A first dispatch of `executor_type` without inputs or deadline.
pub(crate) fn invocation(executor_type: &str) -> Invocation {
    Invocation::first(executor_type)
}

/// The same, with `count` inputs: what the guests that work first take as the amount of work.
pub(crate) fn working(executor_type: &str, count: i64) -> Invocation {
    let inputs = (0..count).map(|n| (n.to_string().into(), n.into())).collect();
    Invocation { inputs: Arc::new(inputs), ..invocation(executor_type) }
}

/// The same, with a deadline.
pub(crate) fn within(millis: u64, invocation: Invocation) -> Invocation {
    Invocation { deadline: Some(Instant::now() + Duration::from_millis(millis)), ..invocation }
}

/// Calls a guest and hears nothing of it.
pub(crate) async fn call(plugins: &Plugins, invocation: Invocation) -> Outcome {
    plugins.execute(invocation, Arc::new(Deaf)).await
}

/// Outputs by name.
pub(crate) fn outputs(outcome: &Outcome) -> BTreeMap<&str, &Value> {
    outcome.outputs.iter().map(|output| (&*output.name, &output.value)).collect()
}

/// Hears nothing.
pub(crate) struct Deaf;

impl Observer for Deaf {
    fn log(&self, _: Level, _: &str) {}
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}

/// Passes on what it hears, and remembers it.
pub(crate) struct Listener {
    sender: UnboundedSender<String>,
    heard: Mutex<Vec<String>>,
}

impl Listener {
    pub(crate) fn new() -> (Arc<Self>, UnboundedReceiver<String>) {
        let (sender, receiver) = unbounded_channel();
        (Arc::new(Self { sender, heard: Mutex::default() }), receiver)
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    fn hear(&self, text: String) {
        self.heard.lock().unwrap().push(text.clone());
        // The receiver may be gone.
        let _ = self.sender.send(text);
    }
}

impl Observer for Listener {
    fn log(&self, level: Level, text: &str) {
        self.hear(format!("{level:?} {text}"));
    }

    fn progress(&self, fraction: Option<f64>, text: &str) {
        self.hear(format!("progress {fraction:?} {text}"));
    }

    fn activity(&self) {}
}
