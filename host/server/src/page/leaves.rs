//! The leaves of a run's last attempts: counted by phase, and those that failed.

use phasm::{
    Phase,
    engine::{
        event::Reason,
        phase::TaskKind,
        run::{Place, Run, TaskRun},
    },
};
use phasm_graph::Tally;

/// Tasks that were not run of which the names are shown.
const MAX_NAMED: usize = 3;

/// Leaves of the last attempts of a run. An earlier attempt that a later one made good is not among them.
pub(super) struct Leaves<'r> {
    pub(super) tally: Tally,
    /// Leaves that failed in the end.
    pub(super) failed: Vec<&'r TaskRun>,
    /// Number of those that were not run as another task had failed.
    pub(super) not_run: usize,
    /// The first of them.
    pub(super) first_not_run: Vec<&'r TaskRun>,
    /// Number of those that wait for another attempt.
    pub(super) retrying: usize,
    /// Number of retries of them all.
    pub(super) retries: u32,
    /// Number of those whose results are the ones of an earlier run.
    pub(super) reused: usize,
}

impl<'r> Leaves<'r> {
    /// Looks at all task runs once.
    pub(super) fn of(run: &'r Run) -> Self {
        let is_leaf = |task: &&TaskRun| run.kind(task) == TaskKind::Leaf && task.hook.is_none();
        let last: Vec<_> =
            run.tasks().iter().filter(is_leaf).filter(|task| is_of_last_attempt(run, task)).collect();
        let tally = last.iter().map(|task| task.phase).collect();
        let (failed, first_not_run) = (Vec::new(), Vec::new());
        let mut leaves =
            Self { tally, failed, not_run: 0, first_not_run, retrying: 0, retries: 0, reused: 0 };
        for task in last {
            if task.reason == Some(Reason::ScopeFailed) {
                leaves.not_run += 1;
                if leaves.first_not_run.len() < MAX_NAMED {
                    leaves.first_not_run.push(task);
                }
            }
            let waits_for_retry = task.phase == Phase::Created && !task.attempts.is_empty();
            leaves.retrying += usize::from(waits_for_retry);
            leaves.retries += if task.reused { 0 } else { task.retries };
            leaves.reused += usize::from(task.reused);
            if matches!(task.phase, Phase::Failed | Phase::Error | Phase::Timeout) {
                leaves.failed.push(task);
            }
        }
        leaves
    }

    /// Whether people rejected each of those that failed: then nothing is broken, and the same steps would ask them again.
    pub(super) fn are_rejected(&self, run: &Run) -> bool {
        !self.failed.is_empty() && self.failed.iter().all(|task| run.is_rejected(task))
    }

    pub(super) fn count(&self) -> usize {
        usize::try_from(self.tally.tasks()).unwrap_or(usize::MAX)
    }
}

fn is_of_last_attempt(run: &Run, task: &TaskRun) -> bool {
    let mut inner = task;
    while let Some(outer) = run.parent(inner) {
        if matches!(inner.place, Place::Attempt(..))
            && run.children(outer).next_back().is_some_and(|last| last.id != inner.id)
        {
            return false;
        }
        inner = outer;
    }
    true
}
