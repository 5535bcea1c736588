//! A plugin folder with a project in Go: a `go.mod`, and a `plugin.toml` with a table `[go]`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use phasm_files::read_adjacent_text;
use serde::Deserialize;

use super::{
    error::FolderError,
    plugin_toml::{self, PluginToml, refused},
    script::{GoSources, Language, ScriptProject, name_error},
};

/// The file that describes a module of Go.
const GO_MOD: &str = "go.mod";
/// The largest `go.mod` that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    package: Option<String>,
    #[serde(default)]
    flags: Vec<String>,
}

/// Reads a project in Go; none if the folder has none that is a plugin.
///
/// # Errors
/// [`FolderError`], with everything that is wrong.
pub(super) fn read(folder: &Path) -> Result<Option<ScriptProject>, FolderError> {
    let Some(manifest) = plugin_toml::read::<Settings>(folder, "go")? else { return Ok(None) };
    let path = folder.join(GO_MOD);
    let module = if path.is_file() {
        read_adjacent_text(&path, MAX_BYTES).map(Some).map_err(|source| FolderError::Read { path, source })?
    } else {
        None
    };
    project(folder, manifest, module.as_deref()).map(Some).map_err(|problems| refused(folder, problems))
}

fn project(
    folder: &Path,
    manifest: PluginToml<Settings>,
    module: Option<&str>,
) -> Result<ScriptProject, Vec<String>> {
    let (name, members) = (manifest.name(), manifest.members());
    let mut problems: Vec<String> = name_error("name", &name).into_iter().collect();
    if module.is_none() {
        problems
            .push(format!("there is no {GO_MOD} in {}; `go mod init {name}` makes one", folder.display()));
    }
    let package = manifest.settings.package.unwrap_or_else(|| ".".to_owned());
    let is_inside = fs::canonicalize(folder.join(&package))
        .is_ok_and(|package| package.is_dir() && package.starts_with(folder));
    if !is_inside {
        problems.push(format!("go.package: {package} is no folder in {}", folder.display()));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let package = if package.starts_with('.') { package } else { format!("./{package}") };
    let replaced = replaced(module.unwrap_or_default()).map(|path| folder.join(path)).collect();
    let language = Language::Go(GoSources { package, flags: manifest.settings.flags, members, replaced });
    Ok(ScriptProject {
        folder: folder.to_owned(),
        name,
        version: manifest.version,
        description: manifest.description,
        language,
    })
}

/// The folders of modules that stand in for others.
fn replaced(module: &str) -> impl Iterator<Item = PathBuf> {
    let path = |line: &str| {
        let line = line.split("//").next().unwrap_or_default();
        let path = line.split_once("=>")?.1.trim().trim_matches(['"', '`']).to_owned();
        ["./", "../", "/"].iter().any(|start| path.starts_with(start)).then(|| PathBuf::from(path))
    };
    module.lines().filter_map(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project_with(manifest: &str, files: &[(&str, &str)]) -> Result<Option<ScriptProject>, String> {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for (file, text) in files.iter().chain(&[("plugin.toml", manifest)]) {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        read(&root).map_err(|error| error.to_string())
    }

    /// R-L155.
    #[test]
    fn a_module_with_a_table_is_a_project() {
        let module = "module x\n\nrequire (\n\tphasm v0.0.0\n\tmade v1.2.3 // indirect\n)\n\nreplace (\n\tphasm => ./phasm_sdk // a copy\n\
                      \tmade v1.2.3 => example.org/made v1.2.4\n)\nreplace other => \"../other\"\n";
        let files = [("go.mod", module), ("cmd/x/x.go", "")];
        let found = project_with("name = 'greet'\nversion = '1.0.0'\n[go]\n", &files).unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.version.as_deref()), ("greet", Some("1.0.0")));
        let Language::Go(sources) = &found.language else { panic!("{found:?}") };
        assert_eq!(sources.package, ".");
        assert_eq!(sources.replaced, ["./phasm_sdk", "../other"].map(|path| found.folder.join(path)));
        let text = "name = 'greet'\n[[examples]]\nname = 'x'\n[go]\npackage = 'cmd/x'\nflags = ['-tags=x']\n";
        let found = project_with(text, &files).unwrap().unwrap();
        let Language::Go(sources) = &found.language else { panic!("{found:?}") };
        assert_eq!(
            (sources.package.as_str(), sources.flags.as_slice()),
            ("./cmd/x", ["-tags=x".to_owned()].as_slice())
        );
        assert!(sources.members.contains_key("examples"));
        assert_eq!(project_with("name = 'greet'\n", &files), Ok(None));
    }

    /// R-L155.
    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let said = project_with("name = '../x'\n[go]\npackage = '..'\n", &[]).unwrap_err();
        for part in [
            "plugin.toml: ",
            "name: found \"../x\"",
            "there is no go.mod in ",
            "go.package: .. is no folder in ",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let unknown = project_with("name = 'x'\n[go]\nflag = []\n", &[("go.mod", "module x\n")]);
        assert!(unknown.unwrap_err().contains("unknown field `flag`"));
    }
}
