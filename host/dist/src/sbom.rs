//! Software bill of materials: the crates of a package, as CycloneDX in JSON.

use std::path::Path;

use serde_json::{Value, json};

use crate::{
    DistResult, VERSION, folder,
    parts::{Crate, Parts},
    rust_version,
};

/// Name of the file, next to the packages.
pub(crate) fn name(architecture: &str) -> String {
    format!("phasm-{VERSION}-{architecture}-linux.cdx.json")
}

/// Writes the bill to `out`. The same crates give the same file: it has no serial number and no time.
pub(crate) fn write(parts: &Parts, out: &Path) -> DistResult {
    let text = serde_json::to_string_pretty(&bill(parts, &rust_version()?))? + "\n";
    folder::write(&out.join(name(parts.architecture)), text.as_bytes(), 0o644)
}

/// Reference to the standard library, which is part of every package, and of no lock file.
const STANDARD_LIBRARY: &str = "rust-std";

fn bill(parts: &Parts, rust: &str) -> Value {
    let mut components: Vec<Value> = Vec::new();
    let mut dependencies: Vec<Value> = Vec::new();
    for (id, one) in &parts.crates {
        let is_command = *id == parts.command;
        let is_executor = parts.executors.contains(id);
        if !is_command {
            components.push(component(one, if is_executor { "application" } else { "library" }));
        }
        let mut on: Vec<String> =
            one.dependencies.iter().filter_map(|id| parts.crates.get(id)).map(purl).collect();
        if is_command {
            on.extend(parts.executors.iter().filter_map(|id| parts.crates.get(id)).map(purl));
        }
        if is_command || is_executor {
            on.push(STANDARD_LIBRARY.to_owned());
        }
        dependencies.push(json!({ "ref": purl(one), "dependsOn": on }));
    }
    components.push(json!({
        "type": "library", "bom-ref": STANDARD_LIBRARY, "name": STANDARD_LIBRARY, "version": rust,
        "description": "Standard library of Rust", "licenses": [{ "expression": "MIT OR Apache-2.0" }],
    }));
    let command = parts.crates.get(&parts.command).map(|one| component(one, "application"));
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": command, "lifecycles": [{ "phase": "build" }] },
        "components": components,
        "dependencies": dependencies,
    })
}

/// Package URL of a crate.
fn purl(one: &Crate) -> String {
    format!("pkg:cargo/{}@{}", one.name, one.version)
}

fn component(one: &Crate, kind: &str) -> Value {
    let purl = purl(one);
    let mut found =
        json!({ "type": kind, "bom-ref": purl, "name": one.name, "version": one.version, "purl": purl });
    if let Some(fields) = found.as_object_mut() {
        let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        if let Some(description) = &one.description {
            set("description", json!(description.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
        if let Some(licence) = &one.licence {
            // An older form that CycloneDX does not know.
            set("licenses", json!([{ "expression": licence.replace(" / ", " OR ").replace('/', " OR ") }]));
        }
        if let Some(checksum) = &one.checksum {
            set("hashes", json!([{ "alg": "SHA-256", "content": checksum }]));
        }
        if let Some(repository) = &one.repository {
            set("externalReferences", json!([{ "type": "vcs", "url": repository }]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::parts;

    /// R-L64: the bill names every crate once, and refers to nothing that it does not name.
    #[test]
    fn the_bill_names_every_crate_of_a_package() {
        let parts = parts::read().unwrap();
        let bill = bill(&parts, "1.95.0");
        assert_eq!(bill, super::bill(&parts::read().unwrap(), "1.95.0"), "the same twice");
        let list = |field: &str| bill[field].as_array().unwrap().clone();
        let own = bill["metadata"]["component"]["bom-ref"].as_str().unwrap().to_owned();
        let named = list("components").into_iter().map(|one| one["bom-ref"].as_str().unwrap().to_owned());
        let named: Vec<String> = named.chain([own.clone()]).collect();
        let unique: BTreeSet<&String> = named.iter().collect();
        assert_eq!(unique.len(), named.len());
        assert_eq!(named.len(), parts.crates.len() + 1);
        for edge in list("dependencies") {
            let on = edge["dependsOn"].as_array().unwrap();
            for one in on.iter().chain([&edge["ref"]]) {
                assert!(unique.contains(&one.as_str().unwrap().to_owned()), "{one}");
            }
            if edge["ref"].as_str() == Some(own.as_str()) {
                assert!(on.iter().any(|one| one.as_str().unwrap().starts_with("pkg:cargo/jq@")), "{on:?}");
            }
        }
    }
}
