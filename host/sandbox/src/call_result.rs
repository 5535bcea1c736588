//! The result of a call, before the guest's outcome is read.

use phasm_engine::metered::Metered;

use super::{bindings, capability::refused::Refused, fault::Fault};

/// Result of a call, before the guest's outcome is read.
pub(super) struct CallResult {
    pub(super) result: Result<bindings::Outcome, Fault>,
    /// Refusals that the guest met.
    pub(super) refused: Refused,
    pub(super) metered: Metered,
}
