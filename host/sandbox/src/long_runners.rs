//! Record of executors that compute long, per tenant: their attempts start on the threads for long computations.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use super::origin::Origin;

/// Load that an attempt caused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Too little to affect others.
    Light,
    /// Held a thread for longer than others should wait. Such an attempt may itself be the victim of another, but rarely several
    /// times in a row.
    Heavy,
    /// Computed for an epoch.
    Long,
}

/// Score from which an executor counts as one that computes long: the second long attempt in a row, or the fourth heavy one. A
/// light attempt lowers the score by one.
const LONG_RUNNER_SCORE: u8 = 4;
const MAX_SCORE: u8 = 8;
/// Maximum number of executors and tenants that are recorded.
const MAX_ORIGINS: usize = 4096;

/// Executors that have computed long of late. Costs nothing where there are none.
#[derive(Debug, Default)]
pub(super) struct LongRunners {
    known: AtomicUsize,
    scores: Mutex<HashMap<Origin, u8>>,
}

impl LongRunners {
    /// Returns whether attempts of this origin have mostly computed long.
    pub(super) fn is_long_runner(&self, origin: &Origin) -> bool {
        self.any() && self.scores().get(origin).is_some_and(|score| *score >= LONG_RUNNER_SCORE)
    }

    /// Records the load of a finished attempt.
    pub(super) fn record(&self, origin: &Origin, load: Load) {
        if load == Load::Light && !self.any() {
            return;
        }
        let mut scores = self.scores();
        let score = scores.get(origin).copied().unwrap_or(0);
        let score = match load {
            Load::Light => score.saturating_sub(1),
            Load::Heavy => score.saturating_add(1).min(MAX_SCORE),
            Load::Long => score.saturating_add(2).min(MAX_SCORE),
        };
        if score == 0 {
            scores.remove(origin);
        } else if scores.len() < MAX_ORIGINS || scores.contains_key(origin) {
            scores.insert(origin.clone(), score);
        }
        self.known.store(scores.len(), Relaxed);
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
    fn two_long_attempts_make_a_long_runner_for_that_tenant_until_it_is_short_again() {
        let (runners, ours, theirs) = (LongRunners::default(), origin("ours"), origin("theirs"));
        runners.record(&ours, Load::Long);
        assert!(!runners.is_long_runner(&ours));
        runners.record(&ours, Load::Long);
        assert!(runners.is_long_runner(&ours) && !runners.is_long_runner(&theirs));
        runners.record(&ours, Load::Light);
        assert!(!runners.is_long_runner(&ours));
        for _ in 0..3 {
            runners.record(&ours, Load::Light);
        }
        assert!(!runners.any());
    }

    #[test]
    fn an_executor_that_is_seldom_long_is_no_long_runner() {
        let (runners, ours) = (LongRunners::default(), origin("ours"));
        for _ in 0..100 {
            runners.record(&ours, Load::Long);
            assert!(!runners.is_long_runner(&ours));
            runners.record(&ours, Load::Light);
            runners.record(&ours, Load::Light);
        }
    }

    #[test]
    fn frequent_heavy_attempts_make_a_long_runner_and_rare_ones_do_not() {
        let (runners, often, seldom) = (LongRunners::default(), origin("often"), origin("seldom"));
        for _ in 0..100 {
            for load in [Load::Heavy, Load::Heavy, Load::Light, Load::Light] {
                runners.record(&seldom, load);
                assert!(!runners.is_long_runner(&seldom));
            }
        }
        (0..4).for_each(|_| runners.record(&often, Load::Heavy));
        assert!(runners.is_long_runner(&often));
    }
}
