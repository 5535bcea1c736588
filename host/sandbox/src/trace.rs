//! Trace contexts of work that spans several systems, by W3C Trace Context.
//!
//! The ids of a run's spans follow from the id of the run. So every host that continues a run or executes one of its attempts
//! finds the same ids without asking another.

mod state;

use std::{fmt, str::FromStr, sync::Arc};

use sha2::{Digest as _, Sha256};

use crate::digest::Hex;

/// Header with the parent span. Environment variables have the same name in capitals.
pub const TRACEPARENT: &str = "traceparent";
/// Header with additions of the systems on the way.
pub const TRACESTATE: &str = "tracestate";

/// Length of `traceparent` in the version that is written here, in bytes.
const TRACEPARENT_BYTES: usize = 55;
/// Flags that are defined: sampled, and that the trace id is random.
const KNOWN_FLAGS: u8 = 3;
const SAMPLED: u8 = 1;

/// Id of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(pub [u8; 16]);

/// Id of a span within its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId(pub [u8; 8]);

impl TraceId {
    /// Returns the id for a run that was not started within a trace: the first 16 bytes of the SHA-256 of the run's id.
    #[must_use]
    pub fn of_run(run_id: &str) -> Self {
        Self(first(run_id))
    }
}

impl SpanId {
    /// Returns the id of a span with a unique name in its trace: the first 8 bytes of the name's SHA-256.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self(first(name))
    }
}

fn first<const N: usize>(name: &str) -> [u8; N] {
    let digest = Sha256::digest(name.as_bytes());
    let mut id = [0; N];
    id.iter_mut().zip(digest).for_each(|(byte, of_digest)| *byte = of_digest);
    id
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

/// A span, as it is propagated to its children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// Id of the trace.
    pub trace: TraceId,
    /// Id of the span itself.
    pub span: SpanId,
    flags: u8,
    /// Additions of the systems on the way.
    pub state: Option<Arc<str>>,
}

impl TraceContext {
    /// Makes a span in a trace of its own.
    #[must_use]
    pub fn new(trace: TraceId, span: SpanId, is_sampled: bool) -> Self {
        Self { trace, span, flags: is_sampled.into(), state: None }
    }

    /// Reads `traceparent` and `tracestate`. An invalid `traceparent` gives no context, an invalid `tracestate` gives one without
    /// state.
    #[must_use]
    pub fn read(parent: &str, state: Option<&str>) -> Option<Self> {
        let parent = parent.trim_matches([' ', '\t']);
        let known = parent.get(..TRACEPARENT_BYTES)?;
        let mut parts = known.split('-');
        let [version, trace, span, flags] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
        let [version]: [u8; 1] = bytes(version)?;
        // Later versions may add fields after the ones that are known.
        let goes_on = version > 0 && parent.as_bytes().get(TRACEPARENT_BYTES) == Some(&b'-');
        let is_whole = parts.next().is_none() && (parent.len() == TRACEPARENT_BYTES || goes_on);
        let (trace, span, [flags]) = (TraceId(bytes(trace)?), SpanId(bytes(span)?), bytes(flags)?);
        if !is_whole || version == u8::MAX || trace.0 == [0; 16] || span.0 == [0; 8] {
            return None;
        }
        Some(Self { trace, span, flags: flags & KNOWN_FLAGS, state: state.and_then(state::read) })
    }

    /// Returns another span of the same trace.
    #[must_use]
    pub fn with(&self, span: SpanId) -> Self {
        Self { span, ..self.clone() }
    }

    /// Returns whether the creator of the trace has it recorded.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Returns the `traceparent` for children of this span.
    #[must_use]
    pub fn parent(&self) -> String {
        format!("00-{}-{}-{:02x}", self.trace, self.span, self.flags)
    }
}

/// Reads `N` bytes in lower-case hexadecimal.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

/// Writes the form that is stored with a run: `traceparent`, and `tracestate` after a space.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parent())?;
        self.state.iter().try_for_each(|state| write!(f, " {state}"))
    }
}

/// Text that is no [`TraceContext`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected `traceparent` in the form of W3C Trace Context, and `tracestate` after a space, if there is one"
)]
pub struct NotAContext;

impl FromStr for TraceContext {
    type Err = NotAContext;

    fn from_str(text: &str) -> Result<Self, NotAContext> {
        let (parent, state) = match text.split_once(' ') {
            Some((parent, state)) => (parent, Some(state)),
            None => (text, None),
        };
        Self::read(parent, state).ok_or(NotAContext)
    }
}

#[cfg(test)]
mod tests;
