//! No databases: this build has no client of PostgreSQL.

use std::{
    io::{Error, ErrorKind},
    sync::Arc,
};

use phasm::store::{Migration, ReadStore, Store, StoreError};

/// Whether a store's argument is the URL of a database, so that it is not taken for a file.
pub(crate) fn is_url(text: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
}

/// Returns a name for people. The URL may hold a password.
pub(crate) fn shown(_: &str) -> String {
    "the database".to_owned()
}

/// # Errors
/// Always.
pub(crate) fn open(url: &str, _: Migration) -> Result<Arc<dyn Store>, StoreError> {
    Err(unsupported(url))
}

/// # Errors
/// Always.
pub(crate) fn open_reader(url: &str) -> Result<Arc<dyn ReadStore>, StoreError> {
    Err(unsupported(url))
}

fn unsupported(url: &str) -> StoreError {
    let why = Error::new(ErrorKind::Unsupported, "this phasm was built without the feature `postgres`");
    StoreError::Io { path: shown(url).into(), action: "opened", source: Arc::new(why) }
}
