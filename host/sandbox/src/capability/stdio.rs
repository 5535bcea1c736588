//! Standard streams: what a guest writes is part of its log, there is nothing to read, and no terminal.

use std::sync::Arc;

use bytes::Bytes;
use wasmtime::component::{HasSelf, Linker, Resource};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, OutputStream, Pollable, StreamError, StreamResult,
    bindings::cli::{
        stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr, terminal_stdin,
        terminal_stdout,
    },
    pipe::ClosedInputStream,
};

use super::active;
use crate::{
    guest::Guest,
    transcript::{Standard, Transcript},
};

/// The most a guest may write to a standard stream in one call.
const PERMIT: usize = 64 * 1024;

/// A guest's standard output or error; bounded as its log is.
struct Stream {
    transcript: Arc<Transcript>,
    standard: Standard,
}

#[wasmtime_wasi::async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.transcript.write(self.standard, &bytes).map_err(|exceeded| StreamError::Trap(exceeded.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

impl Guest {
    fn standard(&mut self, standard: Standard) -> wasmtime::Result<Resource<DynOutputStream>> {
        let stream = Stream { transcript: Arc::clone(&self.transcript), standard };
        Ok(self.table.push(Box::new(stream) as DynOutputStream)?)
    }
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    stdin::add_to_linker::<_, HasSelf<Guest>>(linker, active)?;
    stdout::add_to_linker::<_, HasSelf<Guest>>(linker, active)?;
    stderr::add_to_linker::<_, HasSelf<Guest>>(linker, active)?;
    terminal_input::add_to_linker::<_, HasSelf<Guest>>(linker, active)?;
    terminal_output::add_to_linker::<_, HasSelf<Guest>>(linker, active)?;
    terminal_stdin::add_to_linker::<_, HasSelf<Guest>>(linker, active)?;
    terminal_stdout::add_to_linker::<_, HasSelf<Guest>>(linker, active)?;
    terminal_stderr::add_to_linker::<_, HasSelf<Guest>>(linker, active)
}

impl stdin::Host for Guest {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<DynInputStream>> {
        Ok(self.table.push(Box::new(ClosedInputStream) as DynInputStream)?)
    }
}

impl stdout::Host for Guest {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.standard(Standard::Output)
    }
}

impl stderr::Host for Guest {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.standard(Standard::Error)
    }
}

impl terminal_input::Host for Guest {}

impl terminal_input::HostTerminalInput for Guest {
    fn drop(&mut self, _: Resource<terminal_input::TerminalInput>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl terminal_output::Host for Guest {}

impl terminal_output::HostTerminalOutput for Guest {
    fn drop(&mut self, _: Resource<terminal_output::TerminalOutput>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl terminal_stdin::Host for Guest {
    fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<terminal_input::TerminalInput>>> {
        Ok(None)
    }
}

impl terminal_stdout::Host for Guest {
    fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<terminal_output::TerminalOutput>>> {
        Ok(None)
    }
}

impl terminal_stderr::Host for Guest {
    fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<terminal_output::TerminalOutput>>> {
        Ok(None)
    }
}
