//! The grant of a directory.

use std::path::PathBuf;

use super::quota::usage::Quota;

/// One directory a guest may reach.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DirGrant {
    /// Where it is on the host. It must exist when the guest is called.
    pub host: PathBuf,
    /// The path under which the guest sees it.
    pub guest: String,
    /// Whether the guest can only read there.
    pub read_only: bool,
    /// Quota of the directory.
    pub quota: Quota,
}

impl DirGrant {
    /// The directory `host`, to be read as `guest`.
    pub fn read_only(host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        Self { host: host.into(), guest: guest.into(), read_only: true, quota: Quota::default() }
    }

    /// The same, to be written as well.
    pub fn read_write(host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        Self { read_only: false, ..Self::read_only(host, guest) }
    }
}
