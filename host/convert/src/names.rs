//! Names by the rules of workflow files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Longest name that is made, with room for a number.
const MAX_NAME: usize = 50;

/// Names that differ from each other.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: BTreeSet<String>,
    numbers: BTreeMap<String, usize>,
}

impl Names {
    /// Returns a name like `wish` that no other has.
    pub(crate) fn fresh(&mut self, wish: &str) -> String {
        let base = name(wish);
        let number = self.numbers.entry(base.clone()).or_insert(1);
        let mut found = base.clone();
        while !self.taken.insert(found.clone()) {
            *number += 1;
            found = format!("{base}-{number}");
        }
        found
    }
}

/// Returns lower-case letters, digits and inner hyphens.
pub(crate) fn name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if name.len() >= MAX_NAME {
            break;
        }
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "unnamed".to_owned() } else { name.to_owned() }
}

/// Executors that ship with Phasm.
const SHIPPED: [&str; 19] = [
    "approval", "archive", "csv", "echo", "email", "file", "hash", "html", "http", "jq", "markdown", "parse",
    "postgres", "python", "regex", "script", "sleep", "template", "validate",
];

/// Returns the name of an executor that the user has yet to write: not one that is there already, which would do other work, and succeed.
pub(crate) fn executor(text: &str) -> String {
    let name = name(text);
    if SHIPPED.contains(&name.as_str()) { format!("{name}-step") } else { name }
}

/// Returns letters, digits, `_` and, not first, `-`.
pub(crate) fn parameter(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = text.chars().take(MAX_NAME).map(|c| if is_part(c) { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with('-') { format!("_{name}") } else { name }
}

/// Returns the path of an input or output, `owner` being `inputs` or the outputs of a task.
pub(crate) fn member(owner: &str, name: &str) -> String {
    // `inputs.parameters` is all of them.
    let between = if name == "parameters" { ".parameters" } else { "" };
    format!("{owner}{between}.{name}")
}

/// Returns places, each behind those `before` it; those in a circle are last.
pub(crate) fn sorted(before: &[&[usize]]) -> Vec<usize> {
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); before.len()];
    let mut open: Vec<usize> = before.iter().map(|list| list.len()).collect();
    for (at, list) in before.iter().enumerate() {
        for other in *list {
            if let Some(behind) = behind.get_mut(*other) {
                behind.push(at);
            }
        }
    }
    let mut ready: VecDeque<usize> = (0..before.len()).filter(|at| open.get(*at) == Some(&0)).collect();
    let mut order = Vec::new();
    while let Some(at) = ready.pop_front() {
        order.push(at);
        for next in behind.get(at).into_iter().flatten() {
            if let Some(count) = open.get_mut(*next) {
                *count -= 1;
                if *count == 0 {
                    ready.push_back(*next);
                }
            }
        }
    }
    order.extend((0..before.len()).filter(|at| open.get(*at).is_some_and(|count| *count > 0)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-W26: a workflow whose step is not written yet does not run another executor instead.
    #[test]
    fn an_executor_to_write_has_no_name_of_one_that_ships() {
        assert_eq!((executor("echo"), executor("Echo!")), ("echo-step".to_owned(), "echo-step".to_owned()));
        assert_eq!(executor("build"), "build");
    }

    #[test]
    fn the_executors_that_ship_are_the_plugins_of_the_repository() {
        let plugins = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
        let folders = std::fs::read_dir(plugins).unwrap().map(|entry| entry.unwrap().path());
        let projects = ["Cargo.toml", "pyproject.toml", "package.json"];
        let plugins = folders.filter(|path| projects.iter().any(|file| path.join(file).is_file()));
        let found: BTreeSet<_> = plugins.map(|path| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(found, SHIPPED.iter().map(std::ffi::OsString::from).collect());
    }
}
