//! Grants of directories.

use std::path::PathBuf;

use super::quota::usage::Quota;

/// Directory that a guest may reach.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DirGrant {
    /// Path on the host. It must exist when the guest is called.
    pub host: PathBuf,
    /// Path under which the guest sees it.
    pub guest: String,
    /// Whether the guest can only read it.
    pub read_only: bool,
    /// Quota of the directory.
    pub quota: Quota,
}

impl DirGrant {
    /// Grants `host` for reading, as `guest`.
    pub fn read_only(host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        Self { host: host.into(), guest: guest.into(), read_only: true, quota: Quota::default() }
    }

    /// Grants `host` for reading and writing, as `guest`.
    pub fn read_write(host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        Self { read_only: false, ..Self::read_only(host, guest) }
    }
}
