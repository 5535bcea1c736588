//! Errors inside the PostgreSQL store, before the server is added to them.

use std::{error::Error as _, io, sync::Arc, time::Duration};

use tokio_postgres::{
    Error, Row,
    error::SqlState,
    types::{FromSql, ToSql},
};

use super::{
    super::{StoreError, migration::FORMAT},
    address::Address,
};

/// Parameter of a statement.
pub(super) type Parameter = Box<dyn ToSql + Sync + Send>;

/// Why one request failed.
pub(super) enum PostgresError {
    /// This one request cannot be served; nothing was written for it.
    Refused(StoreError),
    /// The rows contradict each other.
    Damaged(String),
    /// The server, or the way to it, failed.
    Server(Error),
    /// The server is connected, and has not answered for so long.
    Mute(Duration),
}

impl From<Error> for PostgresError {
    fn from(error: Error) -> Self {
        Self::Server(error)
    }
}

impl From<StoreError> for PostgresError {
    fn from(refused: StoreError) -> Self {
        Self::Refused(refused)
    }
}

impl PostgresError {
    /// Returns the fault of a row that is not as it was written.
    pub(super) fn bad_row(what: &str) -> Self {
        Self::Damaged(format!("{what} is damaged: its checksum differs"))
    }

    pub(super) fn at(self, address: &Address, action: &'static str) -> StoreError {
        match self {
            Self::Refused(refused) => refused,
            Self::Damaged(found) => StoreError::Corrupt { path: address.path(), found },
            Self::Server(error) => server(error, address, action),
            Self::Mute(waited) => {
                let why = format!("the database has not responded for {} s", waited.as_secs());
                address.unavailable(io::Error::new(io::ErrorKind::TimedOut, why))
            }
        }
    }
}

/// Returns a column of a row. A value of another type was not written by this store.
pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, PostgresError> {
    row.try_get(column).map_err(|error| PostgresError::Damaged(format!("{column}: {error}")))
}

/// A number that is never negative.
pub(super) fn count(row: &Row, column: &str) -> Result<u64, PostgresError> {
    let number: i64 = get(row, column)?;
    u64::try_from(number).map_err(|_| PostgresError::Damaged(format!("{column} is {number}")))
}

/// PostgreSQL has no unsigned numbers; what would not fit is larger than anything that is kept.
pub(super) fn saturated(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Whether the statement would pass if it were made again: nothing was written.
pub(super) fn is_passing(error: &Error) -> bool {
    matches!(error.code(), Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE))
}

/// Whether the connection, not the statement, is at fault.
pub(super) fn is_gone(error: &Error) -> bool {
    const CLASSES: [&str; 3] = ["08", "57P", "53300"];
    match error.code() {
        Some(code) => {
            CLASSES.iter().any(|class| code.code().starts_with(class))
                || *code == SqlState::READ_ONLY_SQL_TRANSACTION
        }
        None => error.is_closed() || error.source().is_some_and(|source| source.is::<io::Error>()),
    }
}

/// The format that a write needs, if the store is for later ones only; their migration deletes the functions of formats before.
pub(super) fn needed_format(error: &Error) -> Option<i64> {
    let db = error.as_db_error()?;
    match db.code() {
        code if code.code() == "PH001" => Some(db.message().parse().unwrap_or(FORMAT + 1)),
        code if *code == SqlState::UNDEFINED_FUNCTION => Some(FORMAT + 1),
        _ => None,
    }
}

fn server(error: Error, address: &Address, action: &'static str) -> StoreError {
    if is_gone(&error) {
        return address.unavailable(io::Error::other(told(error)));
    }
    if let Some(found) = needed_format(&error) {
        return StoreError::Newer { path: address.path(), found, known: FORMAT };
    }
    let (disk_full, corrupted) = (SqlState::DISK_FULL, [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED]);
    match error.code() {
        Some(code) if *code == disk_full => StoreError::Full { path: address.path() },
        Some(code) if corrupted.contains(code) => {
            StoreError::Corrupt { path: address.path(), found: told(error) }
        }
        Some(_) | None => address.io(action, io::Error::other(told(error))),
    }
}

/// The server's words, without the library's around them.
fn told(error: Error) -> String {
    match error.as_db_error() {
        Some(told) => told.message().to_owned(),
        None => error
            .into_source()
            .map_or_else(|| "the connection is closed".to_owned(), |source| source.to_string()),
    }
}

impl Address {
    pub(super) fn io(&self, action: &'static str, source: io::Error) -> StoreError {
        StoreError::Io { path: self.path(), action, source: Arc::new(source) }
    }

    pub(super) fn unavailable(&self, source: io::Error) -> StoreError {
        StoreError::Unavailable { server: self.path(), source: Arc::new(source) }
    }
}
