//! The state of a task that is polled by whichever thread has news for it. Tested with every interleaving by loom.

use super::atomic::{
    AtomicU8,
    Ordering::{AcqRel, Acquire},
};

/// No thread polls, and nothing has happened.
const IDLE: u8 = 0;
/// One thread is going to poll.
const CALLED: u8 = 1;
/// One thread polls.
const POLLING: u8 = 2;
/// One thread polls, and has to do so once more.
const AGAIN: u8 = 3;

/// Sees to it that at most one thread polls, and that no wake-up is lost.
///
/// Every transition synchronises with the one before: a waker writes its news, then calls [`Self::wake`] (release), and the thread
/// that polls next has read the state (acquire) before it looks for news.
#[derive(Debug)]
pub(super) struct PollState(AtomicU8);

impl PollState {
    /// A new task's creator is going to poll it.
    pub(super) fn new() -> Self {
        Self(AtomicU8::new(CALLED))
    }

    /// Notes news. Returns true if the caller must see to it that the task is polled; otherwise another thread does.
    pub(super) fn wake(&self) -> bool {
        let next = |state| match state {
            IDLE => CALLED,
            POLLING => AGAIN,
            // Written all the same: the write releases the news to the poll that is to come.
            called => called,
        };
        // Release: the news is written before. Acquire: a thread that is called polls after the polls before it.
        self.0.fetch_update(AcqRel, Acquire, |state| Some(next(state))) == Ok(IDLE)
    }

    /// Begins a poll, by the thread that was called.
    pub(super) fn begin(&self) {
        // A swap and not a store: it acquires the news of the wake-ups that it swallows, which this poll must find.
        self.0.swap(POLLING, AcqRel);
    }

    /// Ends a poll. Returns false if news has come meanwhile, so that the caller has to poll once more.
    pub(super) fn end(&self) -> bool {
        self.0.compare_exchange(POLLING, IDLE, AcqRel, Acquire).is_ok()
    }

    /// Leaves the next poll to another thread, which the caller calls.
    pub(super) fn hand_over(&self) {
        // A swap and not a store, for the same reason.
        self.0.swap(CALLED, AcqRel);
    }
}
