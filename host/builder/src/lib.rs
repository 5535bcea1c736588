//! Builds plugin folders to components, with nothing to prepare by hand.
//!
//! ```text
//! folder ─▶ fresh? ─yes──────────────────────────────────────────────▶ artefact
//!             │ no                                                        ▲
//!             └▶ toolchain: installed, else rustup, else a private one ─▶ cargo
//! ```
//!
//! A plugin is a Rust crate, built for `wasm32-wasip2` in its workspace's own target directory, or a finished component, which is
//! used as it is.

mod cache;
mod cargo;
mod depinfo;
mod environment;
mod folder;
mod freshness;
mod process;
mod progress;
mod toolchain;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use self::{
    cache::CacheError,
    cargo::LINKER_FLAGS,
    folder::FolderError,
    freshness::artefact_if_fresh,
    process::ProcessError,
    progress::Progress,
    toolchain::{Failure, Toolchain, ToolchainError},
};
use self::{
    folder::{Folder, GuestCrate},
    freshness::is_fresh,
};

/// A plugin's component on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artefact {
    /// The crate's name; a finished component's file name without `.wasm`.
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
    /// Cargo could not be run to its end.
    #[error("plugin `{package}`: {source}")]
    Process {
        /// The crate's name.
        package: String,
        /// Why.
        source: Arc<ProcessError>,
    },
    /// The target directory cannot be written.
    #[error("plugin `{package}`: {}: {source}", target_dir.display())]
    TargetDir {
        /// The crate's name.
        package: String,
        /// The workspace's target directory.
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
    }
}

/// Builds plugin folders, those of one workspace in one go; the answers are in the order of the folders. Blocks.
///
/// The toolchain is found, and if need be prepared, for each workspace: it may pin its own.
pub fn build_plugins<P: AsRef<Path>>(
    folders: &[P],
    progress: &dyn Progress,
) -> Vec<Result<Artefact, BuildError>> {
    build_all(folders, progress, |_| false)
}

/// Like [`build_plugins`], but runs cargo only for folders that [`artefact_if_fresh`] has no answer for.
pub fn bring_up_to_date<P: AsRef<Path>>(
    folders: &[P],
    progress: &dyn Progress,
) -> Vec<Result<Artefact, BuildError>> {
    build_all(folders, progress, is_fresh)
}

fn build_all<P: AsRef<Path>>(
    folders: &[P],
    progress: &dyn Progress,
    skip: impl Fn(&GuestCrate) -> bool,
) -> Vec<Result<Artefact, BuildError>> {
    let mut answers = BTreeMap::new();
    let mut workspaces: BTreeMap<PathBuf, Vec<(usize, GuestCrate)>> = BTreeMap::new();
    for (at, folder) in folders.iter().enumerate() {
        match folder::read(folder.as_ref()) {
            Ok(Folder::Component { name, wasm }) => drop(answers.insert(at, Ok(Artefact { name, wasm }))),
            Ok(Folder::Crate(guest)) if skip(&guest) => drop(answers.insert(at, Ok(guest.finished()))),
            Ok(Folder::Crate(guest)) => workspaces.entry(guest.root.clone()).or_default().push((at, guest)),
            Err(error) => drop(answers.insert(at, Err(error.into()))),
        }
    }
    for (root, members) in workspaces {
        let (places, guests): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        answers.extend(places.into_iter().zip(build_workspace(&root, &guests, progress)));
    }
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
