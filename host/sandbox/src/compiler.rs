//! Compiling components to machine code, with a cache.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
};

use tokio::sync::OnceCell;
use wasmtime::{Engine, component::Component};

use super::{
    cache::Cache,
    child::Children,
    complexity::check_complexity,
    digest::Digest,
    fair_queue::{FairQueue, Holder},
    key::Key,
    limits::Limits,
    program::LoadError,
    sealed_code::FreshCode,
    threads::run_blocking,
};

/// Size from which compiling is logged, in bytes: a megabyte takes about a second of one core.
const ANNOUNCED_BYTES: usize = 256 << 10;

/// Compiler of components.
pub(super) struct Compiler {
    cache: Option<Cache>,
    children: Option<Children>,
    /// Turns to compile, which takes cores and memory: one at a time in this process, half of the cores in children.
    turns: FairQueue,
    /// Compilations in progress, for as long as a caller waits for them.
    flights: Mutex<HashMap<Digest, Weak<Flight>>>,
}

/// One compilation, shared by all callers that wait for it.
type Flight = OnceCell<Result<Component, LoadError>>;

impl Compiler {
    /// Makes a compiler that keeps code in `cache`. An unusable cache is a warning, as everything works without it.
    pub(super) fn new(
        cache: Option<&Path>,
        children: Option<Children>,
        engine: &Engine,
        warnings: &mut Vec<String>,
    ) -> Self {
        let open = |dir: &Path| {
            let unusable = |error| format!("no cache of compiled code in {}: {error}", dir.display());
            Cache::open(dir, engine).map_err(unusable)
        };
        let cache = cache.map(open).transpose().unwrap_or_else(|warning| {
            warnings.push(warning);
            None
        });
        let turns = if children.is_some() { half_the_cores() } else { 1 };
        // None is refused: those who wait are bounded where plugins are accepted.
        let turns = FairQueue::new(turns, usize::MAX);
        Self { cache, children, turns, flights: Mutex::default() }
    }

    /// Returns the cache's key.
    pub(super) fn key(&self) -> Option<&Key> {
        self.cache.as_ref().map(Cache::key)
    }

    /// Returns the component of this digest, if it was compiled before.
    pub(super) fn cached(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        self.cache.as_ref()?.load(engine, digest)
    }

    /// Compiles a component, once for all callers that ask for it at the same time, in a turn of the first one's holder. When the last
    /// caller has gone, the compilation is cancelled if possible.
    pub(super) async fn compile_once(
        self: &Arc<Self>,
        engine: &Engine,
        limits: &Limits,
        digest: Digest,
        bytes: Arc<[u8]>,
        holder: &Holder,
    ) -> Result<Component, LoadError> {
        let flight = self.flight(digest);
        flight.get_or_init(|| self.compile(engine, limits, digest, bytes, holder)).await.clone()
    }

    fn flight(&self, digest: Digest) -> Arc<Flight> {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        flights.retain(|_, flight| flight.strong_count() > 0);
        if let Some(flight) = flights.get(&digest).and_then(Weak::upgrade) {
            return flight;
        }
        let flight = Arc::default();
        flights.insert(digest, Arc::downgrade(&flight));
        flight
    }

    async fn compile(
        self: &Arc<Self>,
        engine: &Engine,
        limits: &Limits,
        digest: Digest,
        bytes: Arc<[u8]>,
        holder: &Holder,
    ) -> Result<Component, LoadError> {
        let bytes = run_blocking(move || examine(&bytes).map(|()| bytes)).await?;
        let turn = self.turns.enter(holder).await;
        let _turn = turn.map_err(|_| LoadError::Fault("the sandbox is closed".to_owned()))?;
        self.announce(bytes.len(), &digest);
        let code = self.code(engine, limits, bytes).await?;
        let (compiler, engine) = (Arc::clone(self), engine.clone());
        run_blocking(move || compiler.keep(&engine, &digest, &code)).await
    }

    fn announce(&self, size: usize, digest: &Digest) {
        if size >= ANNOUNCED_BYTES {
            let megabytes = size as f64 / 1e6;
            let cached =
                if self.cache.is_some() { "once: the code is kept" } else { "anew in every process" };
            tracing::info!("compiling a component of {megabytes:.1} MB ({digest}), {cached}");
        }
    }

    async fn code(&self, engine: &Engine, limits: &Limits, bytes: Arc<[u8]>) -> Result<FreshCode, LoadError> {
        #[cfg(target_os = "linux")]
        if let Some(children) = &self.children {
            return super::child::compile(children, bytes, limits).await;
        }
        let engine = engine.clone();
        run_blocking(move || engine.precompile_component(&bytes).map(FreshCode::new).map_err(invalid)).await
    }

    fn keep(&self, engine: &Engine, digest: &Digest, code: &FreshCode) -> Result<Component, LoadError> {
        let component = code.component(engine).map_err(invalid)?;
        if let Some(Err(error)) = self.cache.as_ref().map(|cache| cache.store(digest, code)) {
            tracing::warn!("compiled code of {digest} is not kept: {error}");
        }
        Ok(component)
    }
}

/// Refuses bytes that are no component, and components that are too complex.
fn examine(bytes: &[u8]) -> Result<(), LoadError> {
    if bytes.starts_with(b"\0asm\x01\0\0\0") {
        return Err(LoadError::CoreModule);
    }
    if !bytes.starts_with(b"\0asm") {
        return Err(LoadError::Invalid("it does not begin as WebAssembly does".to_owned()));
    }
    check_complexity(bytes)
}

#[expect(clippy::needless_pass_by_value, reason = "to be passed to map_err")]
fn invalid(error: wasmtime::Error) -> LoadError {
    LoadError::Invalid(format!("{error:#}"))
}

fn half_the_cores() -> usize {
    thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1))
}

#[cfg(test)]
mod tests {
    use tokio::task::{JoinSet, yield_now};

    use super::*;

    /// A component with nothing but a section of this content.
    fn component(content: &str) -> Arc<[u8]> {
        let mut bytes = b"\0asm\x0d\0\x01\0\0".to_vec();
        bytes.extend([content.len() as u8 + 2, 1, b'x']);
        bytes.extend(content.bytes());
        bytes.into()
    }

    /// R-A105: a tenant with many components delays another one by one of them.
    #[tokio::test]
    async fn components_of_tenants_are_compiled_in_turns() {
        let (engine, limits) = (Engine::default(), Limits::default());
        let compiler = Arc::new(Compiler::new(None, None, &engine, &mut Vec::new()));
        let held = compiler.turns.enter(&Holder::of_no_client()).await.unwrap();
        let mut compiling = JoinSet::new();
        for (number, tenant) in ["greedy"; 5].into_iter().chain(["light"]).enumerate() {
            let (compiler, engine, limits) = (Arc::clone(&compiler), engine.clone(), limits.clone());
            let bytes = component(&number.to_string());
            let holder = Holder { tenant: tenant.into(), key: "".into(), weight: 1 };
            let waits = Arc::clone(&compiler);
            compiling.spawn(async move {
                let digest = Digest::of(&bytes);
                compiler.compile_once(&engine, &limits, digest, bytes, &holder).await.unwrap();
                tenant
            });
            while waits.turns.usage().waiting <= number as u64 {
                yield_now().await;
            }
        }
        drop(held);
        let mut order = Vec::new();
        while let Some(tenant) = compiling.join_next().await {
            order.push(tenant.unwrap());
        }
        assert_eq!(order.len(), 6);
        assert!(order[..2].contains(&"light"), "{order:?}");
    }
}
