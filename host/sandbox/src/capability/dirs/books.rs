//! Where is kept what lies in a granted directory, as far as quotas go: with its place, or in the process that started this one, which keeps
//! it for all that are granted the directory.

#[cfg(target_os = "linux")]
mod beyond;
#[cfg(target_os = "linux")]
mod clerk;

use std::sync::Arc;

#[cfg(target_os = "linux")]
pub(crate) use self::{
    beyond::Beyond,
    clerk::{Answer, Clerk, Entry},
};
use super::{
    ledger::{Full, Gone, Inode, Quota, Usage},
    place::Place,
};

/// The books of one grant.
#[derive(Clone)]
pub(super) enum Books {
    Here(Arc<Place>),
    #[cfg(target_os = "linux")]
    Beyond(Arc<Beyond>, u32),
}

impl Books {
    /// Adds `more`, if there is room for it.
    pub(super) fn take(&self, quota: &Quota, more: Usage) -> Result<(), Full> {
        match self {
            Self::Here(place) => place.ledger.take(quota, more),
            #[cfg(target_os = "linux")]
            Self::Beyond(beyond, grant) => beyond.take(*grant, more),
        }
    }

    /// Takes `less` out again.
    pub(super) fn give(&self, less: Usage) {
        match self {
            Self::Here(place) => place.ledger.give(less),
            #[cfg(target_os = "linux")]
            Self::Beyond(beyond, grant) => beyond.give(*grant, less),
        }
    }

    pub(super) fn opened(&self, inode: Inode) {
        match self {
            Self::Here(place) => place.ledger.opened(inode),
            #[cfg(target_os = "linux")]
            Self::Beyond(beyond, grant) => beyond.tell(Entry::Opened(*grant, inode)),
        }
    }

    /// One less has the file open; `size` is asked for if it may have no name.
    pub(super) fn closed(&self, inode: Inode, size: impl FnOnce() -> u64) {
        match self {
            Self::Here(place) => place.ledger.closed(inode, size),
            #[cfg(target_os = "linux")]
            Self::Beyond(beyond, grant) => beyond.tell(Entry::Closed(*grant, inode, size())),
        }
    }

    /// A name of a file is gone.
    pub(super) fn removed(&self, gone: Gone) {
        match self {
            Self::Here(place) => place.ledger.removed(gone),
            #[cfg(target_os = "linux")]
            Self::Beyond(beyond, grant) => beyond.tell(Entry::Removed(*grant, gone)),
        }
    }
}
