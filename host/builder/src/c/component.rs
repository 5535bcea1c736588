//! From a core module to a component with its manifest.

use serde_json::{Map, Value};
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::ComponentEncoder;

use crate::{folder::CProject, script::with_manifest};

/// The function that returns the manifest.
const FUNCTION: &str = "phasm_manifest";

/// The component; or why there is none.
pub(super) fn component(module: &[u8], project: &CProject) -> Result<Vec<u8>, String> {
    let said = phasm_sandbox::core_text(module, FUNCTION)
        .map_err(|error| format!("the declarations cannot be read: {error}"))?;
    if let Some(wrong) = said.strip_prefix('!') {
        return Err(format!("the declarations of the executor: {wrong}"));
    }
    let mut manifest: Map<String, Value> =
        serde_json::from_str(&said).map_err(|error| format!("the declarations are no manifest: {error}"))?;
    let component = wrapped(module).map_err(|error| format!("the module is no executor: {error}"))?;
    manifest.extend(project.members.clone());
    manifest.insert("name".to_owned(), project.name.as_str().into());
    for (member, said) in [("version", &project.version), ("description", &project.description)] {
        manifest.extend(said.as_deref().map(|said| (member.to_owned(), Value::from(said))));
    }
    with_manifest(&component, &manifest.into()).ok_or_else(|| "there is no component".to_owned())
}

/// The module as a component, whose calls of WASI 0.1 are calls of WASI 0.2.
fn wrapped(module: &[u8]) -> Result<Vec<u8>, String> {
    let (name, adapter) = (WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER);
    ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|encoder| encoder.adapter(name, adapter))
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| format!("{error:#}"))
}
