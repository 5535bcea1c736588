//! The tables, and how a file is recognised as ours.

use std::{io, path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, Result};

use super::{super::StoreError, fault::Fault, file::NOT_SQLITE};

/// "PHSM": tells a Phasm store from every other SQLite file.
const APPLICATION: i64 = 0x5048_534d;
/// Raised whenever a Phasm that knows only the format before could misread the file.
const FORMAT: i64 = 9;

const PAGE_BYTES: i64 = 4096;
/// Kept of the file in memory by each connection.
const CACHE_KIB: i64 = 16 << 10;
/// The log is folded into the file once it has this many pages.
const LOG_PAGES: i64 = 1000;

/// So long another process is waited for that writes: one that submits, or a person with another tool.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Statements that a connection keeps prepared: more than there are.
const STATEMENTS: usize = 64;

/// What each format added to the one before: the first is that of an empty file.
const FORMATS: [&str; 9] = [RUNS, COMPONENTS, LEASES, DOCUMENTS, NOTES, ENTRIES, ROOM, NOTICES, LESS];

const RUNS: &str = "
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

/// Who has which run, when it is due, its mail and its logs. What was open is due at once. An index holds those rows alone that
/// a question could be about, so that neither runs that have ended nor those that wait for a person are in anybody's way.
const LEASES: &str = "
    ALTER TABLE runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE runs ADD COLUMN owner TEXT;
    ALTER TABLE runs ADD COLUMN wake_at INTEGER;
    ALTER TABLE runs ADD COLUMN key TEXT;
    UPDATE runs SET wake_at = 0 WHERE open;
    CREATE INDEX due_runs ON runs (wake_at) WHERE wake_at IS NOT NULL;
    CREATE INDEX owned_runs ON runs (owner) WHERE owner IS NOT NULL;
    CREATE UNIQUE INDEX submissions ON runs (namespace, key) WHERE key IS NOT NULL;
    ALTER TABLE journal ADD COLUMN checksum INTEGER;
    CREATE TABLE deleted_runs (highest INTEGER NOT NULL) STRICT;
    INSERT INTO deleted_runs VALUES (0);
    CREATE TABLE letters (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL,
        body BLOB NOT NULL,
        reply BLOB
    ) STRICT;
    CREATE INDEX letters_of_run ON letters (run, id);
    CREATE INDEX unanswered ON letters (run) WHERE reply IS NULL;
    CREATE TABLE logs (
        run INTEGER NOT NULL,
        task INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        dispatch INTEGER NOT NULL,
        cut INTEGER NOT NULL,
        text BLOB NOT NULL,
        PRIMARY KEY (run, task, attempt, dispatch)
    ) STRICT, WITHOUT ROWID;";

