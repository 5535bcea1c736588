//! Memory of one guest, as it grows.

use super::{Ceilings, Limit, LimitError};
use crate::shared_budget::{BudgetError, Lease};

const LARGE_BYTES: u64 = 4 << 20;

/// Counts the memory of one guest, against its own limit and against the memory of all guests.
///
/// Growing past the limit is a trap, not a refusal: a guest that ignores a refused `memory.grow` would go on for ever, and one
/// that handles it dies with a less useful message.
pub(crate) struct Meter {
    used: u64,
    last_growth: u64,
    /// Memory that it has without asking, in bytes.
    part: u64,
    /// Lease on the shared memory, beyond its part.
    beyond: Option<Lease>,
}

impl Meter {
    /// Makes the meter of one call with its part, and perhaps a lease on more.
    pub(crate) fn new(part: u64, beyond: Option<Lease>) -> Self {
        Self { used: 0, last_growth: 0, part, beyond }
    }

    /// Returns the peak size of its memories, which never shrink.
    pub(crate) fn peak(&self) -> u64 {
        self.used
    }

    /// Returns whether mapping or unmapping its memory takes long.
    pub(crate) fn is_large(&self) -> bool {
        self.used > LARGE_BYTES
    }

    /// Lets a memory grow by `growth` bytes. A guest that goes beyond its part takes shared memory with `lease`.
    ///
    /// # Errors
    /// The guest's limit, or the reason why the host has no more memory for it.
    pub(crate) fn grow(
        &mut self,
        growth: u64,
        ceilings: &Ceilings,
        lease: impl FnOnce() -> Lease,
    ) -> Result<(), GrowthError> {
        let used = self.used.saturating_add(growth);
        if used > ceilings.most(Limit::Memory) {
            return Err(GrowthError::Limit(ceilings.exceeded(Limit::Memory)));
        }
        if used > self.part {
            let beyond = self.beyond.get_or_insert_with(lease);
            beyond.reserve(used - self.part).map_err(|exhausted| GrowthError::Exhausted(exhausted, used))?;
        }
        self.used = used;
        self.last_growth = growth;
        Ok(())
    }

    /// Undoes the last growth, which failed.
    pub(crate) fn undo(&mut self) {
        self.used -= std::mem::take(&mut self.last_growth);
    }
}

/// Reason why a memory does not grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrowthError {
    Limit(LimitError),
    /// The shared memory is used up; the guest would have had this many bytes.
    Exhausted(BudgetError, u64),
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        capability::http::HttpLimits,
        limits::{Limits, SetBy},
        shared_budget::SharedBudget,
    };

    fn ceilings(memory: u64) -> Ceilings {
        let mut all = Ceilings::of(&Limits::default(), &HttpLimits::default());
        all.lower(Limit::Memory, memory, SetBy::Task);
        all
    }

    fn no_lease() -> Lease {
        unreachable!("it has its part")
    }

    #[test]
    fn all_memories_of_a_guest_count_together() {
        let mut meter = Meter::new(u64::MAX, None);
        let ceilings = ceilings(3 * 65_536);
        meter.grow(65_536, &ceilings, no_lease).unwrap();
        meter.grow(2 * 65_536, &ceilings, no_lease).unwrap();
        let refused = meter.grow(65_536, &ceilings, no_lease);
        assert_eq!(refused, Err(GrowthError::Limit(ceilings.exceeded(Limit::Memory))));
        assert_eq!(meter.peak(), 3 * 65_536);
    }

    #[test]
    fn growth_that_failed_is_given_back() {
        let mut meter = Meter::new(u64::MAX, None);
        meter.grow(65_536, &ceilings(65_536), no_lease).unwrap();
        meter.undo();
        meter.grow(65_536, &ceilings(65_536), no_lease).unwrap();
    }

    /// R-I43: memory beyond its part is shared, and is returned.
    #[test]
    fn beyond_its_part_a_guest_takes_what_is_free() {
        let pool = SharedBudget::new(1000);
        let lease = |tenant: &str| Lease::of_tenant(&pool, &Arc::from(tenant), u64::MAX);
        let ceilings = ceilings(10_000);
        let (mut greedy, mut innocent) = (Meter::new(100, None), Meter::new(100, None));
        greedy.grow(100, &ceilings, no_lease).unwrap();
        greedy.grow(500, &ceilings, || lease("a")).unwrap();
        let refused = greedy.grow(100, &ceilings, || lease("a"));
        assert!(matches!(refused, Err(GrowthError::Exhausted(BudgetError::One, 700))), "{refused:?}");
        innocent.grow(300, &ceilings, || lease("b")).unwrap();
        drop(greedy);
        innocent.grow(200, &ceilings, || lease("b")).unwrap();
    }
}
