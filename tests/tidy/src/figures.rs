//! Figures of the repository, each with the places that it counts.

use std::{collections::BTreeSet, io, path::Path};

use super::{
    circles::needs,
    language::{Fault, faults},
    names::{is_participle, packed_tuples, types},
    source::{Source, files, is_test},
};

/// Folders with the sources of a crate each.
const CRATES: [&str; 12] = [
    "host/src",
    "host/engine/src",
    "host/sandbox/src",
    "host/server/src",
    "host/cli/src",
    "host/builder/src",
    "host/artifacts/src",
    "host/files/src",
    "host/graph/src",
    "plugin-sdk/src",
    "plugin-sdk/duration/src",
    "plugin-sdk/number/src",
];

/// Files of the library have this many lines at most.
const MAX_LINES: usize = 500;

/// A count, and where to look.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Name, as in the table of limits.
    pub name: &'static str,
    /// The places that are counted, a line each.
    pub places: Vec<String>,
}

/// Takes all figures of the repository at `root`.
///
/// # Errors
/// A file cannot be read.
pub fn figures(root: &Path) -> io::Result<Vec<Figure>> {
    let everything = everything(root)?;
    let production: Vec<&Source> = everything
        .iter()
        .filter(|source| source.path.ends_with(".rs") && is_production(&source.path))
        .collect();
    let participles = production.iter().flat_map(|source| {
        let found = types(source).into_iter().filter(|name| is_participle(name));
        found.map(|name| format!("{}: {name}", source.path))
    });
    let mut all = vec![
        Figure { name: "modules directly in host/src", places: modules(&everything, "host/src/") },
        Figure { name: "modules directly in host/cli/src", places: modules(&everything, "host/cli/src/") },
        Figure { name: "files of the library above 500 lines", places: long_files(&production) },
        Figure { name: "types named by a participle", places: participles.collect() },
        Figure { name: "parameters packed into tuples", places: places(&production, packed_tuples) },
        Figure { name: "lines against the language rule", places: places_of_faults(&everything) },
    ];
    let mut found = Vec::new();
    let mut blocks = Vec::new();
    for folder in CRATES {
        let needs = needs(root, folder)?;
        for circle in needs.circles {
            let arrows: Vec<String> = circle.arrows.iter().map(|arrow| format!("\n      {arrow}")).collect();
            found.push(format!("{} files of {folder}:{}", circle.files.len(), arrows.concat()));
        }
        blocks.extend(needs.blocks_outside);
    }
    all.push(Figure { name: "circles of files", places: found });
    all.push(Figure { name: "impl blocks outside the folder of their type", places: blocks });
    Ok(all)
}

/// Sources and pages, but for this crate, which has to name what it forbids.
fn everything(root: &Path) -> io::Result<Vec<Source>> {
    let mut found = Vec::new();
    for folder in
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "host", "plugin-sdk", "plugins", "tests", "wit"]
    {
        if root.join(folder).exists() {
            found.extend(files(root, folder, &["rs", "md", "wit"])?);
        }
    }
    found.retain(|source| !source.path.starts_with("tests/tidy/"));
    Ok(found)
}

fn is_production(path: &str) -> bool {
    !path.starts_with("tests/") && !is_test(path)
}

/// A module is a file, a folder, or both.
fn modules(everything: &[Source], folder: &str) -> Vec<String> {
    let below = everything.iter().filter_map(|source| source.path.strip_prefix(folder));
    let names = below.filter_map(|path| path.split('/').next()).map(|name| name.trim_end_matches(".rs"));
    let names: BTreeSet<&str> = names.filter(|name| !matches!(*name, "lib" | "main" | "tests")).collect();
    names.into_iter().map(|name| format!("{folder}{name}")).collect()
}

fn long_files(production: &[&Source]) -> Vec<String> {
    let library = production.iter().filter(|source| source.path.starts_with("host/src/"));
    let lines = library.map(|source| (source, source.text.lines().count()));
    lines
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(source, lines)| format!("{}: {lines}", source.path))
        .collect()
}

fn places(sources: &[&Source], of: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
    sources.iter().flat_map(|source| of(source)).collect()
}

fn places_of_faults(everything: &[Source]) -> Vec<String> {
    everything.iter().flat_map(faults).map(|fault| shown(&fault)).collect()
}

fn shown(fault: &Fault) -> String {
    let line: String = fault.line.chars().take(140).collect();
    format!("{}: [{}] {line}", fault.place, fault.words)
}
