//! The tables of a file, and how the file is recognised as a store.

use std::{io, path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, Result};

use super::{super::StoreError, fault::Fault, file::NOT_SQLITE};

/// "PHAS": marks a Phasm store among SQLite files.
const APPLICATION: i64 = 0x5048_4153;
/// "PHSM": marked the stores of development versions before 0.1.0, whose formats are not read.
const DEVELOPMENT: i64 = 0x5048_534d;

/// Steps of the formats: each changes a file of the format before, the first an empty one. A new step raises the format, so that
/// versions that do not know it leave the file alone.
const FORMATS: [&str; 1] = [include_str!("schema.sql")];
const FORMAT: i64 = 1;
const _: () = assert!(FORMATS.len() == FORMAT as usize);

const PAGE_BYTES: i64 = 4096;
/// Kept of the file in memory by each connection.
const CACHE_KIB: i64 = 16 << 10;
/// The log is folded into the file once it has this many pages.
const LOG_PAGES: i64 = 1000;

/// So long another process is waited for that writes: one that submits, or a person with another tool.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Statements that a connection keeps prepared: more than there are.
const STATEMENTS: usize = 64;

/// The hosts that share the writing connection: whoever else had a run is gone, as the file has one writer at a time.
const HOSTS: &str = "CREATE TEMP TABLE hosts (host TEXT NOT NULL PRIMARY KEY, until INTEGER NOT NULL)";

pub(super) fn open_writer(path: &Path, max_pages: Option<u32>) -> Result<Connection, StoreError> {
    let failed = |error| at(error, path);
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    let found = recognise(&connection, path)?;
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
    let found = recognise(&connection, path)?;
    if found != FORMAT {
        return Err(StoreError::Older { path: path.into(), found, known: FORMAT });
    }
    configure(&connection).map_err(failed)?;
    connection.execute_batch(HOSTS).map_err(failed)?;
    Ok(connection)
}

/// Opens a file to read it. One of an older format is migrated by the process that writes to it.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| at(error, path))?;
    match recognise(&connection, path)? {
        0 => Err(StoreError::Foreign { path: path.into(), found: "it is empty".into() }),
        FORMAT => Ok(connection),
        older => Err(StoreError::Older { path: path.into(), found: older, known: FORMAT }),
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
    connection.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;",
    )?;
    Ok(connection)
}

/// Returns the format of the file, 0 for an empty one.
///
/// # Errors
/// Unless the file is empty or a store of a known format.
fn recognise(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let foreign = |found: &str| Err(StoreError::Foreign { path: path.into(), found: found.into() });
    let read = || -> Result<(i64, i64, i64)> {
        let application = connection.pragma_query_one(None, "application_id")?;
        let format = connection.pragma_query_one(None, "user_version")?;
        let tables = connection.query_one("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((application, format, tables))
    };
    match read() {
        Ok((0, 0, 0)) => Ok(0),
        Ok((APPLICATION, format @ 1..=FORMAT, _)) => Ok(format),
        Ok((APPLICATION, found, _)) if found > FORMAT => {
            Err(StoreError::Newer { path: path.into(), found, known: FORMAT })
        }
        Ok((APPLICATION, found, _)) => {
            Err(Fault::Damaged(format!("there is no store format {found}")).at(path, "opened"))
        }
        Ok((DEVELOPMENT, ..)) => foreign(
            "it was written by a development version of Phasm before 0.1.0, which this version does not read",
        ),
        Ok(_) => foreign("it is an SQLite file of another application"),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => foreign(NOT_SQLITE),
        Err(error) => Err(at(error, path)),
    }
}

/// Durable on every commit (R-D2), readers beside the writer; false where the file system does not allow it.
fn configure(connection: &Connection) -> Result<bool> {
    // Only an empty file takes these two. What pruning frees can be given back to the file system.
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

/// Brings a file of format `found` to the last of `formats`: all steps or none, so that a file whose process was killed in the middle is
/// of the format that it says.
fn migrate(connection: &Connection, found: i64, formats: &[&str]) -> Result<()> {
    let missing = formats.get(usize::try_from(found).unwrap_or(usize::MAX)..).unwrap_or_default();
    if missing.is_empty() {
        return Ok(());
    }
    let transaction = connection.unchecked_transaction()?;
    for step in missing {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", i64::try_from(formats.len()).unwrap_or(i64::MAX))?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of format 1 keeps its rows on the way to a format 2; a step that fails changes nothing.
    #[test]
    fn a_file_is_migrated_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.db");
        std::fs::write(&path, "").unwrap();
        let connection = open_writer(&path, None).unwrap();
        connection.execute("INSERT INTO tenants VALUES ('kept')", []).unwrap();
        let state = || -> (i64, i64, String) {
            let format = connection.pragma_query_one(None, "user_version").unwrap();
            let columns = "SELECT count(*) FROM pragma_table_info('tenants')";
            let columns = connection.query_one(columns, [], |row| row.get(0)).unwrap();
            (format, columns, connection.query_one("SELECT text FROM tenants", [], |row| row.get(0)).unwrap())
        };
        let first = FORMATS.first().unwrap();
        let add = "ALTER TABLE tenants ADD COLUMN noted INTEGER;";
        migrate(&connection, 1, &[first, "ALTER TABLE tenants ADD COLUMN noted INTEGER; SELECT no_such();"])
            .unwrap_err();
        assert_eq!(state(), (1, 1, "kept".to_owned()));
        migrate(&connection, 1, &[first, add]).unwrap();
        assert_eq!(state(), (2, 2, "kept".to_owned()));
        migrate(&connection, 2, &[first, add]).unwrap();
        drop(connection);
        let newer = open_writer(&path, None).unwrap_err();
        assert!(matches!(newer, StoreError::Newer { found: 2, known: 1, .. }), "{newer:?}");
    }
}
