//! Which phases of a task its surroundings tolerate.

/// `continueOn`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tolerance {
    /// Failed is tolerated.
    pub failed: bool,
    /// Error is tolerated.
    pub error: bool,
    /// Timeout, and Cancelled by a timeout policy, are tolerated.
    pub timeout: bool,
}
