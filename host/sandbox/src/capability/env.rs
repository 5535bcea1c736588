//! The environment: what the grant says, and nothing of the host's. No arguments, no working directory.

use wasmtime::component::{HasSelf, Linker};
use wasmtime_wasi::{
    I32Exit,
    p2::bindings::cli::{environment, exit},
};

use super::active;
use crate::guest::Guest;

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    environment::add_to_linker::<_, HasSelf<Guest>>(linker, active)?;
    exit::add_to_linker::<_, HasSelf<Guest>>(linker, active)
}

impl environment::Host for Guest {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        Ok(self.whose.grants.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
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
