//! Where guests run: wasmtime, narrowed once.
//!
//! A [`Sandbox`] compiles components into [`Program`]s and calls them. Every call gets a fresh instance with nothing
//! but its [`Grants`], is held to the [`Limits`], runs on threads that serve nothing else, and ends as an [`Outcome`],
//! whatever the guest does.
//!
//! ```text
//!  control (any runtime)            guest threads (nice +10)             ticker thread
//!  call() ───────spawn────────────▶ slot ─▶ fresh store ─▶ execute
//!                                        ◀── epoch: stop or yield ────── every 1 ms while guests compute
//!         ◀──────Outcome────────────                  ◀── alarm ──────── deadline of one that waits in the host
//!  drop ─────────abort────────────▶ at its next yield or host call
//! ```
//!
//! Nothing outside this crate names wasmtime. Something more that guests may be granted is a unit of `capability`.

use std::{
    fmt,
    future::Future,
    io,
    num::NonZeroUsize,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm_engine::outcome::Outcome;
use tokio::{runtime::Handle, sync::Semaphore};
use tracing::Instrument as _;
use wasmtime::component::Linker;

use self::executor::{Invocation, Observer};
#[cfg(target_os = "linux")]
use self::processes::Processes;
use self::{
    artefact::Artefact,
    call_context::SandboxContext,
    capability::http::Net,
    compiler::Compiler,
    fair_scheduler::FairScheduler,
    guest::Guest,
    limits::{Ceilings, SetBy},
    long_runners::LongRunners,
    memory::Memory,
    pool::Pool,
    threads::GuestThreads,
    ticker::Ticker,
};
pub use self::{
    artefact::ArtefactInfo,
    attempt::Attempt,
    capability::{
        clocks::WallClock,
        dirs::{DirGrant, Quota},
        http::{
            EgressSecret, HttpConfig, HttpGrant, HttpLimits, HttpPattern, Network, NotANetwork, NotAPattern,
        },
        random::Randomness,
    },
    child::Children,
    digest::{Digest, NotADigest},
    grants::Grants,
    isolation::Isolation,
    key::Key,
    limits::{Allowance, Limit, Limits},
    occupancy::{FaultKind, Occupancy},
    origin::Origin,
    program::{LoadError, Overrun, Program},
    regular_file::{open_regular, read_regular, read_regular_text},
    tenants::Tenants,
};

#[cfg(feature = "http")]
pub use self::capability::http::{HttpAnswer, HttpClient, HttpRequest};
#[cfg(feature = "compile")]
pub use self::complexity::check_complexity;

mod artefact;
mod attempt;
mod attempt_context;
mod bindings;
#[cfg(feature = "compile")]
mod cache;
mod call;
mod call_context;
mod call_result;
mod capability;
pub mod child;
#[cfg(feature = "compile")]
mod compiler;
#[cfg(not(feature = "compile"))]
#[path = "no_compiler.rs"]
mod compiler;
#[cfg(feature = "compile")]
mod complexity;
mod digest;
pub mod executor;
mod fair_scheduler;
mod fault;
mod files;
mod grants;
mod guest;
mod guest_store;
mod isolation;
mod key;
mod limits;
mod loading;
mod long_runners;
mod memory;
mod occupancy;
mod origin;
mod outcome;
mod pool;
#[cfg(target_os = "linux")]
mod processes;
mod program;
mod regular_file;
mod sealed_code;
mod shared_budget;
mod stderr_tail;
mod stopwatch;
mod tenants;
mod text;
mod threads;
mod ticker;
pub mod trace;
mod transcript;

/// How a [`Sandbox`] is made.
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// Guests that may be alive at once, waiting ones included; further calls wait for a slot. Lowered to what the
    /// kernel's mapping limit allows.
    pub slots: u32,
    /// Threads that guests compute on; one a core by default.
    pub threads: Option<NonZeroUsize>,
    /// Tenants that share the sandbox.
    pub tenants: Tenants,
    /// Limits on every call.
    pub limits: Limits,
    /// Linear memory of all guests together, in bytes: half of what the machine or its control group has, if it is not said. Half of it is divided
    /// among the slots, of which there are fewer if that would be less than 1 MiB for each; the other half is for guests that need more than
    /// that, and each leaves as much free as it takes.
    pub all_memory: Option<u64>,
    /// Where compiled code is kept between processes; nowhere by default. Nothing without the feature `compile`.
    pub cache: Option<PathBuf>,
    /// How guests that are granted hosts reach them. Nothing without the feature `http`.
    pub http: HttpConfig,
    /// The program that compiles components, as a child process under [`Limits::compile_memory`] and [`Limits::compile_time`].
    /// By default this one, if it lets that happen ([`child::serve_if_asked`]); otherwise components are compiled within this
    /// process, where one that was made for it takes any amount of memory and time. Nothing without the feature `compile`.
    pub children: Option<Children>,
    /// Where guests run, unless a plugin's [`Grants::isolation`] says otherwise.
    pub isolation: Isolation,
    /// Guests that may be alive at once in processes of their own, of [`Self::children`]; further calls wait.
    pub processes: u32,
    /// Key that seals plugins compiled ahead of time. Defaults to the key of the cache; with neither, no such plugin is loaded.
    pub key: Option<Key>,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            slots: 2048,
            threads: None,
            tenants: Tenants::default(),
            limits: Limits::default(),
            all_memory: None,
            cache: None,
            http: HttpConfig::default(),
            children: Children::here(),
            isolation: Isolation::default(),
            processes: 32,
            key: None,
        }
    }
}

