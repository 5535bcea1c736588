//! Counters of a host. They are counted where something happens, without locks.
//!
//! ```text
//!  driver, dispatcher, claimer, schedules, stores ── one addition ──▶ Gauges ◀── now and then ── Host::metrics ──▶ MetricsSnapshot
//! ```

mod attempts;
mod histogram;
mod measured;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use phasm_engine::{
    event::{Event, Reason},
    phase::Phase,
};

pub use self::{
    attempts::{AttemptResult, ExecutorUse, MAX_EXECUTORS},
    histogram::{Buckets, Histogram, TIMES},
    measured::{
        CommitCounts, LeaseCounts, LetterCounts, MetricsSnapshot, PhaseCounts, ScheduleCounts, SlotUse,
        TenantUse,
    },
};
pub(crate) use self::{
    attempts::{AttemptTimer, Attempts},
    measured::CommitCounters,
};

/// A number of things that have happened.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, more: u64) {
        if more > 0 {
            self.0.fetch_add(more, Relaxed);
        }
    }

    pub(crate) fn one_more(&self) {
        self.add(1);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Numbers by phase.
#[derive(Debug, Default)]
pub(crate) struct PhaseCounters([Count; Phase::ALL.len()]);

impl PhaseCounters {
    fn add(&self, phase: Phase, more: u64) {
        let found = Phase::ALL.iter().zip(&self.0).find(|(of, _)| **of == phase);
        found.into_iter().for_each(|(_, count)| count.add(more));
    }

    fn get(&self) -> PhaseCounts {
        let ended = Phase::ALL.into_iter().zip(&self.0).filter(|(phase, _)| phase.is_terminal());
        PhaseCounts(ended.map(|(phase, count)| (phase, count.get())).collect())
    }
}

/// Everything that a host counts.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) attempts: Attempts,
    runs_submitted: Count,
    runs_ended: PhaseCounters,
    tasks_ended: PhaseCounters,
    pub(crate) claimed: Count,
    pub(crate) given_back: Count,
    pub(crate) lost: Count,
    pub(crate) interrupted: Count,
    driven: AtomicU64,
    pub(crate) heartbeats: Count,
    pub(crate) heartbeats_failed: Count,
    pub(crate) letters_carried_out: Count,
    pub(crate) letters_refused: Count,
    pub(crate) fired: Count,
    pub(crate) not_fired: Count,
    pub(crate) in_trouble: Count,
}

/// A run that is driven, until dropped.
#[derive(Debug)]
pub(crate) struct ActiveRunGuard(Arc<Gauges>);

impl Drop for ActiveRunGuard {
    fn drop(&mut self) {
        self.0.driven.fetch_sub(1, Relaxed);
    }
}

impl Gauges {
    pub(crate) fn drives(self: &Arc<Self>) -> ActiveRunGuard {
        self.driven.fetch_add(1, Relaxed);
        ActiveRunGuard(Arc::clone(self))
    }

    /// A new run is durable.
    pub(crate) fn submitted(&self) {
        self.runs_submitted.one_more();
    }

    /// These have become durable.
    pub(crate) fn recorded<'e>(&self, events: impl Iterator<Item = &'e Event>) {
        let mut ended = [0; Phase::ALL.len()];
        let reached = events.filter_map(|event| {
            let Event::Phase(changed) = event else { return None };
            Some(Reason::counts_as(changed.to, changed.reason))
        });
        for phase in reached.filter(|phase| phase.is_terminal()) {
            let of = Phase::ALL.iter().zip(&mut ended).find(|(of, _)| **of == phase);
            of.into_iter().for_each(|(_, count)| *count += 1);
        }
        for (count, more) in self.tasks_ended.0.iter().zip(ended) {
            count.add(more);
        }
    }

    /// A run has ended.
    pub(crate) fn ended(&self, phase: Phase) {
        self.runs_ended.add(phase, 1);
    }

    /// Begins a snapshot with what is counted here.
    pub(crate) fn metrics(&self) -> MetricsSnapshot {
        MetricsSnapshot {
            runs_submitted: self.runs_submitted.get(),
            runs_ended: self.runs_ended.get(),
            tasks_ended: self.tasks_ended.get(),
            attempts_begun: self.attempts.begun(),
            attempts_ended: self.attempts.ended(),
            dispatch: self.attempts.dispatch.get(),
            attempt: self.attempts.took.get(),
            leases: LeaseCounts {
                driven: self.driven.load(Relaxed),
                claimed: self.claimed.get(),
                given_back: self.given_back.get(),
                lost: self.lost.get(),
                interrupted: self.interrupted.get(),
                heartbeats: self.heartbeats.get(),
                heartbeats_failed: self.heartbeats_failed.get(),
            },
            letters: LetterCounts {
                carried_out: self.letters_carried_out.get(),
                refused: self.letters_refused.get(),
            },
            schedules: ScheduleCounts {
                fired: self.fired.get(),
                not_fired: self.not_fired.get(),
                in_trouble: self.in_trouble.get(),
            },
            ..MetricsSnapshot::default()
        }
    }
}
