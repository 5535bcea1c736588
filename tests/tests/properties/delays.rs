//! Retry delays (R-R2, R-R3): `min(delay · factor^(n−1), maxDelay)` and the three backoffs of seed 002.

use phasm_engine::{
    duration::MAX_MILLIS,
    event::Reason,
    phase::Phase,
    plan::{Backoff, Growth},
    time::Millis,
};
use phasm_tests::small::{self, Answers};
use proptest::{option, prelude::*};
use serde_json::json;

/// Below this, doubles hold every whole number.
const EXACT: u128 = 1 << 53;

fn factor(delay: Millis, factor: f64, max_delay: Option<Millis>) -> Backoff {
    Backoff { delay, growth: Growth::Factor(factor), max_delay }
}

/// The exact delay where doubles are exact; beyond, what they are off by at most, and saturation.
fn is_nearly(found: Millis, exact: u128) -> bool {
    let (found, exact) = (u128::from(found), exact.min(u128::from(MAX_MILLIS)));
    if exact < EXACT { found == exact } else { found.abs_diff(exact) <= exact >> 50 }
}

proptest! {
    /// The oracle multiplies whole numbers of 128 bits.
    #[test]
    fn whole_factors_are_powers(
        delay in 0..1_u64 << 40, base in 1..20_u32, attempt in 1..200_u32, most in option::of(0..1_u64 << 50)
    ) {
        let power = u128::from(base).saturating_pow(attempt - 1);
        let grown = u128::from(delay).saturating_mul(power);
        let capped = most.filter(|_| base > 1).map_or(grown, |most| grown.min(most.into()));
        let found = factor(delay, base.into(), most).delay_after(attempt);
        prop_assert!(is_nearly(found, capped), "{found} for {capped}");
    }

    /// A factor k/2^m and few attempts: doubles are exact, and the halves to round are met.
    #[test]
    fn halves_are_rounded_up(delay in 0..1_u64 << 13, k in 1..16_u32, m in 0..4_u32, attempt in 1..10_u32) {
        let (above, below) = (u128::from(delay) * u128::from(k).pow(attempt - 1), 1_u128 << (m * (attempt - 1)));
        let rounded = (2 * above + below) / (2 * below);
        let found = factor(delay, f64::from(k) / f64::from(1_u32 << m), None).delay_after(attempt);
        prop_assert_eq!(u128::from(found), rounded);
    }

    /// Without growth nothing is lost on the way through a double that holds the delay.
    #[test]
    fn whole_delays_stay_whole(delay in 0..=MAX_MILLIS, attempt in 1..=u32::MAX, most in option::of(0..=MAX_MILLIS)) {
        let found = factor(delay, 1.0, most).delay_after(attempt);
        prop_assert!(is_nearly(found, delay.into()), "{found}");
        // Every double from 2^52 on is whole.
        let below = delay >> 10;
        prop_assert_eq!(factor(below, 1.0, most).delay_after(attempt), below);
    }

    /// Any factor the document may hold: the delays grow or shrink one way, and end at the cap or the longest.
    #[test]
    fn delays_go_one_way(
        delay in 0..=MAX_MILLIS, by in 1e-9..1e9_f64, attempt in 1..u32::MAX, most in option::of(0..=MAX_MILLIS)
    ) {
        let backoff = factor(delay, by, most);
        let (this, next) = (backoff.delay_after(attempt), backoff.delay_after(attempt + 1));
        prop_assert!(this.max(next) <= MAX_MILLIS);
        if by >= 1.0 {
            prop_assert!(this <= next, "{this} before {next}");
        } else {
            prop_assert!(this >= next, "{this} before {next}");
        }
        if by > 1.0 {
            prop_assert!(most.is_none_or(|most| next <= most));
        } else {
            prop_assert_eq!(backoff, Backoff { max_delay: most, ..backoff });
            prop_assert_eq!(next, factor(delay, by, None).delay_after(attempt + 1), "maxDelay caps no such delay");
        }
    }

    /// Seed 002: `delay * attempt`.
    #[test]
    fn linear_delays_are_multiples(delay in 0..=MAX_MILLIS, attempt in 1..=u32::MAX) {
        let backoff = Backoff { delay, growth: Growth::Linear, max_delay: None };
        prop_assert!(is_nearly(backoff.delay_after(attempt), u128::from(delay) * u128::from(attempt)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The journal schedules the sequence above: as many delays as retries, each after its attempt.
    #[test]
    fn the_journal_has_the_sequence(
        attempts in 0..8_u32, delay in 0..100_000_u64, base in 1..5_u32, most in option::of(1..200_000_u64)
    ) {
        let mut retry = json!({ "maxAttempts": attempts, "delay": delay, "exponentialBackoff": base });
        if let Some(most) = most {
            retry["maxDelay"] = json!(most);
        }
        let plan = small::dag(&[json!({ "name": "a", "template": "work", "retry": retry })]).unwrap();
        let world = small::finished(plan, Answers::codes([2]));
        let backoff = factor(delay, base.into(), most);
        let expected: Vec<Millis> = (1..attempts).map(|n| backoff.delay_after(n)).collect();
        prop_assert_eq!(world.delays(), expected);
        let task = world.task("a").unwrap();
        let end = match attempts {
            0 => (Phase::Skipped, Some(Reason::MaxAttempts0)),
            1 => (Phase::Failed, None),
            _ => (Phase::Failed, Some(Reason::RetryExhausted)),
        };
        prop_assert_eq!((task.phase, task.reason, task.attempt), (end.0, end.1, attempts));
    }

    /// R-R3: without a budget two attempts are at least 1 ms apart, however the delay shrinks.
    #[test]
    fn endless_retries_leave_time(delay in 0..3_u64, by in 0.01..3.0_f64, most in 0..3_u64) {
        let retry = json!({ "maxAttempts": -1, "delay": delay, "exponentialBackoff": by, "maxDelay": most });
        let plan = small::dag(&[json!({ "name": "a", "template": "work", "retry": retry })]).unwrap();
        let world = small::finished(plan, Answers::codes([3, 3, 3, 3, 3, 3, 0]));
        prop_assert_eq!(world.delays().len(), 6);
        prop_assert!(world.delays().iter().all(|delay| *delay >= 1), "{:?}", world.delays());
    }
}
