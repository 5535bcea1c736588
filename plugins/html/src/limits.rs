//! Limits on pages, selectors and results.

use phasm_sdk::prelude::*;

/// Maximum size of a selector.
pub(crate) const MAX_SELECTOR_BYTES: usize = 4 << 10;
/// Maximum number of fields.
pub(crate) const MAX_FIELDS: usize = 100;
/// Maximum depth of the elements of a page: descendants are compared with all elements above them.
pub(crate) const MAX_DEPTH: usize = 512;

/// Code 2 for more than allowed.
pub(crate) fn failed(message: impl Into<String>) -> Outcome {
    Outcome::failed(message).kind("too-large").retryable(false)
}

/// Bytes that results may still have.
pub(crate) struct Budget {
    left: usize,
    limit: usize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { left: limit, limit }
    }

    /// Takes bytes of a result.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(failed(format!(
                "the results have more than {} bytes; `maxBytes` sets the limit, and `limit` ends the search earlier",
                self.limit
            ))),
        }
    }
}
