//! The files of a new plugin, by language.

pub(super) mod c;
pub(super) mod go;
pub(super) mod javascript;
pub(super) mod python;
pub(super) mod rust;
mod shared;

use std::path::{Path, PathBuf};

use crate::failure::{ContextError, Failure};

/// Returns a path that does not depend on the working directory.
///
/// # Errors
/// When it is none, such as an empty one.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::call(ContextError::new(format!("{} is not a path", path.display()), error)))
}
