//! Host side of one live instance: its state, and the functions it can call.

use std::sync::Arc;

use phasm_engine::usage::ResourceUsage;
use wasmtime::{
    ResourceLimiter,
    component::{HasSelf, Linker, ResourceTable},
};
use wasmtime_wasi_io::IoView;

#[cfg(feature = "http")]
use super::capability::{http::Connection, sockets::Network};
use super::{
    bindings::{self, phasm::executor::types},
    call_context::CallContext,
    capability::{
        self, Capabilities,
        clocks::{Clocks, ClocksView, HasClocks},
        dirs::{Dirs, DirsView, HasDirs},
        env::{EnvView, HasEnv},
        http::{HasHttp, Http},
        random::{HasRandom, Random},
        refusals::Refusals,
        sockets::{HasSockets, Sockets, SocketsView},
        stdio::{HasStdio, StdioView},
    },
    executor::Level,
    limits::{GrowthError, Limit, Meter, UNLIMITED},
    memory::NoMemory,
    shared_budget::Lease,
    transcript::Transcript,
};

/// State of one call; gone when the call ends.
pub(super) struct Guest {
    pub(super) context: CallContext,
    pub(super) table: ResourceTable,
    pub(super) meter: Meter,
    pub(super) transcript: Arc<Transcript>,
    pub(super) capabilities: Capabilities,
    pub(super) refusals: Refusals,
    /// Number of calls to the host.
    pub(super) calls: u32,
}

impl Guest {
    /// Makes the state of a fresh guest, whose granted directories are open.
    pub(super) fn new(context: CallContext, meter: Meter, dirs: Dirs, transcript: Arc<Transcript>) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(context.attempt.limits.resources as usize);
        let grants = &context.grants;
        let capabilities = Capabilities {
            clocks: Clocks::new(grants.wall_clock),
            random: Random::new(grants.random, context.attempt.ceilings.ceiling(Limit::Random)),
            dirs,
            http: Http::default(),
            sockets: Sockets::default(),
        };
        Self { context, table, meter, capabilities, transcript, refusals: Refusals::default(), calls: 0 }
    }

    /// Returns the resources used so far, except for CPU time, which only the poller of the guest knows.
    pub(super) fn metered(&self) -> ResourceUsage {
        let (bytes_in, bytes_out) = self.capabilities.byte_counts();
        ResourceUsage {
            cpu_us: 0,
            pages: u32::try_from(self.meter.peak().div_ceil(ResourceUsage::PAGE)).unwrap_or(u32::MAX),
            calls: self.calls,
            bytes_in,
            bytes_out,
        }
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let Self { context, meter, .. } = self;
        let memory = &context.sandbox.memory;
        let lease = || Lease::of_tenant(&memory.pool, &context.attempt.tenant, UNLIMITED);
        let growth = desired.saturating_sub(current) as u64;
        match meter.grow(growth, &context.attempt.ceilings, lease) {
            Ok(()) => {
                if meter.is_large() {
                    // Wait here for a thread that is unmapping, instead of in the kernel, where this one would hold up others.
                    drop(memory.lock_mapping());
                }
                Ok(true)
            }
            Err(GrowthError::Limit(exceeded)) => Err(exceeded.into()),
            Err(GrowthError::Exhausted(exhausted, wanted)) => {
                Err(NoMemory { all: memory.all, exhausted, wanted }.into())
            }
        }
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.meter.undo();
        Ok(())
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired as u64 > self.context.attempt.ceilings.most(Limit::TableElements) {
            return Err(self.context.attempt.ceilings.exceeded(Limit::TableElements).into());
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.context.attempt.limits.instances as usize
    }

    fn tables(&self) -> usize {
        self.context.attempt.limits.tables as usize
    }

    fn memories(&self) -> usize {
        self.context.attempt.limits.memories as usize
    }
}

/// Counts a call to the host, which is a sign of life of the guest (R-T5).
fn active(guest: &mut Guest) -> &mut Guest {
    guest.calls = guest.calls.saturating_add(1);
    guest.transcript.activity();
    guest
}

impl capability::Views for Guest {}

impl IoView for Guest {
    fn table(&mut self) -> &mut ResourceTable {
        &mut active(self).table
    }
}

impl HasClocks for Guest {
    fn clocks(&mut self) -> ClocksView<'_> {
        let Self { capabilities, table, .. } = active(self);
        ClocksView { clocks: &mut capabilities.clocks, table }
    }
}

impl HasRandom for Guest {
    fn random(&mut self) -> &mut Random {
        &mut active(self).capabilities.random
    }
}

impl HasEnv for Guest {
    fn env(&mut self) -> EnvView<'_> {
        let Self { context, .. } = active(self);
        EnvView { granted: &context.grants.env, invocation: &context.attempt.invocation }
    }
}

impl HasStdio for Guest {
    fn stdio(&mut self) -> StdioView<'_> {
        let Self { transcript, table, .. } = active(self);
        StdioView { transcript, table }
    }
}

impl HasSockets for Guest {
    fn sockets(&mut self) -> SocketsView<'_> {
        #[cfg(feature = "http")]
        let Self { context, capabilities, refusals, table, transcript, .. } = active(self);
        #[cfg(not(feature = "http"))]
        let Self { capabilities, refusals, table, .. } = active(self);
        SocketsView {
            sockets: &mut capabilities.sockets,
            refusals,
            table,
            #[cfg(feature = "http")]
            network: Network {
                net: &context.sandbox.net,
                #[cfg(target_os = "linux")]
                relay: context.sandbox.tcp_relay.as_ref(),
                grant: &context.grants.tcp,
                attempt: &context.attempt,
                transcript,
            },
        }
    }
}

impl HasDirs for Guest {
    fn dirs(&mut self) -> DirsView<'_> {
        let Self { context, capabilities, refusals, table, .. } = active(self);
        DirsView {
            dirs: &mut capabilities.dirs,
            grants: &context.grants.dirs,
            attempt: &context.attempt,
            refusals,
            table,
        }
    }
}

#[cfg(feature = "http")]
impl wasmtime_wasi_http::WasiHttpView for Guest {
    fn http(&mut self) -> wasmtime_wasi_http::WasiHttpCtxView<'_> {
        let Self { context, capabilities, transcript, table, .. } = active(self);
        let CallContext { attempt, grants, sandbox } = context;
        let connection = Connection {
            net: &sandbox.net,
            #[cfg(target_os = "linux")]
            relay: sandbox.relay.as_ref(),
            grant: &grants.http,
            attempt,
            transcript,
        };
        capabilities.http.view(table, &connection)
    }
}

impl HasHttp for Guest {}

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

/// Returns a linker with everything that a guest can import: the world of `wit/` and WASI 0.2.
///
/// # Errors
/// None in practice; wasmtime refuses to define a name twice.
pub(super) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    bindings::Executor::add_to_linker::<_, HasSelf<_>>(&mut linker, |guest| guest)?;
    capability::link(&mut linker)?;
    Ok(linker)
}
