//! What a plugin says about itself.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use wasmparser::{Parser, Payload};

/// The custom section that holds a manifest as JSON, anywhere in the component.
const SECTION: &str = "phasm:manifest";

/// What a plugin says about itself: in a custom section that the SDK embeds, or in `NAME.toml` or `NAME.json` beside
/// it. Members this version does not know are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// The name its author gave it; `executor.type` is the name it is registered under.
    pub name: Option<String>,
    /// Its version, as in `executor.type: name@version`.
    pub version: Option<String>,
    /// One sentence for people.
    pub description: Option<String>,
}

impl Manifest {
    /// The manifest of a component that lies in `path`, if in any: a file beside it wins over the embedded one.
    ///
    /// # Errors
    /// What to tell the user when there is a manifest that cannot be read.
    pub fn of(bytes: &[u8], path: Option<&Path>) -> Result<Self, String> {
        if let Some(manifest) = path.map(beside).transpose()?.flatten() {
            return Ok(manifest);
        }
        let Some(section) = section(bytes) else { return Ok(Self::default()) };
        serde_json::from_slice(section).map_err(|error| format!("embedded manifest: {error}"))
    }
}

fn beside(path: &Path) -> Result<Option<Manifest>, String> {
    let toml = read(&path.with_extension("toml"), |text| toml::from_str(text))?;
    match toml {
        Some(manifest) => Ok(Some(manifest)),
        None => read(&path.with_extension("json"), |text| serde_json::from_str(text)),
    }
}

fn read<T: DeserializeOwned, E: std::fmt::Display>(
    path: &Path,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, String> {
    match fs::read_to_string(path) {
        Ok(text) => parse(&text).map(Some).map_err(|error| format!("manifest {}: {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("manifest {}: {error}", path.display())),
    }
}

/// The first manifest section of a component or of anything in it. Invalid components have none; compiling them says
/// what is wrong.
fn section(bytes: &[u8]) -> Option<&[u8]> {
    for payload in Parser::new(0).parse_all(bytes) {
        if let Payload::CustomSection(section) = payload.ok()?
            && section.name() == SECTION
        {
            return Some(section.data());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom_section(json: &str) -> Vec<u8> {
        let leb = |length: usize| vec![(length & 0x7f) as u8 | 0x80, (length >> 7) as u8];
        let body = [&[SECTION.len() as u8], SECTION.as_bytes(), json.as_bytes()].concat();
        [vec![0], leb(body.len()), body].concat()
    }

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
    const MODULE: &[u8] = b"\0asm\x01\0\0\0";

    fn named(version: &str) -> Manifest {
        Manifest { name: Some("n".into()), version: Some(version.into()), description: None }
    }

    /// R-I5.
    #[test]
    fn the_section_is_found_in_the_component_and_in_a_nested_module() {
        let section = custom_section(r#"{"name":"n","version":"1.0.0","wants":["later"]}"#);
        let outer = [COMPONENT, &section].concat();
        assert_eq!(Manifest::of(&outer, None), Ok(named("1.0.0")));
        let module = [MODULE, &section].concat();
        let nested = [COMPONENT, &[1, module.len() as u8], &module].concat();
        assert_eq!(Manifest::of(&nested, None), Ok(named("1.0.0")));
    }

    #[test]
    fn no_manifest_is_an_empty_one_and_a_broken_one_is_an_error() {
        assert_eq!(Manifest::of(COMPONENT, None), Ok(Manifest::default()));
        assert_eq!(Manifest::of(b"junk", None), Ok(Manifest::default()));
        let broken = [COMPONENT, &custom_section("{")].concat();
        assert!(Manifest::of(&broken, None).unwrap_err().starts_with("embedded manifest: "));
    }

    /// R-I5.
    #[test]
    fn a_file_beside_the_component_wins() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.wasm");
        let bytes = [COMPONENT, &custom_section(r#"{"name":"n","version":"1.0.0"}"#)].concat();
        fs::write(dir.path().join("x.json"), r#"{"name":"n","version":"2.0.0"}"#).unwrap();
        assert_eq!(Manifest::of(&bytes, Some(&path)), Ok(named("2.0.0")));
        fs::write(dir.path().join("x.toml"), "name = 'n'\nversion = '3.0.0'\n").unwrap();
        assert_eq!(Manifest::of(&bytes, Some(&path)), Ok(named("3.0.0")));
        fs::write(dir.path().join("x.toml"), "name = 3").unwrap();
        assert!(Manifest::of(&bytes, Some(&path)).unwrap_err().contains("x.toml"));
    }
}
