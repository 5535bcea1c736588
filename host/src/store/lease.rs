//! Leases: the right to write to a run.

use std::{fmt, sync::Arc};

use phasm_engine::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RunHead, RunRow, StoreError};

/// A process that drives runs of a store; never used again once it has ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct HostId(Arc<str>);

impl HostId {
    /// Returns an identity that no other host has.
    #[must_use]
    pub fn unique() -> Self {
        Self(uuid::Uuid::now_v7().to_string().into())
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for HostId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Right of one host to write to one run, until another host claims the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub head: Arc<RunHead>,
    /// Owner of the lease.
    pub host: HostId,
    /// How often the run has been claimed: a store takes nothing from a lease with an older one.
    pub epoch: u64,
}

impl Lease {
    /// Returns the lease of a run that does not exist yet.
    #[must_use]
    pub fn first(head: Arc<RunHead>, host: HostId) -> Self {
        Self { head, host, epoch: 1 }
    }

    pub(crate) fn lost(&self) -> StoreError {
        StoreError::LeaseLost { run_id: Arc::clone(&self.head.run_id) }
    }
}

/// Which runs a host would drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// Host that claims them.
    pub host: HostId,
    /// Time: runs that are due by then.
    pub now: Timestamp,
    /// Maximum number of runs.
    pub limit: usize,
    /// Runs that this host cannot drive.
    pub except: Vec<Arc<str>>,
}

impl ClaimRequest {
    /// Whether this host could drive the run.
    pub(super) fn admits(&self, row: &RunRow) -> bool {
        !self.except.contains(&row.head.run_id)
    }
}

/// The result of claiming a run by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The run belongs to the host from now on.
    Leased(Lease),
    /// Another host has it, and is there.
    Held(HostId),
    /// The run has ended and needs no host.
    Closed,
}
