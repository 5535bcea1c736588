//! The environment: what the grant says, and the attempt's place in its trace, as OpenTelemetry has it in environments. Nothing of the
//! host's; no arguments, no working directory.

use wasmtime::component::{HasSelf, Linker};
use wasmtime_wasi::{
    I32Exit,
    p2::bindings::cli::{environment, exit},
};

use super::active;
use crate::{
    guest::Guest,
    trace::{TRACEPARENT, TRACESTATE},
};

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    environment::add_to_linker::<_, HasSelf<Guest>>(linker, active)?;
    exit::add_to_linker::<_, HasSelf<Guest>>(linker, active)
}

impl environment::Host for Guest {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        let granted = &self.whose.grants.env;
        let span = self.whose.invocation.span();
        let state = span.state.as_ref().map(|state| (TRACESTATE, state.to_string()));
        let told = [(TRACEPARENT, span.parent())].into_iter().chain(state);
        let told = told.map(|(name, value)| (name.to_ascii_uppercase(), value));
        // Whoever grants a trace of his own means that one.
        let is_granted = granted.contains_key("TRACEPARENT");
        let told = told.filter(|(name, _)| !is_granted && !granted.contains_key(name));
        let granted = granted.iter().map(|(name, value)| (name.clone(), value.clone()));
        Ok(granted.chain(told).collect())
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(None)
    }
}

impl exit::Host for Guest {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        Err(I32Exit(status.is_err().into()).into())
    }

    fn exit_with_code(&mut self, status: u8) -> wasmtime::Result<()> {
        Err(I32Exit(status.into()).into())
    }
}
