//! Requests to runs from processes that do not drive them.

use std::sync::Arc;

/// How many requests to one run may be unanswered.
pub const MAX_WAITING_LETTERS: usize = 1000;
/// Minimum number of answers that are kept per run, for callers that have not fetched theirs.
pub const RETAINED_ANSWERS: u64 = 64;
/// The largest request, in bytes.
pub const MAX_LETTER_BYTES: usize = 16 << 20;

/// Request to a run that has no answer yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Unique in the store, ascending.
    pub id: u64,
    /// Content of the request, opaque to the store.
    pub body: Vec<u8>,
}

/// An answer that becomes durable together with what it speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The letter.
    pub letter: u64,
    /// Content of the answer, opaque to the store.
    pub body: Arc<[u8]>,
}

/// State of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The request has no answer yet.
    Waiting,
    /// The request was carried out or refused.
    Replied(Vec<u8>),
    /// Its run ended without it.
    Ended,
    /// There is no such letter, or its answer is no longer kept.
    Unknown,
}
