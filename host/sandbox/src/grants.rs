//! The capabilities that an operator grants to a plugin.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    capability::{clocks::WallClock, dirs::DirGrant, http::HttpGrant, random::Randomness},
    isolation::Isolation,
    limits::Allowance,
};

/// Everything one plugin may touch; the default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// Directories of the host, and everything below them.
    pub dirs: Vec<DirGrant>,
    /// The environment the guest sees, in full.
    pub env: BTreeMap<String, String>,
    /// Where requests may be sent.
    #[serde(skip)]
    pub http: HttpGrant,
    /// Time that the wall clock shows.
    pub wall_clock: WallClock,
    /// Where random bytes come from.
    pub random: Randomness,
    /// Where its guests run, if that is not as [`SandboxConfig::isolation`](crate::SandboxConfig) says.
    pub isolation: Option<Isolation>,
    /// Limits of the plugin's attempts, where they are lower than the general ones.
    pub limits: Allowance,
}

impl Grants {
    /// Whether nothing outside changes or hears anything by what a guest with these does: it reaches no files, no network and no other
    /// machine. It may read its environment and clocks, and what it says is its host's to pass on.
    #[must_use]
    pub fn are_pure(&self) -> bool {
        self.dirs.is_empty() && self.http.is_empty()
    }
}
