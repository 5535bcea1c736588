//! The order of modules: nothing names what stands above it.

use std::{collections::BTreeMap, fs, path::Path};

use super::{root, sources};

/// The engine's folders in the order of the data: each uses those before it only.
const ENGINE: &[&str] =
    &["base", "problem", "expr", "form", "schedule", "settings", "names", "document", "plan", "event", "run"];

/// The library's: data and stores, then the parts that drive a run, then the interface for embedders.
const HOST: &[&str] = &[
    "clock", "metrics", "secrets", "reader", "store", "plugins", "catalog", "dispatch", "tenants", "journal",
    "watch", "run", "notify", "planner", "core", "drive", "cluster", "delivery", "host", "config",
];

/// Returns the names that the root of a crate re-exports, which may be used without their folder.
fn aliases(lib: &str) -> BTreeMap<String, String> {
    let uses = lib.split("use ").skip(1).filter_map(|rest| rest.split_once(';'));
    let mut found = BTreeMap::new();
    for (tree, _) in uses {
        if let Some((other, name)) = tree.split_once(" as ").filter(|_| !tree.contains("::")) {
            found.insert(name.trim().to_owned(), other.trim().to_owned());
            continue;
        }
        let Some((module, names)) = tree.split_once("::") else { continue };
        let names = names.rsplit("::").next().unwrap_or_default().replace(['{', '}'], "");
        for name in names.split(',') {
            let name = name.rsplit(" as ").next().unwrap_or_default().trim().to_owned();
            found.insert(name, module.trim().to_owned());
        }
    }
    found
}

/// The code of a file: without comments, and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The modules that stand directly behind `prefix` in `code`, as `prefix::module` or in `prefix::{…}`.
fn named_after(code: &str, prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let is_whole = !code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:$".contains(c));
        let rest = &code[at + prefix.len()..];
        if !is_whole {
            continue;
        }
        match rest.strip_prefix('{') {
            Some(list) => found.extend(heads(list)),
            None => found.push(word(rest)),
        }
    }
    found
}

/// The first words of the elements of a list in braces.
fn heads(list: &str) -> Vec<String> {
    let (mut depth, mut found, mut start) = (0, Vec::new(), 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                found.push(word(list[start..at].trim_start()));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    found.into_iter().filter(|name| !name.is_empty()).collect()
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Every use of a module by one that stands before it in `layers`, and every use of what is in none of them.
pub(super) fn upward(src: &Path, layers: &[&str]) -> Vec<String> {
    let aliases = aliases(&code(&fs::read_to_string(src.join("lib.rs")).unwrap()));
    let position = |module: &str| layers.iter().position(|layer| *layer == module);
    let mut files = Vec::new();
    sources(src, &mut files);
    let mut found = Vec::new();
    for file in files {
        let inside = file.strip_prefix(src).unwrap().with_extension("");
        let parts: Vec<_> = inside.iter().filter_map(|part| part.to_str()).collect();
        let Some(folder) = parts.first().filter(|_| parts != ["lib"] && !parts.contains(&"tests")) else {
            continue;
        };
        let Some(own) = position(folder) else {
            found.push(format!("{folder} is in no layer"));
            continue;
        };
        let code = code(&fs::read_to_string(&file).unwrap());
        let to_root = "super::".repeat(parts.len());
        for name in ["crate::", "$crate::", &to_root].iter().flat_map(|prefix| named_after(&code, prefix)) {
            let module = aliases.get(&name).cloned().unwrap_or(name);
            if module.starts_with("phasm_") {
                continue;
            }
            match position(&module) {
                Some(used) if used <= own => {}
                Some(_) => found.push(format!("{} names {module}, which stands above it", inside.display())),
                None => found.push(format!("{} names {module}, which is in no layer", inside.display())),
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

#[test]
fn the_engine_flows_one_way() {
    assert_eq!(upward(&root().join("host/engine/src"), ENGINE), Vec::<String>::new());
}

#[test]
fn the_host_flows_one_way() {
    assert_eq!(upward(&root().join("host/src"), HOST), Vec::<String>::new());
}

/// The check itself finds what points up, in whatever way it is written.
#[test]
fn an_upward_use_is_found_however_it_is_written() {
    let code = code(
        "use crate::{a::B, plan::{C, D}};\n// crate::comment::X\nfn f() -> crate::run::R { super::super::names::g() }",
    );
    assert_eq!(named_after(&code, "crate::"), ["a", "plan", "run"]);
    assert_eq!(named_after(&code, "super::super::"), ["names"]);
    let aliases = aliases(
        "pub use base::{path, value};\npub use base::suggest::did_you_mean;\npub use phasm_duration as duration;",
    );
    assert_eq!(aliases.get("value").map(String::as_str), Some("base"));
    assert_eq!(aliases.get("did_you_mean").map(String::as_str), Some("base"));
}
