//! Measurements as plain values.

use std::sync::Arc;

use phasm_engine::phase::Phase;

use super::{
    Count,
    attempts::ExecutorUse,
    histogram::{BYTES, Buckets, Histogram, REQUESTS, TIMES},
};
use phasm_sandbox::Occupancy;

/// Counts of a host since it was opened, and its present state. Times are in microseconds.
#[derive(Clone, Debug, Default)]
pub struct MetricsSnapshot {
    /// New runs that were made durable here.
    pub runs_submitted: u64,
    /// Runs that ended here.
    pub runs_ended: PhaseCounts,
    /// Task and hook runs, containers included, that ended here.
    pub tasks_ended: PhaseCounts,
    /// Attempts that have begun here, those of other hosts' runs included.
    pub attempts_begun: u64,
    /// Attempts that have ended, by executor.
    pub attempts_ended: Vec<ExecutorUse>,
    /// From when an attempt of this host's runs could have begun to its start: waiting for a slot, for its record and for a thread.
    pub dispatch: Histogram,
    /// From the start of an attempt to its end.
    pub attempt: Histogram,
    /// Slots in use and waited for.
    pub slots: SlotUse,
    /// Runs that this host has, has had and has lost.
    pub leases: LeaseCounts,
    /// Requests to runs that came through the store.
    pub letters: LetterCounts,
    /// Instants of schedules that this host has decided on.
    pub schedules: ScheduleCounts,
    /// CommitCounters of the store; absent where the store does not count them.
    pub written: Option<CommitCounts>,
    /// Where guests are; nothing, where another executor stands for them.
    pub sandbox: Option<Occupancy>,
}

impl MetricsSnapshot {
    /// How many attempts are executed here.
    #[must_use]
    pub fn executing(&self) -> u64 {
        let ended = self.attempts_ended.iter().flat_map(|of| &of.ended).map(|(_, count)| count).sum();
        self.attempts_begun.saturating_sub(ended)
    }
}

/// How many have ended in each phase that is an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseCounts(pub Vec<(Phase, u64)>);

impl PhaseCounts {
    /// How many have ended in that phase.
    #[must_use]
    pub fn of(&self, phase: Phase) -> u64 {
        self.0.iter().find(|(of, _)| *of == phase).map_or(0, |(_, count)| *count)
    }
}

/// Slots in use and waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotUse {
    /// Attempts that may be in flight in this process.
    pub total: u32,
    /// Slots that are lent. More than there are while other hosts execute attempts, or while a reply is under way to a run that
    /// need not wait.
    pub lent: u64,
    /// How many attempts wait for a slot to be free.
    pub waiting: u64,
    /// How many wait for their tenant's quota of running attempts.
    pub waiting_for_quota: u64,
    /// The same of each tenant that is configured; of all others together under none.
    pub tenants: Vec<TenantUse>,
}

/// A tenant's use of slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantUse {
    /// Its name.
    pub tenant: Option<Arc<str>>,
    /// How many it has.
    pub lent: u64,
    /// How many it waits for.
    pub waiting: u64,
}

/// Runs that a host has, has had and has lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeaseCounts {
    /// Runs that this host is running.
    pub driven: u64,
    /// Runs that this host has claimed.
    pub claimed: u64,
    /// Given back to the store, as they rest.
    pub given_back: u64,
    /// Claimed by another host meanwhile.
    pub lost: u64,
    /// Stopped, as their store failed.
    pub interrupted: u64,
    /// How often the store has heard that the host is there.
    pub heartbeats: u64,
    /// How often it has not.
    pub heartbeats_failed: u64,
}

/// Requests to runs that came through the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetterCounts {
    /// Carried out.
    pub carried_out: u64,
    /// Refused.
    pub refused: u64,
}

/// Instants of schedules by their result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleCounts {
    /// A run was started.
    pub fired: u64,
    /// None was: it was too late, or runs before it were open.
    pub not_fired: u64,
    /// None could be, which is tried again.
    pub in_trouble: u64,
}

/// CommitCounters of a store since it was opened. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitCounts {
    /// How long each commit took.
    pub took: Histogram,
    /// How many requests shared each commit.
    pub requests: Histogram,
    /// How many bytes of records, logs and letters each commit had; none, where nothing is encoded.
    pub bytes: Histogram,
    /// CommitCounters that failed.
    pub failed: u64,
}

/// Counters of a store.
#[derive(Debug)]
pub(crate) struct CommitCounters {
    took: Buckets<{ TIMES.len() }>,
    requests: Buckets<{ REQUESTS.len() }>,
    bytes: Buckets<{ BYTES.len() }>,
    failed: Count,
}

impl Default for CommitCounters {
    fn default() -> Self {
        Self {
            took: Buckets::new(&TIMES),
            requests: Buckets::new(&REQUESTS),
            bytes: Buckets::new(&BYTES),
            failed: Count::default(),
        }
    }
}

impl CommitCounters {
    /// A commit is durable.
    pub(crate) fn done(&self, began: std::time::Instant, requests: usize, bytes: Option<usize>) {
        let took = began.elapsed().as_micros();
        self.took.add(u64::try_from(took).unwrap_or(u64::MAX));
        self.requests.add(requests as u64);
        bytes.into_iter().for_each(|bytes| self.bytes.add(bytes as u64));
    }

    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn failed(&self) {
        self.failed.one_more();
    }

    pub(crate) fn get(&self) -> CommitCounts {
        CommitCounts {
            took: self.took.get(),
            requests: self.requests.get(),
            bytes: self.bytes.get(),
            failed: self.failed.get(),
        }
    }
}
