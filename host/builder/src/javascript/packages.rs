//! The packages of a project, installed by npm.

use std::path::Path;

use super::tool::npm;
use crate::{
    folder::{JavaScriptSources, ScriptProject},
    process::{self, BUILD_LIMIT},
    progress::Progress,
    script::Failure,
};

/// Installs the project's packages if one of them is missing.
pub(super) fn install(
    project: &ScriptProject,
    sources: &JavaScriptSources,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let folder = &project.folder;
    if sources.packages.iter().all(|package| is_installed(folder, package)) {
        return Ok(());
    }
    // A lock file is followed to the letter where there is nothing that could be kept.
    let is_clean = folder.join("package-lock.json").is_file() && !folder.join("node_modules").is_dir();
    let action = if is_clean { "ci" } else { "install" };
    progress.step(&format!("installing the packages of {} with `npm {action}`", project.name));
    let mut npm = npm(folder, action).map_err(|error| Failure::Said(error.to_string()))?;
    process::run(&mut npm, BUILD_LIMIT, progress)?;
    Ok(())
}

/// Looks for a package as Node.js does: in the folder and in those around it.
fn is_installed(folder: &Path, package: &str) -> bool {
    folder.ancestors().any(|dir| dir.join("node_modules").join(package).is_dir())
}
