//! A store to be looked at: a file, a database, or a server's.

use std::{ops::Deref, path::Path, sync::Arc};

use phasm::{
    catalog::saved_text,
    notify::{NoticeView, notices_of},
    store::{CatalogKind, ReadStore, SqliteReader, StoreError},
};
use phasm_server::client::Remote;

use crate::{failure::Failure, input::names::QualifiedName, paths, store::database};

/// One of them, opened.
pub(crate) enum StoreReader {
    File(SqliteReader),
    Database(Arc<dyn ReadStore>),
    Server(Remote),
}

impl StoreReader {
    pub(crate) fn open(store: &Path) -> Result<Self, StoreError> {
        match paths::database_url(store) {
            Some(url) => database::open_reader(url).map(Self::Database),
            None => SqliteReader::open(store).map(Self::File),
        }
    }

    /// For everything that reads.
    pub(crate) fn shared(self) -> Arc<dyn ReadStore> {
        match self {
            Self::File(file) => Arc::new(file),
            Self::Database(database) => database,
            Self::Server(server) => Arc::new(server),
        }
    }

    /// A document that is kept by a name: the version of that digest, which it has.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) async fn document(
        &self,
        shelf: CatalogKind,
        name: &QualifiedName,
        digest: &str,
    ) -> Result<String, Failure> {
        match self {
            Self::Server(server) => {
                server.document(shelf, (&name.namespace, &name.name), digest).await.map_err(Failure::server)
            }
            Self::File(_) | Self::Database(_) => {
                let text = saved_text(&**self, digest).await.map_err(Failure::host)?;
                Ok(text.unwrap_or_default())
            }
        }
    }

    /// Returns the notifications of a run, the latest first, `limit` at most.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) async fn notices_of(&self, run_id: &str, limit: usize) -> Result<Vec<NoticeView>, Failure> {
        match self {
            Self::Server(server) => server.notices_of(run_id, limit).await.map_err(Failure::server),
            Self::File(_) | Self::Database(_) => {
                notices_of(&**self, run_id, limit).await.map_err(Failure::host)
            }
        }
    }

    /// Whether a process may be running its runs now.
    pub(crate) fn is_held(&self) -> bool {
        match self {
            Self::File(file) => file.is_held(),
            Self::Database(_) | Self::Server(_) => true,
        }
    }
}

impl Deref for StoreReader {
    type Target = dyn ReadStore;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::File(file) => file,
            Self::Database(database) => &**database,
            Self::Server(server) => server,
        }
    }
}
