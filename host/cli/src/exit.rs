//! Exit statuses.

use std::process::ExitCode;

use phasm::engine::phase::Phase;

/// How a command ended, as its exit status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// 0: done; a run Succeeded or was Skipped.
    Done,
    /// 1: the run Failed; a plugin could not be built; a server is not ready.
    Failed,
    /// 2: problems in the document or the call.
    Problems,
    /// 3: the run ended with Error; the machine failed us.
    Error,
    /// 4: the run ended with Timeout.
    Timeout,
    /// 5: the run was Cancelled.
    Cancelled,
    /// 6: only suspended tasks keep the run open.
    Parked,
    /// 7: the store's file was deleted, moved or given a second name; nothing more is recorded.
    StoreGone,
    /// 130: interrupted.
    Interrupted,
    /// 143: asked to end by a supervisor.
    Terminated,
}

impl Exit {
    pub(super) const fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Problems => 2,
            Self::Error => 3,
            Self::Timeout => 4,
            Self::Cancelled => 5,
            Self::Parked => 6,
            Self::StoreGone => 7,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl Exit {
    /// The graver of two: of several runs the one to worry about decides, in the order of a container's children.
    pub(super) fn worst(self, other: Self) -> Self {
        if other.gravity() > self.gravity() { other } else { self }
    }

    const fn gravity(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Parked => 1,
            Self::Cancelled => 2,
            Self::Failed => 3,
            Self::Timeout => 4,
            Self::Error => 5,
            Self::Problems => 6,
            Self::StoreGone => 7,
            Self::Interrupted => 8,
            Self::Terminated => 9,
        }
    }
}

impl From<Phase> for Exit {
    /// Returns the status of a run. An open run waits for an answer.
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Succeeded | Phase::Skipped => Self::Done,
            Phase::Failed => Self::Failed,
            Phase::Error => Self::Error,
            Phase::Timeout => Self::Timeout,
            Phase::Cancelled => Self::Cancelled,
            Phase::Created | Phase::Ready | Phase::Running | Phase::Suspended => Self::Parked,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.status().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-L1.
    #[test]
    fn every_phase_has_its_status() {
        let statuses = Phase::ALL.map(|phase| Exit::from(phase).status());
        assert_eq!(statuses, [6, 6, 6, 6, 0, 1, 3, 4, 0, 5]);
        let others = [Exit::Problems, Exit::Interrupted, Exit::Terminated].map(Exit::status);
        assert_eq!(others, [2, 130, 143]);
    }

    /// R-S4: Error > Timeout > Failed > Cancelled > Succeeded.
    #[test]
    fn of_several_runs_the_worst_decides() {
        use Phase::{Cancelled, Error, Failed, Skipped, Succeeded, Suspended, Timeout};
        let rising = [Skipped, Suspended, Cancelled, Failed, Timeout, Error].map(Exit::from);
        for pair in rising.windows(2) {
            assert_eq!((pair[0].worst(pair[1]), pair[1].worst(pair[0])), (pair[1], pair[1]));
        }
        assert_eq!(Exit::from(Succeeded).worst(Exit::from(Skipped)), Exit::Done);
    }
}
