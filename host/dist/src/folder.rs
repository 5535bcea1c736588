//! Folders that packages are made of.

use std::{
    fs::{self, FileTimes, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    time::{Duration, SystemTime},
};

use crate::DistResult;

/// Time of every file in a package, in seconds: the same content gives the same package. A zip file knows none before 1980.
pub(crate) const TIME: u64 = 1_577_836_800;

/// Makes `path` an empty folder.
pub(crate) fn make_empty(path: &Path) -> DistResult {
    if path.exists() {
        fs::remove_dir_all(path)?;
    }
    Ok(fs::create_dir_all(path)?)
}

/// Copies a file to `to`, with its folders and these permissions.
pub(crate) fn copy(from: &Path, to: &Path, mode: u32) -> DistResult {
    write(to, &fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?, mode)
}

/// Writes a file, with its folders and these permissions.
pub(crate) fn write(to: &Path, content: &[u8], mode: u32) -> DistResult {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(to, content)?;
    set_mode(to, mode)
}

/// Sets the permissions of a file or folder.
pub(crate) fn set_mode(path: &Path, mode: u32) -> DistResult {
    Ok(fs::set_permissions(path, Permissions::from_mode(mode))?)
}

/// Sets the time of everything below `dir`, and the permissions of folders.
pub(crate) fn settle(dir: &Path) -> DistResult {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            settle(&path)?;
        } else {
            set_time(&path)?;
        }
    }
    fs::set_permissions(dir, Permissions::from_mode(0o755))?;
    set_time(dir)
}

fn set_time(path: &Path) -> DistResult {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(TIME);
    Ok(fs::File::open(path)?.set_times(FileTimes::new().set_modified(time).set_accessed(time))?)
}
