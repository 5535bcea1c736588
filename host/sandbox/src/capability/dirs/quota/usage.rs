//! Quotas of directories, and the amounts that are counted against them.

use std::fmt;

use cap_primitives::fs::{Metadata, MetadataExt as _};
use phasm_files::Size;

/// Maximum content of a granted directory, including files of others; checked when a guest adds something. Unlimited by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Quota {
    /// Apparent size of all files together, in bytes.
    pub bytes: Option<u64>,
    /// Number of files and directories.
    pub files: Option<u64>,
}

impl Quota {
    pub(in crate::capability::dirs) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Amount that is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Usage {
    pub(in crate::capability::dirs) bytes: u64,
    pub(in crate::capability::dirs) files: u64,
}

impl Usage {
    pub(in crate::capability::dirs) const FILE: Self = Self { bytes: 0, files: 1 };

    pub(in crate::capability::dirs) const fn bytes(bytes: u64) -> Self {
        Self { bytes, files: 0 }
    }
}

/// Quota that has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum OverQuota {
    Bytes(u64),
    Files(u64),
}

impl fmt::Display for OverQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bytes(limit) => write!(f, "quota of {}", Size(limit)),
            Self::Files(limit) => write!(f, "quota of {limit} files"),
        }
    }
}

/// Identity of a file, independent of its names.
pub(crate) type Inode = (u64, u64);

pub(in crate::capability::dirs) fn inode(metadata: &Metadata) -> Inode {
    (metadata.dev(), metadata.ino())
}

/// Removal of a name of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Removal {
    pub(super) inode: Inode,
    /// Set for a file that has no other name.
    pub(super) bytes: Option<u64>,
}

impl Removal {
    /// Returns the removal of a file with `metadata`, which was read before it.
    pub(in crate::capability::dirs) fn of(metadata: &Metadata) -> Self {
        let is_last = metadata.is_file() && metadata.nlink() <= 1;
        Self { inode: inode(metadata), bytes: is_last.then(|| metadata.len()) }
    }
}
