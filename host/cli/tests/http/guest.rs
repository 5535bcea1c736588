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
    sandbox::{Children, Grants, HttpConfig, HttpGrant, Isolation, Sandbox, SandboxConfig},
};
use serde_json::{Value as Json, json};

use crate::attempt::{self, LogListener};

/// The shipped plugins, built if need be.
pub(crate) fn built(name: &str) -> Arc<[u8]> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(name);
    let built = phasm_builder::bring_up_to_date(&[folder], &|_: &str| {}).remove(0).unwrap();
    std::fs::read(built.wasm).unwrap().into()
}

pub(crate) static HTTP: LazyLock<Arc<[u8]>> = LazyLock::new(|| built("http"));

pub(crate) fn grant(allow: &[&str], networks: &[&str]) -> HttpGrant {
    HttpGrant {
        allow: allow.iter().map(|text| text.parse().unwrap()).collect(),
        networks: networks.iter().map(|text| text.parse().unwrap()).collect(),
    }
}

/// A small sandbox whose guests run there.
pub(crate) fn sandbox(isolation: Isolation) -> SandboxConfig {
    SandboxConfig {
        slots: 32,
        threads: NonZeroUsize::new(2),
        children: Some(Children::of(env!("CARGO_BIN_EXE_phasm"))),
        isolation,
        ..SandboxConfig::default()
    }
}

/// A sandbox with the plugin, granted so much.
pub(crate) struct Guests(Plugins);

impl Guests {
    pub(crate) fn new(isolation: Isolation, http: HttpGrant, config: HttpConfig) -> Self {
        let config = SandboxConfig { http: config, ..sandbox(isolation) };
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
        let outcome = self.0.execute(invocation(inputs, deadline), Arc::clone(&ear) as _).await;
        (outcome, ear.lines())
    }
}

fn invocation(inputs: Json, deadline: Option<Instant>) -> Invocation {
    let Json::Object(inputs) = inputs else { panic!("{inputs}") };
    let inputs = inputs.into_iter().map(|(name, value)| (name.into(), value.into()));
    Invocation { deadline, inputs: Arc::new(inputs.collect()), ..attempt::invocation("http") }
}

/// Outputs and detail of an outcome.
pub(crate) fn said(outcome: &Outcome) -> Json {
    let outputs: serde_json::Map<_, _> = outcome
        .outputs
        .iter()
        .map(|output| (output.name.to_string(), serde_json::from_str(&output.value.to_json()).unwrap()))
        .collect();
    let detail: Json =
        outcome.detail.as_ref().map_or(Json::Null, |detail| serde_json::from_str(&detail.to_json()).unwrap());
    json!({ "code": outcome.code, "outputs": outputs, "detail": detail })
}
