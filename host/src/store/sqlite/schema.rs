//! The tables, and how a file is recognised as ours.

use std::{io, path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, Result};

use super::{super::StoreError, fault::Fault, file::NOT_SQLITE};

/// "PHSM": tells a Phasm store from every other SQLite file.
const APPLICATION: i64 = 0x5048_534d;
/// Raised whenever a Phasm that knows only the format before could misread the file.
const FORMAT: i64 = 2;
/// Of files from before components were kept.
const WITHOUT_COMPONENTS: i64 = 1;

const PAGE_BYTES: i64 = 4096;
/// Kept of the file in memory by each connection.
const CACHE_KIB: i64 = 16 << 10;
/// The log is folded into the file once it has this many pages.
const LOG_PAGES: i64 = 1000;

const TABLES: &str = "
    CREATE TABLE runs (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        workflow TEXT NOT NULL,
        namespace TEXT NOT NULL,
        priority INTEGER NOT NULL,
        submitted_at INTEGER NOT NULL,
        phase TEXT NOT NULL,
        finished_at INTEGER,
        open INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        last_record INTEGER
    ) STRICT;
    CREATE INDEX open_runs ON runs (priority DESC, number) WHERE open;
    CREATE TABLE journal (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL,
        previous INTEGER,
        first_seq INTEGER NOT NULL,
        events INTEGER NOT NULL,
        time INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT;";

/// The components that runs were submitted with. A large row has pages of its own, so that they are in nobody's way.
const COMPONENTS: &str = "
    CREATE TABLE components (
        digest TEXT NOT NULL PRIMARY KEY,
        bytes BLOB NOT NULL
    ) STRICT;";

pub(super) fn open_writer(path: &Path, max_pages: Option<u32>) -> Result<Connection, StoreError> {
    let failed = |error| at(error, path);
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    let found = recognise(&connection, path)?;
    if !configure(&connection).map_err(failed)? {
        let reason = "the file system lacks what SQLite's write-ahead log needs";
        return Err(StoreError::io(path, "kept durable", io::Error::new(io::ErrorKind::Unsupported, reason)));
    }
    match found {
        Recognised::Empty => create(&connection, &[TABLES, COMPONENTS]).map_err(failed)?,
        Recognised::WithoutComponents => create(&connection, &[COMPONENTS]).map_err(failed)?,
        Recognised::Ours => {}
    }
    if let Some(pages) = max_pages {
        connection.pragma_update(None, "max_page_count", pages).map_err(failed)?;
    }
    Ok(connection)
}

pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| at(error, path))?;
    if matches!(recognise(&connection, path)?, Recognised::Empty) {
        return Err(StoreError::Foreign { path: path.into(), found: "it is empty".into() });
    }
    Ok(connection)
}

fn at(error: rusqlite::Error, path: &Path) -> StoreError {
    Fault::Sqlite(error).at(path, "opened")
}

/// Opens without touching the file.
fn connect(path: &Path, mode: OpenFlags) -> Result<Connection> {
    // Each connection stays on one thread, and a path is never read as a URI.
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Only a person with another tool can be in the way.
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;",
    )?;
    Ok(connection)
}

/// What a file is.
enum Recognised {
    Empty,
    /// Ours, from before components were kept.
    WithoutComponents,
    Ours,
}

/// What the file is; an error unless it is empty or ours.
fn recognise(connection: &Connection, path: &Path) -> Result<Recognised, StoreError> {
    let foreign = |found: &str| Err(StoreError::Foreign { path: path.into(), found: found.into() });
    let read = || -> Result<(i64, i64, i64)> {
        let application = connection.pragma_query_one(None, "application_id")?;
        let format = connection.pragma_query_one(None, "user_version")?;
        let tables = connection.query_one("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((application, format, tables))
    };
    match read() {
        Ok((0, 0, 0)) => Ok(Recognised::Empty),
        Ok((APPLICATION, WITHOUT_COMPONENTS, _)) => Ok(Recognised::WithoutComponents),
        Ok((APPLICATION, FORMAT, _)) => Ok(Recognised::Ours),
        Ok((APPLICATION, found, _)) if found > FORMAT => {
            Err(StoreError::Newer { path: path.into(), found, known: FORMAT })
        }
        Ok((APPLICATION, found, _)) => {
            Err(Fault::Damaged(format!("there is no store format {found}")).at(path, "opened"))
        }
        Ok(_) => foreign("it is an SQLite file of another application"),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => foreign(NOT_SQLITE),
        Err(error) => Err(at(error, path)),
    }
}

/// Durable on every commit (R-D2), readers beside the writer; false where the file system does not allow it.
fn configure(connection: &Connection) -> Result<bool> {
    // Only an empty file takes it.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    let mode: String = connection.query_one("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;",
    )?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", LOG_PAGES * PAGE_BYTES * 2)?;
    Ok(mode == "wal")
}

fn create(connection: &Connection, tables: &[&str]) -> Result<()> {
    let transaction = connection.unchecked_transaction()?;
    for table in tables {
        transaction.execute_batch(table)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()
}
