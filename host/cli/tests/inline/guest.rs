//! The plugins as guests of a sandbox.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use phasm::{
    Outcome,
    executor::{Executor as _, Invocation},
    plugins::Plugins,
    sandbox::{Grants, Isolation, Sandbox},
};
use serde_json::Value as Json;

use crate::attempt::{self, LogListener};

pub(crate) static PYTHON: LazyLock<Arc<[u8]>> = LazyLock::new(|| attempt::built("plugins/python"));
pub(crate) static SCRIPT: LazyLock<Arc<[u8]>> = LazyLock::new(|| attempt::built("plugins/script"));

pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(name)
}

/// Returns the grant of a port of this machine.
pub(crate) fn grants(port: u16) -> Grants {
    Grants { tcp: attempt::tcp(&[&format!("127.0.0.1:{port}")], &[]), ..Grants::default() }
}

/// A sandbox with both.
pub(crate) struct Guests(Plugins);

impl Guests {
    pub(crate) fn new(isolation: Isolation) -> Self {
        let plugins = Plugins::new(Sandbox::new(attempt::sandbox(isolation)).unwrap());
        plugins.register("python", PYTHON.to_vec(), Grants::default());
        plugins.register("script", SCRIPT.to_vec(), Grants::default());
        Self(plugins)
    }

    /// Returns the outcome of a call, and what was logged.
    pub(crate) async fn heard(&self, name: &str, inputs: &Json) -> (Outcome, Vec<String>) {
        let ear = Arc::new(LogListener::default());
        let call = Invocation { inputs: attempt::inputs(inputs), ..Invocation::first(name) };
        let outcome = self.0.execute(call, Arc::clone(&ear) as _).await;
        (outcome, ear.lines())
    }
}
