//! Errors inside the SQLite store, before the file is added to them.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::{
    Error, ErrorCode,
    ffi::{SQLITE_FULL, SQLITE_IOERR_SHMSIZE},
};

use super::super::{StoreError, migration::FORMAT};

/// Why one append or one question failed.
pub(super) enum Fault {
    /// This one request cannot be served; nothing was written for it.
    Refused(StoreError),
    /// The rows contradict each other.
    Damaged(String),
    /// One row is not as it was written. Other requests are served.
    BadRow(String),
    /// The file needs this format or a later one.
    Newer(i64),
    /// SQLite failed.
    Sqlite(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Fault {
    fn from(refused: StoreError) -> Self {
        Self::Refused(refused)
    }
}

impl Fault {
    /// Returns the fault of a row that is not as it was written.
    pub(super) fn bad_row(what: &str) -> Self {
        Self::BadRow(format!("{what} is damaged: its checksum differs"))
    }

    pub(super) fn at(self, path: &Path, action: &'static str) -> StoreError {
        match self {
            Self::Refused(refused) => refused,
            Self::Damaged(found) | Self::BadRow(found) => StoreError::Corrupt { path: path.into(), found },
            Self::Newer(found) => StoreError::Newer { path: path.into(), found, known: FORMAT },
            Self::Sqlite(error) => sqlite(error, path, action),
        }
    }
}

fn sqlite(error: Error, path: &Path, action: &'static str) -> StoreError {
    match error.sqlite_error_code() {
        Some(_) if is_full(&error) => StoreError::Full { path: path.into() },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => corrupt(&error, path),
        // SQLite accepted the value, but this store does not write such values.
        None => corrupt(&error, path),
        Some(_) => StoreError::io(path, action, io::Error::other(error)),
    }
}

/// The index of the log, which is shared memory in a file, grows before the log does.
fn is_full(error: &Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code.is_some_and(|code| [SQLITE_FULL, SQLITE_IOERR_SHMSIZE].contains(&code))
}

fn corrupt(error: &Error, path: &Path) -> StoreError {
    StoreError::Corrupt { path: path.into(), found: error.to_string() }
}

impl StoreError {
    /// A file that is no store.
    pub(super) fn foreign_file(path: impl Into<PathBuf>, found: impl Into<String>) -> Self {
        Self::Foreign {
            path: path.into(),
            found: found.into(),
            instead: "file, or one that does not exist yet",
        }
    }

    pub(super) fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            return Self::Full { path: path.into() };
        }
        Self::Io { path: path.into(), action, source: Arc::new(source) }
    }
}
