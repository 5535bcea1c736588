//! A plugin folder with a Python project: a `pyproject.toml` with a table `[tool.phasm]`.

use std::path::{Path, PathBuf};

use phasm_files::read_adjacent_text;
use serde::Deserialize;

use super::error::FolderError;

/// The file that describes a Python project.
pub(crate) const PYPROJECT: &str = "pyproject.toml";
/// The largest `pyproject.toml` that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The folder of the SDK's package.
pub(crate) const SDK_PACKAGE: &str = "phasm_sdk";
/// Modules that a component has already.
const TAKEN: [&str; 4] = [SDK_PACKAGE, "phasm_entry", "wit_world", "componentize_py_types"];

/// A Python project that builds to a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PythonProject {
    /// Where its `pyproject.toml` is; absolute.
    pub(crate) folder: PathBuf,
    /// `project.name`.
    pub(crate) name: String,
    /// `project.version`.
    pub(crate) version: Option<String>,
    /// `project.description`.
    pub(crate) description: Option<String>,
    /// The module with the executor.
    pub(crate) module: String,
    /// The folder that holds the package of the SDK; without one, the SDK of this program is used.
    pub(crate) sdk: Option<PathBuf>,
    /// Folders that modules are imported from, the project's own first.
    pub(crate) paths: Vec<PathBuf>,
}

impl PythonProject {
    /// The folder for everything that a build writes.
    pub(crate) fn build_dir(&self) -> PathBuf {
        self.folder.join("build")
    }

    /// The component.
    pub(crate) fn artefact(&self) -> PathBuf {
        self.build_dir().join(format!("{}.wasm", self.name))
    }

    /// The list of the files that the component was made from.
    pub(crate) fn stamp(&self) -> PathBuf {
        self.build_dir().join(format!("{}.phasm-stamp", self.name))
    }
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    project: Project,
    #[serde(default)]
    tool: Tools,
}

#[derive(Default, Deserialize)]
struct Project {
    name: Option<String>,
    version: Option<String>,
    description: Option<String>,
}

