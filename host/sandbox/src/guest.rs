//! One live instance's host side: its state, and the functions it can call.

use std::sync::Arc;

use phasm_engine::metered::Metered;
use wasmtime::{
    ResourceLimiter,
    component::{HasSelf, Linker, ResourceTable},
};

use super::{
    bindings::{self, phasm::executor::types},
    budget::Holder,
    capability::{self, Held, dirs::Dirs, refused::Refused},
    limits::{Limit, Meter, NoGrowth, UNLIMITED},
    memory::NoMemory,
    transcript::Transcript,
    whose::Whose,
};
use crate::executor::Level;

/// Everything that belongs to one call and to nothing else; gone when the call ends.
pub(super) struct Guest {
    pub(super) whose: Arc<Whose>,
    pub(super) table: ResourceTable,
    pub(super) meter: Meter,
    pub(super) transcript: Arc<Transcript>,
    pub(super) held: Held,
    pub(super) refused: Refused,
    /// How often it called the host.
    pub(super) calls: u32,
}

impl Guest {
    /// The state of a fresh guest, for which the directories that it is granted have been opened.
    pub(super) fn new(whose: Arc<Whose>, meter: Meter, dirs: Dirs, transcript: Arc<Transcript>) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(whose.limits().resources as usize);
        let held = Held::new(&whose, dirs);
        Self { whose, table, meter, held, transcript, refused: Refused::default(), calls: 0 }
    }

    /// What it has used so far, but for the time, which whoever polls it knows.
    pub(super) fn metered(&self) -> Metered {
        let (bytes_in, bytes_out) = self.held.moved();
        Metered {
            cpu_us: 0,
            pages: u32::try_from(self.meter.peak().div_ceil(Metered::PAGE)).unwrap_or(u32::MAX),
            calls: self.calls,
            bytes_in,
            bytes_out,
        }
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let Self { whose, meter, .. } = self;
        let memory = &whose.premises.memory;
        let holder = || Holder::of_tenant(&memory.pool, &whose.tenant, UNLIMITED);
        let growth = desired.saturating_sub(current) as u64;
        match meter.grow(growth, &whose.ceilings, holder) {
            Ok(()) => Ok(true),
            Err(NoGrowth::Limit(exceeded)) => Err(exceeded.into()),
            Err(NoGrowth::Spent(spent, wanted)) => Err(NoMemory { all: memory.all, spent, wanted }.into()),
        }
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.meter.undo();
        Ok(())
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired as u64 > self.whose.ceilings.most(Limit::TableElements) {
            return Err(self.whose.ceilings.exceeded(Limit::TableElements).into());
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.whose.limits().instances as usize
    }

    fn tables(&self) -> usize {
        self.whose.limits().tables as usize
    }

    fn memories(&self) -> usize {
        self.whose.limits().memories as usize
    }
}

impl bindings::phasm::executor::host::Host for Guest {
    fn log(&mut self, level: types::Level, text: String) -> wasmtime::Result<()> {
        self.calls = self.calls.saturating_add(1);
        Ok(self.transcript.log(level.into(), &text)?)
    }

    fn progress(&mut self, fraction: Option<f64>, text: String) -> wasmtime::Result<()> {
        self.calls = self.calls.saturating_add(1);
        Ok(self.transcript.progress(fraction, &text)?)
    }

    fn heartbeat(&mut self) -> wasmtime::Result<()> {
        self.calls = self.calls.saturating_add(1);
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
