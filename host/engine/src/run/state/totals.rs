//! Counts and times of a whole run.

use std::fmt;

use crate::time::Timestamp;

/// Terminal leaf task runs, of all that exist so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Terminal ones.
    pub done: u32,
    /// All.
    pub total: u32,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.done, self.total)
    }
}

/// When a run was submitted, became Running, ended, and must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Submit.
    pub submitted_at: Timestamp,
    /// First Running.
    pub started_at: Option<Timestamp>,
    /// The end.
    pub finished_at: Option<Timestamp>,
    /// `spec.timeout`.
    pub deadline_at: Option<Timestamp>,
}
