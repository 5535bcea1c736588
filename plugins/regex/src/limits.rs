//! Limits on patterns and results.

use phasm_sdk::prelude::*;

/// Maximum size of a pattern.
pub(crate) const MAX_PATTERN_BYTES: usize = 64 << 10;
/// Maximum size of a compiled pattern.
pub(crate) const MAX_COMPILED_BYTES: usize = 4 << 20;
/// Maximum depth of groups in a pattern: the compiler recurses, and the stack of a guest is small.
pub(crate) const MAX_DEPTH: u32 = 64;

/// Code 2 for more results than allowed.
pub(crate) fn too_many(what: &str, limit: usize) -> Outcome {
    let message = format!(
        "there are more than {limit} {what}; `maxMatches` sets the limit, and `limit` ends the search earlier"
    );
    Outcome::failed(message).kind("too-large").retryable(false)
}

/// Code 2 for a larger text than allowed.
pub(crate) fn too_large(limit: usize) -> Outcome {
    let message =
        format!("the text would be larger than {limit} bytes after `replace`; `maxBytes` sets the limit");
    Outcome::failed(message).kind("too-large").retryable(false)
}
