//! The manifest in a component.

use serde_json::{Map, Value};

use crate::folder::ScriptProject;

/// The custom section that holds a manifest as JSON.
const SECTION: &str = "phasm:manifest";
/// Length of a component's header: four magic bytes, and the version.
const HEADER: usize = 8;
/// The kind of a section that means nothing to a compiler.
const CUSTOM: u8 = 0;

/// The manifest that follows from the source, with what the project says of itself.
pub(super) fn manifest(project: &ScriptProject, mut of_source: Map<String, Value>) -> Value {
    let own = [
        ("name", Some(&project.name)),
        ("version", project.version.as_ref()),
        ("description", project.description.as_ref()),
    ];
    for (member, value) in own {
        if let Some(value) = value {
            of_source.insert(member.to_owned(), value.as_str().into());
        }
    }
    of_source.into()
}

/// The component with a manifest; none if it is no component.
pub(crate) fn with_manifest(component: &[u8], manifest: &Value) -> Option<Vec<u8>> {
    let (header, rest) =
        component.split_at_checked(HEADER).filter(|(header, _)| header.starts_with(b"\0asm"))?;
    let json = manifest.to_string();
    let name = [&length(SECTION.len()), SECTION.as_bytes()].concat();
    let size = length(name.len().saturating_add(json.len()));
    Some([header, &[CUSTOM], &size, &name, json.as_bytes(), rest].concat())
}

/// A length as WebAssembly writes it: seven bits a byte, the lowest first.
fn length(mut length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(length & 0x7f).unwrap_or(0);
        length >>= 7;
        if length == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::folder::{Language, PythonSources};

    #[test]
    fn a_manifest_stands_before_everything_else() {
        let manifest = Value::from("x".repeat(200));
        let made = with_manifest(b"\0asm\x0d\0\x01\0rest", &manifest).unwrap();
        let (body, rest) = made[8..].split_at(made.len() - 8 - 4);
        assert_eq!(rest, b"rest");
        assert_eq!(&body[..3], [0, (217 & 0x7f) | 0x80, 1]);
        assert_eq!(body.len(), 3 + 217);
        assert!(body[3..].starts_with(b"\x0ephasm:manifest\"xx"));
        assert_eq!(with_manifest(b"junk", &manifest), None);
        assert_eq!(with_manifest(b"junk which is long", &manifest), None);
    }

    #[test]
    fn what_the_project_says_replaces_what_the_function_says() {
        let sources = PythonSources { module: "a".to_owned(), sdk: None, paths: Vec::new() };
        let project = ScriptProject {
            folder: PathBuf::new(),
            name: "a".to_owned(),
            version: Some("1.0.0".to_owned()),
            description: None,
            language: Language::Python(sources),
        };
        let of_source = serde_json::json!({ "description": "d", "version": "0", "inputs": {} });
        let made = manifest(&project, of_source.as_object().unwrap().clone());
        let expected =
            serde_json::json!({ "name": "a", "version": "1.0.0", "description": "d", "inputs": {} });
        assert_eq!(made, expected);
    }
}
