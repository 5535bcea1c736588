//! One live instance's host side: its state, and the functions it can call.

use std::sync::Arc;

use wasmtime::component::{HasSelf, Linker, ResourceTable};

use super::{
    bindings::{self, phasm::executor::types},
    capability::{self, Caller, Grants, Held, refused::Refused},
    limits::Meter,
    transcript::Transcript,
};
use crate::executor::Level;

/// Everything that belongs to one call and to nothing else; gone when the call ends.
pub(super) struct Guest {
    pub(super) table: ResourceTable,
    pub(super) meter: Meter,
    pub(super) transcript: Arc<Transcript>,
    pub(super) held: Held,
    pub(super) refused: Refused,
}

impl Guest {
    /// The state of a fresh guest.
    ///
    /// # Errors
    /// What to tell the user when a grant cannot be given.
    pub(super) async fn new(
        caller: Caller<'_>,
        grants: Arc<Grants>,
        transcript: Arc<Transcript>,
    ) -> Result<Self, String> {
        let mut table = ResourceTable::new();
        table.set_max_capacity(caller.limits.resources as usize);
        Ok(Self {
            table,
            meter: Meter::new(caller.limits, caller.invocation.memory),
            held: Held::new(grants, caller, &transcript).await?,
            transcript,
            refused: Refused::default(),
        })
    }
}

impl bindings::phasm::executor::host::Host for Guest {
    fn log(&mut self, level: types::Level, text: String) -> wasmtime::Result<()> {
        Ok(self.transcript.log(level.into(), &text)?)
    }

    fn progress(&mut self, fraction: Option<f64>, text: String) -> wasmtime::Result<()> {
        Ok(self.transcript.progress(fraction, &text)?)
    }

    fn heartbeat(&mut self) -> wasmtime::Result<()> {
        self.transcript.activity();
        Ok(())
    }
}

impl types::Host for Guest {}

impl From<types::Level> for Level {
    fn from(level: types::Level) -> Self {
        match level {
            types::Level::Trace => Self::Trace,
            types::Level::Debug => Self::Debug,
            types::Level::Info => Self::Info,
            types::Level::Warn => Self::Warn,
            types::Level::Error => Self::Error,
        }
    }
}

/// Everything a guest can import: the world of `wit/` and WASI 0.2.
///
/// # Errors
/// None in practice; wasmtime refuses to define a name twice.
pub(super) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    bindings::Executor::add_to_linker::<_, HasSelf<_>>(&mut linker, |guest| guest)?;
    capability::link(&mut linker)?;
    Ok(linker)
}
