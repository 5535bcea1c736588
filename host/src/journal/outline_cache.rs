//! Outlines that were looked at last, so that a run is read once for all its pages.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::outline::Outline;
use phasm_sandbox::fair_queue::FairQueue;

/// Outlines together need at most about this much memory, in bytes. A larger one is read for each look.
const MAX_BYTES: usize = 128 << 20;
const MAX_OUTLINES: usize = 64;

/// Parts of journals that are in memory at once, so that many readers need little more than one. A part is a turn, and one key has no
/// more than half of them: a reader of a short journal waits for no long one of another key.
const MAX_PARTS: usize = 4;

/// Outlines of runs, shared by all who look at them.
pub(crate) struct OutlineCache {
    known: Mutex<VecDeque<CachedOutline>>,
    turns: FairQueue,
}

impl Default for OutlineCache {
    fn default() -> Self {
        Self { known: Mutex::default(), turns: FairQueue::new(MAX_PARTS, usize::MAX) }
    }
}

struct CachedOutline {
    run_id: Arc<str>,
    bytes: usize,
    outline: SharedOutline,
}

/// An outline that one reader at a time reads on.
pub(crate) type SharedOutline = Arc<tokio::sync::Mutex<Outline>>;

impl OutlineCache {
    /// The turns of all who read.
    pub(crate) const fn turns(&self) -> &FairQueue {
        &self.turns
    }

    /// Returns the outline of a run, as far as it is known.
    pub(crate) fn get(&self, run_id: &Arc<str>) -> SharedOutline {
        let mut known = self.known();
        let at = known.iter().position(|cached| cached.run_id == *run_id);
        let cached = at.and_then(|at| known.remove(at)).unwrap_or_else(|| CachedOutline {
            run_id: Arc::clone(run_id),
            bytes: 0,
            outline: SharedOutline::default(),
        });
        let outline = Arc::clone(&cached.outline);
        known.push_back(cached);
        if known.len() > MAX_OUTLINES {
            known.pop_front();
        }
        outline
    }

    /// Notes the size of an outline after it was read, and drops those that were looked at the longest ago.
    pub(crate) fn grown(&self, outline: &SharedOutline, bytes: usize) {
        let mut known = self.known();
        if let Some(cached) = known.iter_mut().find(|cached| Arc::ptr_eq(&cached.outline, outline)) {
            cached.bytes = bytes;
        }
        let mut all: usize = known.iter().map(|cached| cached.bytes).sum();
        known.retain(|cached| {
            let fits = all <= MAX_BYTES;
            all -= if fits { 0 } else { cached.bytes };
            fits
        });
    }

    /// Drops an outline that could not be read on.
    pub(crate) fn forget(&self, outline: &SharedOutline) {
        self.known().retain(|cached| !Arc::ptr_eq(&cached.outline, outline));
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<CachedOutline>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
