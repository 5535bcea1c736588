//! PostgreSQL databases as stores.

use std::sync::Arc;

use phasm::store::{Migration, Postgres, PostgresReader, ReadStore, Store, StoreError};

/// Whether a store's argument is the URL of a database.
pub(crate) fn is_url(text: &str) -> bool {
    Postgres::is_url(text)
}

/// Returns the URL without its password, for people.
pub(crate) fn shown(url: &str) -> String {
    Postgres::shown(url)
}

/// Opens the database at a URL, and creates its tables if it has none; `migration` says what becomes of those of an earlier format.
///
/// # Errors
/// When the URL is not understood, or the database cannot be opened.
pub(crate) fn open(url: &str, migration: Migration) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(Postgres::open_with(url, migration)?))
}

/// Opens the database at a URL to read it only.
///
/// # Errors
/// When the URL is not understood, or the database cannot be opened.
pub(crate) fn open_reader(url: &str) -> Result<Arc<dyn ReadStore>, StoreError> {
    Ok(Arc::new(PostgresReader::open(url)?))
}
