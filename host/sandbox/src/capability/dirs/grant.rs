//! Grants of directories.

use std::{
    io,
    path::{Path, PathBuf},
};

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
    /// Whether one attempt at a time may use it, of all processes of this machine.
    pub exclusive: bool,
}

impl DirGrant {
    /// Grants `host` for reading, as `guest`.
    pub fn read_only(host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            guest: guest.into(),
            read_only: true,
            quota: Quota::default(),
            exclusive: false,
        }
    }

    /// Grants `host` for reading and writing, as `guest`.
    pub fn read_write(host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        Self { read_only: false, ..Self::read_only(host, guest) }
    }

    /// Returns the same grant with an absolute path on the host, for a process with another working directory.
    ///
    /// # Errors
    /// Fails when a relative path has nothing to be relative to.
    pub(crate) fn absolute(&self) -> io::Result<Self> {
        let failed = |error| io::Error::other(format!("granted directory {}: {error}", self.host.display()));
        Ok(Self { host: std::path::absolute(&self.host).map_err(failed)?, ..self.clone() })
    }

    /// Checks that the path means the same in every process.
    ///
    /// # Errors
    /// Fails when it is relative.
    pub(crate) fn check_absolute(&self) -> io::Result<()> {
        if Path::is_absolute(&self.host) {
            return Ok(());
        }
        Err(io::Error::other(format!("granted directory {}: expected an absolute path", self.host.display())))
    }
}
