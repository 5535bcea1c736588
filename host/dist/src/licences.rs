//! Licences of the crates in a package: which are accepted, and their texts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use spdx::{Expression, LicenseReq, ParseMode};

use crate::{
    DistResult, VERSION, folder,
    parts::{Crate, Parts},
    rust_version,
};

/// Name of the file with the texts, in every package.
pub(crate) const FILE: &str = "THIRD-PARTY-LICENSES";

/// Licences of crates that may be part of a package. A crate with another one has to be replaced, or its licence discussed first.
const ACCEPTED: [&str; 16] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    // Its files stay under it; their source is at the address that the list has.
    "MPL-2.0",
    "MPL-2.0+",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Beginnings of the names of files with licences and notices.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];
/// How far below a crate's folder such a file may be, as that of a C library that the crate contains.
const DEPTH: usize = 4;

/// Returns the texts of all licences, each once, with the crates that it is of.
///
/// # Errors
/// When a crate's licence is missing, cannot be read or is not accepted; the message has all of these.
pub(crate) fn texts(parts: &Parts) -> DistResult<String> {
    let foreign: Vec<&Crate> = parts.crates.values().filter(|one| one.is_foreign).collect();
    let refused: Vec<String> = foreign
        .iter()
        .filter_map(|one| accepted(&one.name, &one.version, one.licence.as_deref()).err())
        .collect();
    if !refused.is_empty() {
        return Err(refused.join("\n").into());
    }
    let mut by_text: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut list = String::new();
    for one in foreign {
        let licence = one.licence.as_deref().unwrap_or_default();
        let repository = one.repository.as_deref().unwrap_or("no address is known");
        writeln!(list, "{} {} | {licence} | {repository}", one.name, one.version)?;
        for text in texts_of(one)? {
            by_text.entry(text).or_default().insert(format!("{} {}", one.name, one.version));
        }
    }
    let rust = format!("Rust standard library {}", rust_version()?);
    writeln!(list, "{rust} | MIT OR Apache-2.0 | https://www.rust-lang.org")?;
    let library = canonical("MIT OR Apache-2.0", "The Rust Project Developers")?;
    for text in library {
        by_text.entry(text).or_default().insert(rust.clone());
    }
    let mut page = format!(
        "Third-party licences of Phasm {VERSION}\n\nPhasm itself has the licence in the file LICENSE. Its packages contain the crates below, \
         under these licences.\n\n{list}"
    );
    for (text, users) in by_text {
        let users: Vec<String> = users.into_iter().collect();
        write!(page, "\n{}\n{}\n\n{text}\n", "=".repeat(80), users.join(", "))?;
    }
    Ok(page)
}

/// Writes the texts to a file in `dir`, and returns its path.
pub(crate) fn write(parts: &Parts, dir: &Path) -> DistResult<PathBuf> {
    let path = dir.join(FILE);
    folder::write(&path, texts(parts)?.as_bytes(), 0o644)?;
    Ok(path)
}

/// Checks that the licence of a crate is accepted.
fn accepted(name: &str, version: &str, licence: Option<&str>) -> Result<(), String> {
    let told = |what: &str| {
        format!(
            "{name} {version}: {what}; expected one of {}. Use another crate, or add the licence to ACCEPTED in \
             host/dist/src/licences.rs if it may be part of a package",
            ACCEPTED.join(", ")
        )
    };
    let licence = licence.ok_or_else(|| told("its manifest names no licence"))?;
    let expression = Expression::parse_mode(licence, ParseMode::LAX)
        .map_err(|error| told(&format!("its licence {licence:?} cannot be read ({})", error.reason)))?;
    if expression.evaluate(is_accepted) { Ok(()) } else { Err(told(&format!("its licence is {licence}"))) }
}

fn is_accepted(licence: &LicenseReq) -> bool {
    ACCEPTED.contains(&licence.to_string().as_str())
}

