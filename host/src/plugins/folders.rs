//! Plugin directories: components, and source folders that build to one.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use phasm_files::is_foreign_link;

use super::{files, manifest::is_name, source::Source};

/// The plugins of a directory by name, sorted: `NAME.wasm`, folders that [are plugins](is_plugin), and `NAME.cwasm`.
///
/// # Errors
/// When the directory cannot be read.
pub fn scan(dir: &Path) -> io::Result<Vec<(String, Source)>> {
    let mut found: Vec<_> = paths(dir)?.iter().filter_map(|path| plugin(path)).collect();
    // Between equal names, the file that runs on every machine comes first.
    found.sort_by_cached_key(|(name, source)| (name.clone(), source.is_compiled()));
    Ok(found)
}

/// The folders of a directory that hold a crate but [no plugin](is_plugin), sorted; for messages about a missing plugin.
/// Projects in scripting languages that are no plugins are not among them: many folders have one.
///
/// # Errors
/// When the directory cannot be read.
pub fn other_crates(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let is_other = |path: &PathBuf| path.join(MANIFEST).is_file() && !is_plugin(path);
    let mut found: Vec<_> = paths(dir)?.into_iter().filter(is_other).collect();
    found.sort();
    Ok(found)
}

/// Whether a folder is the source of a plugin: a crate that depends on `phasm-sdk`, or whose manifest has a table
/// `[package.metadata.phasm]`; [a project in a scripting language](is_script_plugin); or [one in C, C++ or Go](is_toml_plugin). A manifest with
/// errors counts if it has one of these words, or the plugin would seem not to be there.
#[must_use]
pub fn is_plugin(folder: &Path) -> bool {
    let is_crate = read(folder, MANIFEST).is_some_and(|(text, manifest)| match manifest {
        Ok(manifest) => says_so(&manifest),
        Err(_) => [SDK, "metadata.phasm"].iter().any(|word| text.contains(word)),
    });
    is_crate || is_script_plugin(folder) || is_toml_plugin(folder)
}

/// Whether a folder is a Python project whose `pyproject.toml` has a table `[tool.phasm]`, or a project in JavaScript or TypeScript
/// whose `package.json` has a member `phasm`; or one with errors and this word.
#[must_use]
pub fn is_script_plugin(folder: &Path) -> bool {
    let is_python = read(folder, PYPROJECT).is_some_and(|(text, manifest)| match manifest {
        Ok(manifest) => manifest.get("tool").and_then(|tool| tool.get("phasm")).is_some(),
        Err(_) => text.contains("tool.phasm"),
    });
    is_python || is_javascript_plugin(folder)
}

fn is_javascript_plugin(folder: &Path) -> bool {
    package(folder).is_some_and(|(text, package)| match package {
        Ok(package) => package.get(MEMBER).is_some(),
        Err(_) => text.contains("\"phasm\""),
    })
}

/// Whether a folder is a project in C, C++ or Go whose `plugin.toml` has a table `[c]` or `[go]`, or errors and this word.
#[must_use]
pub fn is_toml_plugin(folder: &Path) -> bool {
    read(folder, PLUGIN_TOML).is_some_and(|(text, manifest)| match manifest {
        Ok(manifest) => ["c", "go"].iter().any(|name| manifest.get(*name).is_some_and(toml::Value::is_table)),
        Err(_) => ["[c]", "[go]"].iter().any(|word| text.contains(word)),
    })
}

/// Returns the file, the line and the reason if the manifest of a plugin's source is no TOML, or no JSON.
pub(super) fn broken_manifest(folder: &Path) -> Option<String> {
    let Some(name) = [MANIFEST, PYPROJECT, PLUGIN_TOML].into_iter().find(|name| folder.join(name).is_file())
    else {
        let error = package(folder)?.1.err()?;
        return Some(format!("{}:{}: {error}", folder.join(PACKAGE).display(), error.line()));
    };
    let (text, manifest) = read(folder, name)?;
    let error = manifest.err()?;
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    Some(format!("{}:{line}: {}", folder.join(name).display(), error.message()))
}

/// A manifest as text, and what it says.
fn read(folder: &Path, name: &str) -> Option<(String, Result<toml::Table, toml::de::Error>)> {
    let text = files::manifest(&folder.join(name)).ok()?;
    let manifest = text.parse();
    Some((text, manifest))
}

/// A `package.json` as text, and what it says.
fn package(folder: &Path) -> Option<(String, serde_json::Result<serde_json::Value>)> {
    let text = files::manifest(&folder.join(PACKAGE)).ok()?;
    let package = serde_json::from_str(&text);
    Some((text, package))
}

const MANIFEST: &str = "Cargo.toml";
const PYPROJECT: &str = "pyproject.toml";
const PACKAGE: &str = "package.json";
/// The member of a `package.json` that makes it a plugin's.
const MEMBER: &str = "phasm";
const PLUGIN_TOML: &str = "plugin.toml";
const SDK: &str = "phasm-sdk";

fn says_so(manifest: &toml::Table) -> bool {
    let Some(package) = manifest.get("package") else { return false };
    let named = package.get("metadata").and_then(|metadata| metadata.get("phasm")).is_some();
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let of_targets = targets.into_iter().flat_map(|targets| targets.values());
    let tables =
        of_targets.filter_map(|target| target.get("dependencies")).chain(manifest.get("dependencies"));
    named || tables.filter_map(toml::Value::as_table).any(has_sdk)
}

