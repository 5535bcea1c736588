//! Attempts that wait for a thread of the guests.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

/// How many attempts of one run are about to begin, as soon as there is a thread for them.
///
/// A run has few of them at a time: what waits for its thread in memory is gone from the caches when its turn comes, and stands
/// before the attempts of other runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue(Arc<AtomicU32>);

/// One of them, until dropped.
#[derive(Debug)]
pub(crate) struct Queued(Queue);

impl Queue {
    /// So many keep the threads busy until the driver has had its next turn.
    const ENOUGH: u32 = 128;

    /// How many more there may be, besides `others` that are about to come.
    pub(crate) fn room(&self, others: u32) -> u32 {
        Self::ENOUGH.saturating_sub(self.len()).saturating_sub(others)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn enter(&self) -> Queued {
        self.0.fetch_add(1, Relaxed);
        Queued(self.clone())
    }

    fn len(&self) -> u32 {
        self.0.load(Relaxed)
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_as_many_as_have_left() {
        let queue = Queue::default();
        let mut queued: Vec<_> = (0..Queue::ENOUGH - 2).map(|_| queue.enter()).collect();
        assert_eq!((queue.room(0), queue.room(1), queue.room(3)), (2, 1, 0));
        queued.truncate(1);
        assert_eq!((queue.room(0), queue.is_empty()), (Queue::ENOUGH - 1, false));
        drop(queued);
        assert!(queue.is_empty());
    }
}
