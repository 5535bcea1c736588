//! Directories of the host that are granted, shared by all calls.

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
use tokio::{
    sync::{Mutex as AsyncMutex, OwnedMutexGuard, Semaphore},
    task::spawn_blocking,
};

use super::{
    mounts::{self, MountInfo},
    quota::{
        counter::Counter,
        usage::{Inode, inode},
    },
};

/// Calls that may block on one directory at once. They run on threads of the blocking pool; a directory that hangs for ever takes
/// no more of them.
const MAX_BLOCKING_CALLS: usize = 16;

/// State of one directory, shared by all guests that are granted it.
pub(super) struct HostDir {
    inode: Inode,
    mounts: MountInfo,
    /// Set in a process that makes one call at a time: calls may block there, and there is no other thread.
    single_call: bool,
    waiting: Arc<Semaphore>,
    /// Held by the attempt that has the directory for itself.
    exclusive: Arc<AsyncMutex<()>>,
    pub(super) counter: Counter,
}

impl HostDir {
    /// Examines the directory at `path`.
    ///
    /// # Errors
    /// Fails when it is gone.
    fn find(path: &Path, inode: Inode) -> io::Result<Self> {
        Ok(Self::new(inode, mounts::at_and_below(&path.canonicalize()?)))
    }

    /// Checks that guests may use the directory.
    ///
    /// # Errors
    /// Fails when it holds the kernel's tables and no data.
    fn check(&self) -> io::Result<()> {
        match &self.mounts.is_kernel {
            Some(kind) => Err(io::Error::other(format!("its file system ({kind}) holds no data"))),
            None => Ok(()),
        }
    }

    pub(super) fn new(inode: Inode, mounts: MountInfo) -> Self {
        Self {
            inode,
            mounts,
            single_call: false,
            waiting: Arc::new(Semaphore::new(MAX_BLOCKING_CALLS)),
            exclusive: Arc::default(),
            counter: Counter::default(),
        }
    }

    pub(super) const fn inode(&self) -> Inode {
        self.inode
    }

    /// Waits until no other attempt of this process has the directory for itself, in the order of the callers.
    pub(super) async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.exclusive).lock_owned().await
    }

    /// Returns whether a call may block on a remote machine or another program. Such a call never runs on a guest's thread.
    pub(super) fn may_block(&self) -> bool {
        self.mounts.may_block && !self.single_call
    }

    /// Returns whether files on `device` must not be opened.
    pub(super) fn is_kernel(&self, device: u64) -> bool {
        self.mounts.kernel.contains(&device)
    }

    /// Runs `work` on a blocking thread, if there is one. If the caller stops waiting, the work continues and keeps its permit
    /// until it ends.
    ///
    /// # Errors
    /// The errors of `work`.
    pub(super) async fn run_blocking<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> io::Result<R> {
        if self.single_call {
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

/// Known directories, by the paths of their grants.
#[derive(Default)]
pub(super) struct HostDirs {
    known: Mutex<HashMap<PathBuf, Arc<HostDir>>>,
    /// Set in a process that makes one call at a time: calls may block there, and there is no other thread.
    single_call: bool,
}

impl HostDirs {
    /// Makes the directories of a process that makes one call at a time.
    pub(super) fn for_single_call() -> Self {
        Self { single_call: true, ..Self::default() }
    }

    /// Opens the directory at `path`, on this thread.
    ///
    /// # Errors
    /// Fails when it cannot be opened.
    pub(super) fn open_in_place(&self, path: &Path) -> io::Result<(Arc<HostDir>, File)> {
        let (file, inode) = opened(path)?;
        let known = self.known().get(path).filter(|host_dir| host_dir.inode == inode).cloned();
        let host_dir = match known {
            Some(host_dir) => host_dir,
            None => self.keep(path, HostDir { single_call: true, ..HostDir::find(path, inode)? }),
        };
        host_dir.check()?;
        Ok((host_dir, file))
    }

    /// Opens the directory at `path`, and returns its shared state as well.
    ///
    /// # Errors
    /// Fails when it cannot be opened.
    pub(super) async fn open(&self, path: &Path) -> io::Result<(Arc<HostDir>, File)> {
        if self.single_call {
            return self.open_in_place(path);
        }
        let known = self.known().get(path).cloned();
        let wanted = path.to_owned();
        let open = move || opened(&wanted);
        let (file, inode) = match &known {
            Some(host_dir) if host_dir.may_block() => host_dir.run_blocking(open).await?,
            Some(_) => open()?,
            None => spawn_blocking(open).await.map_err(io::Error::other)??,
        };
        // Meanwhile another directory may have taken its place.
        let host_dir = match known.filter(|host_dir| host_dir.inode == inode) {
            Some(host_dir) => host_dir,
            None => self.find(path, inode).await?,
        };
        host_dir.check()?;
        Ok((host_dir, file))
    }

    /// Forgets the directory at `path`.
    pub(super) fn forget(&self, path: &Path) {
        self.known().remove(path);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<HostDir>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn find(&self, path: &Path, inode: Inode) -> io::Result<Arc<HostDir>> {
        let wanted = path.to_owned();
        let found =
            spawn_blocking(move || HostDir::find(&wanted, inode)).await.map_err(io::Error::other)??;
        Ok(self.keep(path, found))
    }

    fn keep(&self, path: &Path, found: HostDir) -> Arc<HostDir> {
        let mut known = self.known();
        // A directory with several names has one state.
        let host_dir = known.values().find(|host_dir| host_dir.inode == found.inode).cloned();
        let host_dir = host_dir.unwrap_or_else(|| Arc::new(found));
        known.insert(path.to_owned(), Arc::clone(&host_dir));
        host_dir
    }
}

fn opened(path: &Path) -> io::Result<(File, Inode)> {
    let file = open_ambient_dir(path, ambient_authority())?;
    let inode = inode(&Metadata::from_file(&file)?);
    Ok((file, inode))
}
