//! Indices of task runs and scopes.

use std::fmt;

use crate::event::TaskId;

/// Index of a task run that exists. A [`TaskId`] from outside is checked once, where it becomes an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskIndex(u32);

/// Index of a scope that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScopeIndex(u32);

impl TaskIndex {
    /// The run's root.
    pub const ROOT: Self = Self(0);

    /// Makes the index of a task run whose row exists or is about to be added.
    pub(super) fn new(id: TaskId) -> Self {
        Self(id.0)
    }

    pub(super) fn position(self) -> usize {
        self.0 as usize
    }

    #[cfg(test)]
    pub(super) fn of(number: u32) -> Self {
        Self(number)
    }
}

impl ScopeIndex {
    /// Makes the index of a scope whose row is about to be added.
    pub(super) fn new(number: u32) -> Self {
        Self(number)
    }

    pub(super) fn position(self) -> usize {
        self.0 as usize
    }
}

impl From<TaskIndex> for TaskId {
    fn from(TaskIndex(number): TaskIndex) -> Self {
        Self(number)
    }
}

impl fmt::Display for TaskIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