/// What runs speak of, once each; what a row tells of a run that is not loaded; and what lists and pruning look up. Runs of older
/// formats have what they speak of in their journals: their document is 0.
const DOCUMENTS: &str = "
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        digest TEXT NOT NULL UNIQUE,
        bytes BLOB NOT NULL
    ) STRICT;
    CREATE TABLE needs (
        document INTEGER NOT NULL,
        component TEXT NOT NULL,
        PRIMARY KEY (document, component)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX needed ON needs (component);
    ALTER TABLE runs ADD COLUMN document INTEGER;
    ALTER TABLE runs ADD COLUMN rest INTEGER;
    ALTER TABLE runs ADD COLUMN rests_until INTEGER;
    ALTER TABLE runs ADD COLUMN labels TEXT;
    UPDATE runs SET document = 0;
    CREATE INDEX runs_of_document ON runs (document);
    DROP INDEX due_runs;
    CREATE INDEX due_runs ON runs (wake_at, priority DESC, number) WHERE wake_at IS NOT NULL;
    CREATE INDEX submitted_runs ON runs (submitted_at);
    CREATE INDEX ended_runs ON runs (namespace, finished_at) WHERE NOT open;
    CREATE TABLE labels (
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        run INTEGER NOT NULL,
        PRIMARY KEY (key, value, run)
    ) STRICT, WITHOUT ROWID;";

/// Why a host left a run to others.
const NOTES: &str = "
    ALTER TABLE runs ADD COLUMN note TEXT;
    ALTER TABLE runs ADD COLUMN noted_at INTEGER;";

/// What is kept by a name besides runs, and the texts that it names.
const ENTRIES: &str = "
    CREATE TABLE entries (
        id INTEGER PRIMARY KEY,
        shelf TEXT NOT NULL,
        namespace TEXT NOT NULL,
        name TEXT NOT NULL,
        revision INTEGER NOT NULL,
        due INTEGER,
        body TEXT NOT NULL,
        UNIQUE (shelf, namespace, name)
    ) STRICT;
    CREATE INDEX due_entries ON entries (due, shelf, namespace, name) WHERE due IS NOT NULL;
    CREATE TABLE texts (
        digest TEXT NOT NULL PRIMARY KEY,
        bytes BLOB NOT NULL
    ) STRICT;
    CREATE TABLE mentions (
        shelf TEXT NOT NULL,
        namespace TEXT NOT NULL,
        name TEXT NOT NULL,
        digest TEXT NOT NULL,
        size INTEGER NOT NULL,
        PRIMARY KEY (shelf, namespace, name, digest)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX mentioned ON mentions (digest);
    CREATE TABLE revisions (last INTEGER NOT NULL) STRICT;
    INSERT INTO revisions VALUES (0);";
/// How much is kept of each run, of its records and its logs, and of all of a namespace.
const ROOM: &str = "
    ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE runs SET bytes = kept.bytes
        FROM (SELECT run, sum(length(body)) AS bytes FROM journal GROUP BY run) AS kept WHERE kept.run = number;
    UPDATE runs SET bytes = runs.bytes + kept.bytes
        FROM (SELECT run, sum(length(text)) AS bytes FROM logs GROUP BY run) AS kept WHERE kept.run = number;
    CREATE TABLE stored (
        namespace TEXT NOT NULL PRIMARY KEY,
        bytes INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO stored SELECT namespace, sum(bytes) FROM runs GROUP BY namespace;
    CREATE TABLE tenants (text TEXT NOT NULL) STRICT;
    CREATE TRIGGER begun AFTER INSERT ON runs BEGIN
        INSERT OR IGNORE INTO stored VALUES (NEW.namespace, 0);
    END;
    CREATE TRIGGER grown AFTER UPDATE OF bytes ON runs BEGIN
        UPDATE stored SET bytes = bytes + NEW.bytes - OLD.bytes WHERE namespace = NEW.namespace;
    END;
    CREATE TRIGGER gone AFTER DELETE ON runs BEGIN
        UPDATE stored SET bytes = bytes - OLD.bytes WHERE namespace = OLD.namespace;
    END;";

/// What somebody outside is told of runs. A notice outlives its run until it was delivered, so it names it by its id.
const NOTICES: &str = "
    CREATE TABLE notices (
        run_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        endpoint TEXT NOT NULL,
        revision INTEGER NOT NULL,
        due INTEGER,
        body TEXT NOT NULL,
        PRIMARY KEY (run_id, seq, endpoint)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX due_notices ON notices (endpoint, due, run_id, seq) WHERE due IS NOT NULL;";

/// What each record costs: one index of those that are open, by who has them, and what a namespace keeps is added up by whoever writes, once
/// a transaction.
const LESS: &str = "
    DROP INDEX open_runs;
    DROP INDEX owned_runs;
    CREATE INDEX open_runs ON runs (owner, number) WHERE open;
    DROP TRIGGER begun;
    DROP TRIGGER grown;
    DROP TRIGGER gone;";

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
    bring_up_to_date(&connection, found).map_err(failed)?;
    connection.execute_batch(HOSTS).map_err(failed)?;
    if let Some(pages) = max_pages {
        connection.pragma_update(None, "max_page_count", pages).map_err(failed)?;
    }
    Ok(connection)
}

/// For whoever writes beside the process that holds the file, which has brought it up to date.
pub(super) fn open_beside(path: &Path) -> Result<Connection, StoreError> {
    let failed = |error| at(error, path);
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    let found = recognise(&connection, path)?;
    if found != FORMAT {
        return Err(
            Fault::Damaged(format!("it has store format {found}, expected {FORMAT}")).at(path, "opened")
        );
    }
    configure(&connection).map_err(failed)?;
    connection.execute_batch(HOSTS).map_err(failed)?;
    Ok(connection)
}

/// A file of an older format is brought up to date in memory, as far as readers see it.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| at(error, path))?;
    match recognise(&connection, path)? {
        0 => Err(StoreError::Foreign { path: path.into(), found: "it is empty".into() }),
        FORMAT => Ok(connection),
        older => {
            let views = OLDER_VIEWS.iter().filter(|(up_to, _)| older <= *up_to).map(|(_, view)| *view);
            connection.execute_batch(&views.collect::<String>()).map_err(|error| at(error, path))?;
            Ok(connection)
        }
    }
}

/// What readers of the formats up to each find in place of what later ones have.
const OLDER_VIEWS: [(i64, &str); 7] = [
    (1, "CREATE TEMP VIEW components AS SELECT NULL AS digest, NULL AS bytes WHERE FALSE;"),
    (
        2,
        "CREATE TEMP VIEW leased AS SELECT *, 1 AS epoch, NULL AS owner, iif(open, 0, NULL) AS wake_at, NULL AS key FROM main.runs;
         CREATE TEMP VIEW journal AS SELECT *, NULL AS checksum FROM main.journal;
         CREATE TEMP VIEW letters AS SELECT NULL AS id, NULL AS run, NULL AS body, NULL AS reply WHERE FALSE;
         CREATE TEMP VIEW logs AS SELECT NULL AS run, NULL AS task, NULL AS attempt, NULL AS dispatch, NULL AS cut,
             NULL AS text WHERE FALSE;",
    ),
    (
        3,
        "CREATE TEMP VIEW IF NOT EXISTS leased AS SELECT * FROM main.runs;
         CREATE TEMP VIEW rested AS SELECT *, NULL AS document, NULL AS rest, NULL AS rests_until, NULL AS labels FROM leased;
         CREATE TEMP VIEW documents AS SELECT NULL AS id, NULL AS digest, NULL AS bytes WHERE FALSE;
         CREATE TEMP VIEW labels AS SELECT NULL AS key, NULL AS value, NULL AS run WHERE FALSE;",
    ),
    (
        4,
        "CREATE TEMP VIEW IF NOT EXISTS rested AS SELECT * FROM main.runs;
         CREATE TEMP VIEW runs AS SELECT *, NULL AS note, NULL AS noted_at FROM rested;",
    ),
    (
        5,
        "CREATE TEMP VIEW entries AS SELECT NULL AS shelf, NULL AS namespace, NULL AS name, NULL AS revision, NULL AS due, NULL AS body
             WHERE FALSE;
         CREATE TEMP VIEW texts AS SELECT NULL AS digest, NULL AS bytes WHERE FALSE;",
    ),
    (6, "CREATE TEMP VIEW stored AS SELECT NULL AS namespace, 0 AS bytes WHERE FALSE;
         CREATE TEMP VIEW tenants AS SELECT NULL AS text WHERE FALSE;"),
    (
        7,
        "CREATE TEMP VIEW notices AS SELECT NULL AS run_id, NULL AS seq, NULL AS endpoint, NULL AS revision, NULL AS due, NULL AS body
             WHERE FALSE;",
    ),
];

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

/// The format of the file, 0 for an empty one; an error unless it is empty or ours.
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

/// All of it or nothing, so that a file killed in the middle is still of the format that it says.
fn bring_up_to_date(connection: &Connection, found: i64) -> Result<()> {
    let missing = FORMATS.get(usize::try_from(found).unwrap_or(usize::MAX)..).unwrap_or_default();
    if missing.is_empty() {
        return Ok(());
    }
    let transaction = connection.unchecked_transaction()?;
    for added in missing {
        transaction.execute_batch(added)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()
}
