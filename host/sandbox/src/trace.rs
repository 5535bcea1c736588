//! Where work belongs that goes through many systems, in the words of W3C Trace Context.
//!
//! What a run does has ids that follow from the run's: whoever goes on with it, and whoever executes one of its attempts, finds the same
//! without asking anybody.

mod state;

use std::{fmt, str::FromStr, sync::Arc};

use sha2::{Digest as _, Sha256};

use crate::digest::Hex;

/// The header, or environment variable in capitals, that says which span one goes on in.
pub const TRACEPARENT: &str = "traceparent";
/// What systems on the way have added for themselves.
pub const TRACESTATE: &str = "tracestate";

/// How long `traceparent` is, of the version that is written here.
const TRACEPARENT_BYTES: usize = 55;
/// Flags that mean something: sampled, and that the trace's id is random.
const KNOWN_FLAGS: u8 = 3;
const SAMPLED: u8 = 1;

/// A trace's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(pub [u8; 16]);

/// A span's number within its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId(pub [u8; 8]);

impl TraceId {
    /// That of a run which nobody has begun in a trace of theirs: the first 16 bytes of its id's SHA-256.
    #[must_use]
    pub fn of_run(run_id: &str) -> Self {
        Self(first(run_id))
    }
}

impl SpanId {
    /// That of something with a name of its own in its trace: the first 8 bytes of the name's SHA-256.
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

/// A span, as those that come of it are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// Its trace.
    pub trace: TraceId,
    /// The span itself.
    pub span: SpanId,
    flags: u8,
    /// What systems on the way have added for themselves.
    pub state: Option<Arc<str>>,
}

impl TraceContext {
    /// A span of a trace of its own.
    #[must_use]
    pub fn new(trace: TraceId, span: SpanId, is_sampled: bool) -> Self {
        Self { trace, span, flags: is_sampled.into(), state: None }
    }

    /// What `traceparent` and `tracestate` say. What is not as W3C says it has to be counts as not said: without the first there is nothing,
    /// without the second there is no state.
    #[must_use]
    pub fn read(parent: &str, state: Option<&str>) -> Option<Self> {
        let parent = parent.trim_matches([' ', '\t']);
        let known = parent.get(..TRACEPARENT_BYTES)?;
        let mut parts = known.split('-');
        let [version, trace, span, flags] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
        let [version]: [u8; 1] = bytes(version)?;
        // Those that come later may add something, and say the same before it.
        let goes_on = version > 0 && parent.as_bytes().get(TRACEPARENT_BYTES) == Some(&b'-');
        let is_whole = parts.next().is_none() && (parent.len() == TRACEPARENT_BYTES || goes_on);
        let (trace, span, [flags]) = (TraceId(bytes(trace)?), SpanId(bytes(span)?), bytes(flags)?);
        if !is_whole || version == u8::MAX || trace.0 == [0; 16] || span.0 == [0; 8] {
            return None;
        }
        Some(Self { trace, span, flags: flags & KNOWN_FLAGS, state: state.and_then(state::read) })
    }

    /// Another span of the same trace.
    #[must_use]
    pub fn with(&self, span: SpanId) -> Self {
        Self { span, ..self.clone() }
    }

    /// Whether whoever began the trace has it recorded.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// `traceparent`, for whoever goes on from here.
    #[must_use]
    pub fn parent(&self) -> String {
        format!("00-{}-{}-{:02x}", self.trace, self.span, self.flags)
    }
}

/// So many bytes in lower-case hexadecimal.
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

/// As it is kept with a run: `traceparent`, and `tracestate` after a space.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parent())?;
        self.state.iter().try_for_each(|state| write!(f, " {state}"))
    }
}

/// Text that is no [`TraceContext`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected `traceparent` as W3C Trace Context has it, and `tracestate` after a space, if there is one"
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
