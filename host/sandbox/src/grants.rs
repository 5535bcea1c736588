//! The capabilities that an operator grants to a plugin.

use std::{collections::BTreeMap, io, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    capability::{clocks::WallClock, dirs::DirGrant, http::HttpGrant, random::Randomness, sockets::TcpGrant},
    isolation::Isolation,
    limits::Allowance,
};

/// Capabilities of one plugin; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// Directories of the host, and everything below them.
    pub dirs: Vec<DirGrant>,
    /// Whether its attempts read and write artifacts, in directories of each attempt alone.
    pub artifacts: bool,
    /// Environment of the guest, in full.
    pub env: BTreeMap<String, String>,
    /// Requests that it may make.
    #[serde(skip)]
    pub http: HttpGrant,
    /// TCP connections that it may make.
    pub tcp: TcpGrant,
    /// Time that the wall clock shows.
    pub wall_clock: WallClock,
    /// Source of random bytes.
    pub random: Randomness,
    /// Isolation of its guests, if it differs from [`SandboxConfig::isolation`](crate::SandboxConfig).
    pub isolation: Option<Isolation>,
    /// Limits of the plugin's attempts, where they are lower than the general ones.
    pub limits: Allowance,
}

impl Grants {
    /// Returns whether a guest with these grants has no side effects: it reaches no files, no network and no other machine. It
    /// may read its environment and clocks, and its output goes to the host alone.
    #[must_use]
    pub fn are_pure(&self) -> bool {
        self.dirs.is_empty() && self.http.is_empty() && self.tcp.is_empty()
    }

    /// Returns the grants of one attempt, which has directories of its own.
    pub(crate) fn with_dirs(self: Arc<Self>, own: &[DirGrant]) -> Arc<Self> {
        if own.is_empty() {
            return self;
        }
        let dirs = self.dirs.iter().chain(own).cloned().collect();
        Arc::new(Self { dirs, ..(*self).clone() })
    }

    /// Returns the same grants for a process with another working directory.
    ///
    /// # Errors
    /// See [`DirGrant::absolute`].
    pub(crate) fn absolute(&self) -> io::Result<Self> {
        let dirs = self.dirs.iter().map(DirGrant::absolute).collect::<io::Result<_>>()?;
        Ok(Self { dirs, ..self.clone() })
    }
}
