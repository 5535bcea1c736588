//! Timeout policies and which clock ended an attempt.

use crate::time::Millis;

/// `maxRuntime`, `maxInactivity` or `deadline`: how long, and what its expiry makes of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutPolicy {
    /// The longest time allowed, at least 1 ms.
    pub timeout: Millis,
    /// Error instead of Cancelled.
    pub error_on_timeout: bool,
}
