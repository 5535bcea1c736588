//! State of a sandbox.

use std::sync::Arc;

use tokio::sync::Semaphore;
use wasmtime::component::Linker;

#[cfg(target_os = "linux")]
use super::processes::Processes;
use super::{
    call_context::SandboxContext, compiler::Compiler, fair_scheduler::FairScheduler, guest::Guest,
    isolation::Isolation, key::Key, limits::Limits, long_runners::LongRunners, occupancy::Occupancy,
    threads::GuestThreads, ticker::Ticker,
};

/// State that all clones of a sandbox share.
pub(super) struct SandboxCore {
    pub(super) engine: wasmtime::Engine,
    pub(super) linker: Linker<Guest>,
    pub(super) context: Arc<SandboxContext>,
    /// One permit per slot of the pool.
    pub(super) slots: Semaphore,
    pub(super) capacity: u32,
    pub(super) compiler: Arc<Compiler>,
    pub(super) isolation: Isolation,
    #[cfg(target_os = "linux")]
    pub(super) processes: Option<Processes>,
    pub(super) key: Option<Key>,
    pub(super) warnings: Vec<String>,
    pub(super) threads: GuestThreads,
    pub(super) ticker: Ticker,
    pub(super) scheduler: Arc<FairScheduler>,
    pub(super) long_runners: LongRunners,
}

impl SandboxCore {
    pub(super) fn limits(&self) -> &Limits {
        &self.context.limits
    }

    #[cfg(target_os = "linux")]
    pub(super) fn process_occupancy(&self) -> Occupancy {
        self.processes.as_ref().map(Processes::occupancy).unwrap_or_default()
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn process_occupancy(&self) -> Occupancy {
        Occupancy::default()
    }

    /// Returns the key that seals compiled plugins.
    pub(super) fn key(&self) -> Option<&Key> {
        self.key.as_ref().or_else(|| self.compiler.key())
    }
}
