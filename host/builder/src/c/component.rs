//! From a core module to a component with its manifest.

use serde_json::{Map, Value};

use crate::{core_module::wrapped, folder::CProject, script::with_manifest};

/// The function that returns the manifest.
const FUNCTION: &str = "phasm_manifest";

/// The component; or why there is none.
pub(super) fn component(module: &[u8], project: &CProject) -> Result<Vec<u8>, String> {
    let mut manifest = declared(module)?;
    let component = wrapped(module)?;
    manifest.extend(project.members.clone());
    manifest.insert("name".to_owned(), project.name.as_str().into());
    for (member, said) in [("version", &project.version), ("description", &project.description)] {
        manifest.extend(said.as_deref().map(|said| (member.to_owned(), Value::from(said))));
    }
    with_manifest(&component, &manifest.into()).ok_or_else(|| "there is no component".to_owned())
}

/// The manifest that follows from the declarations; or why there is none.
fn declared(module: &[u8]) -> Result<Map<String, Value>, String> {
    let said = phasm_sandbox::core_text(module, FUNCTION)
        .map_err(|error| format!("the declarations cannot be read: {error}"))?;
    if let Some(wrong) = said.strip_prefix('!') {
        return Err(format!("the declarations of the executor: {wrong}"));
    }
    serde_json::from_str(&said).map_err(|error| format!("the declarations are no manifest: {error}"))
}
