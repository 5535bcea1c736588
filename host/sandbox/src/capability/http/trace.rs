//! Where a request belongs, in the words of W3C Trace Context.

use sha2::{Digest as _, Sha256};

use crate::{digest::Hex, executor::Invocation};

/// `traceparent` of the attempt's request with this number: one trace a run, one span a request, the same however often it is
/// executed.
pub(super) fn parent(invocation: &Invocation, number: u32) -> String {
    let trace = Sha256::digest(invocation.run_id.as_bytes());
    let span = Sha256::digest(format!("{}/{number}", invocation.idempotency_key()).as_bytes());
    let (trace, span) = (trace.get(..16).unwrap_or_default(), span.get(..8).unwrap_or_default());
    format!("00-{}-{}-01", Hex(trace), Hex(span))
}
