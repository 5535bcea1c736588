//! Core modules of compilers: the manifest that they say of themselves, and the component that is made of them.

use serde_json::{Map, Value};
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::ComponentEncoder;

/// The function that returns the manifest.
const FUNCTION: &str = "phasm_manifest";

/// The manifest that follows from the declarations; or why there is none.
pub(crate) fn declared(module: &[u8]) -> Result<Map<String, Value>, String> {
    let said = phasm_sandbox::core_text(module, FUNCTION)
        .map_err(|error| format!("the declarations cannot be read: {error}"))?;
    if let Some(wrong) = said.strip_prefix('!') {
        return Err(format!("the declarations of the executor: {wrong}"));
    }
    serde_json::from_str(&said).map_err(|error| format!("the declarations are no manifest: {error}"))
}

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