/// Why a [`Sandbox`] could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// wasmtime refuses the configuration or this machine.
    #[error("WebAssembly engine: {0}")]
    Engine(String),
    /// The operating system gives no threads.
    #[error("threads for guests: {0}")]
    Threads(#[source] io::Error),
}

/// Runs guests. Cheap to clone; the last clone takes the threads with it.
#[derive(Clone)]
pub struct Sandbox {
    core: Arc<SandboxCore>,
}

struct SandboxCore {
    engine: wasmtime::Engine,
    linker: Linker<Guest>,
    context: Arc<SandboxContext>,
    /// One permit a slot of the pool.
    slots: Semaphore,
    capacity: u32,
    compiler: Arc<Compiler>,
    isolation: Isolation,
    #[cfg(target_os = "linux")]
    processes: Option<Processes>,
    key: Option<Key>,
    warnings: Vec<String>,
    threads: GuestThreads,
    ticker: Ticker,
    scheduler: Arc<FairScheduler>,
    long_runners: LongRunners,
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
            faults: fault::FaultCounts::default(),
            dirs: capability::dirs::SharedDirs::default(),
            net: Arc::new(Net::new(http, &tenants)),
            #[cfg(target_os = "linux")]
            relay: None,
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

    /// The threads guests run on. A [`Self::call`] polled there runs in place; polled elsewhere it goes there first,
    /// which costs two changes of thread. A dispatcher spawns its calls here.
    #[must_use]
    pub fn guest_runtime(&self) -> &Handle {
        self.core.threads.handle()
    }

    /// The threads of guests that compute long, below the others: for what takes long on their behalf.
    #[must_use]
    pub fn long_runtime(&self) -> &Handle {
        self.core.threads.long()
    }

    /// How many guests can be alive at once.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.core.capacity
    }

    /// How much of it is in use, and how calls have ended that did not return.
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
            ..self.core.of_processes()
        }
    }

    /// How often the ticker has looked at the clock.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.core.ticker.ticks()
    }

    /// Whether the ticker is awake; soon after the last guest has stopped computing it is not, and takes no time.
    #[must_use]
    pub fn is_ticking(&self) -> bool {
        !self.core.ticker.is_parked()
    }

    /// How long the guests of a tenant that compute long have computed, since there is one of them; nothing while there is none.
    #[must_use]
    pub fn computed(&self, tenant: &str) -> Duration {
        self.core.scheduler.computed(tenant)
    }

    /// Makes a component ready to be called, off the async threads: from the cache of compiled code, by compiling it, or from a
    /// file that
    /// [`Self::precompile`] made. A child that compiles is killed when this future is dropped and no other caller waits for it.
    ///
    /// # Errors
    /// [`LoadError`] when it is no component, or none this host can offer a world to.
    pub async fn load(&self, bytes: Arc<[u8]>) -> Result<Program, LoadError> {
        let core = Arc::clone(&self.core);
        self.while_waited(async move { core.load(bytes).await }).await
    }

    /// Returns the information in a file that [`Self::precompile`] made; `None` if it is no such file.
    ///
    /// # Errors
    /// [`LoadError`] when it cannot be trusted, or does not fit this host.
    pub fn precompiled(&self, bytes: &[u8]) -> Option<Result<ArtefactInfo, LoadError>> {
        let opened = Artefact::of(bytes)?.open(&self.core.engine, self.core.key());
        Some(opened.map(|(_, said)| said))
    }

    /// Compiles a component for hosts that cannot: machine code for a machine like this one, sealed with this sandbox's key,
    /// and with the component's `manifest`, a JSON value.
    ///
    /// # Errors
    /// [`LoadError`] when it is no component, or none this host can offer a world to.
    #[cfg(feature = "compile")]
    pub async fn precompile(&self, bytes: Arc<[u8]>, manifest: String) -> Result<Vec<u8>, LoadError> {
        let core = Arc::clone(&self.core);
        self.while_waited(async move { core.precompile(bytes, manifest).await }).await
    }

    /// Calls `program` once, as a fresh guest with `grants`.
    ///
    /// The future can be awaited on any runtime, or none; it does nothing until polled, and dropping it stops the
    /// guest. A guest that computes is stopped within a few milliseconds, at its next epoch.
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

    /// Carries `work` out on a guest thread (in place, if that polls this), bounded by `deadline`. Beside others that compute
    /// long it computes in turns, as many as there are threads at once, and the tenant of `origin` as much as others.
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

impl SandboxCore {
    fn limits(&self) -> &Limits {
        &self.context.limits
    }

    #[cfg(target_os = "linux")]
    fn of_processes(&self) -> Occupancy {
        self.processes.as_ref().map(Processes::occupancy).unwrap_or_default()
    }

    #[cfg(not(target_os = "linux"))]
    fn of_processes(&self) -> Occupancy {
        Occupancy::default()
    }

    /// Returns the key that seals compiled plugins.
    fn key(&self) -> Option<&Key> {
        self.key.as_ref().or_else(|| self.compiler.key())
    }
}
