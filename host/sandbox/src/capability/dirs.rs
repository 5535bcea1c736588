//! Directories of the host, and all files and directories below them.
//!
//! ```text
//!  DirGrant ──▶ Root (one call's) ──▶ Dir, File ──▶ Listing, Reader, Writer     each holds a share of the host's descriptors
//!                 │
//!                 ▼
//!               HostDir (all calls'): may a call block? then it runs on another thread; counts for quotas
//! ```
//!
//! Paths are resolved by cap-std's primitives, which never leave a directory. The rules for opening and counting are decided
//! here: `open` decides which files open at all, `host` implements `wasi:filesystem`.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::filesystem::{preopens, types};

pub(crate) use self::exclusive::DirLocks;
#[cfg(target_os = "linux")]
pub(crate) use self::quota::{QuotaClient, QuotaRequest, QuotaResponse, QuotaServer};
pub use self::{grant::DirGrant, quota::usage::Quota};
use self::{
    handle::{ByteCounts, Dir, Handle, Open, Root},
    host_dir::{HostDir, HostDirs},
    quota::Accounting,
};
use super::refusals::{self, Refusals};
use crate::{
    attempt_context::AttemptContext,
    limits::{Limit, UNLIMITED},
    shared_budget::{Lease, SharedBudget},
};

mod error_code;
mod exclusive;
mod grant;
mod handle;
mod host;
mod host_dir;
mod listing;
mod metadata;
mod mounts;
mod open;
mod quota;
mod streams;
#[cfg(test)]
mod tests;

/// State that all calls of a sandbox share.
pub(crate) struct SharedDirs {
    host_dirs: Arc<HostDirs>,
    descriptors: Arc<SharedBudget>,
    /// Set in a process whose parent does the accounting.
    #[cfg(target_os = "linux")]
    quota_client: Option<Arc<QuotaClient>>,
}

impl Default for SharedDirs {
    fn default() -> Self {
        Self {
            host_dirs: Arc::default(),
            descriptors: SharedBudget::of_descriptors(),
            #[cfg(target_os = "linux")]
            quota_client: None,
        }
    }
}

impl SharedDirs {
    /// Makes the state of a process that calls the guests of one plugin. Its calls may block, and its parent does the accounting.
    /// The granted directories are examined now, before the process loses access to everything else.
    #[cfg(target_os = "linux")]
    pub(crate) fn for_single_call(grants: &[DirGrant], quota_client: &Arc<QuotaClient>) -> Self {
        let host_dirs = Arc::new(HostDirs::for_single_call());
        // A missing directory is reported by the call that needs it.
        grants.iter().for_each(|grant| drop(host_dirs.open_in_place(&grant.host)));
        Self { host_dirs, quota_client: Some(Arc::clone(quota_client)), ..Self::default() }
    }

    /// Returns the quota server of one call in a process of its own, which is granted `grants`.
    #[cfg(target_os = "linux")]
    pub(crate) fn quota_server(&self, grants: &[DirGrant], attempt: &Arc<AttemptContext>) -> QuotaServer {
        QuotaServer::new(&self.host_dirs, grants.to_vec(), attempt)
    }

    /// Forgets directories that no other call is granted.
    pub(crate) fn forget(&self, grants: &[DirGrant]) {
        grants.iter().for_each(|grant| self.host_dirs.forget(&grant.host));
    }

    /// Returns the accounting of a grant of `host_dir`.
    fn accounting(&self, _grant: usize, host_dir: &Arc<HostDir>) -> Accounting {
        #[cfg(target_os = "linux")]
        if let Some(client) = &self.quota_client {
            return Accounting::Remote(Arc::clone(client), u32::try_from(_grant).unwrap_or(u32::MAX));
        }
        Accounting::Local(Arc::clone(host_dir))
    }
}

/// Directories of one call.
#[derive(Default)]
pub(crate) struct Dirs(Vec<Dir>);

