//! The plugins as guests of a sandbox.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use phasm::{
    Outcome,
    executor::{Executor as _, Invocation},
    plugins::Plugins,
    sandbox::{Children, Grants, Isolation, Sandbox, SandboxConfig, TcpGrant},
};
use serde_json::Value as Json;

use crate::attempt::{self, LogListener};

/// Compiled code of the guests, for all tests.
static CACHE: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

pub(crate) static PYTHON: LazyLock<Arc<[u8]>> = LazyLock::new(|| built("python"));
pub(crate) static SCRIPT: LazyLock<Arc<[u8]>> = LazyLock::new(|| built("script"));

pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(name)
}

fn built(name: &str) -> Arc<[u8]> {
    let built = phasm_builder::bring_up_to_date(&[folder(name)], &|_: &str| {}).remove(0).unwrap();
    std::fs::read(built.wasm).unwrap().into()
}

pub(crate) fn sandbox(isolation: Isolation) -> SandboxConfig {
    SandboxConfig {
        slots: 4,
        threads: NonZeroUsize::new(2),
        children: Some(Children::of(env!("CARGO_BIN_EXE_phasm"))),
        isolation,
        cache: Some(CACHE.path().to_owned()),
        ..SandboxConfig::default()
    }
}

/// Returns the grant of a port of this machine.
pub(crate) fn grants(port: u16) -> Grants {
    let allow = vec![format!("127.0.0.1:{port}").parse().unwrap()];
    Grants { tcp: TcpGrant { allow, networks: Vec::new() }, ..Grants::default() }
}

/// A sandbox with both.
pub(crate) struct Guests(Plugins);

impl Guests {
    pub(crate) fn new(isolation: Isolation) -> Self {
        let plugins = Plugins::new(Sandbox::new(sandbox(isolation)).unwrap());
        plugins.register("python", PYTHON.to_vec(), Grants::default());
        plugins.register("script", SCRIPT.to_vec(), Grants::default());
        Self(plugins)
    }

    /// Returns the outcome of a call, and what was logged.
    pub(crate) async fn heard(&self, name: &str, inputs: &Json) -> (Outcome, Vec<String>) {
        let inputs = inputs.as_object().unwrap().clone().into_iter();
        let inputs = Arc::new(inputs.map(|(name, value)| (name.into(), value.into())).collect());
        let ear = Arc::new(LogListener::default());
        let call = Invocation { inputs, ..attempt::invocation(name) };
        let outcome = self.0.execute(call, Arc::clone(&ear) as _).await;
        (outcome, ear.lines())
    }
}
