//! Attempts and the pauses between them.

use serde::{Deserialize, Serialize};

use crate::time::Millis;

/// Attempts in all, the first included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MaxAttempts {
    /// `maxAttempts: -1`.
    Unlimited,
    /// A fixed number; 0 means the task never runs.
    Limited(u32),
}

/// How the pause between attempts grows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Backoff {
    /// The first pause.
    pub delay: Millis,
    /// How it grows.
    pub growth: Growth,
    /// The longest pause; only applies where the growth is by a factor above 1.
    pub max_delay: Option<Millis>,
}

/// How the pause after attempt n follows from the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// `delay · factor^(n−1)`.
    Factor(f64),
    /// `delay · n`.
    Linear,
}

impl Default for Growth {
    fn default() -> Self {
        Self::Factor(1.0)
    }
}

impl MaxAttempts {
    /// Whether attempt `finished` may be followed by another.
    #[must_use]
    pub fn allows_another(self, finished: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Limited(most) => finished < most,
        }
    }
}

impl Backoff {
    /// The pause after attempt `finished` (from 1): computed in f64, rounded half up to whole milliseconds,
    /// saturating at 2^63 − 1.
    #[must_use]
    pub fn delay_after(&self, finished: u32) -> Millis {
        #[expect(clippy::cast_precision_loss, reason = "R-R3: delays are computed in f64")]
        let delay = self.delay as f64;
        let grown = match self.growth {
            Growth::Factor(factor) => delay * factor.powf(f64::from(finished.saturating_sub(1))),
            Growth::Linear => delay * f64::from(finished),
        };
        self.capped(round_to_millis(grown))
    }

    /// Returns `delay`, or `max_delay` if that applies and is less: also what jitter has lengthened is capped.
    #[must_use]
    pub fn capped(&self, delay: Millis) -> Millis {
        match (self.growth, self.max_delay) {
            (Growth::Factor(factor), Some(most)) if factor > 1.0 => delay.min(most),
            (Growth::Factor(_) | Growth::Linear, _) => delay,
        }
    }
}

/// Half up, saturating; NaN (0 · ∞) is no delay.
fn round_to_millis(delay: f64) -> Millis {
    const MAX_DELAY_MILLIS: Millis = i64::MAX.unsigned_abs();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates; NaN is 0")]
    // Adding a half would itself be rounded, for delays from 2^52 on and for the largest double below a half.
    let rounded = delay.round() as Millis;
    rounded.min(MAX_DELAY_MILLIS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(backoff: Backoff, attempts: u32) -> Vec<Millis> {
        (1..=attempts).map(|n| backoff.delay_after(n)).collect()
    }

    /// Seed 003's worked example, R-R3.
    #[test]
    fn steep_delays_double_up_to_the_cap() {
        let backoff = Backoff { delay: 1000, growth: Growth::Factor(2.0), max_delay: Some(10_000) };
        assert_eq!(delays(backoff, 6), [1000, 2000, 4000, 8000, 10_000, 10_000]);
    }

    #[test]
    fn max_delay_caps_only_growing_delays() {
        let fixed = Backoff { delay: 5000, growth: Growth::Factor(1.0), max_delay: Some(1000) };
        assert_eq!(delays(fixed, 2), [5000, 5000]);
        let shrinking = Backoff { growth: Growth::Factor(0.5), ..fixed };
        assert_eq!(delays(shrinking, 3), [5000, 2500, 1250]);
    }

    #[test]
    fn linear_and_exponential_follow_seed_002() {
        let linear = Backoff { delay: 1000, growth: Growth::Linear, max_delay: None };
        assert_eq!(delays(linear, 3), [1000, 2000, 3000]);
        let exponential = Backoff { delay: 2000, growth: Growth::Factor(2.0), max_delay: None };
        assert_eq!(delays(exponential, 4), [2000, 4000, 8000, 16_000]);
    }

    #[test]
    fn delays_round_half_up_and_saturate() {
        let half = Backoff { delay: 1, growth: Growth::Factor(1.5), max_delay: None };
        assert_eq!(delays(half, 3), [1, 2, 2]);
        let huge = Backoff { delay: 1 << 40, growth: Growth::Factor(1e9), max_delay: None };
        assert_eq!(huge.delay_after(100), i64::MAX.unsigned_abs());
        assert_eq!(Backoff { delay: 0, ..huge }.delay_after(1000), 0);
        let odd = Backoff { delay: (1 << 52) + 1, ..Backoff::default() };
        assert_eq!(odd.delay_after(1), (1 << 52) + 1);
    }
}
