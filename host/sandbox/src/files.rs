//! Private files, and files that appear as a whole.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Writes `bytes` to `path` so that every reader sees the old file or the new one.
#[cfg(feature = "compile")]
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = write_temporary(path, bytes)?;
    fs::rename(&temporary, path).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// Writes `bytes` to a new private file in the directory of `path`.
pub(super) fn write_temporary(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Relaxed);
    let temporary = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
    // A leftover of a killed process with the same id.
    let _ = fs::remove_file(&temporary);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&temporary)?.write_all(bytes)?;
    Ok(temporary)
}

/// Makes a directory private to its owner, whether it is new or exists.
#[cfg(all(unix, feature = "compile"))]
pub(super) fn private_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    if fs::metadata(dir)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(all(not(unix), feature = "compile"))]
pub(super) fn private_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

/// Returns whether a file belongs to this user and other users can neither read nor change it.
#[cfg(unix)]
pub(super) fn is_private(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = file.metadata()?;
    Ok(metadata.mode() & 0o077 == 0 && metadata.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
pub(super) fn is_private(_: &File) -> io::Result<bool> {
    Ok(true)
}
