//! Where guests run: wasmtime, narrowed once.
//!
//! A [`Sandbox`] compiles components into [`Program`]s and calls them. Every call gets a fresh instance with nothing
//! but its [`Grants`], is held to the [`Limits`], runs on threads that serve nothing else, and ends as an [`Outcome`],
//! whatever the guest does (R-C1).
//!
//! ```text
//!  control (any runtime)            guest threads (nice +10)             ticker thread
//!  call() ───────spawn────────────▶ slot ─▶ fresh store ─▶ execute
//!                                        ◀── epoch: stop or yield ────── every 1 ms while guests compute
//!         ◀──────Outcome────────────                  ◀── alarm ──────── deadline of one that waits in the host
//!  drop ─────────abort────────────▶ at its next yield or host call
//! ```
//!
//! Nothing outside this crate names wasmtime.

use std::{
    fmt,
    future::Future,
    io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use phasm_engine::outcome::Outcome;
use tokio::{runtime::Handle, sync::Semaphore};
use wasmtime::component::{Component, Linker};

use self::executor::{Invocation, Observer};
pub use self::{
    attempt::Attempt,
    digest::{Digest, NotADigest},
    grants::{DirGrant, Grants},
    limits::Limits,
    program::{LoadError, Program},
};
use self::{cache::Cache, guest::Guest, pool::Pool, threads::GuestThreads, ticker::Ticker};

mod attempt;
mod bindings;
mod cache;
mod call;
mod digest;
pub mod executor;
mod fault;
mod grants;
mod guest;
mod limits;
mod pool;
mod program;
mod threads;
mod ticker;
mod transcript;

/// How a [`Sandbox`] is made.
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// Guests that may be alive at once, waiting ones included; further calls wait for a slot. Lowered to what the
    /// kernel's mapping limit allows.
    pub slots: u32,
    /// Threads that guests compute on; one a core by default.
    pub threads: Option<NonZeroUsize>,
    /// What every call may use.
    pub limits: Limits,
    /// Where compiled code is kept between processes; nowhere by default.
    pub cache: Option<PathBuf>,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self { slots: 2048, threads: None, limits: Limits::default(), cache: None }
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
    shared: Arc<Shared>,
}

struct Shared {
    engine: wasmtime::Engine,
    linker: Linker<Guest>,
    limits: Limits,
    /// One permit a slot of the pool.
    slots: Semaphore,
    capacity: u32,
    cache: Option<Cache>,
    /// Compiling uses every core as it is; one component at a time bounds its memory.
    compiling: Mutex<()>,
    warnings: Vec<String>,
    threads: GuestThreads,
    ticker: Ticker,
}

impl Sandbox {
    /// Reserves the pool and starts the threads.
    ///
    /// What the operator should know but need not act upon is in [`Self::warnings`].
    ///
    /// # Errors
    /// When wasmtime does not support this machine, or there are no threads to be had.
    pub fn new(config: SandboxConfig) -> Result<Self, SandboxError> {
        let SandboxConfig { slots, threads, limits, cache } = config;
        let Pool { engine, slots, mut warnings } = Pool::reserve(slots, &limits)?;
        let linker = guest::linker(&engine).map_err(|error| SandboxError::Engine(format!("{error:#}")))?;
        let cache = cache.and_then(|dir| open_cache(&dir, &engine, &mut warnings));
        for warning in &warnings {
            tracing::warn!("{warning}");
        }
        let of_ticker = engine.clone();
        let ticker = Ticker::start(move || of_ticker.increment_epoch()).map_err(SandboxError::Threads)?;
        let shared = Shared {
            slots: Semaphore::new(slots as usize),
            capacity: slots,
            threads: GuestThreads::start(threads)?,
            compiling: Mutex::new(()),
            engine,
            linker,
            limits,
            cache,
            warnings,
            ticker,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Linear memory that a call may use, in bytes.
    pub fn memory_limit(&self) -> u64 {
        self.shared.limits.memory
    }

    /// What fell short of the configuration: fewer slots, no pool, no cache.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.shared.warnings
    }

    /// The threads guests run on. A [`Self::call`] polled there runs in place; polled elsewhere it goes there first,
    /// which costs two changes of thread. A dispatcher spawns its calls here.
    #[must_use]
    pub fn guest_runtime(&self) -> &Handle {
        self.shared.threads.handle()
    }

    /// How many guests can be alive at once.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.shared.capacity
    }

    /// How often the ticker has looked at the clock.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.shared.ticker.ticks()
    }

    /// Whether the ticker is awake; soon after the last guest has stopped computing it is not, and takes no time.
    #[must_use]
    pub fn is_ticking(&self) -> bool {
        !self.shared.ticker.is_parked()
    }

    /// Makes a component ready to be called: from the cache of compiled code, or by compiling it, off the async
    /// threads. Takes binary or text format.
    ///
    /// # Errors
    /// [`LoadError`] when it is no component, or none this host can offer a world to.
    pub async fn load(&self, bytes: Arc<[u8]>) -> Result<Program, LoadError> {
        let shared = Arc::clone(&self.shared);
        let loading = self.guest_runtime().spawn_blocking(move || shared.load(&bytes));
        loading.await.unwrap_or_else(|error| Err(LoadError::Fault(error.to_string())))
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
        let (shared, deadline) = (Arc::clone(&self.shared), invocation.deadline);
        self.attempt(
            deadline,
            async move { call::call(&shared, &program, grants, invocation, observer).await },
        )
    }

    /// Carries `work` out on a guest thread (in place, if that polls this), bounded by `deadline`.
    pub fn attempt(
        &self,
        deadline: Option<Instant>,
        work: impl Future<Output = Outcome> + Send + 'static,
    ) -> Attempt {
        Attempt::new(Arc::clone(&self.shared), deadline, Box::pin(work))
    }

    /// [`Self::call`] for whoever is inside [`Self::attempt`] already.
    pub async fn call_in_place(
        &self,
        program: &Program,
        grants: Arc<Grants>,
        invocation: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Outcome {
        call::call(&self.shared, program, grants, invocation, observer).await
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").field("slots", &self.slots()).finish_non_exhaustive()
    }
}

/// The cache, or a warning: everything runs without one.
fn open_cache(dir: &Path, engine: &wasmtime::Engine, warnings: &mut Vec<String>) -> Option<Cache> {
    let opened = Cache::open(dir, engine);
    if let Err(error) = &opened {
        warnings.push(format!("no cache of compiled code in {}: {error}", dir.display()));
    }
    opened.ok()
}

impl Shared {
    fn load(&self, bytes: &[u8]) -> Result<Program, LoadError> {
        let (size, limit) = (bytes.len() as u64, self.limits.component);
        if size > limit {
            return Err(LoadError::TooLarge { size, limit });
        }
        let digest = Digest::of(bytes);
        let component = match self.cached(&digest) {
            Some(component) => component,
            None => self.compile(bytes, &digest)?,
        };
        Program::link(&self.linker, &component, &self.limits, self.capacity)
    }

    fn cached(&self, digest: &Digest) -> Option<Component> {
        self.cache.as_ref()?.load(&self.engine, digest)
    }

    fn compile(&self, bytes: &[u8], digest: &Digest) -> Result<Component, LoadError> {
        let _one_at_a_time = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        let component = Program::compile(&self.engine, bytes)?;
        if let Some(Err(error)) = self.cache.as_ref().map(|cache| cache.store(digest, &component)) {
            tracing::warn!("compiled code of {digest} is not kept: {error}");
        }
        Ok(component)
    }
}
