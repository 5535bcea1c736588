//! Leases: the right to write to a run.

use std::{fmt, sync::Arc, time::Duration};

use phasm_engine::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::{Note, Pending, RunHead, RunRow, StoreError};

/// A process that runs workflows of a store; its id is never used again.
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

/// Leases of runs, and the hosts that hold them.
pub trait Leases: Send + Sync {
    /// Claims runs: those without an owner that are due or have requests, and those whose host is gone. The longest waiting
    /// comes first, then the highest priority, then the order of submission.
    ///
    /// # Errors
    /// When the store fails; nothing was claimed.
    fn claim(&self, wanted: ClaimRequest) -> Pending<Vec<Lease>>;

    /// Claims one run, whether it is due or not. The epoch grows also if the host owns the run already: an operation under the lease
    /// before it, whose outcome is unknown, is refused from now on.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    fn claim_run(&self, host: &HostId, run_id: &str, now: Timestamp) -> Pending<Claim>;

    /// Releases a run: it is due at `wake_at`, or when a request is posted.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another host has claimed it.
    fn release(&self, lease: &Lease, wake_at: Option<Timestamp>) -> Pending<()>;

    /// [`Self::release`] of a host that cannot continue the run, with the reason, which is shown with the run's row. A store
    /// without a place for the reason only releases the run.
    ///
    /// # Errors
    /// The same as [`Self::release`].
    fn leave(&self, lease: &Lease, wake_at: Option<Timestamp>, _note: Note) -> Pending<()> {
        self.release(lease, wake_at)
    }

    /// Sets or clears the reason why an owned run does not progress, which is shown with the run's row. A store without a place
    /// for the reason does nothing.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if another host has claimed it.
    fn note(&self, _lease: &Lease, _note: Option<Note>) -> Pending<()> {
        Pending::ready(Ok(()))
    }

    /// Returns when the next run without an owner is due: a time in the past if one is due already, or has requests.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn next_due(&self, wanted: ClaimRequest) -> Pending<Option<Timestamp>>;

    /// Says that the host is there until `until`, whatever the number of its runs; until 0, that it goes. A store with a clock
    /// of its own takes it to be there for a [`lease_time`](Self::lease_time) instead.
    ///
    /// # Errors
    /// When the store fails.
    fn heartbeat(&self, host: &HostId, until: Timestamp) -> Pending<()>;

    /// For how long a heartbeat counts, by the store's own clock: a host has to say more often that it is there, first before it
    /// submits or claims. Nothing, if the store takes the times of its hosts.
    fn lease_time(&self) -> Option<Duration> {
        None
    }

    /// Returns the time of the store's own clock, which all its hosts go by; none if it has no clock.
    ///
    /// # Errors
    /// When the store fails.
    fn clock(&self) -> Pending<Option<Timestamp>> {
        Pending::ready(Ok(None))
    }

    /// Changes when runs may have become due, or have mail, or have answered: after letters, replies and releases, and whatever
    /// others do. Several at once are one, and one may be for nothing.
    fn changed(&self) -> watch::Receiver<()>;

    /// Returns a receiver that changes when the store is connected again. Meanwhile replies may have been lost, and another server,
    /// or an earlier state of the same, may have taken the place of the one before. A store that is always connected never changes it.
    fn reconnected(&self) -> watch::Receiver<()> {
        watch::channel(()).1
    }

    /// The open runs that a host has, whether it knows that or not: the answer that would have told it may have been lost.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn owned(&self, host: &HostId) -> Pending<Vec<Arc<str>>>;
}
