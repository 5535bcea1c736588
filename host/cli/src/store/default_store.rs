//! The store of a user who names none.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::order::ORDER;
use crate::{
    failure::{ContextError, Failure},
    paths::{self, SERVER, STORE},
    user_dirs,
};

const DEFAULT_STORE: &str = "runs.db";

/// Returns the default store of commands and servers, in the user's data directory.
///
/// # Errors
/// When there is no such directory, and none can be made.
pub(crate) fn default_store() -> Result<PathBuf, Failure> {
    Ok(own_dir()?.join(DEFAULT_STORE))
}

/// Whether this is the default store, and no variable of the environment names another store or a server.
pub(crate) fn is_used_unless_named(store: &Path) -> bool {
    let is_default = user_dirs::data_dir().is_some_and(|dir| dir.join(DEFAULT_STORE) == store);
    is_default && [STORE, SERVER].into_iter().all(|name| paths::set(name).is_none())
}

/// Returns the user's data directory, and makes it if it is not there.
///
/// # Errors
/// When there is no place for it, or it cannot be made.
pub(crate) fn own_dir() -> Result<PathBuf, Failure> {
    let dir = user_dirs::data_dir().ok_or_else(|| nowhere("--store FILE"))?;
    let unmade = |error| Failure::host(ContextError::new(format!("{} cannot be made", dir.display()), error));
    fs::create_dir_all(&dir).map_err(unmade)?;
    Ok(dir)
}

/// Error of a user without a data directory.
pub(crate) fn nowhere(expected: &str) -> Failure {
    Failure::call(format!(
        "there is no place for it: neither XDG_DATA_HOME nor HOME is set; expected {expected}. {ORDER}"
    ))
}
