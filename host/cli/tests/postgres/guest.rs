//! The shipped plugin as a guest of a sandbox.

use std::{
    num::NonZeroUsize,
    path::Path,
    sync::{Arc, LazyLock},
    time::Instant,
};

use phasm::{
    Outcome,
    executor::{Executor as _, Invocation},
    plugins::Plugins,
    sandbox::{Children, Grants, Isolation, Sandbox, SandboxConfig, TcpGrant},
};
use serde_json::{Value as Json, json};

use crate::attempt::{self, LogListener};

/// The shipped plugin, built if need be.
pub(crate) static POSTGRES: LazyLock<Arc<[u8]>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/postgres");
    let built = phasm_builder::bring_up_to_date(&[folder], &|_: &str| {}).remove(0).unwrap();
    std::fs::read(built.wasm).unwrap().into()
});

/// Compiled code of the guest, for all tests.
static CACHE: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

pub(crate) fn sandbox(isolation: Isolation) -> SandboxConfig {
    SandboxConfig {
        slots: 8,
        threads: NonZeroUsize::new(2),
        children: Some(Children::of(env!("CARGO_BIN_EXE_phasm"))),
        isolation,
        cache: Some(CACHE.path().to_owned()),
        ..SandboxConfig::default()
    }
}

/// Returns the grant of a port of this machine.
pub(crate) fn grants(port: u16) -> Grants {
    let allow =
        vec![format!("127.0.0.1:{port}").parse().unwrap(), format!("localhost:{port}").parse().unwrap()];
    Grants { tcp: TcpGrant { allow, networks: Vec::new() }, ..Grants::default() }
}

/// A sandbox with the plugin.
pub(crate) struct Guests {
    plugins: Plugins,
    port: u16,
}

impl Guests {
    /// Guests that may connect to this port.
    pub(crate) fn of(port: u16) -> Self {
        Self::granted(Isolation::Shared, port, grants(port))
    }

    pub(crate) fn granted(isolation: Isolation, port: u16, grants: Grants) -> Self {
        let plugins = Plugins::new(Sandbox::new(sandbox(isolation)).unwrap());
        plugins.register("postgres", POSTGRES.to_vec(), grants);
        Self { plugins, port }
    }

    /// Returns the outcome of a command, with more inputs, and what was logged.
    pub(crate) async fn heard(
        &self,
        command: &str,
        more: Json,
        deadline: Option<Instant>,
    ) -> (Outcome, Vec<String>) {
        let mut inputs =
            json!({ "host": "127.0.0.1", "port": self.port, "user": "phasm", "database": "postgres" });
        inputs["command"] = command.into();
        for (name, value) in more.as_object().unwrap() {
            inputs[name] = value.clone();
        }
        let inputs = inputs.as_object().unwrap().clone().into_iter().filter(|(_, value)| !value.is_null());
        let inputs = Arc::new(inputs.map(|(name, value)| (name.into(), value.into())).collect());
        let call = Invocation { deadline, inputs, ..attempt::invocation("postgres") };
        let ear = Arc::new(LogListener::default());
        let outcome = self.plugins.execute(call, Arc::clone(&ear) as _).await;
        (outcome, ear.lines())
    }

    pub(crate) async fn ask(&self, command: &str, more: Json) -> Outcome {
        self.heard(command, more, None).await.0
    }

    /// Returns the outputs of a command that succeeds.
    pub(crate) async fn outputs(&self, command: &str, more: Json) -> Json {
        let outcome = self.ask(command, more).await;
        assert_eq!(outcome.code, 0, "{command}: {}", outcome.message);
        outputs(&outcome)
    }

    pub(crate) async fn rows(&self, command: &str, params: Json) -> Json {
        self.outputs(command, json!({ "params": params })).await["rows"].clone()
    }
}

fn outputs(outcome: &Outcome) -> Json {
    let outputs = outcome.outputs.iter();
    let outputs = outputs
        .map(|output| (output.name.to_string(), serde_json::from_str(&output.value.to_json()).unwrap()));
    Json::Object(outputs.collect())
}

/// Returns `detail` of an outcome.
pub(crate) fn detail(outcome: &Outcome) -> Json {
    serde_json::from_str(&outcome.detail.as_ref().unwrap().to_json()).unwrap()
}
