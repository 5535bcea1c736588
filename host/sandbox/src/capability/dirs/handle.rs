//! Files and directories that a guest has open.

use std::{
    fs::File as StdFile,
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use cap_primitives::fs::Metadata;
use tokio::{runtime, task::JoinHandle};
use wasmtime::component::{Resource, ResourceTable, ResourceTableError};
use wasmtime_wasi::p2::bindings::filesystem::types::{Descriptor, ErrorCode};

use super::{
    host_dir::HostDir,
    quota::Accounting,
    quota::{
        counter::usage_below,
        usage::{Inode, OverQuota, Quota, Usage},
    },
};
use crate::shared_budget::{Lease, Permit};

/// One grant in one call.
pub(super) struct Root {
    pub(super) host_dir: Arc<HostDir>,
    pub(super) accounting: Accounting,
    pub(super) lease: Arc<Lease>,
    pub(super) read_only: bool,
    pub(super) quota: Quota,
    /// Quota that had no room for bytes.
    pub(super) met: OnceLock<OverQuota>,
    /// Start of the call.
    pub(super) began: Instant,
    /// Bytes that the call has read and written.
    pub(super) moved: Arc<ByteCounts>,
}

/// Bytes that one call reads and writes.
#[derive(Default)]
pub(super) struct ByteCounts {
    read: AtomicU64,
    written: AtomicU64,
}

impl ByteCounts {
    pub(super) fn add_read(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Relaxed);
    }

    pub(super) fn add_written(&self, bytes: usize) {
        self.written.fetch_add(bytes as u64, Relaxed);
    }

    pub(super) fn totals(&self) -> (u64, u64) {
        (self.read.load(Relaxed), self.written.load(Relaxed))
    }
}

impl Root {
    /// Adds `more` to the usage.
    pub(super) fn take(&self, more: Usage) -> Result<(), OverQuota> {
        let taken = if self.quota.is_none() { Ok(()) } else { self.accounting.take(&self.quota, more) };
        taken.inspect_err(|full| {
            self.met.get_or_init(|| *full);
        })
    }

    pub(super) fn give(&self, less: Usage) {
        if !self.quota.is_none() {
            self.accounting.give(less);
        }
    }
}

/// A descriptor of the system, and its accounting.
pub(super) struct Handle {
    /// Present until dropped.
    file: Option<StdFile>,
    pub(super) root: Arc<Root>,
    /// Set for a file whose bytes are counted.
    counted: Option<Inode>,
    _permit: Permit,
}

impl Handle {
    pub(super) fn new(file: StdFile, root: Arc<Root>, permit: Permit, counted: Option<Inode>) -> Arc<Self> {
        if let Some(inode) = counted {
            root.accounting.opened(inode);
        }
        Arc::new(Self { file: Some(file), root, counted, _permit: permit })
    }

    pub(super) fn file(&self) -> io::Result<&StdFile> {
        self.file.as_ref().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Runs `work` with it: on this thread, unless the call may block.
    pub(super) async fn run<R: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&StdFile) -> io::Result<R> + Send + 'static,
    ) -> io::Result<R> {
        if self.root.host_dir.may_block() { self.run_long(work).await } else { work(self.file()?) }
    }

    /// Runs `work`, which takes long by its nature, on a blocking thread.
    pub(super) async fn run_long<R: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&StdFile) -> io::Result<R> + Send + 'static,
    ) -> io::Result<R> {
        let this = Arc::clone(self);
        self.root.host_dir.run_blocking(move || work(this.file()?)).await
    }

    /// Starts `work` as a task that the caller joins later.
    pub(super) fn begin<R: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&StdFile) -> io::Result<R> + Send + 'static,
    ) -> BackgroundTask<R> {
        let this = Arc::clone(self);
        BackgroundTask(tokio::spawn(async move { this.run_long(work).await }))
    }

    /// Counts the usage below the grant, unless it is known.
    pub(super) async fn count(self: &Arc<Self>, granted: &Arc<Self>) -> io::Result<()> {
        let root = &self.root;
        if root.quota.is_none() {
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        if let Accounting::Remote(client, grant) = &root.accounting {
            return client.count(*grant);
        }
        if root.host_dir.counter.is_counted(&root.quota, root.began) {
            return Ok(());
        }
        let found = granted.run_long(usage_below).await?;
        root.host_dir.counter.begin(found);
        Ok(())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else { return };
        let accounting = self.root.accounting.clone();
        let counted = self.counted;
        let close = move || {
            if let Some(inode) = counted {
                accounting.closed(inode, || file.metadata().map_or(0, |metadata| metadata.len()));
            }
            drop(file);
        };
        match runtime::Handle::try_current() {
            Ok(runtime) if self.root.host_dir.may_block() => drop(runtime.spawn_blocking(close)),
            Ok(_) | Err(_) => close(),
        }
    }
}

