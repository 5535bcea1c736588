//! A plugin folder with a project in JavaScript or TypeScript: a `package.json` with a member `phasm`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use phasm_files::read_adjacent_text;
use serde::Deserialize;

use super::{
    error::FolderError,
    script::{JavaScriptSources, Language, ScriptProject, is_typescript, name_error},
};

/// The file that describes a project of npm.
const PACKAGE: &str = "package.json";
/// The largest `package.json` that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The package of the SDK.
const SDK: &str = "phasm-sdk";

#[derive(Deserialize)]
struct Package {
    name: Option<String>,
    version: Option<String>,
    description: Option<String>,
    phasm: Option<serde_json::Value>,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Settings {
    main: Option<String>,
}

/// Reads a project; none if the folder has none that is a plugin.
///
/// # Errors
/// [`FolderError`], with everything that is wrong.
pub(super) fn read(folder: &Path) -> Result<Option<ScriptProject>, FolderError> {
    let path = folder.join(PACKAGE);
    if !path.is_file() {
        return Ok(None);
    }
    // Messages quote it, and anyone who may write in the directory can lay a link there.
    let text = read_adjacent_text(&path, MAX_BYTES)
        .map_err(|source| FolderError::Read { path: path.clone(), source })?;
    let package: Package = serde_json::from_str(&text)
        .map_err(|source| FolderError::Package { manifest: path.clone(), source })?;
    if package.phasm.is_none() {
        return Ok(None);
    }
    project(folder, package).map(Some).map_err(|problems| FolderError::Project { manifest: path, problems })
}

fn project(folder: &Path, mut package: Package) -> Result<ScriptProject, Vec<String>> {
    let name = package.name.take().unwrap_or_default();
    let mut problems: Vec<String> = name_error("name", &name).into_iter().collect();
    let settings = package.phasm.take().unwrap_or_default();
    let settings: Settings = serde_json::from_value(settings).unwrap_or_else(|error| {
        problems.push(format!("phasm: {error}"));
        Settings::default()
    });
    let main = main_of(folder, settings.main, &name, &mut problems);
    let sdk = sdk_of(folder, &mut package.dependencies, &mut problems);
    if problems.is_empty() {
        let packages = package.dependencies.into_keys().collect();
        return Ok(ScriptProject {
            folder: folder.to_owned(),
            name,
            version: package.version,
            description: package.description,
            language: Language::JavaScript(JavaScriptSources { main, sdk, packages }),
        });
    }
    Err(problems)
}

/// The file with the executor: the one that is named, or one of the project's name.
fn main_of(folder: &Path, named: Option<String>, name: &str, problems: &mut Vec<String>) -> String {
    let Some(main) = named else {
        let found = ["ts", "js"].map(|ending| format!("{name}.{ending}"));
        let [_, javascript] = &found;
        if let Some(main) = found.iter().find(|main| folder.join(main).is_file()) {
            return main.clone();
        }
        problems.push(format!("phasm.main: there is no {javascript}; expected the file with the executor"));
        return String::new();
    };
    let is_script = is_typescript(&main) || [".js", ".mjs"].iter().any(|ending| main.ends_with(ending));
    if !is_script || main.starts_with('-') {
        problems
            .push(format!("phasm.main: found {main:?}; expected a file that ends in .js, .mjs, .ts or .mts"));
    } else if !folder.join(&main).is_file() {
        problems.push(format!("phasm.main: there is no {main}; expected the file with the executor"));
    }
    main
}

/// The SDK: the folder that is named as a dependency, else a copy in the project, else one that npm has installed.
fn sdk_of(
    folder: &Path,
    dependencies: &mut BTreeMap<String, String>,
    problems: &mut Vec<String>,
) -> Option<PathBuf> {
    let named =
        dependencies.get(SDK).and_then(|spec| spec.strip_prefix("file:")).map(|path| folder.join(path));
    let is_sdk = |dir: &PathBuf| dir.join("index.js").is_file();
    if let Some(named) = named {
        // The builder finds it without npm.
        dependencies.remove(SDK);
        if !is_sdk(&named) {
            problems.push(format!("dependencies.{SDK}: {} does not hold the SDK", named.display()));
        }
        return Some(named);
    }
    [folder.join(SDK), folder.join("node_modules").join(SDK)].into_iter().find(is_sdk)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project_with(package: &str, files: &[&str]) -> (tempfile::TempDir, Result<ScriptProject, String>) {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for file in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        fs::write(root.join(PACKAGE), package).unwrap();
        let found = read(&root).map_err(|error| error.to_string()).map(Option::unwrap);
        (dir, found)
    }

    fn sources(project: ScriptProject) -> JavaScriptSources {
        match project.language {
            Language::JavaScript(sources) => sources,
            other @ (Language::Python(_) | Language::Go(_)) => panic!("{other:?} is no JavaScript"),
        }
    }

    #[test]
    fn a_project_says_its_name_its_file_and_its_packages() {
        let text = r#"{"name":"send-mail","version":"1.2.3","phasm":{"main":"src/mail.ts"},
            "dependencies":{"phasm-sdk":"file:phasm-sdk","yaml":"2.8.1"}}"#;
        let (dir, project) = project_with(text, &["src/mail.ts", "phasm-sdk/index.js"]);
        let (root, project) = (fs::canonicalize(dir.path()).unwrap(), project.unwrap());
        assert_eq!((project.name.as_str(), project.version.as_deref()), ("send-mail", Some("1.2.3")));
        assert_eq!(project.artefact(), root.join("build/send-mail.wasm"));
        let found = sources(project);
        assert!(found.is_typed() && found.main == "src/mail.ts");
        assert_eq!((found.sdk, found.packages), (Some(root.join("phasm-sdk")), vec!["yaml".to_owned()]));
    }

    #[test]
    fn a_file_of_the_projects_name_needs_no_mention() {
        let text = r#"{"name":"greet","phasm":{}}"#;
        let (_dir, project) = project_with(text, &["greet.js"]);
        let found = sources(project.unwrap());
        assert!(!found.is_typed() && found.main == "greet.js" && found.sdk.is_none());
        let (_dir, project) =
            project_with(text, &["greet.js", "greet.ts", "node_modules/phasm-sdk/index.js"]);
        let found = sources(project.unwrap());
        assert!(found.is_typed() && found.sdk.is_some());
    }

    #[test]
    fn a_package_without_the_member_is_no_plugin() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
        fs::write(dir.path().join(PACKAGE), r#"{"name":"a","main":"a.js"}"#).unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let text = r#"{"name":"@a/b","phasm":{"main":"a.py"},"dependencies":{"phasm-sdk":"file:no"}}"#;
        let (_dir, wrong) = project_with(text, &[]);
        let wrong = wrong.unwrap_err();
        for says in ["name: found \"@a/b\"", "phasm.main: found \"a.py\"", "dependencies.phasm-sdk: "] {
            assert!(wrong.contains(says), "{says}: {wrong}");
        }
        let (_dir, wrong) = project_with(r#"{"name":"a","phasm":{}}"#, &[]);
        assert!(wrong.unwrap_err().contains("there is no a.js"));
        let (_dir, wrong) = project_with(r#"{"name":"a","phasm":{"mian":"a.js"}}"#, &["a.js"]);
        assert!(wrong.unwrap_err().contains("unknown field `mian`"));
        let (_dir, wrong) = project_with("{\n\"name\" 1", &[]);
        assert!(wrong.unwrap_err().contains("line 2"));
    }
}
