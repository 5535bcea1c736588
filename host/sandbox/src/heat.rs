//! Which executors compute long, for whom: their attempts begin where those are that compute long.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use super::attempt::Origin;

/// What a long attempt adds; a short one takes one away.
const LONG: u8 = 2;
/// From here on an executor is one that computes long: from the second long attempt in a row.
const HOT: u8 = 4;
const MOST: u8 = 8;
/// Executors and tenants of which this is known at most.
const MOST_KNOWN: usize = 4096;

/// Remembers executors that have computed long of late. Costs nothing where there are none.
#[derive(Debug, Default)]
pub(super) struct Heat {
    known: AtomicUsize,
    of: Mutex<HashMap<Origin, u8>>,
}

impl Heat {
    /// Whether attempts of this origin have mostly computed long.
    pub(super) fn is_hot(&self, origin: &Origin) -> bool {
        self.any() && self.of().get(origin).is_some_and(|heat| *heat >= HOT)
    }

    /// An attempt is over that has computed long or has not.
    pub(super) fn note(&self, origin: &Origin, long: bool) {
        if !long && !self.any() {
            return;
        }
        let mut of = self.of();
        let heat = of.get(origin).copied().unwrap_or(0);
        let heat = if long { heat.saturating_add(LONG).min(MOST) } else { heat.saturating_sub(1) };
        if heat == 0 {
            of.remove(origin);
        } else if of.len() < MOST_KNOWN || of.contains_key(origin) {
            of.insert(origin.clone(), heat);
        }
        self.known.store(of.len(), Relaxed);
    }

    fn any(&self) -> bool {
        self.known.load(Relaxed) > 0
    }

    fn of(&self) -> MutexGuard<'_, HashMap<Origin, u8>> {
        self.of.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(tenant: &str) -> Origin {
        Origin { namespace: tenant.into(), executor: "jq".into() }
    }

    /// R-I28.
    #[test]
    fn twice_long_in_a_row_is_hot_for_that_tenant_until_it_is_short_again() {
        let (heat, ours, theirs) = (Heat::default(), origin("ours"), origin("theirs"));
        heat.note(&ours, true);
        assert!(!heat.is_hot(&ours));
        heat.note(&ours, true);
        assert!(heat.is_hot(&ours) && !heat.is_hot(&theirs));
        heat.note(&ours, false);
        assert!(!heat.is_hot(&ours));
        for _ in 0..3 {
            heat.note(&ours, false);
        }
        assert!(!heat.any());
    }

    #[test]
    fn one_that_is_seldom_long_stays_cold() {
        let (heat, ours) = (Heat::default(), origin("ours"));
        for _ in 0..100 {
            heat.note(&ours, true);
            assert!(!heat.is_hot(&ours));
            heat.note(&ours, false);
            heat.note(&ours, false);
        }
    }
}
