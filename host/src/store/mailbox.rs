//! Requests to runs from processes that do not drive them.

use super::{HostId, Lease, Pending};
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

/// Requests to runs, and the replies to them.
pub trait Mailbox: Send + Sync {
    /// Leaves a request to a run, which answers once it has recorded what follows from it. The letter's number is returned.
    ///
    /// # Errors
    /// [`StoreError::NotFound`](super::StoreError::NotFound); [`StoreError::Closed`](super::StoreError::Closed) for a run that has ended; [`StoreError::MailboxFull`](super::StoreError::MailboxFull).
    fn post(&self, run_id: &str, body: Vec<u8>) -> Pending<u64>;

    /// The letters to a run that wait for an answer, the oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn mail(&self, lease: &Lease) -> Pending<Vec<Letter>>;

    /// Returns the runs of a host, or those without an owner, that have unanswered requests.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn mailed(&self, owner: Option<&HostId>) -> Pending<Vec<Arc<str>>>;

    /// Stores replies to requests that changed nothing.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`](super::StoreError::LeaseLost) if another host has claimed the run.
    fn reply(&self, lease: &Lease, replies: Vec<Reply>) -> Pending<()>;
}
