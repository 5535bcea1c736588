//! The sandbox: it makes components ready, and calls them.

use std::{
    fmt,
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm_engine::outcome::Outcome;
use tokio::{runtime::Handle, sync::Semaphore};
use tracing::Instrument as _;

#[cfg(target_os = "linux")]
use super::processes::Processes;
use super::{
    artefact::{Artefact, ArtefactInfo},
    attempt::Attempt,
    call,
    call_context::SandboxContext,
    capability::{dirs::SharedDirs, http::Net},
    compiler::Compiler,
    config::SandboxConfig,
    error::SandboxError,
    executor::{Invocation, Observer},
    fair_queue::Holder,
    fair_scheduler::FairScheduler,
    fault::FaultCounts,
    grants::Grants,
    guest,
    limits::{Ceilings, Limit, SetBy},
    loading,
    long_runners::LongRunners,
    memory::Memory,
    occupancy::Occupancy,
    origin::Origin,
    pool::Pool,
    program::{LoadError, Program},
    sandbox_core::SandboxCore,
    threads::GuestThreads,
    ticker::Ticker,
};

/// Sandbox for guests. Cheap to clone; dropping the last clone ends the threads.
#[derive(Clone)]
pub struct Sandbox {
    core: Arc<SandboxCore>,
}

impl Sandbox {
    /// Reserves the pool and starts the threads.
    ///
    /// The sandbox works even if the machine offers less than was configured; see [`Self::warnings`].
    ///
    /// # Errors
    /// Fails when wasmtime does not support this machine, or no threads can be started.
    pub fn new(config: SandboxConfig) -> Result<Self, SandboxError> {
        let SandboxConfig {
            slots,
            threads,
            tenants,
            limits,
            all_memory,
            cache,
            http,
            children,
            isolation,
            processes,
            key,
        } = config;
        #[cfg(target_os = "linux")]
        let processes = children.clone().map(|children| Processes::new(children, processes));
        let (memory, slots) = Memory::divide(all_memory, slots);
        let Pool { engine, slots, mut warnings } = Pool::reserve(slots, &limits)?;
        let linker = guest::linker(&engine).map_err(|error| SandboxError::Engine(format!("{error:#}")))?;
        let compiler = Compiler::new(cache.as_deref(), children, &engine, &mut warnings).into();
        for warning in &warnings {
            tracing::warn!("{warning}");
        }
        let of_ticker = engine.clone();
        let ticker = Ticker::start(move || of_ticker.increment_epoch()).map_err(SandboxError::Threads)?;
        let threads = GuestThreads::start(threads)?;
        let tenants = Arc::new(tenants);
        let mut ceilings = Ceilings::of(&limits, &http.limits);
        ceilings.lower(Limit::Memory, memory.max_for_one(), SetBy::Host);
        let context = SandboxContext {
            limits: Arc::new(limits),
            ceilings,
            tenants: Arc::clone(&tenants),
            memory,
            faults: FaultCounts::default(),
            dirs: SharedDirs::default(),
            net: Arc::new(Net::new(http, &tenants)),
            #[cfg(target_os = "linux")]
            relay: None,
            #[cfg(all(feature = "http", target_os = "linux"))]
            tcp_relay: None,
        };
        let core = SandboxCore {
            slots: Semaphore::new(slots as usize),
            capacity: slots,
            scheduler: Arc::new(FairScheduler::new(threads.count(), tenants)),
            long_runners: LongRunners::default(),
            threads,
            engine,
            linker,
            context: Arc::new(context),
            compiler,
            isolation,
            #[cfg(target_os = "linux")]
            processes,
            key,
            warnings,
            ticker,
        };
        Ok(Self { core: Arc::new(core) })
    }

    /// Returns the memory limit of a call that neither a tenant, a plugin nor a task lowers, in bytes.
    pub fn memory_limit(&self) -> u64 {
        self.core.context.ceilings.most(Limit::Memory)
    }

    /// Returns how the sandbox falls short of its configuration: fewer slots, no pool, no cache.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.core.warnings
    }

    /// Returns the threads that guests run on. A [`Self::call`] polled there runs in place; polled elsewhere it moves there
    /// first, which costs two thread switches. A dispatcher spawns its calls here.
    #[must_use]
    pub fn guest_runtime(&self) -> &Handle {
        self.core.threads.handle()
    }

    /// Returns the threads for long computations, which have a lower priority: for guests, and for long work on their behalf.
    #[must_use]
    pub fn long_runtime(&self) -> &Handle {
        self.core.threads.long()
    }

    /// Returns the maximum number of live guests.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.core.capacity
    }

    /// Returns how much of the sandbox is in use, and the number of faults.
    #[must_use]
    pub fn occupancy(&self) -> Occupancy {
        let SandboxCore { slots, capacity, context, .. } = &*self.core;
        let (memory, most) = context.memory.pool.usage();
        let free = u32::try_from(slots.available_permits()).unwrap_or(u32::MAX);
        Occupancy {
            slots: *capacity,
            slots_used: capacity.saturating_sub(free),
            memory_beyond: memory,
            memory_beyond_most: most,
            faults: context.faults.get(),
            ..self.core.process_occupancy()
        }
    }

    /// Returns the number of ticks so far.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.core.ticker.ticks()
    }

    /// Returns whether the ticker is awake. It parks soon after the last guest has stopped computing, and then takes no time.
    #[must_use]
    pub fn is_ticking(&self) -> bool {
        !self.core.ticker.is_parked()
    }

    /// Returns the time that the tenant's guests that compute long have computed, since there is one of them; zero while there is
    /// none.
    #[must_use]
    pub fn computed(&self, tenant: &str) -> Duration {
        self.core.scheduler.computed(tenant)
    }

    /// Makes a component ready to be called, off the async threads: from the cache of compiled code, by compiling it, or from a
    /// file that [`Self::precompile`] made. A child that compiles is killed when this future is dropped and no other caller waits
    /// for it.
    ///
    /// # Errors
    /// [`LoadError`] when it is no component, or none this host can offer a world to.
    pub async fn load(&self, bytes: Arc<[u8]>) -> Result<Program, LoadError> {
        self.load_for(None, bytes).await
    }

    /// [`Self::load`] for a tenant, which has its share of the turns to compile. Components of no tenant share one part.
    ///
    /// # Errors
    /// The errors of [`Self::load`].
    pub async fn load_for(&self, tenant: Option<&Arc<str>>, bytes: Arc<[u8]>) -> Result<Program, LoadError> {
        let core = Arc::clone(&self.core);
        let holder = tenant.map_or_else(Holder::of_no_client, |tenant| Holder {
            weight: core.context.tenants.weight(tenant),
            tenant: Arc::clone(tenant),
            key: "".into(),
        });
        loading::while_waited(self.guest_runtime(), loading::load(core, bytes, holder)).await
    }

    /// Returns the information in a file that [`Self::precompile`] made; `None` if it is no such file.
    ///
    /// # Errors
    /// [`LoadError`] when it cannot be trusted, or does not fit this host.
    pub fn precompiled(&self, bytes: &[u8]) -> Option<Result<ArtefactInfo, LoadError>> {
        let opened = Artefact::of(bytes)?.open(&self.core.engine, self.core.key());
        Some(opened.map(|(_, info)| info))
    }

    /// Compiles a component for hosts that cannot: machine code for a machine like this one, sealed with this sandbox's key,
    /// and with the component's `manifest`, a JSON value.
    ///
    /// # Errors
    /// [`LoadError`] when it is no component, or none this host can offer a world to.
    #[cfg(feature = "compile")]
    pub async fn precompile(&self, bytes: Arc<[u8]>, manifest: String) -> Result<Vec<u8>, LoadError> {
        let core = Arc::clone(&self.core);
        let work = async move { loading::precompile(core, bytes, manifest).await };
        loading::while_waited(self.guest_runtime(), work).await
    }

    /// Calls `program` once, as a fresh guest with `grants`.
    ///
    /// The future can be awaited on any runtime, or none. It does nothing until polled, and dropping it stops the guest. A guest
    /// that computes is stopped within a few milliseconds, at its next epoch.
    pub fn call(
        &self,
        program: Arc<Program>,
        grants: Arc<Grants>,
        invocation: Invocation,
        observer: Arc<dyn Observer>,
    ) -> impl Future<Output = Outcome> + Send + use<> {
        let (core, deadline) = (Arc::clone(&self.core), invocation.deadline);
        self.attempt(invocation.origin(), deadline, async move {
            call::call(&core, &program, grants, invocation, observer).await
        })
    }

    /// Runs `work` on a guest thread, bounded by `deadline`. If it computes long, it takes turns with other such work: one turn
    /// per thread at a time, divided fairly among tenants by `origin`.
    pub fn attempt(
        &self,
        origin: Origin,
        deadline: Option<Instant>,
        work: impl Future<Output = Outcome> + Send + 'static,
    ) -> Attempt {
        Attempt::new(Arc::clone(&self.core), origin, deadline, Box::pin(work.in_current_span()))
    }

    /// [`Self::call`] for callers that run inside of [`Self::attempt`] already.
    pub async fn call_in_place(
        &self,
        program: &Program,
        grants: Arc<Grants>,
        invocation: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Outcome {
        call::call(&self.core, program, grants, invocation, observer).await
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").field("slots", &self.slots()).finish_non_exhaustive()
    }
}
