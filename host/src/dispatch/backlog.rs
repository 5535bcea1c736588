//! Attempts that wait for a thread of the guests, or have just been given one.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{
            AtomicU32,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
};

/// How many attempts of one run are about to begin, as soon as there is a thread for them.
///
/// A run has few of them at a time: what waits for its thread in memory is gone from the caches when its turn comes, and stands
/// before the attempts of other runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Upcoming(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    coming: AtomicU32,
    busy: AtomicU32,
}

/// One of them, until it begins; and busy then, until it has ended or waits for something: until dropped.
#[derive(Debug)]
pub(crate) struct Coming {
    queue: Upcoming,
    has_begun: bool,
}

impl Upcoming {
    /// So many keep the threads busy until the driver has had its next turn.
    const ENOUGH: u32 = 128;

    /// How many more there may be, besides `others` that are about to come.
    pub(crate) fn room(&self, others: u32) -> u32 {
        Self::ENOUGH.saturating_sub(self.len()).saturating_sub(others)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether some of the run are about to begin, or compute: they will be over at once, as far as anybody knows.
    pub(crate) fn is_busy(&self) -> bool {
        self.0.busy.load(Acquire) > 0
    }

    pub(crate) fn enter(&self) -> Coming {
        self.0.coming.fetch_add(1, Relaxed);
        self.0.busy.fetch_add(1, Relaxed);
        Coming { queue: self.clone(), has_begun: false }
    }

    fn len(&self) -> u32 {
        self.0.coming.load(Relaxed)
    }
}

impl Coming {
    /// It has its thread.
    pub(crate) fn begin(&mut self) {
        if !mem::replace(&mut self.has_begun, true) {
            self.queue.0.coming.fetch_sub(1, Relaxed);
        }
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.begin();
        self.queue.0.busy.fetch_sub(1, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_as_many_as_have_left() {
        let queue = Upcoming::default();
        let mut queued: Vec<_> = (0..Upcoming::ENOUGH - 2).map(|_| queue.enter()).collect();
        assert_eq!((queue.room(0), queue.room(1), queue.room(3)), (2, 1, 0));
        queued.truncate(1);
        assert_eq!((queue.room(0), queue.is_empty()), (Upcoming::ENOUGH - 1, false));
        drop(queued);
        assert!(queue.is_empty());
    }

    #[test]
    fn one_that_has_begun_is_busy_until_it_waits() {
        let queue = Upcoming::default();
        let (mut begun, coming) = (queue.enter(), queue.enter());
        begun.begin();
        drop(coming);
        assert_eq!((queue.is_empty(), queue.is_busy()), (true, true));
        drop(begun);
        assert_eq!((queue.is_empty(), queue.is_busy()), (true, false));
    }
}
