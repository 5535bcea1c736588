//! An attempt of a guest, as the tests of sandboxes call one.

use std::{
    num::NonZeroUsize,
    path::Path,
    sync::{Arc, LazyLock, Mutex},
};

use phasm::{
    Outcome, Value,
    executor::{Level, Observer},
    sandbox::{Children, Isolation, SandboxConfig, TcpGrant},
};
use serde_json::Value as Json;

/// Compiled code of the guests, for all tests of the program.
static CACHE: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

/// The component of a project in this folder of the repository, built if need be.
pub(crate) fn built(folder: &str) -> Arc<[u8]> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let built = phasm_builder::bring_up_to_date(&[folder], &|_: &str| {}).remove(0).unwrap();
    std::fs::read(built.wasm).unwrap().into()
}

/// A small sandbox whose guests run there.
pub(crate) fn sandbox(isolation: Isolation) -> SandboxConfig {
    SandboxConfig {
        slots: 32,
        threads: NonZeroUsize::new(2),
        children: Some(Children::of(env!("CARGO_BIN_EXE_phasm"))),
        isolation,
        cache: Some(CACHE.path().to_owned()),
        ..SandboxConfig::default()
    }
}

/// A grant of TCP connections.
pub(crate) fn tcp(allow: &[&str], networks: &[&str]) -> TcpGrant {
    TcpGrant {
        allow: allow.iter().map(|text| text.parse().unwrap()).collect(),
        networks: networks.iter().map(|text| text.parse().unwrap()).collect(),
    }
}

/// The members of an object as inputs.
pub(crate) fn inputs(members: &Json) -> Arc<Vec<(Arc<str>, Value)>> {
    let members = members.as_object().unwrap().clone().into_iter();
    Arc::new(members.map(|(name, value)| (name.into(), value.into())).collect())
}

/// Outputs by name.
pub(crate) fn outputs(outcome: &Outcome) -> Json {
    let outputs = outcome.outputs.iter();
    let outputs = outputs
        .map(|output| (output.name.to_string(), serde_json::from_str(&output.value.to_json()).unwrap()));
    Json::Object(outputs.collect())
}

/// Remembers log lines.
#[derive(Default)]
pub(crate) struct LogListener(Mutex<Vec<String>>);

impl LogListener {
    /// Returns the lines so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Observer for LogListener {
    fn log(&self, level: Level, text: &str) {
        self.0.lock().unwrap().push(format!("{level:?} {text}"));
    }
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}
