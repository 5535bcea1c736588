//! Connections to a store file, with their settings.

use std::{
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, Result};

use super::{
    super::{Migration, StoreError, migration::FORMAT},
    checksum,
    fault::Fault,
    format::{FORMATS, migrate, recognise},
};

/// Largest size of a record: well below the limit of SQLite (10^9), far above the record of a step.
pub(super) const MAX_RECORD_BYTES: usize = 256 << 20;

const PAGE_BYTES: i64 = 4096;
/// Size of the page cache of each connection.
const CACHE_KIB: i64 = 16 << 10;
/// The log is folded into the file once it has this many pages.
const LOG_PAGES: i64 = 1000;

/// So long another process is waited for that writes: one that submits, or a person with another tool.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Pause between two looks at a file whose tables another process makes.
const PAUSE: Duration = Duration::from_millis(10);
/// Statements that a connection keeps prepared: more than there are.
const STATEMENTS: usize = 64;

/// Hosts that share the writing connection. All other hosts that had runs are gone, as the file has one writer at a time.
const HOSTS: &str = "CREATE TEMP TABLE hosts (host TEXT NOT NULL PRIMARY KEY, until INTEGER NOT NULL)";

pub(super) fn open_writer(
    path: &Path,
    max_pages: Option<u32>,
    migration: Migration,
) -> Result<Connection, StoreError> {
    let failed = |error| at(error, path);
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    let found = recognise(&connection, path)?;
    if (1..FORMAT).contains(&found) && migration == Migration::Refuse {
        return Err(StoreError::Older { path: path.into(), found, known: FORMAT });
    }
    if !configure(&connection).map_err(failed)? {
        let reason = "the file system lacks what SQLite's write-ahead log needs";
        return Err(StoreError::io(path, "kept durable", io::Error::new(io::ErrorKind::Unsupported, reason)));
    }
    migrate(&connection, found, &FORMATS).map_err(failed)?;
    connection.execute_batch(HOSTS).map_err(failed)?;
    if let Some(pages) = max_pages {
        connection.pragma_update(None, "max_page_count", pages).map_err(failed)?;
    }
    Ok(connection)
}

/// Opens a file that another process holds, and has migrated, to write to it as well.
pub(super) fn open_beside(path: &Path) -> Result<Connection, StoreError> {
    let failed = |error| at(error, path);
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    refuse_older(&connection, path)?;
    configure(&connection).map_err(failed)?;
    connection.execute_batch(HOSTS).map_err(failed)?;
    Ok(connection)
}

/// Opens a file to read it. One of an older format is migrated by the process that writes to it.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| at(error, path))?;
    refuse_older(&connection, path)?;
    Ok(connection)
}

/// Refuses a file of an older format, and one without tables. A process that has just created the file is waited for until it has made
/// them.
fn refuse_older(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let begun = Instant::now();
    loop {
        match recognise(connection, path)? {
            FORMAT.. => return Ok(()),
            0 if begun.elapsed() < PATIENCE => thread::sleep(PAUSE),
            0 => return Err(StoreError::foreign_file(path, "it is empty")),
            found => return Err(StoreError::Older { path: path.into(), found, known: FORMAT }),
        }
    }
}

fn at(error: rusqlite::Error, path: &Path) -> StoreError {
    Fault::Sqlite(error).at(path, "opened")
}

/// Opens without touching the file.
fn connect(path: &Path, mode: OpenFlags) -> Result<Connection> {
    // Each connection is with one thread at a time, and a path is never read as a URI.
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    checksum::define(&connection)?;
    connection.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;",
    )?;
    Ok(connection)
}

/// Durable on every commit (R-D2), readers beside the writer; false where the file system does not allow it.
fn configure(connection: &Connection) -> Result<bool> {
    // Only an empty file takes these two. Space that pruning frees can be returned to the file system.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let mode: String = connection.query_one("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;",
    )?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", LOG_PAGES * PAGE_BYTES * 2)?;
    Ok(mode == "wal")
}
