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
    alone: bool,
    waiting: Arc<Semaphore>,
    pub(super) counter: Counter,
}

impl HostDir {
    /// Looks at what lies at `path`.
    ///
    /// # Errors
    /// When it is gone.
    fn find(path: &Path, inode: Inode) -> io::Result<Self> {
        Ok(Self::new(inode, mounts::at_and_below(&path.canonicalize()?)))
    }

    /// # Errors
    /// When it holds the kernel's tables and no data.
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
            alone: false,
            waiting: Arc::new(Semaphore::new(MAX_BLOCKING_CALLS)),
            counter: Counter::default(),
        }
    }

    /// Returns whether a call may block on a remote machine or another program. Such a call never runs on a guest's thread.
    pub(super) fn may_block(&self) -> bool {
        self.mounts.may_block && !self.alone
    }

    /// Whether nothing opens on `device`.
    pub(super) fn is_kernel(&self, device: u64) -> bool {
        self.mounts.kernel.contains(&device)
    }

    /// Runs `work` on a blocking thread, if there is one. If the caller stops waiting, the work continues and keeps its permit
    /// until it ends.
    ///
    /// # Errors
    /// The errors of `work`.
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
pub(super) struct HostDirs {
    known: Mutex<HashMap<PathBuf, Arc<HostDir>>>,
    /// Set in a process that makes one call at a time: calls may block there, and there is no other thread.
    alone: bool,
}

impl HostDirs {
    /// Places of a process in which one call at a time is made.
    pub(super) fn alone() -> Self {
        Self { alone: true, ..Self::default() }
    }

    /// The host_dir at `path`, without leaving this thread.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn look(&self, path: &Path) -> io::Result<(Arc<HostDir>, File)> {
        let (file, inode) = opened(path)?;
        let known = self.known().get(path).filter(|host_dir| host_dir.inode == inode).cloned();
        let host_dir = match known {
            Some(host_dir) => host_dir,
            None => self.keep(path, HostDir { alone: true, ..HostDir::find(path, inode)? }),
        };
        host_dir.check()?;
        Ok((host_dir, file))
    }

    /// The host_dir at `path`, and the directory that lies there now.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) async fn open(&self, path: &Path) -> io::Result<(Arc<HostDir>, File)> {
        if self.alone {
            return self.look(path);
        }
        let known = self.known().get(path).cloned();
        let wanted = path.to_owned();
        let open = move || opened(&wanted);
        let (file, inode) = match &known {
            Some(host_dir) if host_dir.may_block() => host_dir.elsewhere(open).await?,
            Some(_) => open()?,
            None => spawn_blocking(open).await.map_err(io::Error::other)??,
        };
        // By now another directory may lie there.
        let host_dir = match known.filter(|host_dir| host_dir.inode == inode) {
            Some(host_dir) => host_dir,
            None => self.find(path, inode).await?,
        };
        host_dir.check()?;
        Ok((host_dir, file))
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
        // Under all of its names it is one host_dir.
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
