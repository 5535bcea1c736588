//! A plugin folder with a Python project: a `pyproject.toml` with a table `[tool.phasm]`.

use std::path::{Path, PathBuf};

use phasm_files::read_adjacent_text;
use serde::Deserialize;

use super::{
    error::FolderError,
    script::{Language, PythonSources, ScriptProject, name_error},
};

/// The file that describes a Python project.
const PYPROJECT: &str = "pyproject.toml";
/// The largest `pyproject.toml` that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The folder of the SDK's package.
pub(crate) const SDK_PACKAGE: &str = "phasm_sdk";
/// Modules that a component has already.
const TAKEN: [&str; 4] = [SDK_PACKAGE, "phasm_entry", "wit_world", "componentize_py_types"];

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
pub(super) fn read(folder: &Path) -> Result<Option<ScriptProject>, FolderError> {
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
        .map_err(|problems| FolderError::Project { manifest: path, problems })
}

fn project(folder: &Path, project: Project, settings: Settings) -> Result<ScriptProject, Vec<String>> {
    let name = project.name.unwrap_or_default();
    let mut problems: Vec<String> = name_error("project.name", &name).into_iter().collect();
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
        let language = Language::Python(PythonSources { module, sdk, paths });
        return Ok(ScriptProject { folder: folder.to_owned(), name, version, description, language });
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

    fn project_with(pyproject: &str, files: &[&str]) -> (tempfile::TempDir, Result<ScriptProject, String>) {
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

    fn sources(project: &ScriptProject) -> PythonSources {
        match &project.language {
            Language::Python(sources) => sources.clone(),
            other @ (Language::JavaScript(_) | Language::Go(_)) => panic!("{other:?} is no Python"),
        }
    }

    #[test]
    fn a_project_says_its_name_its_module_and_where_modules_are() {
        let text = "[project]\nname = \"send-mail\"\nversion = \"1.2.3\"\n[tool.phasm]\npython-path = [\"vendor\"]\n";
        let (dir, project) = project_with(text, &["send_mail.py", "vendor/x.py", "phasm_sdk/__init__.py"]);
        let (root, project) = (fs::canonicalize(dir.path()).unwrap(), project.unwrap());
        let sources = sources(&project);
        assert_eq!((project.name.as_str(), sources.module.as_str()), ("send-mail", "send_mail"));
        assert_eq!(sources.paths, [root.clone(), root.join("vendor")]);
        assert_eq!(sources.sdk, Some(root.clone()));
        assert_eq!(project.artefact(), root.join("build/send-mail.wasm"));
        let other = "[project]\nname = \"a\"\n[tool.phasm]\nmodule = \"b.c\"\nsdk = \"s\"\n";
        let (dir, project) = project_with(other, &["b/c/__init__.py", "s/phasm_sdk/__init__.py"]);
        assert_eq!(
            self::sources(&project.unwrap()).sdk,
            Some(fs::canonicalize(dir.path()).unwrap().join("s"))
        );
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