impl Dirs {
    /// Opens the granted directories.
    ///
    /// # Errors
    /// The message for the user when a directory cannot be opened.
    pub(crate) async fn open(
        shared: &SharedDirs,
        grants: &[DirGrant],
        attempt: &AttemptContext,
    ) -> Result<Self, String> {
        let mut dirs = Vec::with_capacity(grants.len());
        let plugin = &attempt.invocation.executor_type;
        let lease = |limit| Lease::of_plugin(&shared.descriptors, &attempt.tenant, plugin, limit);
        // Descriptors of the granted directories do not count against the guest's own limit.
        let (granted, lease) = (lease(UNLIMITED), lease(attempt.ceilings.most(Limit::Descriptors)));
        let moved = Arc::new(ByteCounts::default());
        let began = Instant::now();
        for (number, grant) in grants.iter().enumerate() {
            // Messages are for all who see the run; where the directory lies is the operator's affair.
            let failed = |cause: String| {
                tracing::warn!(plugin = &**plugin, %cause, "granted directory {} cannot be opened", grant.host.display());
                format!("granted directory `{}`: {cause}", grant.guest)
            };
            let permit = granted.take().map_err(|exhausted| failed(exhausted.to_string()))?;
            let (host_dir, file) =
                shared.host_dirs.open(&grant.host).await.map_err(|error| failed(error.to_string()))?;
            let root = Root {
                accounting: shared.accounting(number, &host_dir),
                host_dir,
                lease: Arc::clone(&lease),
                read_only: grant.read_only,
                quota: grant.quota,
                met: OnceLock::new(),
                began,
                moved: Arc::clone(&moved),
            };
            let name = grant.guest.trim_end_matches('/').into();
            dirs.push(Dir { handle: Handle::new(file, Arc::new(root), permit, None), name });
        }
        Ok(Self(dirs))
    }

    /// Returns the bytes that were read and written.
    pub(super) fn byte_counts(&self) -> (u64, u64) {
        // All grants of a call share one count.
        self.0.first().map_or((0, 0), |dir| dir.handle.root.moved.totals())
    }
}

impl Dirs {
    /// Reports quotas that had no room. This includes writes to streams, which have no other way to report it.
    pub(crate) fn report_refusals(&self, refusals: &mut Refusals) {
        let met = self.0.iter().filter_map(|dir| dir.handle.root.met.get());
        // Full quotas of files are reported when a file is created.
        let bytes = met.filter(|full| matches!(full, quota::OverQuota::Bytes(_)));
        bytes.for_each(|full| refusals.add(|| full.to_string()));
    }
}

/// View of the directories in a store.
pub(crate) struct DirsView<'a> {
    pub(crate) dirs: &'a mut Dirs,
    pub(crate) grants: &'a [DirGrant],
    pub(crate) attempt: &'a AttemptContext,
    pub(crate) refusals: &'a mut Refusals,
    pub(crate) table: &'a mut ResourceTable,
}

/// State of a store that has directories.
pub(crate) trait HasDirs: Send + 'static {
    fn dirs(&mut self) -> DirsView<'_>;
}

struct DirsData;

impl HasData for DirsData {
    type Data<'a> = DirsView<'a>;
}

pub(super) fn link<T: HasDirs>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    types::add_to_linker::<T, DirsData>(linker, T::dirs)?;
    preopens::add_to_linker::<T, DirsData>(linker, T::dirs)
}

impl preopens::Host for DirsView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<types::Descriptor>, String)>> {
        if self.grants.is_empty() {
            self.refusals.add_missing_grant(refusals::DIRECTORIES);
        }
        let granted = self.dirs.0.iter().zip(self.grants);
        let table = &mut *self.table;
        let own = |(dir, grant): (&Dir, &DirGrant)| {
            Ok((handle::push(table, Open::Dir(dir.clone()))?, grant.guest.clone()))
        };
        granted.map(own).collect()
    }
}
