//! The instants a run waits for, in the order in which they are due.

use std::collections::BTreeSet;

use super::TaskIndex;
use crate::time::Timestamp;

/// The effect of a wait's end, in the order that decides between waits of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::run) enum WaitKind {
    /// `spec.timeout`.
    SpecTimeout,
    /// A container's `timeout`; outermost (of least depth) first.
    ContainerTimeout {
        /// The container's depth.
        depth: u32,
    },
    /// A task's `deadline`.
    Deadline,
    /// A task's `timeout`.
    Timeout,
    /// An attempt's `maxRuntime`.
    MaxRuntime,
    /// The end of a retry's delay.
    RetryWake,
}

/// One instant one task run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::run) struct Wait {
    /// When.
    pub at: Timestamp,
    /// The effect.
    pub kind: WaitKind,
    /// The task run; within a kind, creation order.
    pub(in crate::run) task: TaskIndex,
}

/// All waits of a run. Adding, removing and finding the next take logarithmic time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits(BTreeSet<Wait>);

impl Waits {
    /// Adds a wait.
    pub(super) fn insert(&mut self, wait: Wait) {
        self.0.insert(wait);
    }

    /// Drops a wait; one that is not there is no fault.
    pub(super) fn remove(&mut self, wait: Wait) {
        self.0.remove(&wait);
    }

    /// The next instant.
    #[must_use]
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.0.first().map(|wait| wait.at)
    }

    /// When the last one is over that is for a length of time.
    pub(super) fn lengths_end(&self) -> Option<Timestamp> {
        let is_length = |wait: &&Wait| matches!(wait.kind, WaitKind::MaxRuntime | WaitKind::RetryWake);
        self.0.iter().rev().find(is_length).map(|wait| wait.at)
    }

    /// Takes the next wait if it is due at `now`.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<Wait> {
        let first = self.0.first().copied().filter(|wait| wait.at <= now)?;
        self.0.remove(&first);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TaskId;

    /// R-T7: at one instant the kinds are served in their order, within a kind in creation order.
    #[test]
    fn waits_of_one_instant_are_served_in_order() {
        let kinds = [
            (WaitKind::RetryWake, 1),
            (WaitKind::MaxRuntime, 1),
            (WaitKind::Timeout, 4),
            (WaitKind::Timeout, 3),
            (WaitKind::Deadline, 9),
            (WaitKind::ContainerTimeout { depth: 2 }, 1),
            (WaitKind::ContainerTimeout { depth: 1 }, 5),
            (WaitKind::SpecTimeout, 0),
        ];
        let mut waits = Waits::default();
        for (kind, task) in kinds {
            waits.insert(Wait { at: Timestamp(10), kind, task: TaskIndex::of(task) });
        }
        waits.insert(Wait { at: Timestamp(9), kind: WaitKind::RetryWake, task: TaskIndex::of(7) });
        assert_eq!(waits.next(), Some(Timestamp(9)));
        assert_eq!(waits.pop_due(Timestamp(8)), None);
        assert_eq!(waits.lengths_end(), Some(Timestamp(10)));
        let order: Vec<u32> =
            std::iter::from_fn(|| waits.pop_due(Timestamp(10))).map(|w| TaskId::from(w.task).0).collect();
        assert_eq!(order, [7, 0, 5, 1, 9, 3, 4, 1, 1]);
    }
}
