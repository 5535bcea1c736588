//! Result of a call, before the guest's outcome is read.

use phasm_engine::usage::ResourceUsage;

use super::{bindings, capability::refusals::Refusals, fault::Fault};

/// Result of a call, before the guest's outcome is read.
pub(super) struct CallResult {
    pub(super) result: Result<bindings::Outcome, Fault>,
    /// Refusals that the guest met.
    pub(super) refusals: Refusals,
    pub(super) metered: ResourceUsage,
}
