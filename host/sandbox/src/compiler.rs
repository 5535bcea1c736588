//! From a component to machine code: from the cache, or by compiling it.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use wasmtime::{Config, Engine, Strategy, component::Component};

use super::{authentic::Key, cache::Cache, digest::Digest, program::LoadError};

/// Components of at least so many bytes are announced: a megabyte takes about a second of one core.
const NOTICED: usize = 256 << 10;

/// Makes components ready.
pub(super) struct Compiler {
    cache: Option<Cache>,
    /// Compiling uses every core as it is; one component at a time bounds its memory.
    turn: Mutex<()>,
}

/// Chooses the compiler.
pub(super) fn configure(config: &mut Config) {
    config.strategy(Strategy::Cranelift);
}

impl Compiler {
    /// With compiled code kept in `cache`, or a warning that it is not: everything runs without.
    pub(super) fn new(cache: Option<&Path>, engine: &Engine, warnings: &mut Vec<String>) -> Self {
        let open = |dir: &Path| {
            let unusable = |error| format!("no cache of compiled code in {}: {error}", dir.display());
            Cache::open(dir, engine).map_err(unusable)
        };
        let cache = cache.map(open).transpose().unwrap_or_else(|warning| {
            warnings.push(warning);
            None
        });
        Self { cache, turn: Mutex::default() }
    }

    /// The cache's key.
    pub(super) fn key(&self) -> Option<&Key> {
        self.cache.as_ref().map(Cache::key)
    }

    /// The component of `bytes`, in binary format. Takes as long as it takes: not for async threads.
    pub(super) fn component(&self, engine: &Engine, bytes: &[u8]) -> Result<Component, LoadError> {
        let digest = Digest::of(bytes);
        match self.cache.as_ref().and_then(|cache| cache.load(engine, &digest)) {
            Some(component) => Ok(component),
            None => self.compile(engine, bytes, &digest),
        }
    }

    fn compile(&self, engine: &Engine, bytes: &[u8], digest: &Digest) -> Result<Component, LoadError> {
        if bytes.starts_with(b"\0asm\x01\0\0\0") {
            return Err(LoadError::CoreModule);
        }
        if !bytes.starts_with(b"\0asm") {
            return Err(LoadError::Invalid("it does not begin as WebAssembly does".to_owned()));
        }
        let _one_at_a_time = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes.len() >= NOTICED {
            let megabytes = bytes.len() as f64 / 1e6;
            let kept = if self.cache.is_some() { "once: the code is kept" } else { "anew in every process" };
            tracing::info!("compiling a component of {megabytes:.1} MB ({digest}), {kept}");
        }
        let component = Component::from_binary(engine, bytes);
        let component = component.map_err(|error| LoadError::Invalid(format!("{error:#}")))?;
        if let Some(Err(error)) = self.cache.as_ref().map(|cache| cache.store(digest, &component)) {
            tracing::warn!("compiled code of {digest} is not kept: {error}");
        }
        Ok(component)
    }
}