#[derive(Default, Deserialize)]
struct Tools {
    phasm: Option<Settings>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Settings {
    module: Option<String>,
    sdk: Option<PathBuf>,
    #[serde(default)]
    python_path: Vec<PathBuf>,
}

/// Reads a Python project; none if the folder has none that is a plugin.
///
/// # Errors
/// [`FolderError`], with everything that is wrong.
pub(super) fn read(folder: &Path) -> Result<Option<PythonProject>, FolderError> {
    let path = folder.join(PYPROJECT);
    if !path.is_file() {
        return Ok(None);
    }
    // Messages quote it, and anyone who may write in the directory can lay a link there.
    let text = read_adjacent_text(&path, MAX_BYTES)
        .map_err(|source| FolderError::Read { path: path.clone(), source })?;
    let manifest: Manifest = toml::from_str(&text)
        .map_err(|source| FolderError::Manifest { manifest: path.clone(), source: Box::new(source) })?;
    let Some(settings) = manifest.tool.phasm else { return Ok(None) };
    project(folder, manifest.project, settings)
        .map(Some)
        .map_err(|problems| FolderError::Pyproject { manifest: path, problems })
}

fn project(folder: &Path, project: Project, settings: Settings) -> Result<PythonProject, Vec<String>> {
    let mut problems = Vec::new();
    let name = project.name.unwrap_or_default();
    if !is_name(&name) {
        problems.push(format!(
            "project.name: found {name:?}; expected letters, digits, `-`, `_` and `.`, such as \"send-mail\""
        ));
    }
    let paths: Vec<PathBuf> = std::iter::once(folder.to_owned())
        .chain(settings.python_path.iter().map(|path| folder.join(path)))
        .collect();
    for missing in paths.iter().filter(|path| !path.is_dir()) {
        problems.push(format!("tool.phasm.python-path: {} is no folder", missing.display()));
    }
    let module = settings.module.unwrap_or_else(|| name.replace(['-', '.'], "_"));
    if !is_module(&module) || TAKEN.contains(&module.as_str()) {
        problems.push(format!(
            "tool.phasm.module: found {module:?}; expected the name of a module with the executor, and not {}",
            TAKEN.join(", ")
        ));
    } else if !paths.iter().any(|path| has_module(path, &module)) {
        problems.push(format!(
            "tool.phasm.module: there is no {module}.py in {}; expected the module with the executor",
            folder.display()
        ));
    }
    let sdk = sdk_of(folder, settings.sdk, &mut problems);
    if problems.is_empty() {
        let (version, description) = (project.version, project.description);
        return Ok(PythonProject {
            folder: folder.to_owned(),
            name,
            version,
            description,
            module,
            sdk,
            paths,
        });
    }
    Err(problems)
}

/// The SDK that is named, or the copy in the project.
fn sdk_of(folder: &Path, named: Option<PathBuf>, problems: &mut Vec<String>) -> Option<PathBuf> {
    let named = named.map(|path| folder.join(path));
    if let Some(path) = named.as_ref().filter(|path| !path.join(SDK_PACKAGE).is_dir()) {
        problems.push(format!("tool.phasm.sdk: {} does not hold the package {SDK_PACKAGE}", path.display()));
    }
    named.or_else(|| folder.join(SDK_PACKAGE).is_dir().then(|| folder.to_owned()))
}

fn has_module(path: &Path, module: &str) -> bool {
    let stem = path.join(module.replace('.', "/"));
    stem.with_extension("py").is_file() || stem.join("__init__.py").is_file()
}

pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= 128
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn is_module(module: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    module.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project_with(pyproject: &str, files: &[&str]) -> (tempfile::TempDir, Result<PythonProject, String>) {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for file in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        fs::write(root.join(PYPROJECT), pyproject).unwrap();
        let found = read(&root).map_err(|error| error.to_string()).map(Option::unwrap);
        (dir, found)
    }

    #[test]
    fn a_project_says_its_name_its_module_and_where_modules_are() {
        let text = "[project]\nname = \"send-mail\"\nversion = \"1.2.3\"\n[tool.phasm]\npython-path = [\"vendor\"]\n";
        let (dir, project) = project_with(text, &["send_mail.py", "vendor/x.py", "phasm_sdk/__init__.py"]);
        let (root, project) = (fs::canonicalize(dir.path()).unwrap(), project.unwrap());
        assert_eq!((project.name.as_str(), project.module.as_str()), ("send-mail", "send_mail"));
        assert_eq!(project.paths, [root.clone(), root.join("vendor")]);
        assert_eq!(project.sdk, Some(root.clone()));
        assert_eq!(project.artefact(), root.join("build/send-mail.wasm"));
        let other = "[project]\nname = \"a\"\n[tool.phasm]\nmodule = \"b.c\"\nsdk = \"s\"\n";
        let (dir, project) = project_with(other, &["b/c/__init__.py", "s/phasm_sdk/__init__.py"]);
        assert_eq!(project.unwrap().sdk, Some(fs::canonicalize(dir.path()).unwrap().join("s")));
    }

    #[test]
    fn a_project_without_the_table_is_no_plugin() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
        fs::write(dir.path().join(PYPROJECT), "[project]\nname = \"a\"\n[tool.other]\n").unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let text = "[project]\nname = \"../a\"\n[tool.phasm]\nmodule = \"a b\"\nsdk = \"s\"\npython-path = [\"no\"]\n";
        let (_dir, wrong) = project_with(text, &[]);
        let wrong = wrong.unwrap_err();
        for says in ["project.name: found \"../a\"", "module: found \"a b\"", "sdk: ", "python-path: "] {
            assert!(wrong.contains(says), "{says}: {wrong}");
        }
        let (_dir, wrong) = project_with("[project]\nname = \"a\"\n[tool.phasm]\n", &[]);
        assert!(wrong.unwrap_err().contains("there is no a.py in "));
        let (_dir, wrong) =
            project_with("[project]\nname = \"a\"\n[tool.phasm]\nmodules = \"a\"\n", &["a.py"]);
        let wrong = wrong.unwrap_err();
        assert!(wrong.contains("unknown field `modules`") && wrong.contains("line 4"), "{wrong}");
        let (_dir, wrong) =
            project_with("[project]\nname = \"wit-world\"\n[tool.phasm]\n", &["wit_world.py"]);
        assert!(wrong.unwrap_err().contains("and not phasm_sdk, "));
    }
}
