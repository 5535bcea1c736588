//! When a task is tried again: three spellings, one policy.

use crate::settings::{Backoff, MaxAttempts};

use super::Condition;

/// `retry` in the spelling of Aether or Steep.
#[derive(Debug)]
pub struct RetryPolicy {
    /// Attempts in all, the first included.
    pub max_attempts: MaxAttempts,
    /// The pause after each attempt.
    pub backoff: Backoff,
    /// Which results are tried again.
    pub filter: RetryFilter,
    /// Uniform fraction of the delay added to it, 0 to 1.
    pub jitter: f64,
}

/// Which results are tried again; success never is.
#[derive(Debug)]
pub enum RetryFilter {
    /// Aether's default: Error and Timeout.
    ErrorOrTimeout,
    /// Default of `phasm/v1`: Error and Timeout, except errors that the executor calls not retryable.
    Retryable,
    /// Steep's default: Failed, Error and Timeout.
    AnyFailure,
    /// The author's expression, which replaces the default.
    Expression(Condition),
}
