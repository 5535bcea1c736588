//! Content of a plugin folder, read without asking cargo.

mod c;
mod error;
mod go;
mod javascript;
mod plugin_toml;
mod python;
mod script;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use phasm_files::read_adjacent_text;
use serde::Deserialize;

pub use self::error::FolderError;
pub(super) use self::{
    c::{CProject, is_cpp},
    python::SDK_PACKAGE,
    script::{GoSources, JavaScriptSources, Language, PythonSources, ScriptProject},
};
use super::Artefact;

/// The target every guest is built for.
pub(super) const TARGET: &str = "wasm32-wasip2";
pub(super) const MANIFEST: &str = "Cargo.toml";
/// The largest `Cargo.toml` that is read, in bytes.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// A plugin folder, by what has to be done with it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// A finished component.
    Component { name: String, wasm: PathBuf },
    /// A Rust crate.
    Crate(GuestCrate),
    /// A project in a language whose runtime is part of the component.
    Script(ScriptProject),
    /// A project in C or C++.
    C(CProject),
}

/// A Rust crate that builds to a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GuestCrate {
    /// Where its `Cargo.toml` is; absolute.
    pub(super) folder: PathBuf,
    /// `package.name`.
    pub(super) package: String,
    /// Specification of the package for cargo: with its version where that is known, as a dependency may have the same name.
    pub(super) spec: String,
    /// The library's name, which is the artefact's too.
    library: String,
    /// Its workspace's folder, or its own.
    pub(super) root: PathBuf,
}

impl GuestCrate {
    /// Returns the target directory, which guests share with their workspace alone, whatever target directory the user's cargo is
    /// set to: the artefact is found again without asking cargo.
    pub(super) fn target_dir(&self) -> PathBuf {
        self.root.join("target")
    }

    pub(super) fn manifest(&self) -> PathBuf {
        self.folder.join(MANIFEST)
    }

    pub(super) fn artefact(&self) -> PathBuf {
        self.next_to_artefact("wasm")
    }

    /// The answer once the artefact is there and current.
    pub(super) fn finished(&self) -> Artefact {
        Artefact { name: self.package.clone(), wasm: self.artefact() }
    }

    /// Cargo's list of the files that the artefact was made from.
    pub(super) fn dep_info(&self) -> PathBuf {
        self.next_to_artefact("d")
    }

    /// When the build of the artefact began ([`super::freshness`]).
    pub(super) fn stamp(&self) -> PathBuf {
        self.next_to_artefact("phasm-stamp")
    }

    fn next_to_artefact(&self, extension: &str) -> PathBuf {
        self.target_dir().join(TARGET).join("release").join(format!("{}.{extension}", self.library))
    }
}

#[derive(Deserialize)]
struct Manifest {
    package: Option<Package>,
    lib: Option<Library>,
    workspace: Option<Workspace>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: Option<Version>,
    workspace: Option<PathBuf>,
}

/// `package.version`: a version, or that of the workspace.
#[derive(Deserialize)]
#[serde(untagged)]
enum Version {
    Own(String),
    Inherited {
        /// True, or cargo refuses it.
        #[serde(rename = "workspace")]
        _workspace: bool,
    },
}

#[derive(Default, Deserialize)]
struct Library {
    name: Option<String>,
    #[serde(rename = "crate-type", alias = "crate_type", default)]
    crate_type: Vec<String>,
}

