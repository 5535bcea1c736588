//! A plugin folder with a project in a language whose runtime is part of the component.

use std::path::PathBuf;

use serde_json::{Map, Value};

/// A project that builds to a component with the language's engine or runtime in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScriptProject {
    /// Where the file is that describes the project; absolute.
    pub(crate) folder: PathBuf,
    /// The project's name.
    pub(crate) name: String,
    /// The project's version.
    pub(crate) version: Option<String>,
    /// The project's description.
    pub(crate) description: Option<String>,
    /// The language, and what it needs to know.
    pub(crate) language: Language,
}

/// The language of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Python(PythonSources),
    JavaScript(JavaScriptSources),
    Go(GoSources),
}

/// Sources of a Python project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PythonSources {
    /// The module with the executor.
    pub(crate) module: String,
    /// The folder that holds the package of the SDK; without one, the SDK of this program is used.
    pub(crate) sdk: Option<PathBuf>,
    /// Folders that modules are imported from, the project's own first.
    pub(crate) paths: Vec<PathBuf>,
}

/// Sources of a project in JavaScript or TypeScript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JavaScriptSources {
    /// The file with the executor, relative to the project's folder.
    pub(crate) main: String,
    /// The folder of the SDK's package; without one, the SDK of this program is used.
    pub(crate) sdk: Option<PathBuf>,
    /// Names of the packages that npm has to install.
    pub(crate) packages: Vec<String>,
}

/// Sources of a project in Go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoSources {
    /// The package with the executor, relative to the project's folder, as go takes it.
    pub(crate) package: String,
    /// Further arguments of `go build`.
    pub(crate) flags: Vec<String>,
    /// Members of the manifest that are for tests and readers.
    pub(crate) members: Map<String, Value>,
    /// Folders of modules that stand in for others, such as the SDK.
    pub(crate) replaced: Vec<PathBuf>,
}

impl JavaScriptSources {
    /// Whether the file with the executor is TypeScript.
    pub(crate) fn is_typed(&self) -> bool {
        is_typescript(&self.main)
    }
}

/// Whether a file's name is one of TypeScript.
pub(super) fn is_typescript(name: &str) -> bool {
    [".ts", ".mts"].iter().any(|ending| name.ends_with(ending))
}

impl ScriptProject {
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

/// An error unless a name can be that of a component's file.
pub(super) fn name_error(field: &str, name: &str) -> Option<String> {
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= 128
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let error = || {
        format!("{field}: found {name:?}; expected letters, digits, `-`, `_` and `.`, such as \"send-mail\"")
    };
    (!is_name).then(error)
}