/// Task in the background; cancelled when dropped.
pub(super) struct BackgroundTask<R>(JoinHandle<io::Result<R>>);

impl<R> BackgroundTask<R> {
    pub(super) async fn join(&mut self) -> io::Result<R> {
        (&mut self.0).await.map_err(io::Error::other)?
    }
}

impl<R> Drop for BackgroundTask<R> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A directory that a guest has open.
#[derive(Clone)]
pub(super) struct Dir {
    pub(super) handle: Arc<Handle>,
    /// Path as the guest knows it.
    pub(super) name: Arc<str>,
}

/// A file that a guest has open.
#[derive(Clone)]
pub(super) struct File {
    pub(super) handle: Arc<Handle>,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// Object behind a descriptor.
#[derive(Clone)]
pub(super) enum Open {
    Dir(Dir),
    File(File),
}

impl Open {
    pub(super) fn handle(&self) -> &Arc<Handle> {
        match self {
            Self::Dir(dir) => &dir.handle,
            Self::File(file) => &file.handle,
        }
    }

    pub(super) fn dir(self) -> Result<Dir, ErrorCode> {
        match self {
            Self::Dir(dir) => Ok(dir),
            Self::File(_) => Err(ErrorCode::NotDirectory),
        }
    }

    pub(super) fn file(self) -> Result<File, ErrorCode> {
        match self {
            Self::File(file) => Ok(file),
            Self::Dir(_) => Err(ErrorCode::BadDescriptor),
        }
    }
}

impl Dir {
    /// Checks that the directory may be changed.
    pub(super) fn writable(&self) -> Result<(), ErrorCode> {
        if self.handle.root.read_only { Err(ErrorCode::NotPermitted) } else { Ok(()) }
    }
}

impl File {
    /// Checks that the file may be changed.
    pub(super) fn writable(&self) -> Result<(), ErrorCode> {
        if self.handle.root.read_only { Err(ErrorCode::NotPermitted) } else { Ok(()) }
    }
}

/// Adds an object to the table and returns a handle of the bindings' type [`Descriptor`].
pub(super) fn push(
    table: &mut ResourceTable,
    open: Open,
) -> Result<Resource<Descriptor>, ResourceTableError> {
    Ok(Resource::new_own(table.push(open)?.rep()))
}

/// Returns the object behind a guest's handle.
pub(super) fn get(
    table: &ResourceTable,
    descriptor: &Resource<Descriptor>,
) -> Result<Open, ResourceTableError> {
    table.get(&Resource::<Open>::new_borrow(descriptor.rep())).cloned()
}

pub(super) fn delete(
    table: &mut ResourceTable,
    descriptor: &Resource<Descriptor>,
) -> Result<Open, ResourceTableError> {
    table.delete(Resource::<Open>::new_own(descriptor.rep()))
}

/// Returns the metadata of an open file.
pub(super) fn metadata(file: &StdFile) -> io::Result<Metadata> {
    Metadata::from_file(file)
}
