//! Builds plugin folders to components, with nothing to prepare by hand.
//!
//! ```text
//! folder ─▶ fresh? ─yes──────────────────────────────────────────────▶ artefact
//!             │ no                                                        ▲
//!             └▶ toolchain: installed, else rustup, else a private one ─▶ cargo
//! ```
//!
//! A plugin is a Rust crate, built for `wasm32-wasip2` in its workspace's own target directory; a project in Python, JavaScript or
//! TypeScript, Go, or C or C++, built in its folder `build`; or a finished component, which is used as it is.

/// Files that this program carries: names, and what stands in the repository at these paths.
macro_rules! carried {
    ($($name:literal: $path:literal),+ $(,)?) => { &[$(($name, include_str!(concat!("../../../../", $path)))),+] };
}

mod c;
mod cache;
mod cargo;
mod core_module;
mod depinfo;
mod environment;
mod folder;
mod freshness;
mod go;
mod javascript;
mod languages;
mod process;
mod progress;
mod python;
mod script;
mod toolchain;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use self::{
    c::{CToolError, NATIVE as C_NATIVE, SDK as C_SDK},
    cache::CacheError,
    cargo::LINKER_FLAGS,
    folder::FolderError,
    freshness::artefact_if_fresh,
    go::SDK as GO_SDK,
    javascript::{COMPONENTIZE_QJS, ESBUILD, PinnedPackage, SDK as JS_SDK, TYPESCRIPT},
    process::ProcessError,
    progress::Progress,
    python::{COMPONENTIZE_VERSION, SDK as PYTHON_SDK},
    script::{HTTP_WIT, ScriptToolError},
    toolchain::{Failure, Toolchain, ToolchainError},
};
use self::{
    folder::{CProject, Folder, GuestCrate, ScriptProject},
    freshness::is_fresh,
    languages::{LanguageError, Tools},
    script::Failure as ScriptFailure,
};

/// A plugin's component on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artefact {
    /// Name of the crate or the project; a finished component's file name without `.wasm`.
    pub name: String,
    /// The component; absolute.
    pub wasm: PathBuf,
}

/// Why a plugin folder has no component.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The folder is not a plugin's.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Nothing can build for the target.
    #[error("plugin `{package}` cannot be built: {source}")]
    Toolchain {
        /// The crate's name.
        package: String,
        /// The ways that were tried, and advice.
        source: Arc<ToolchainError>,
    },
    /// Cargo ran and did not make the component.
    #[error("plugin `{package}` in {} does not build; cargo says:\n{output}", folder.display())]
    Cargo {
        /// The crate's name.
        package: String,
        /// Its folder.
        folder: PathBuf,
        /// Cargo's and rustc's diagnostics.
        output: String,
    },
    /// There are no tools for Python, JavaScript or Go.
    #[error("plugin `{package}` cannot be built: {source}")]
    ScriptTool {
        /// The project's name.
        package: String,
        /// Why, and advice.
        source: Arc<ScriptToolError>,
    },
    /// A script or a program has errors, cannot be imported, or declares no inputs and outputs.
    #[error("plugin `{package}` in {} does not build:\n{output}", folder.display())]
    Script {
        /// The project's name.
        package: String,
        /// Its folder.
        folder: PathBuf,
        /// The errors with their places.
        output: String,
    },
    /// There is no compiler for C or C++.
    #[error("plugin `{package}` cannot be built: {source}")]
    CTool {
        /// The project's name.
        package: String,
        /// Everything that is missing, with its packages.
        source: Box<CToolError>,
    },
    /// The project's sources do not compile, or are no executor.
    #[error("plugin `{package}` in {} does not build:\n{output}", folder.display())]
    C {
        /// The project's name.
        package: String,
        /// Its folder.
        folder: PathBuf,
        /// The compiler's diagnostics, or what is wrong with the declarations.
        output: String,
    },
    /// Cargo, clang or a tool of another language could not be run to its end.
    #[error("plugin `{package}`: {source}")]
    Process {
        /// The crate's name.
        package: String,
        /// Why.
        source: Arc<ProcessError>,
    },
    /// The folder for what is built cannot be written.
    #[error("plugin `{package}`: {}: {source}", target_dir.display())]
    TargetDir {
        /// The crate's name.
        package: String,
        /// The workspace's target directory, or the project's folder `build`.
        target_dir: PathBuf,
        /// The system's reason.
        source: Arc<io::Error>,
    },
}

/// Builds one plugin folder with a toolchain at hand. Blocks.
///
/// # Errors
/// [`BuildError`].
pub fn build_plugin(
    folder: &Path,
    toolchain: &Toolchain,
    progress: &dyn Progress,
) -> Result<Artefact, BuildError> {
    match folder::read(folder)? {
        Folder::Component { name, wasm } => Ok(Artefact { name, wasm }),
        Folder::Crate(guest) => cargo::build_one(guest, toolchain, progress),
        Folder::Script(project) => {
            let made = made_of(&project);
            build_projects(&[project], progress).pop().unwrap_or(Ok(made))
        }
        Folder::C(project) => build_c(&project, progress),
    }
}

