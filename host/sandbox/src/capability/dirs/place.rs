//! A directory of the host that is granted, to whomever.

use std::{
    collections::HashMap,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cap_primitives::{
    ambient_authority,
    fs::{Metadata, open_ambient_dir},
};
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{
    ledger::{Inode, Ledger, inode},
    mounts::{self, Beneath},
};

/// Calls that may wait for one directory at once, on threads that are nobody's: one that hangs for ever takes no more.
const WAITING: usize = 16;

/// What all guests that are granted one directory share.
pub(super) struct Place {
    inode: Inode,
    beneath: Beneath,
    /// Whether nobody minds if a call waits, and no other thread is to be had.
    alone: bool,
    waiting: Arc<Semaphore>,
    pub(super) ledger: Ledger,
}

impl Place {
    /// Looks at what lies at `path`.
    ///
    /// # Errors
    /// When it is gone.
    fn find(path: &Path, inode: Inode) -> io::Result<Self> {
        Ok(Self::new(inode, mounts::beneath(&path.canonicalize()?)))
    }

    /// # Errors
    /// When it holds the kernel's tables and no data.
    fn check(&self) -> io::Result<()> {
        match &self.beneath.is_kernel {
            Some(kind) => Err(io::Error::other(format!("its file system ({kind}) holds no data"))),
            None => Ok(()),
        }
    }

    pub(super) fn new(inode: Inode, beneath: Beneath) -> Self {
        Self {
            inode,
            beneath,
            alone: false,
            waiting: Arc::new(Semaphore::new(WAITING)),
            ledger: Ledger::default(),
        }
    }

    /// Whether a call may wait for somebody else. Then none is made on a guest's thread.
    pub(super) fn may_block(&self) -> bool {
        self.beneath.may_block && !self.alone
    }

    /// Whether nothing opens on `device`.
    pub(super) fn is_kernel(&self, device: u64) -> bool {
        self.beneath.kernel.contains(&device)
    }

    /// Does `work` on a thread that is no guest's, if there is one. Whoever stops waiting leaves it behind: it counts until it ends.
    ///
    /// # Errors
    /// Those of `work`.
    pub(super) async fn elsewhere<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> io::Result<R> {
        if self.alone {
            return work();
        }
        let turn = Arc::clone(&self.waiting).acquire_owned().await.map_err(io::Error::other)?;
        let working = spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        working.await.map_err(io::Error::other)?
    }
}

/// The places that are known, by the paths they were granted by; as many as grants name.
#[derive(Default)]
pub(super) struct Places {
    known: Mutex<HashMap<PathBuf, Arc<Place>>>,
    /// Whether nobody minds if a call waits, and no other thread is to be had.
    alone: bool,
}

impl Places {
    /// Places of a process in which one call at a time is made.
    pub(super) fn alone() -> Self {
        Self { alone: true, ..Self::default() }
    }

    /// The place at `path`, without leaving this thread.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn look(&self, path: &Path) -> io::Result<(Arc<Place>, File)> {
        let (file, inode) = opened(path)?;
        let known = self.known().get(path).filter(|place| place.inode == inode).cloned();
        let place = match known {
            Some(place) => place,
            None => self.keep(path, Place { alone: true, ..Place::find(path, inode)? }),
        };
        place.check()?;
        Ok((place, file))
    }

    /// The place at `path`, and the directory that lies there now.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) async fn open(&self, path: &Path) -> io::Result<(Arc<Place>, File)> {
        if self.alone {
            return self.look(path);
        }
        let known = self.known().get(path).cloned();
        let wanted = path.to_owned();
        let open = move || opened(&wanted);
        let (file, inode) = match &known {
            Some(place) if place.may_block() => place.elsewhere(open).await?,
            Some(_) => open()?,
            None => spawn_blocking(open).await.map_err(io::Error::other)??,
        };
        // By now another directory may lie there.
        let place = match known.filter(|place| place.inode == inode) {
            Some(place) => place,
            None => self.find(path, inode).await?,
        };
        place.check()?;
        Ok((place, file))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Place>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn find(&self, path: &Path, inode: Inode) -> io::Result<Arc<Place>> {
        let wanted = path.to_owned();
        let found = spawn_blocking(move || Place::find(&wanted, inode)).await.map_err(io::Error::other)??;
        Ok(self.keep(path, found))
    }

    fn keep(&self, path: &Path, found: Place) -> Arc<Place> {
        let mut known = self.known();
        // Under all of its names it is one place.
        let place = known.values().find(|place| place.inode == found.inode).cloned();
        let place = place.unwrap_or_else(|| Arc::new(found));
        known.insert(path.to_owned(), Arc::clone(&place));
        place
    }
}

fn opened(path: &Path) -> io::Result<(File, Inode)> {
    let file = open_ambient_dir(path, ambient_authority())?;
    let inode = inode(&Metadata::from_file(&file)?);
    Ok((file, inode))
}
