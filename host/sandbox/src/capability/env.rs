//! The environment: the grant, and the attempt's trace context, as OpenTelemetry defines it for environments. It has nothing of
//! the host's; there are no arguments and no working directory.

use std::collections::BTreeMap;

use wasmtime::component::{HasData, Linker};
use wasmtime_wasi::{
    I32Exit,
    p2::bindings::cli::{environment, exit},
};

use crate::{
    executor::Invocation,
    trace::{TRACEPARENT, TRACESTATE},
};

/// View of the environment in a store.
pub(crate) struct EnvView<'a> {
    pub(crate) granted: &'a BTreeMap<String, String>,
    pub(crate) invocation: &'a Invocation,
}

/// State of a store that has an environment.
pub(crate) trait HasEnv: Send + 'static {
    fn env(&mut self) -> EnvView<'_>;
}

struct EnvData;

impl HasData for EnvData {
    type Data<'a> = EnvView<'a>;
}

pub(super) fn link<T: HasEnv>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    environment::add_to_linker::<T, EnvData>(linker, T::env)?;
    exit::add_to_linker::<T, EnvData>(linker, T::env)
}

impl environment::Host for EnvView<'_> {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        let granted = self.granted;
        let span = self.invocation.span();
        let state = span.state.as_ref().map(|state| (TRACESTATE, state.to_string()));
        let trace = [(TRACEPARENT, span.parent())].into_iter().chain(state);
        let trace = trace.map(|(name, value)| (name.to_ascii_uppercase(), value));
        // A trace in the operator's grant takes precedence.
        let is_granted = granted.contains_key("TRACEPARENT");
        let trace = trace.filter(|(name, _)| !is_granted && !granted.contains_key(name));
        let granted = granted.iter().map(|(name, value)| (name.clone(), value.clone()));
        Ok(granted.chain(trace).collect())
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(None)
    }
}

impl exit::Host for EnvView<'_> {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        Err(I32Exit(status.is_err().into()).into())
    }

    fn exit_with_code(&mut self, status: u8) -> wasmtime::Result<()> {
        Err(I32Exit(status.into()).into())
    }
}
