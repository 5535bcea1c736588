//! Whether the store's file is still the one at its path.
//!
//! A file that was deleted or moved can be written to for as long as it is open, and all that is acknowledged is lost with the
//! process. A file with two names has two locks. A file whose index (`-shm`) or log (`-wal`) was deleted is damaged by the next
//! process that opens it.

use std::{
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::sync::watch;

use super::super::StoreError;

/// A file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    #[cfg(unix)]
    fn of(file: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { device: file.dev(), inode: file.ino() }
    }

    /// Only that there is a file.
    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Self {
        Self { device: 0, inode: 0 }
    }
}

/// One of the files of a store.
struct Part {
    path: PathBuf,
    /// Unset until the file was seen.
    known: Option<Identity>,
}

/// Files of a store, as they were when it was opened.
pub(super) struct Presence {
    store: Arc<Path>,
    parts: [Part; 3],
    /// Set once a file is gone, for good.
    gone: Arc<watch::Sender<Option<StoreError>>>,
}

impl Presence {
    pub(super) fn of(store: &Arc<Path>) -> Self {
        let part = |suffix: &str| {
            let mut path = store.to_path_buf().into_os_string();
            path.push(suffix);
            Part { path: path.into(), known: None }
        };
        Self { store: Arc::clone(store), parts: ["", "-wal", "-shm"].map(part), gone: Arc::default() }
    }

    /// Returns what is told once a file is gone.
    pub(super) fn gone(&self) -> Arc<watch::Sender<Option<StoreError>>> {
        Arc::clone(&self.gone)
    }

    /// Records that nothing is written any more, for another reason.
    pub(super) fn end(&self, why: StoreError) {
        self.gone.send_replace(Some(why));
    }

    /// Compares the files with those that were opened.
    ///
    /// # Errors
    /// [`StoreError::Gone`], from then on each time.
    pub(super) fn check(&mut self) -> Result<(), StoreError> {
        if let Some(gone) = self.gone.borrow().as_ref() {
            return Err(gone.clone());
        }
        let Some(found) = self.parts.iter_mut().find_map(Part::missing) else { return Ok(()) };
        let gone = StoreError::Gone { path: self.store.to_path_buf(), found };
        self.gone.send_replace(Some(gone.clone()));
        Err(gone)
    }
}

impl Part {
    /// Returns how the file differs from the one that was opened.
    fn missing(&mut self) -> Option<String> {
        let path = self.path.display();
        let found = match fs::symlink_metadata(&self.path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.known.map(|_| format!("{path} was deleted or moved"));
            }
            Err(error) => return Some(format!("{path} cannot be looked at: {error}")),
        };
        let identity = Identity::of(&found);
        if *self.known.get_or_insert(identity) != identity {
            return Some(format!("another file is at {path} now"));
        }
        names(&found).filter(|names| *names > 1).map(|names| {
            format!("{path} has {names} names (hard links), and each could be opened by another process; remove all but one")
        })
    }
}

/// Number of names of a file, where the system counts them.
#[cfg(unix)]
fn names(file: &Metadata) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::nlink(file))
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> Option<u64> {
    None
}
