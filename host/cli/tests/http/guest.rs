//! The shipped plugin as a guest of a sandbox.

use std::{
    sync::{Arc, LazyLock},
    time::Instant,
};

use phasm::{
    Outcome,
    executor::{Executor as _, Invocation},
    plugins::Plugins,
    sandbox::{Grants, HttpConfig, HttpGrant, Isolation, Sandbox, SandboxConfig},
};
use serde_json::{Value as Json, json};

use crate::attempt::{self, LogListener};

pub(crate) static HTTP: LazyLock<Arc<[u8]>> = LazyLock::new(|| attempt::built("plugins/http"));

pub(crate) fn grant(allow: &[&str], networks: &[&str]) -> HttpGrant {
    HttpGrant {
        allow: allow.iter().map(|text| text.parse().unwrap()).collect(),
        networks: networks.iter().map(|text| text.parse().unwrap()).collect(),
    }
}

/// A sandbox with the plugin, granted so much.
pub(crate) struct Guests(Plugins);

impl Guests {
    pub(crate) fn new(isolation: Isolation, http: HttpGrant, config: HttpConfig) -> Self {
        let config = SandboxConfig { http: config, ..attempt::sandbox(isolation) };
        let plugins = Plugins::new(Sandbox::new(config).unwrap());
        plugins.register("http", HTTP.to_vec(), Grants { http, ..Grants::default() });
        Self(plugins)
    }

    /// Anybody on this machine's own address.
    pub(crate) fn local(isolation: Isolation) -> Self {
        Self::new(isolation, grant(&["http://127.0.0.1:*"], &[]), HttpConfig::default())
    }

    pub(crate) async fn ask(&self, inputs: Json) -> Outcome {
        self.heard(inputs, None).await.0
    }

    /// The outcome, and what was logged.
    pub(crate) async fn heard(&self, inputs: Json, deadline: Option<Instant>) -> (Outcome, Vec<String>) {
        let ear = Arc::new(LogListener::default());
        let call = Invocation { deadline, inputs: attempt::inputs(&inputs), ..Invocation::first("http") };
        let outcome = self.0.execute(call, Arc::clone(&ear) as _).await;
        (outcome, ear.lines())
    }
}

/// Outputs and detail of an outcome.
pub(crate) fn said(outcome: &Outcome) -> Json {
    let detail: Json =
        outcome.detail.as_ref().map_or(Json::Null, |detail| serde_json::from_str(&detail.to_json()).unwrap());
    json!({ "code": outcome.code, "outputs": attempt::outputs(outcome), "detail": detail })
}
