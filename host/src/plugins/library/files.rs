//! The files of a library: whole or not there, and one writer at a time.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::SystemTime,
};

use super::LibraryError;
use phasm_files::{FileUse, open_own};
use phasm_sandbox::Digest;

/// Held while a library is changed; the system lets go of it however its process ends.
pub(super) struct LibraryLock {
    _file: File,
}

impl LibraryLock {
    /// Waits for the lock. Creates the library if there is none.
    pub(super) fn take(dir: &Path) -> Result<Self, LibraryError> {
        let path = dir.join("lock");
        let taken = private_dir(&dir.join("blobs")).and_then(|()| {
            let file = open_own(&path, FileUse::Write)?;
            file.lock()?;
            Ok(file)
        });
        taken.map(|file| Self { _file: file }).map_err(failed(&path))
    }
}

/// When, how long and which file the index is: it is another after each change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileMark {
    changed: Option<SystemTime>,
    length: u64,
    inode: u64,
}

/// The mark of a file; none if there is no file.
pub(crate) fn mark(path: &Path) -> Option<FileMark> {
    let found = fs::metadata(path).ok()?;
    Some(FileMark { changed: found.modified().ok(), length: found.len(), inode: inode(&found) })
}

#[cfg(unix)]
fn inode(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}

/// Where a component lies.
pub(super) fn blob(dir: &Path, digest: &Digest) -> PathBuf {
    dir.join("blobs").join(digest.to_string().replace(':', "-")).with_extension("wasm")
}

/// All components, and what adding one has left behind.
pub(super) fn blobs(dir: &Path) -> Result<Vec<PathBuf>, LibraryError> {
    let dir = dir.join("blobs");
    let entries = fs::read_dir(&dir).and_then(|all| all.map(|entry| Ok(entry?.path())).collect());
    entries.map_err(failed(&dir))
}

/// Writes a file atomically: readers see the old or the new contents, also after a machine failure.
pub(super) fn put(path: &Path, bytes: &[u8]) -> Result<(), LibraryError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Relaxed);
    let partial = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
    let written = write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    written.map_err(failed(path)).inspect_err(|_| {
        let _ = fs::remove_file(&partial);
    })
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Left behind by a process of the same number that was killed.
    let _ = fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// False if it was not there.
pub(super) fn delete(path: &Path) -> Result<bool, LibraryError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed(path)(error)),
    }
}

pub(super) fn failed(path: &Path) -> impl FnOnce(io::Error) -> LibraryError {
    let path = path.to_owned();
    move |source| LibraryError::File { path, source }
}

/// A directory that others cannot write, where it is made here.
#[cfg(unix)]
fn private_dir(dir: &Path) -> io::Result<()> {
    std::os::unix::fs::DirBuilderExt::mode(fs::DirBuilder::new().recursive(true), 0o700).create(dir)
}

#[cfg(not(unix))]
fn private_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}
