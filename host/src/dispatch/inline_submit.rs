//! Whether the thread of whoever submits a run executes its attempt.
//!
//! To wake another thread, and to be woken by it, takes longer than a small guest. So where a caller submits one run after the
//! other and waits for each, the thread that submits executes the attempt that a run begins with: if it is the only one here, and the
//! last ones of its executor took less than being woken. Who submits several at once gains more from several threads.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
};

/// So many runs, each submitted when the one before was heard of, make a caller one who waits for each.
const IN_A_ROW: u32 = 8;
/// One of so many goes to the others' threads: only there it shows whether more are submitted meanwhile.
const TRIED_EACH: u32 = 64;

/// How runs are submitted to this host.
#[derive(Debug, Default)]
pub(crate) struct Lending {
    /// Runs that were submitted and of whose end nobody has heard.
    unheard: AtomicU32,
    /// How many were heard of before the next was submitted.
    in_a_row: AtomicU32,
}

/// A run that was submitted, until its caller has heard that it rests, or does not want to know.
#[derive(Debug)]
pub(crate) struct Unheard {
    lending: Arc<Lending>,
    is_heard: AtomicBool,
}

impl Lending {
    /// A run is submitted; and whether its caller's thread may execute an attempt.
    pub(crate) fn submitted(self: &Arc<Self>) -> (Unheard, bool) {
        let before = self.unheard.fetch_add(1, Relaxed);
        if before > 0 {
            self.in_a_row.store(0, Relaxed);
        }
        let in_a_row = self.in_a_row.load(Relaxed);
        let lends = in_a_row >= IN_A_ROW && !in_a_row.is_multiple_of(TRIED_EACH);
        (Unheard { lending: Arc::clone(self), is_heard: AtomicBool::new(false) }, lends)
    }
}

impl Unheard {
    /// Its caller has waited for it.
    pub(crate) fn heard(&self) {
        // Of those that were submitted at once the last would be the only one.
        if !self.is_heard.swap(true, Relaxed) && self.lending.unheard.fetch_sub(1, Relaxed) == 1 {
            self.lending.in_a_row.fetch_add(1, Relaxed);
        }
    }
}

impl Drop for Unheard {
    fn drop(&mut self) {
        if !mem::replace(self.is_heard.get_mut(), true) {
            self.lending.in_a_row.store(0, Relaxed);
            self.lending.unheard.fetch_sub(1, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Submits one and waits for it.
    fn waits(lending: &Arc<Lending>) -> bool {
        let (unheard, lends) = lending.submitted();
        unheard.heard();
        lends
    }

    /// R-I44.
    #[test]
    fn who_waits_for_each_run_lends_its_thread_and_is_tried_now_and_then() {
        let lending = Arc::default();
        let lent = (0..200).map(|_| waits(&lending)).collect::<Vec<_>>();
        let at: Vec<_> = lent.iter().enumerate().filter(|(_, lent)| !**lent).map(|(at, _)| at).collect();
        assert_eq!(at, [0, 1, 2, 3, 4, 5, 6, 7, 64, 128, 192]);
    }

    /// R-I44.
    #[test]
    fn who_submits_several_at_once_or_does_not_wait_lends_nothing() {
        let lending = Arc::default();
        assert!((0..12).any(|_| waits(&lending)));
        let first = lending.submitted();
        assert!(first.1, "nobody knows yet");
        let others: Vec<_> = (0..100).map(|_| lending.submitted()).collect();
        assert!(others.iter().all(|(_, lends)| !lends));
        others.iter().for_each(|(unheard, _)| unheard.heard());
        drop((first, others));
        assert!(!waits(&lending));
        (0..100).for_each(|_| assert!(!lending.submitted().1));
    }
}