/// The texts in a crate's folder, else those that its licence expression names.
fn texts_of(one: &Crate) -> DistResult<BTreeSet<String>> {
    let mut files = Vec::new();
    find(&one.dir, DEPTH, &mut files)?;
    if files.is_empty() {
        return canonical(one.licence.as_deref().unwrap_or_default(), &one.authors.join(", "));
    }
    let mut texts = BTreeSet::new();
    for file in files {
        texts.insert(tidy(&String::from_utf8_lossy(&fs::read(file)?)));
    }
    Ok(texts)
}

/// The texts of the licences of an expression, for a crate without files of them. The authors are those of its manifest.
fn canonical(licence: &str, authors: &str) -> DistResult<BTreeSet<String>> {
    let expression = Expression::parse_mode(licence, ParseMode::LAX)?;
    let mut texts = BTreeSet::new();
    for needed in expression.requirements().filter(|one| is_accepted(&one.req)) {
        let id = needed.req.license.id().ok_or_else(|| format!("no text of {} is known", needed.req))?;
        let mut text = if authors.is_empty() { String::new() } else { format!("Authors: {authors}\n\n") };
        text += id.text();
        if let Some(spdx::AdditionItem::Spdx(exception)) = &needed.req.addition {
            text += "\n\n";
            text += exception.text();
        }
        texts.insert(tidy(&text));
    }
    Ok(texts)
}

/// Adds the files with licences and notices in `dir` and below it.
fn find(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) -> DistResult {
    for entry in fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 && !["TESTS", "TARGET", "EXAMPLES"].contains(&name.as_str()) {
            find(&entry.path(), depth - 1, found)?;
        } else if kind.is_file()
            && NAMES.iter().any(|start| name.starts_with(start))
            && !name.ends_with(".RS")
        {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// The text without spaces at the ends of lines and empty lines at its ends, by which equal texts are one.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts;

    /// R-L64: a crate under a licence that is not accepted fails, with its name, its licence and the list.
    #[test]
    fn a_licence_that_is_not_accepted_is_refused() {
        let check = |licence| accepted("odd", "1.2.3", licence);
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "MIT OR GPL-3.0-only",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "MPL-2.0",
            "MPL-2.0+",
        ] {
            assert_eq!(check(Some(good)), Ok(()), "{good}");
        }
        for bad in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "AGPL-3.0",
            "Apache-2.0 WITH Classpath-exception-2.0",
            "no licence",
        ] {
            let said = check(Some(bad)).unwrap_err();
            assert!(
                said.starts_with("odd 1.2.3: its licence ") && said.contains(bad) && said.contains("Zlib"),
                "{said}"
            );
        }
        assert!(check(None).unwrap_err().contains("names no licence"));
    }

    /// R-L64: a package with such a crate is not made, and all such crates are named.
    #[test]
    fn every_crate_with_such_a_licence_is_named() {
        let mut parts = parts::read().unwrap();
        for name in ["wasmtime", "jaq-core"] {
            let found = parts.crates.values_mut().find(|one| one.name == name).unwrap();
            found.licence = Some("SSPL-1.0".to_owned());
        }
        let said = texts(&parts).unwrap_err().to_string();
        assert_eq!(said.lines().count(), 2, "{said}");
        assert!(said.contains("wasmtime ") && said.contains("jaq-core "), "{said}");
    }

    /// R-L64: every crate of other authors is listed, and each has a text; so has the C code that crates contain.
    #[test]
    fn every_crate_has_a_text() {
        let parts = parts::read().unwrap();
        let page = texts(&parts).unwrap();
        let (list, texts) = page.split_once("\n====").unwrap();
        for one in parts.crates.values().filter(|one| one.is_foreign) {
            let id = format!("{} {}", one.name, one.version);
            assert!(list.contains(&format!("\n{id} | ")), "{id} is not listed");
            let is_user = |line: &str| line.split(", ").any(|user| user == id);
            assert!(texts.lines().any(is_user), "{id} has no text");
        }
        assert!(texts.contains("Microsoft Corporation, Daan Leijen"), "mimalloc");
        assert!(texts.contains("Michael Färber"), "an author of a crate without a file");
    }
}
