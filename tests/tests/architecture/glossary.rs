//! One word has one meaning.

use std::{collections::BTreeMap, fs, path::Path};

use super::{root, sources};

/// The name that a line of code gives to a type at the top of its module.
fn defined(line: &str) -> Option<&str> {
    let line = match line.split_once(") ") {
        Some((visibility, rest)) if visibility.starts_with("pub(") => rest,
        Some(_) | None => line.strip_prefix("pub ").unwrap_or(line),
    };
    let name = ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| line.strip_prefix(kind))?;
    name.split(|c: char| !c.is_alphanumeric()).next()
}

/// The types that more than one file of a crate defines, with the files.
fn twice(src: &Path) -> Vec<String> {
    let mut files = Vec::new();
    sources(src, &mut files);
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let place = file.strip_prefix(src).unwrap().display().to_string();
        if place.split('/').any(|part| part == "tests" || part == "tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for name in code.lines().filter_map(defined) {
            places.entry(name.to_owned()).or_default().push(place.clone());
        }
    }
    assert!(places.len() > 20, "no types under {}", src.display());
    let several = places.into_iter().filter(|(_, places)| places.len() > 1);
    several.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect()
}

#[test]
fn a_type_of_the_library_has_a_name_of_its_own() {
    assert_eq!(twice(&root().join("host/src")), Vec::<String>::new());
}

#[test]
fn a_type_of_the_engine_has_a_name_of_its_own() {
    assert_eq!(twice(&root().join("host/engine/src")), Vec::<String>::new());
}

#[test]
fn types_are_found_whatever_their_visibility() {
    let rows = [
        ("pub struct Host {", Some("Host")),
        ("pub(crate) type Reply = X;", Some("Reply")),
        ("pub(in super::super) enum Map<T> {", Some("Map")),
        ("trait T: U {", Some("T")),
        ("    struct Inner;", None),
        ("fn f(a: &str) -> type_of(b) {", None),
    ];
    for (line, name) in rows {
        assert_eq!(defined(line), name, "{line}");
    }
}