/// Under its own name or another.
fn has_sdk(dependencies: &toml::Table) -> bool {
    let renamed = |value: &toml::Value| value.get("package").and_then(toml::Value::as_str) == Some(SDK);
    dependencies.iter().any(|(name, value)| name == SDK || renamed(value))
}

fn paths(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let all: io::Result<Vec<PathBuf>> = fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect();
    // A name that no document can write is none.
    Ok(all?
        .into_iter()
        .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_name))
        .collect())
}

fn plugin(path: &Path) -> Option<(String, Source)> {
    // A link would lead to files that the one who made it may not read.
    if is_foreign_link(path) {
        return None;
    }
    let name = |part: Option<&std::ffi::OsStr>| part?.to_str().map(str::to_owned);
    if path.is_dir() {
        let source = is_plugin(path).then(|| Source::Folder(path.to_owned()))?;
        Some((name(path.file_name())?, source))
    } else {
        let wasm = path.extension().is_some_and(|ending| ending == "wasm" || ending == "cwasm");
        Some((name(path.file_stem().filter(|_| wasm))?, Source::File(path.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I11.
    #[test]
    fn a_crate_is_a_plugin_if_it_says_so() {
        let rows = [
            ("[package]\n[dependencies]\nphasm-sdk = '0.1'\n", true),
            ("[package]\n[dependencies]\nphasm-sdk.workspace = true\n", true),
            ("[package]\n[dependencies]\nsdk = { package = 'phasm-sdk', path = 'x' }\n", true),
            ("[package]\n[target.'cfg(target_family = \"wasm\")'.dependencies]\nphasm-sdk = '0.1'\n", true),
            ("[package]\n[package.metadata.phasm]\n", true),
            ("[package]\n", false),
            ("[package]\n[dependencies]\nserde = '1'\n", false),
            ("[package]\n[dev-dependencies]\nphasm-sdk = '0.1'\n", false),
            ("[workspace]\n[workspace.dependencies]\nphasm-sdk = '0.1'\n", false),
            ("[package", false),
            ("[package]\n[dependencies]\nphasm-sdk = '0.1'\nx = = 1\n", true),
            ("[package]\n[package.metadata.phasm]\nx = = 1\n", true),
        ];
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("made");
        fs::create_dir(&folder).unwrap();
        for (manifest, counts) in rows {
            fs::write(folder.join(MANIFEST), manifest).unwrap();
            assert_eq!(scan(dir.path()).unwrap().len(), usize::from(counts), "{manifest}");
            assert_eq!(other_crates(dir.path()).unwrap().is_empty(), counts, "{manifest}");
        }
    }

    /// R-L131.
    #[test]
    fn a_python_project_is_a_plugin_if_it_says_so() {
        let rows = [
            ("[project]\nname = 'made'\n[tool.phasm]\n", true),
            ("[project]\nname = 'made'\n[tool.phasm]\nmodule = 'x'\n", true),
            ("[project]\nname = 'made'\ndependencies = ['phasm-sdk']\n", false),
            ("[project]\n[tool.other]\n", false),
            ("[project\n[tool.phasm]\n", true),
            ("[project", false),
        ];
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("made");
        fs::create_dir(&folder).unwrap();
        for (manifest, counts) in rows {
            fs::write(folder.join(PYPROJECT), manifest).unwrap();
            assert_eq!(scan(dir.path()).unwrap().len(), usize::from(counts), "{manifest}");
            assert!(other_crates(dir.path()).unwrap().is_empty(), "{manifest}");
        }
        fs::write(folder.join(PYPROJECT), "[tool.phasm]\nx = = 1\n").unwrap();
        assert!(broken_manifest(&folder).unwrap().contains("pyproject.toml:2: "));
    }

    /// R-L139.
    #[test]
    fn a_project_in_javascript_is_a_plugin_if_it_says_so() {
        let rows = [
            ("{\"name\":\"made\",\"phasm\":{}}", true),
            ("{\"name\":\"made\",\"phasm\":{\"main\":\"x.ts\"}}", true),
            ("{\"name\":\"made\",\"dependencies\":{\"phasm-sdk\":\"file:x\"}}", false),
            ("{\n\"phasm\": x", true),
            ("{", false),
        ];
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("made");
        fs::create_dir(&folder).unwrap();
        for (manifest, counts) in rows {
            fs::write(folder.join(PACKAGE), manifest).unwrap();
            assert_eq!(scan(dir.path()).unwrap().len(), usize::from(counts), "{manifest}");
            assert!(other_crates(dir.path()).unwrap().is_empty(), "{manifest}");
        }
        fs::write(folder.join(PACKAGE), "{\n\"phasm\": x").unwrap();
        assert!(broken_manifest(&folder).unwrap().contains("package.json:2: "));
    }

    /// R-L147, R-L155.
    #[test]
    fn a_project_in_c_or_go_is_a_plugin_if_it_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("made");
        fs::create_dir(&folder).unwrap();
        for (manifest, counts) in [
            ("name = 'made'\n[c]\n", true),
            ("name = 'made'\n", false),
            ("c = 1\n", false),
            ("[c]\nx = = 1\n", true),
            ("name = 'made'\n[go]\n", true),
            ("go = 1\n", false),
            ("[go]\nx = = 1\n", true),
        ] {
            fs::write(folder.join(PLUGIN_TOML), manifest).unwrap();
            assert_eq!(scan(dir.path()).unwrap().len(), usize::from(counts), "{manifest}");
        }
        assert!(broken_manifest(&folder).unwrap().contains("plugin.toml:2: "));
    }
}
