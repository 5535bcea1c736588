//! The guest `connect` of the tests, in a sandbox.

use std::{
    sync::{Arc, LazyLock},
    time::Instant,
};

use phasm::{
    Outcome,
    executor::{Executor as _, Invocation},
    plugins::Plugins,
    sandbox::{Grants, HttpConfig, Isolation, Limits, Sandbox, SandboxConfig, TcpGrant},
};
use serde_json::{Value as Json, json};

use crate::attempt::{self, LogListener};

static CONNECT: LazyLock<Arc<[u8]>> = LazyLock::new(|| attempt::built("tests/guests/connect"));

/// A sandbox with the guest, granted so much.
pub(crate) struct Guests(Plugins);

impl Guests {
    pub(crate) fn new(isolation: Isolation, tcp: TcpGrant, limits: Limits) -> Self {
        Self::resolving(isolation, tcp, limits, &[])
    }

    /// Guests for which these names have these addresses.
    pub(crate) fn resolving(
        isolation: Isolation,
        tcp: TcpGrant,
        limits: Limits,
        hosts: &[(&str, &str)],
    ) -> Self {
        let host = |(name, address): &(&str, &str)| ((*name).to_owned(), vec![address.parse().unwrap()]);
        let http = HttpConfig { hosts: hosts.iter().map(host).collect(), ..HttpConfig::default() };
        let config = SandboxConfig { limits, http, ..attempt::sandbox(isolation) };
        let plugins = Plugins::new(Sandbox::new(config).unwrap());
        plugins.register("connect", CONNECT.to_vec(), Grants { tcp, ..Grants::default() });
        Self(plugins)
    }

    /// Guests that may connect to this port of this machine.
    pub(crate) fn local(isolation: Isolation, port: u16) -> Self {
        Self::new(isolation, attempt::tcp(&[&format!("127.0.0.1:{port}")], &[]), Limits::default())
    }

    pub(crate) async fn tell(&self, order: Json) -> Outcome {
        self.heard(order, None).await.0
    }

    /// Returns the outcome, and what was logged.
    pub(crate) async fn heard(&self, order: Json, deadline: Option<Instant>) -> (Outcome, Vec<String>) {
        let ear = Arc::new(LogListener::default());
        let call = Invocation { deadline, inputs: attempt::inputs(&order), ..Invocation::first("connect") };
        let outcome = self.0.execute(call, Arc::clone(&ear) as _).await;
        (outcome, ear.lines())
    }
}

/// Returns the output of an attempt that succeeded, or its message.
pub(crate) fn said(outcome: &Outcome) -> String {
    let outputs: Vec<_> = outcome.outputs.iter().map(|output| output.value.to_json()).collect();
    if outcome.code == 0 { outputs.concat() } else { outcome.message.to_string() }
}

/// Returns the order to do `act` with a port of this machine.
pub(crate) fn order(act: &str, port: u16) -> Json {
    json!({ "act": act, "to": format!("127.0.0.1:{port}") })
}
