//! Timeout policies and what their expiry makes of a task.

use crate::time::Millis;

/// `maxRuntime`, `maxInactivity` or `deadline`: how long, and what its expiry makes of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutPolicy {
    /// The longest time allowed, at least 1 ms.
    pub timeout: Millis,
    /// The end of the task when the time is over.
    pub expiry: Expiry,
}

/// End of a task by a timeout policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// Cancelled with the reason `timeout-policy`, which counts as a timeout.
    Cancelled,
    /// Error with the clock as reason.
    Error,
    /// Timeout.
    Timeout,
}

impl Expiry {
    /// The end that `errorOnTimeout` stands for.
    #[must_use]
    pub fn of(error_on_timeout: bool) -> Self {
        if error_on_timeout { Self::Error } else { Self::Cancelled }
    }
}
