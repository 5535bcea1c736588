//! Standard streams: output goes to the log, input is empty, and there is no terminal.

use std::sync::Arc;

use bytes::Bytes;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, OutputStream, Pollable, StreamError, StreamResult,
    bindings::cli::{
        stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr, terminal_stdin,
        terminal_stdout,
    },
    pipe::ClosedInputStream,
};

use crate::transcript::{StdStream, Transcript};

/// Maximum number of bytes that a guest writes to a standard stream in one call.
const MAX_WRITE_BYTES: usize = 64 * 1024;

/// A guest's standard output or error; bounded like its log.
struct Stream {
    transcript: Arc<Transcript>,
    standard: StdStream,
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
        Ok(MAX_WRITE_BYTES)
    }
}

/// View of a store for the standard streams.
pub(crate) struct StdioView<'a> {
    pub(crate) transcript: &'a Arc<Transcript>,
    pub(crate) table: &'a mut ResourceTable,
}

/// State of a store that has standard streams.
pub(crate) trait HasStdio: Send + 'static {
    fn stdio(&mut self) -> StdioView<'_>;
}

struct StdioData;

impl HasData for StdioData {
    type Data<'a> = StdioView<'a>;
}

impl StdioView<'_> {
    fn standard(&mut self, standard: StdStream) -> wasmtime::Result<Resource<DynOutputStream>> {
        let stream = Stream { transcript: Arc::clone(self.transcript), standard };
        Ok(self.table.push(Box::new(stream) as DynOutputStream)?)
    }
}

pub(super) fn link<T: HasStdio>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    stdin::add_to_linker::<T, StdioData>(linker, T::stdio)?;
    stdout::add_to_linker::<T, StdioData>(linker, T::stdio)?;
    stderr::add_to_linker::<T, StdioData>(linker, T::stdio)?;
    terminal_input::add_to_linker::<T, StdioData>(linker, T::stdio)?;
    terminal_output::add_to_linker::<T, StdioData>(linker, T::stdio)?;
    terminal_stdin::add_to_linker::<T, StdioData>(linker, T::stdio)?;
    terminal_stdout::add_to_linker::<T, StdioData>(linker, T::stdio)?;
    terminal_stderr::add_to_linker::<T, StdioData>(linker, T::stdio)
}

impl stdin::Host for StdioView<'_> {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<DynInputStream>> {
        Ok(self.table.push(Box::new(ClosedInputStream) as DynInputStream)?)
    }
}

impl stdout::Host for StdioView<'_> {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.standard(StdStream::Output)
    }
}

impl stderr::Host for StdioView<'_> {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.standard(StdStream::Error)
    }
}

impl terminal_input::Host for StdioView<'_> {}

impl terminal_input::HostTerminalInput for StdioView<'_> {
    fn drop(&mut self, _: Resource<terminal_input::TerminalInput>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl terminal_output::Host for StdioView<'_> {}

impl terminal_output::HostTerminalOutput for StdioView<'_> {
    fn drop(&mut self, _: Resource<terminal_output::TerminalOutput>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl terminal_stdin::Host for StdioView<'_> {
    fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<terminal_input::TerminalInput>>> {
        Ok(None)
    }
}

impl terminal_stdout::Host for StdioView<'_> {
    fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<terminal_output::TerminalOutput>>> {
        Ok(None)
    }
}

impl terminal_stderr::Host for StdioView<'_> {
    fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<terminal_output::TerminalOutput>>> {
        Ok(None)
    }
}