/// Builds plugin folders, those of one workspace in one go; the answers are in the order of the folders. Blocks.
///
/// The toolchain is found, and if need be prepared, for each workspace: it may pin its own.
pub fn build_plugins<P: AsRef<Path>>(
    folders: &[P],
    progress: &dyn Progress,
) -> Vec<Result<Artefact, BuildError>> {
    build_all(folders, progress, false)
}

/// Like [`build_plugins`], but builds only folders that [`artefact_if_fresh`] has no answer for.
pub fn bring_up_to_date<P: AsRef<Path>>(
    folders: &[P],
    progress: &dyn Progress,
) -> Vec<Result<Artefact, BuildError>> {
    build_all(folders, progress, true)
}

fn build_all<P: AsRef<Path>>(
    folders: &[P],
    progress: &dyn Progress,
    only_stale: bool,
) -> Vec<Result<Artefact, BuildError>> {
    let (mut answers, mut projects) = (BTreeMap::new(), Vec::new());
    let mut workspaces: BTreeMap<PathBuf, Vec<(usize, GuestCrate)>> = BTreeMap::new();
    for (at, folder) in folders.iter().enumerate() {
        match folder::read(folder.as_ref()) {
            Ok(Folder::Component { name, wasm }) => drop(answers.insert(at, Ok(Artefact { name, wasm }))),
            Ok(Folder::Crate(guest)) if only_stale && is_fresh(&guest) => {
                answers.insert(at, Ok(guest.finished()));
            }
            Ok(Folder::Crate(guest)) => workspaces.entry(guest.root.clone()).or_default().push((at, guest)),
            Ok(Folder::Script(project)) if only_stale && languages::is_fresh(&project) => {
                answers.insert(at, Ok(made_of(&project)));
            }
            Ok(Folder::Script(project)) => projects.push((at, project)),
            Ok(Folder::C(project)) if only_stale && c::is_fresh(&project) => {
                answers.insert(at, Ok(c_artefact(&project)));
            }
            Ok(Folder::C(project)) => drop(answers.insert(at, build_c(&project, progress))),
            Err(error) => drop(answers.insert(at, Err(error.into()))),
        }
    }
    for (root, members) in workspaces {
        let (places, guests): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        answers.extend(places.into_iter().zip(build_workspace(&root, &guests, progress)));
    }
    let (places, projects): (Vec<_>, Vec<_>) = projects.into_iter().unzip();
    answers.extend(places.into_iter().zip(build_projects(&projects, progress)));
    answers.into_values().collect()
}

fn build_workspace(
    root: &Path,
    guests: &[GuestCrate],
    progress: &dyn Progress,
) -> Vec<Result<Artefact, BuildError>> {
    match Toolchain::find_or_prepare(root, progress) {
        Ok(toolchain) => cargo::build(guests, &toolchain, progress),
        Err(source) => {
            let source = Arc::new(source);
            let failed = |guest: &GuestCrate| {
                Err(BuildError::Toolchain { package: guest.package.clone(), source: Arc::clone(&source) })
            };
            guests.iter().map(failed).collect()
        }
    }
}

/// Builds projects in Python, JavaScript and Go one after the other, with the tools of their languages.
fn build_projects(projects: &[ScriptProject], progress: &dyn Progress) -> Vec<Result<Artefact, BuildError>> {
    let tools = Tools::default();
    let build = |project: &ScriptProject| {
        let package = project.name.clone();
        tools.build(project, progress).map(|()| made_of(project)).map_err(|error| match error {
            LanguageError::Tools(source) => BuildError::ScriptTool { package, source },
            LanguageError::Build(ScriptFailure::Said(output)) => {
                BuildError::Script { package, folder: project.folder.clone(), output }
            }
            LanguageError::Build(ScriptFailure::Process(source)) => {
                BuildError::Process { package, source: Arc::new(source) }
            }
            LanguageError::Build(ScriptFailure::File(source)) => {
                let target_dir = project.build_dir();
                BuildError::TargetDir { package, target_dir, source: Arc::new(source) }
            }
        })
    };
    projects.iter().map(build).collect()
}

fn made_of(project: &ScriptProject) -> Artefact {
    Artefact { name: project.name.clone(), wasm: project.artefact() }
}

fn build_c(project: &CProject, progress: &dyn Progress) -> Result<Artefact, BuildError> {
    let package = project.name.clone();
    let tool = match c::Tool::find(project.has_cpp()) {
        Ok(tool) => tool,
        Err(source) => return Err(BuildError::CTool { package, source: Box::new(source) }),
    };
    c::build(project, &tool, progress).map(|()| c_artefact(project)).map_err(|failure| match failure {
        ScriptFailure::Said(output) => BuildError::C { package, folder: project.folder.clone(), output },
        ScriptFailure::Process(source) => BuildError::Process { package, source: Arc::new(source) },
        ScriptFailure::File(source) => {
            BuildError::TargetDir { package, target_dir: project.build_dir(), source: Arc::new(source) }
        }
    })
}

fn c_artefact(project: &CProject) -> Artefact {
    Artefact { name: project.name.clone(), wasm: project.built("wasm") }
}
