//! A plugin folder with a project in C or C++: a `plugin.toml` with a table `[c]`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{
    error::FolderError,
    plugin_toml::{self, PLUGIN_TOML, PluginToml, refused},
    script::name_error,
};

/// The folder of the SDK's copy.
const SDK: &str = "phasm_sdk";
/// Files that every SDK has.
const SDK_FILES: [&str; 2] = ["phasm.h", "guest.c"];
/// Endings of sources in C++.
const CPP: [&str; 3] = ["cc", "cpp", "cxx"];

/// A project in C or C++ that builds to a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CProject {
    /// Where its `plugin.toml` is; absolute.
    pub(crate) folder: PathBuf,
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) description: Option<String>,
    /// Members of the manifest that are for tests and readers.
    pub(crate) members: serde_json::Map<String, serde_json::Value>,
    /// Sources, relative to the folder.
    pub(crate) sources: Vec<PathBuf>,
    /// Further arguments of the compiler.
    pub(crate) flags: Vec<String>,
    /// The folder of the SDK; without one, the SDK of this program is used.
    pub(crate) sdk: Option<PathBuf>,
}

impl CProject {
    /// The file that describes it.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.folder.join(PLUGIN_TOML)
    }

    /// Folder of a build's files.
    pub(crate) fn build_dir(&self) -> PathBuf {
        self.folder.join("build")
    }

    /// A file of a build, by its ending: the component, or the list of the files that it was made from.
    pub(crate) fn built(&self, ending: &str) -> PathBuf {
        self.build_dir().join(format!("{}.{ending}", self.name))
    }

    /// Whether any source is in C++.
    pub(crate) fn has_cpp(&self) -> bool {
        self.sources.iter().any(|source| is_cpp(source))
    }
}

/// Whether a source is in C++.
pub(crate) fn is_cpp(source: &Path) -> bool {
    source.extension().is_some_and(|ending| CPP.iter().any(|cpp| ending == *cpp))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    sources: Option<Vec<PathBuf>>,
    #[serde(default)]
    flags: Vec<String>,
    sdk: Option<PathBuf>,
}

/// Reads a project in C or C++; none if the folder has none.
///
/// # Errors
/// [`FolderError`], with everything that is wrong.
pub(super) fn read(folder: &Path) -> Result<Option<CProject>, FolderError> {
    let Some(manifest) = plugin_toml::read::<Settings>(folder, "c")? else { return Ok(None) };
    project(folder, manifest).map(Some).map_err(|problems| refused(folder, problems))
}

fn project(folder: &Path, manifest: PluginToml<Settings>) -> Result<CProject, Vec<String>> {
    let (name, members) = (manifest.name(), manifest.members());
    let mut problems: Vec<String> = name_error("name", &name).into_iter().collect();
    let settings = manifest.settings;
    let sources = match settings.sources {
        Some(named) => {
            let missing = named.iter().filter(|source| !folder.join(source).is_file());
            problems.extend(missing.map(|source| format!("c.sources: {} is no file", source.display())));
            named
        }
        None => found(folder),
    };
    if sources.is_empty() {
        problems.push(format!("c.sources: there is no .c, .cc, .cpp or .cxx file in {}", folder.display()));
    }
    let named = settings.sdk.map(|path| folder.join(path));
    let is_sdk = |path: &PathBuf| SDK_FILES.iter().all(|file| path.join(file).is_file());
    if let Some(path) = named.as_ref().filter(|path| !is_sdk(path)) {
        problems.push(format!("c.sdk: {} does not hold {}", path.display(), SDK_FILES.join(" and ")));
    }
    let sdk = named.or_else(|| Some(folder.join(SDK)).filter(is_sdk));
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(CProject {
        members,
        folder: folder.to_owned(),
        name,
        version: manifest.version,
        description: manifest.description,
        sources,
        flags: settings.flags,
        sdk,
    })
}

/// The sources in the folder itself, without tests, sorted.
fn found(folder: &Path) -> Vec<PathBuf> {
    let is_source = |path: &PathBuf| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let is_test = stem.starts_with("test_") || stem.ends_with("_test");
        (is_cpp(path) || path.extension().is_some_and(|ending| ending == "c")) && !is_test
    };
    let names =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| PathBuf::from(entry.file_name()));
    let mut found: Vec<_> = names.filter(is_source).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project_with(manifest: &str, files: &[&str]) -> (tempfile::TempDir, Result<Option<CProject>, String>) {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for file in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        fs::write(root.join(PLUGIN_TOML), manifest).unwrap();
        let found = read(&root).map_err(|error| error.to_string());
        (dir, found)
    }

    /// R-L147.
    #[test]
    fn sources_are_those_of_the_folder_without_tests() {
        let files = [
            "b.cpp",
            "a.c",
            "test_a.c",
            "a_test.cc",
            "a.h",
            "deep/x.c",
            "phasm_sdk/phasm.h",
            "phasm_sdk/guest.c",
        ];
        let (_dir, found) = project_with("name = 'greet'\n[c]\n", &files);
        let project = found.unwrap().unwrap();
        assert_eq!(project.sources, [PathBuf::from("a.c"), PathBuf::from("b.cpp")]);
        assert!(project.has_cpp());
        assert_eq!(project.sdk, Some(project.folder.join("phasm_sdk")));
        let (_dir, named) = project_with("name = 'greet'\n[c]\nsources = ['deep/x.c']\n", &files);
        assert!(!named.unwrap().unwrap().has_cpp());
    }

    /// R-L147.
    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let (_dir, found) = project_with("name = '../x'\n[c]\nsources = ['no.c']\nsdk = 'none'\n", &[]);
        let said = found.unwrap_err();
        for part in ["name: found \"../x\"", "c.sources: no.c is no file", "c.sdk: ", "phasm.h and guest.c"] {
            assert!(said.contains(part), "{said}");
        }
        let (_dir, none) = project_with("name = 'x'\n[c]\n", &["x.py"]);
        assert!(none.unwrap_err().contains("there is no .c, .cc, .cpp or .cxx file"));
        let (_dir, unknown) = project_with("name = 'x'\n[c]\nflag = []\n", &["x.c"]);
        assert!(unknown.unwrap_err().contains("unknown field `flag`"));
    }

    #[test]
    fn a_file_of_this_name_may_be_something_elses() {
        let (_dir, other) = project_with("name = 'x'\n", &["x.c"]);
        assert_eq!(other, Ok(None));
    }
}