#[derive(Deserialize)]
struct Workspace {
    package: Option<WorkspacePackage>,
    #[serde(default)]
    members: Vec<PathBuf>,
    #[serde(default)]
    exclude: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct WorkspacePackage {
    version: Option<String>,
}

impl Workspace {
    /// Cargo's own rule: a folder that is excluded and not named as a member looks for its root further up.
    fn owns(&self, root: &Path, folder: &Path) -> bool {
        let below = |dirs: &[PathBuf]| dirs.iter().any(|dir| folder.starts_with(root.join(dir)));
        below(&self.members) || !below(&self.exclude)
    }
}

/// Reads a plugin folder.
///
/// # Errors
/// [`FolderError`].
pub(super) fn read(folder: &Path) -> Result<Folder, FolderError> {
    let folder =
        fs::canonicalize(folder).map_err(|_| FolderError::NoFolder { folder: folder.to_path_buf() })?;
    if !folder.is_dir() {
        return Err(FolderError::NoFolder { folder });
    }
    if folder.join(MANIFEST).is_file() {
        return read_crate(folder).map(Folder::Crate);
    }
    if let Some(project) = python::read(&folder)? {
        return Ok(Folder::Script(project));
    }
    if let Some(project) = javascript::read(&folder)? {
        return Ok(Folder::Script(project));
    }
    if let Some(project) = go::read(&folder)? {
        return Ok(Folder::Script(project));
    }
    if let Some(project) = c::read(&folder)? {
        return Ok(Folder::C(project));
    }
    read_component(folder)
}

fn read_crate(folder: PathBuf) -> Result<GuestCrate, FolderError> {
    let path = folder.join(MANIFEST);
    let manifest = read_manifest(&path)?;
    let Some(package) = &manifest.package else { return Err(FolderError::WorkspaceOnly { manifest: path }) };
    let lib = manifest.lib.as_ref();
    if !lib.is_some_and(|lib| lib.crate_type.iter().any(|kind| kind == "cdylib")) {
        return Err(FolderError::NotCdylib { manifest: path, package: package.name.clone() });
    }
    let named = lib.and_then(|lib| lib.name.clone());
    let library = named.unwrap_or_else(|| package.name.replace('-', "_"));
    let root = workspace_root(&folder, &manifest)?;
    let spec = match version(package, &manifest, &root, &folder)? {
        Some(version) => format!("{}@{version}", package.name),
        None => package.name.clone(),
    };
    Ok(GuestCrate { package: package.name.clone(), spec, library, root, folder })
}

/// Returns the version of a package, if it has one.
fn version(
    package: &Package,
    manifest: &Manifest,
    root: &Path,
    folder: &Path,
) -> Result<Option<String>, FolderError> {
    let of_workspace = |manifest: &Manifest| manifest.workspace.as_ref()?.package.as_ref()?.version.clone();
    match &package.version {
        None => Ok(None),
        Some(Version::Own(version)) => Ok(Some(version.clone())),
        Some(Version::Inherited { .. }) if root == folder => Ok(of_workspace(manifest)),
        Some(Version::Inherited { .. }) => Ok(of_workspace(&read_manifest(&root.join(MANIFEST))?)),
    }
}

fn workspace_root(folder: &Path, manifest: &Manifest) -> Result<PathBuf, FolderError> {
    if manifest.workspace.is_some() {
        return Ok(folder.to_path_buf());
    }
    if let Some(named) = manifest.package.as_ref().and_then(|package| package.workspace.as_ref()) {
        let root = folder.join(named);
        return fs::canonicalize(&root).map_err(|source| FolderError::Read { path: root, source });
    }
    for above in folder.ancestors().skip(1).filter(|dir| dir.join(MANIFEST).is_file()) {
        let workspace = read_manifest(&above.join(MANIFEST))?.workspace;
        if workspace.is_some_and(|workspace| workspace.owns(above, folder)) {
            return Ok(above.to_path_buf());
        }
    }
    Ok(folder.to_path_buf())
}

fn read_manifest(path: &Path) -> Result<Manifest, FolderError> {
    // Messages quote it, and anyone who may write in the directory can lay a link there.
    let text = read_adjacent_text(path, MAX_MANIFEST_BYTES)
        .map_err(|source| FolderError::Read { path: path.to_path_buf(), source })?;
    toml::from_str(&text)
        .map_err(|source| FolderError::Manifest { manifest: path.to_path_buf(), source: Box::new(source) })
}

fn read_component(folder: PathBuf) -> Result<Folder, FolderError> {
    let mut names =
        wasm_files(&folder).map_err(|source| FolderError::Read { path: folder.clone(), source })?;
    names.sort();
    let like_folder = folder.file_name().map(|name| format!("{}.wasm", name.display()));
    match (names.iter().find(|name| Some(*name) == like_folder.as_ref()), names.as_slice()) {
        (Some(name), _) | (None, [name]) => Ok(component(&folder, name)),
        (None, []) => Err(FolderError::NotAPlugin { folder }),
        (None, _) => Err(FolderError::SeveralComponents { folder, names }),
    }
}

fn component(folder: &Path, file: &str) -> Folder {
    let name = file.strip_suffix(".wasm").unwrap_or(file).to_owned();
    Folder::Component { name, wasm: folder.join(file) }
}

fn wasm_files(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.ends_with(".wasm") && entry.path().is_file() {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
