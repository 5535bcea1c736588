//! Who goes on with a run, as far as its store tells.

use phasm::store::RunRow;

/// Who goes on with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nobody: it has ended.
    Ended,
    /// A process that holds the store.
    Driven,
    /// Whoever answers: only suspended tasks keep it open.
    Parked,
    /// The process that holds the store, when its time has come.
    Waiting,
    /// Nobody, until it is recovered.
    Orphaned,
}

impl State {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Driven => "driven",
            Self::Parked => "parked",
            Self::Waiting => "waiting",
            Self::Orphaned => "orphaned",
        }
    }

    /// That of a run in a store that somebody holds, or nobody does.
    pub(super) fn of(row: &RunRow, is_held: bool) -> Self {
        if !row.status.open {
            Self::Ended
        } else if is_held && row.owner.is_some() {
            Self::Driven
        } else if row.status.rest.is_some_and(|rest| rest.parked) {
            Self::Parked
        } else if is_held && row.wake_at.is_some() {
            Self::Waiting
        } else {
            Self::Orphaned
        }
    }
}
