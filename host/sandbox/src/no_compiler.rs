//! Substitute for the compiler where it was left out.

use std::{
    future::{Ready, ready},
    path::Path,
    sync::Arc,
};

use wasmtime::{Engine, component::Component};

use super::{
    child::Children, digest::Digest, fair_queue::Holder, key::Key, limits::Limits, program::LoadError,
};

/// Refuses whatever has to be compiled.
pub(super) struct Compiler;

impl Compiler {
    pub(super) fn new(_: Option<&Path>, _: Option<Children>, _: &Engine, _: &mut Vec<String>) -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "as the compiler's")]
    pub(super) fn key(&self) -> Option<&Key> {
        None
    }

    #[expect(clippy::unused_self, reason = "as the compiler's")]
    pub(super) fn cached(&self, _: &Engine, _: &Digest) -> Option<Component> {
        None
    }

    #[expect(clippy::unused_self, reason = "as the compiler's")]
    pub(super) fn compile_once(
        self: &Arc<Self>,
        _: &Engine,
        _: &Limits,
        _: Digest,
        _: Arc<[u8]>,
        _: &Holder,
    ) -> Ready<Result<Component, LoadError>> {
        ready(Err(LoadError::NoCompiler))
    }
}
