//! Which executors compute long, for whom: their attempts begin where those are that compute long.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use super::origin::Origin;

/// How an attempt has computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Too little to affect others.
    Light,
    /// Held a thread for longer than others should wait. Such an attempt may itself be the victim of another, but rarely several
    /// times in a row.
    Heavy,
    /// For an epoch.
    Long,
}

/// From here on an executor is one that computes long: from the second long attempt in a row, or the fourth heavy one. A light one takes one
/// away.
const LONG_RUNNER_SCORE: u8 = 4;
const MAX_SCORE: u8 = 8;
/// Executors and tenants of which this is known at most.
const MAX_ORIGINS: usize = 4096;

/// Remembers executors that have computed long of late. Costs nothing where there are none.
#[derive(Debug, Default)]
pub(super) struct LongRunners {
    known: AtomicUsize,
    scores: Mutex<HashMap<Origin, u8>>,
}

impl LongRunners {
    /// Whether attempts of this origin have mostly computed long.
    pub(super) fn is_long_runner(&self, origin: &Origin) -> bool {
        self.any() && self.scores().get(origin).is_some_and(|heat| *heat >= LONG_RUNNER_SCORE)
    }

    /// An attempt is over that has computed so.
    pub(super) fn record(&self, origin: &Origin, load: Load) {
        if load == Load::Light && !self.any() {
            return;
        }
        let mut of = self.scores();
        let heat = of.get(origin).copied().unwrap_or(0);
        let heat = match load {
            Load::Light => heat.saturating_sub(1),
            Load::Heavy => heat.saturating_add(1).min(MAX_SCORE),
            Load::Long => heat.saturating_add(2).min(MAX_SCORE),
        };
        if heat == 0 {
            of.remove(origin);
        } else if of.len() < MAX_ORIGINS || of.contains_key(origin) {
            of.insert(origin.clone(), heat);
        }
        self.known.store(of.len(), Relaxed);
    }

    fn any(&self) -> bool {
        self.known.load(Relaxed) > 0
    }

    fn scores(&self) -> MutexGuard<'_, HashMap<Origin, u8>> {
        self.scores.lock().unwrap_or_else(PoisonError::into_inner)
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
        let (heat, ours, theirs) = (LongRunners::default(), origin("ours"), origin("theirs"));
        heat.record(&ours, Load::Long);
        assert!(!heat.is_long_runner(&ours));
        heat.record(&ours, Load::Long);
        assert!(heat.is_long_runner(&ours) && !heat.is_long_runner(&theirs));
        heat.record(&ours, Load::Light);
        assert!(!heat.is_long_runner(&ours));
        for _ in 0..3 {
            heat.record(&ours, Load::Light);
        }
        assert!(!heat.any());
    }

    #[test]
    fn one_that_is_seldom_long_stays_cold() {
        let (heat, ours) = (LongRunners::default(), origin("ours"));
        for _ in 0..100 {
            heat.record(&ours, Load::Long);
            assert!(!heat.is_long_runner(&ours));
            heat.record(&ours, Load::Light);
            heat.record(&ours, Load::Light);
        }
    }

    #[test]
    fn who_is_often_in_the_way_is_hot_and_who_is_held_up_now_and_then_is_not() {
        let (heat, often, seldom) = (LongRunners::default(), origin("often"), origin("seldom"));
        for _ in 0..100 {
            for load in [Load::Heavy, Load::Heavy, Load::Light, Load::Light] {
                heat.record(&seldom, load);
                assert!(!heat.is_long_runner(&seldom));
            }
        }
        (0..4).for_each(|_| heat.record(&often, Load::Heavy));
        assert!(heat.is_long_runner(&often));
    }
}
