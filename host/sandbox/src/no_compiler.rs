//! In place of the compiler, where there is none.

use std::path::Path;

use wasmtime::{Config, Engine, component::Component};

use super::{authentic::Key, program::LoadError};

/// Refuses whatever would have to be compiled.
pub(super) struct Compiler;

pub(super) fn configure(_: &mut Config) {}

impl Compiler {
    pub(super) fn new(_: Option<&Path>, _: &Engine, _: &mut Vec<String>) -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "as the compiler's")]
    pub(super) fn key(&self) -> Option<&Key> {
        None
    }

    #[expect(clippy::unused_self, reason = "as the compiler's")]
    pub(super) fn component(&self, _: &Engine, _: &[u8]) -> Result<Component, LoadError> {
        Err(LoadError::NoCompiler)
    }
}
