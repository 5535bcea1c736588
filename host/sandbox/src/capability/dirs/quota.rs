//! Accounting for quotas of granted directories: in this process, or in the parent, which does it for all processes with a grant
//! of the directory.

#[cfg(target_os = "linux")]
mod client;
pub(super) mod counter;
#[cfg(target_os = "linux")]
mod messages;
#[cfg(target_os = "linux")]
mod server;
pub(super) mod usage;

use std::sync::Arc;

pub(super) use self::usage::OverQuota;
use self::usage::{Inode, Quota, Removal, Usage};
#[cfg(target_os = "linux")]
pub(crate) use self::{
    client::QuotaClient,
    messages::{QuotaRequest, QuotaResponse},
    server::QuotaServer,
};
use super::host_dir::HostDir;

/// Accounting of one grant.
#[derive(Clone)]
pub(super) enum Accounting {
    Local(Arc<HostDir>),
    #[cfg(target_os = "linux")]
    Remote(Arc<QuotaClient>, u32),
}

impl Accounting {
    /// Adds `more`, if there is room for it.
    pub(super) fn take(&self, quota: &Quota, more: Usage) -> Result<(), OverQuota> {
        match self {
            Self::Local(host_dir) => host_dir.counter.take(quota, more),
            #[cfg(target_os = "linux")]
            Self::Remote(client, grant) => client.take(*grant, more),
        }
    }

    /// Subtracts `less`.
    pub(super) fn give(&self, less: Usage) {
        match self {
            Self::Local(host_dir) => host_dir.counter.give(less),
            #[cfg(target_os = "linux")]
            Self::Remote(client, grant) => client.give(*grant, less),
        }
    }

    pub(super) fn opened(&self, inode: Inode) {
        match self {
            Self::Local(host_dir) => host_dir.counter.opened(inode),
            #[cfg(target_os = "linux")]
            Self::Remote(client, grant) => client.send(QuotaRequest::Opened(*grant, inode)),
        }
    }

    /// Accounts for a closed file; `size` is called if the file may have no name.
    pub(super) fn closed(&self, inode: Inode, size: impl FnOnce() -> u64) {
        match self {
            Self::Local(host_dir) => host_dir.counter.closed(inode, size),
            #[cfg(target_os = "linux")]
            Self::Remote(client, grant) => client.send(QuotaRequest::Closed(*grant, inode, size())),
        }
    }

    /// Accounts for a removed name of a file.
    pub(super) fn removed(&self, removal: Removal) {
        match self {
            Self::Local(host_dir) => host_dir.counter.removed(removal),
            #[cfg(target_os = "linux")]
            Self::Remote(client, grant) => client.send(QuotaRequest::Removed(*grant, removal)),
        }
    }
}
