//! Tools that turn scripts into components, installed once for the user in the cache folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    cache::{self, CacheError},
    process::ProcessError,
    progress::Progress,
};

/// Written when everything is installed.
const COMPLETE: &str = "complete";

/// Why there are no tools for a language.
#[derive(Debug, thiserror::Error)]
pub enum ScriptToolError {
    /// A program of the language is missing, too old or incomplete.
    #[error("{message}")]
    Language {
        /// The program, and how to install it.
        message: String,
    },
    /// The packages could not be installed.
    #[error(
        "{tools} cannot be installed: {source}\nLet {installer} reach its package index, or put {tools} on PATH"
    )]
    Install {
        /// The packages with their versions.
        tools: String,
        /// The program that installs them.
        installer: &'static str,
        /// Why.
        source: ProcessError,
    },
    /// The tools have no place.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A folder of the cache cannot be emptied or written.
    #[error("{}: {source}", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Returns the folder `name` of the language's folder in the cache, once `make` has filled it. Blocks while another process does.
///
/// # Errors
/// [`ScriptToolError`].
pub(crate) fn installed_once(
    language: &str,
    name: &str,
    progress: &dyn Progress,
    make: impl FnOnce(&Path) -> Result<(), ScriptToolError>,
) -> Result<PathBuf, ScriptToolError> {
    let home = cache::dir()?.join(language);
    let dir = home.join(name);
    let is_complete = || dir.join(COMPLETE).is_file();
    if is_complete() {
        return Ok(dir);
    }
    let _lock = cache::lock(&home, "installs the same tools", progress)?;
    // Another process may have done it while this one waited.
    if is_complete() {
        return Ok(dir);
    }
    let at_dir = |source| ScriptToolError::Write { path: dir.clone(), source };
    // One that is not complete was interrupted.
    if dir.exists() {
        fs::remove_dir_all(&dir).map_err(at_dir)?;
    }
    make(&dir)?;
    fs::write(dir.join(COMPLETE), "").map_err(at_dir)?;
    Ok(dir)
}
