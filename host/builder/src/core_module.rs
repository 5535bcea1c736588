//! Core modules of compilers, and the components that are made of them.

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::ComponentEncoder;

/// The module as a component, whose calls of WASI 0.1 are calls of WASI 0.2.
pub(crate) fn wrapped(module: &[u8]) -> Result<Vec<u8>, String> {
    let (name, adapter) = (WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER);
    ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|encoder| encoder.adapter(name, adapter))
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| format!("the module is no executor: {error:#}"))
}
