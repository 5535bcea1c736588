//! Bounds of an attempt.

use phasm_engine::time::Millis;

/// Bounds of an attempt besides its deadline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    /// `maxRuntime`, from the start of the executor.
    pub(crate) max_runtime: Option<Millis>,
    /// `maxInactivity`.
    pub(crate) max_inactivity: Option<Millis>,
}
