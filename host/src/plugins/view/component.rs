//! Components and crates as they are read for a view.

use std::path::Path;

use phasm_sandbox::Digest;
use wasmparser::{Parser, Payload};

use crate::plugins::{Manifest, read_component, read_manifest};

/// A component's manifest, digest and size in bytes.
pub(super) type ComponentSummary = (Manifest, Option<(String, u64)>);

pub(super) fn read_summary(wasm: &Path) -> Option<ComponentSummary> {
    summary(&read_component(wasm).ok()?, Some(wasm))
}

pub(super) fn summary(bytes: &[u8], path: Option<&Path>) -> Option<ComponentSummary> {
    let component = (Digest::of(bytes).to_string(), bytes.len() as u64);
    Some((Manifest::of(bytes, path).ok()?, Some(component)))
}

/// Reads the manifest of a source folder: of a crate, else of a project in Python, in JavaScript, in C or C++.
pub(super) fn source_manifest(folder: &Path) -> Option<Manifest> {
    crate_manifest(folder)
        .or_else(|| project_manifest(folder))
        .or_else(|| package_manifest(folder))
        .or_else(|| c_manifest(folder))
}

fn project_manifest(folder: &Path) -> Option<Manifest> {
    let table = table_of(folder, "pyproject.toml")?;
    let project = table.get("project")?;
    Some(manifest_of(|name| project.get(name)?.as_str()))
}

fn package_manifest(folder: &Path) -> Option<Manifest> {
    let package = read_manifest(&folder.join("package.json")).ok()?;
    let package: serde_json::Value = serde_json::from_str(&package).ok()?;
    Some(manifest_of(|name| package.get(name)?.as_str()))
}

fn manifest_of<'a>(field: impl Fn(&str) -> Option<&'a str>) -> Manifest {
    let field = |name| field(name).map(str::to_owned);
    Manifest {
        name: field("name"),
        version: field("version"),
        description: field("description"),
        ..Manifest::default()
    }
}

fn c_manifest(folder: &Path) -> Option<Manifest> {
    let project = table_of(folder, "plugin.toml")?;
    let [name, version, description] = ["name", "version", "description"]
        .map(|name| project.get(name).and_then(toml::Value::as_str).map(str::to_owned));
    Some(Manifest { name, version, description, ..Manifest::default() })
}

/// Members that a crate inherits from its workspace are looked up there.
fn crate_manifest(folder: &Path) -> Option<Manifest> {
    let own = table_of(folder, CARGO)?;
    let package = own.get("package")?;
    let shared = folder
        .ancestors()
        .skip(1)
        .filter_map(|folder| table_of(folder, CARGO))
        .find_map(|table| table.get("workspace").and_then(|workspace| workspace.get("package")).cloned());
    Some(manifest_of(|name| {
        let field = package.get(name)?;
        let inherited = || shared.as_ref()?.get(name)?.as_str();
        field.as_str().or_else(inherited)
    }))
}

const CARGO: &str = "Cargo.toml";

fn table_of(folder: &Path, name: &str) -> Option<toml::Table> {
    read_manifest(&folder.join(name)).ok()?.parse().ok()
}

/// Returns the interfaces that a component imports, and its exports; none for text format and for broken components.
#[must_use]
pub fn interfaces(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let mut imports = Vec::new();
    let mut exports = Vec::new();
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(bytes).map_while(Result::ok) {
        #[expect(clippy::wildcard_enum_match_arm, reason = "a component has many more sections than these")]
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                imports.extend(section.into_iter().flatten().map(|import| import.name.name.to_owned()));
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                exports.extend(section.into_iter().flatten().map(|export| export.name.name.to_owned()));
            }
            _ => {}
        }
    }
    // Types by themselves are no interfaces.
    imports.retain(|name| name.contains(':'));
    (imports, exports)
}
