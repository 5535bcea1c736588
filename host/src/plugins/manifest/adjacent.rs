//! The manifest in a file next to a component: `NAME.toml`, else `NAME.json`.

use std::{io, path::Path};

use phasm_engine::did_you_mean;

use super::{Manifest, Members, said};
use crate::plugins::files;

/// The members of a manifest.
const MEMBERS: [&str; 16] = [
    "name",
    "version",
    "description",
    "inputs",
    "outputs",
    "settings",
    "suspends",
    "codes",
    "deterministic",
    "examples",
    "limits",
    "wants",
    "retry",
    "maxRuntime",
    "maxInactivity",
    "deadline",
];

/// The manifest in a file next to a component.
pub(super) struct AdjacentManifest {
    pub(super) members: Members,
    pub(super) place: String,
}

/// Reads the manifest next to a component; none where there is no such file.
pub(super) fn beside(path: &Path) -> Result<Option<AdjacentManifest>, String> {
    let toml = read(&path.with_extension("toml"), |text| {
        toml::from_str::<Manifest>(text)?;
        toml::from_str(text)
    })?;
    match toml {
        Some(found) => Ok(Some(found)),
        None => read(&path.with_extension("json"), |text| {
            serde_json::from_str::<Manifest>(text)?;
            serde_json::from_str(text)
        }),
    }
}

/// `parse` reads the manifest first, as what is wrong with it has a place in the text.
fn read<E: std::fmt::Display>(
    path: &Path,
    parse: impl Fn(&str) -> Result<Members, E>,
) -> Result<Option<AdjacentManifest>, String> {
    let place = format!("manifest {}", path.display());
    match files::manifest(path) {
        Ok(text) => match parse(&text) {
            Ok(members) => match misspelt(&members) {
                Some(hint) => Err(said(&place, hint)),
                None => Ok(Some(AdjacentManifest { members, place })),
            },
            Err(error) => Err(said(&place, error)),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(said(&place, error)),
    }
}

/// Returns the complaint about a member that is nearly called as one of a manifest, and would be ignored as one of a later version.
fn misspelt(members: &Members) -> Option<String> {
    let is_known = |name: &str| MEMBERS.contains(&name);
    members.keys().filter(|name| !is_known(name)).find_map(|name| {
        let left = MEMBERS.iter().copied().filter(|known| !members.contains_key(*known));
        let hint = did_you_mean(name, left)?;
        Some(format!("unknown member `{name}`; {hint}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I5: the members are those that a manifest is written with.
    #[test]
    fn the_members_are_those_of_a_manifest() {
        let text = r#"{"name": "n", "version": "1.0.0", "description": "d", "inputs": {}, "outputs": {}, "settings": ["s"],
            "suspends": true, "codes": [{"code": 2, "meaning": "m"}], "deterministic": true, "examples": [{}], "limits": {}, "wants": {"env": ["TOKEN"]}, "retry": {}, "maxRuntime": "1s", "maxInactivity": "1s",
            "deadline": "1s"}"#;
        let manifest: Manifest = serde_json::from_str(text).unwrap();
        let written = serde_json::to_value(&manifest).unwrap();
        let written: Vec<_> = written.as_object().unwrap().keys().map(String::as_str).collect();
        let mut known = MEMBERS;
        known.sort_unstable();
        assert_eq!(written, known);
    }

    /// R-I5: a member that is misspelt is an error; one of a later version is ignored.
    #[test]
    fn a_misspelt_member_is_told() {
        let found = |text: &str| misspelt(&serde_json::from_str(text).unwrap());
        assert_eq!(
            found(r#"{"input": {}}"#).as_deref(),
            Some("unknown member `input`; did you mean `inputs`?")
        );
        assert_eq!(found(r#"{"inputs": {}, "colours": 1}"#), None);
    }
}
