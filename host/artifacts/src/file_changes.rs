//! Changes of files that may have been made before.

use std::{fs, io, path::Path};

/// Returns success also where there was nothing to remove.
///
/// # Errors
/// The error of a removal that failed.
pub(crate) fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Makes a file one to be read only.
///
/// # Errors
/// Fails when the file is missing, or of another user.
pub(crate) fn read_only(path: &Path) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions)
}
