//! Fields of a CronWorkflow besides its workflow.

use std::sync::Arc;

use super::Schedule;
use crate::time::Millis;

/// When a workflow starts by itself, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    /// `metadata.name`, which its runs may have another one of.
    pub name: Arc<str>,
    /// `schedule`, as written.
    pub written: Arc<str>,
    /// When.
    pub schedule: Schedule,
    /// `concurrencyPolicy`.
    pub concurrency: Concurrency,
    /// `startingDeadlineSeconds`: how late a run may start.
    pub starting_deadline: Option<Millis>,
    /// `successfulJobsHistoryLimit`: how many succeeded runs are kept.
    pub keep_succeeded: Option<u32>,
    /// `failedJobsHistoryLimit`: how many of the others.
    pub keep_others: Option<u32>,
    /// Whether it pauses from the beginning.
    pub suspend: bool,
}

/// The reaction to a run that is due while another one of the schedule is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Concurrency {
    /// Start it as well.
    #[default]
    Allow,
    /// Do not start it.
    Forbid,
    /// The other one is cancelled, and it is started.
    Replace,
}

impl Concurrency {
    /// Returns the text as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "Allow",
            Self::Forbid => "Forbid",
            Self::Replace => "Replace",
        }
    }
}
