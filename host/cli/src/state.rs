//! Who goes on with a run, as far as its store tells.

use phasm::{engine::run::Run, journal, store::RunRow};

use super::kept::Kept;

/// Events of a run above which its journal is not read to find out what it waits for.
const MOST_EVENTS: u64 = 10_000;

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
    pub(super) async fn of(row: &RunRow, reader: &Kept, is_held: bool) -> Self {
        let state = Self::of_row(row, is_held);
        if state.may_be_parked() && is_parked(row, reader).await { Self::Parked } else { state }
    }

    /// The same of a run that has been replayed.
    pub(super) fn of_run(row: &RunRow, run: &Run, is_held: bool) -> Self {
        let state = Self::of_row(row, is_held);
        if state.may_be_parked() && run.is_parked() { Self::Parked } else { state }
    }

    const fn may_be_parked(self) -> bool {
        matches!(self, Self::Waiting | Self::Orphaned)
    }

    /// What the row alone says: of those that nobody has some are parked.
    fn of_row(row: &RunRow, is_held: bool) -> Self {
        if !row.status.open {
            Self::Ended
        } else if is_held && row.owner.is_some() {
            Self::Driven
        } else if is_held && row.wake_at.is_some() {
            Self::Waiting
        } else {
            Self::Orphaned
        }
    }
}

/// A journal that cannot be read keeps no list from being shown.
async fn is_parked(row: &RunRow, reader: &Kept) -> bool {
    if row.seq > MOST_EVENTS {
        return false;
    }
    let run_id = &row.head.run_id;
    let Ok(records) = reader.load(run_id).await else { return false };
    journal::replay(run_id, &records, |_, _, _, _| {}).is_ok_and(|run: Run| run.is_parked())
}
