//! From a core module to a component with its manifest.

use serde_json::Value;

use crate::{
    core_module::{declared, wrapped},
    folder::CProject,
    script::with_manifest,
};

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
