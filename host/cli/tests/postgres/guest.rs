//! The shipped plugin as a guest of a sandbox.

use std::{
    sync::{Arc, LazyLock},
    time::Instant,
};

use phasm::{
    Outcome,
    executor::{Executor as _, Invocation},
    plugins::Plugins,
    sandbox::{Grants, Isolation, Sandbox},
};
use serde_json::{Value as Json, json};

use crate::attempt::{self, LogListener};

/// The shipped plugin, built if need be.
pub(crate) static POSTGRES: LazyLock<Arc<[u8]>> = LazyLock::new(|| attempt::built("plugins/postgres"));

/// Returns the grant of a port of this machine.
pub(crate) fn grants(port: u16) -> Grants {
    let allow = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    Grants { tcp: attempt::tcp(&allow.each_ref().map(String::as_str), &[]), ..Grants::default() }
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
        let plugins = Plugins::new(Sandbox::new(attempt::sandbox(isolation)).unwrap());
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
        inputs.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let call = Invocation { deadline, inputs: attempt::inputs(&inputs), ..Invocation::first("postgres") };
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
        attempt::outputs(&outcome)
    }

    pub(crate) async fn rows(&self, command: &str, params: Json) -> Json {
        self.outputs(command, json!({ "params": params })).await["rows"].clone()
    }
}

/// Returns `detail` of an outcome.
pub(crate) fn detail(outcome: &Outcome) -> Json {
    serde_json::from_str(&outcome.detail.as_ref().unwrap().to_json()).unwrap()
}
