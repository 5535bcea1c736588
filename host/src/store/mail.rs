//! Requests to runs from whoever does not drive them.

use std::sync::Arc;

/// How many requests to one run may be unanswered.
pub const MAX_WAITING_LETTERS: usize = 1000;
/// How many answers of a run are kept at least, for whoever has not fetched theirs.
pub const RETAINED_ANSWERS: u64 = 64;
/// The largest request, in bytes.
pub const MAX_LETTER_BYTES: usize = 16 << 20;

/// A request to a run that nobody has answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Unique in the store, ascending.
    pub id: u64,
    /// What is asked for, opaque to the store.
    pub body: Vec<u8>,
}

/// An answer that becomes durable together with what it speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The letter.
    pub letter: u64,
    /// What is answered, opaque to the store.
    pub body: Arc<[u8]>,
}

/// What became of a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nobody has answered yet.
    Waiting,
    /// It was carried out, or refused.
    Replied(Vec<u8>),
    /// Its run ended without it.
    Ended,
    /// There is no such letter, or its answer is no longer kept.
    Unknown,
}
