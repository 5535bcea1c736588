//! A store that a command writes to.

use std::{path::Path, sync::Arc};

#[cfg(unix)]
use phasm::store::sqlite::wakeup::WakeupClient;
use phasm::store::{Migration, Sqlite, Store, StoreError};

use crate::{command_line::Target, failure::Failure, paths::database_url, store::database};

/// A store that a command writes to, also while another process holds it.
pub(crate) struct WritableStore {
    pub(crate) store: Arc<dyn Store>,
    is_held: bool,
}

impl WritableStore {
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let (store, is_held): (Arc<dyn Store>, bool) = match database_url(path) {
            Some(url) => (database::open(url, Migration::Refuse).map_err(Failure::store)?, true),
            None => match Sqlite::open(path) {
                Err(StoreError::Locked { .. }) => {
                    (Arc::new(Sqlite::beside(path).map_err(Failure::store)?), true)
                }
                opened => (Arc::new(opened.map_err(Failure::store)?), false),
            },
        };
        Ok(Self { store, is_held })
    }

    /// Notifies the process that serves the store. Returns a hint for the user if there is none.
    pub(crate) async fn tell(&self, path: &Path, target: &Target) -> Option<String> {
        if self.is_held {
            ring(path).await;
            return None;
        }
        Some(format!("no process serves the store now; start one with: {}\n", target.command(&["serve"])))
    }
}

/// Asks the process that holds a file to look for due work.
pub(crate) async fn ring(file: &Path) {
    #[cfg(unix)]
    if database_url(file).is_none()
        && let Some(ring) = WakeupClient::at(file).await
    {
        // The next process looks by itself, if this one is gone meanwhile.
        drop(ring.submitted().await);
    }
}
