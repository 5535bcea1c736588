//! The store's file and the lock beside it.

use std::{
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process,
};

use phasm_files::{FileUse, open_own};

use super::super::StoreError;

/// Message about a file without SQLite's header.
pub(super) const NOT_SQLITE: &str = "it is not an SQLite file";
/// The size of that header.
const SQLITE_HEADER: u64 = 100;

/// The real path of `path`, so that two names of one store share one lock.
///
/// A file that exists is never opened here: closing it would release the locks SQLite holds on it in this process.
pub(super) fn find_or_create(path: &Path) -> Result<PathBuf, StoreError> {
    let failed = |source: io::Error| StoreError::io(path, create_action(&source), source);
    match private().write(true).create_new(true).open(path) {
        Ok(_) => {}
        Err(exists) if exists.kind() == io::ErrorKind::AlreadyExists => {}
        Err(source) => return Err(failed(source)),
    }
    fit(path, failed)
}

/// The real path of a file that is there.
pub(super) fn find(path: &Path) -> Result<PathBuf, StoreError> {
    fit(path, |source| StoreError::io(path, "opened", source))
}

fn fit(path: &Path, failed: impl Fn(io::Error) -> StoreError) -> Result<PathBuf, StoreError> {
    let found = fs::canonicalize(path).map_err(&failed)?;
    match unfit(&fs::metadata(&found).map_err(&failed)?) {
        Some(what) => Err(StoreError::foreign_file(found, what)),
        None => Ok(found),
    }
}

fn unfit(file: &Metadata) -> Option<&'static str> {
    if file.is_dir() {
        Some("it is a directory")
    } else if !file.is_file() {
        Some("it is not a regular file")
    } else if (1..SQLITE_HEADER).contains(&file.len()) {
        // SQLite would take a file of one byte for an empty one.
        Some(NOT_SQLITE)
    } else {
        None
    }
}

fn create_action(source: &io::Error) -> &'static str {
    if source.kind() == io::ErrorKind::NotFound {
        return "created, as its directory does not exist";
    }
    "opened or created"
}

/// Options for files that only their owner may read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A new, empty file that only its owner may read.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    private().write(true).create_new(true).open(path)
}

fn lock_of(store: &Path) -> PathBuf {
    store.with_added_extension("lock")
}

/// Returns whether a process has the lock of that store. A shared lock is refused while there is an exclusive one.
pub(super) fn is_locked(store: &Path) -> bool {
    let Ok(lock) = open_own(&lock_of(store), FileUse::Read) else { return false };
    let tried = lock.try_lock_shared();
    drop(lock.unlock());
    matches!(tried, Err(TryLockError::WouldBlock))
}

/// Held until dropped, or until the process dies in whatever way.
pub(super) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Locks `<store>.lock` and writes this process's id into it.
    pub(super) fn take(store: &Path) -> Result<Self, StoreError> {
        let path = lock_of(store);
        let failed = |source| StoreError::io(&path, "locked", source);
        let mut file = open_own(&path, FileUse::Write).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { path: store.into(), pid: written_in(&mut file) });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        file.set_len(0).and_then(|()| writeln!(file, "{}", process::id())).map_err(failed)?;
        Ok(Self { path, file })
    }

    /// For a file that turned out to be no store; removing the lock of one would let two processes in.
    pub(super) fn leave_nothing_behind(&self) {
        drop(fs::remove_file(&self.path));
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a process that is being started right now holds a copy of the descriptor until it has
        // become another program. Where unlocking fails, closing does it a moment later.
        drop(self.file.unlock());
    }
}

fn written_in(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    lock.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
