//! A rate limit for values of which only the last matters.

use std::time::{Duration, Instant};

/// Number of values that may come at once.
const BURST: u32 = 16;
/// After so long there may be one more.
const EACH: Duration = Duration::from_millis(100);

/// Lets a few through at once and then one from time to time; of those between it keeps the last.
#[derive(Debug)]
pub(super) struct RateLimiter<T> {
    left: u32,
    since: Option<Instant>,
    kept: Option<T>,
}

impl<T> Default for RateLimiter<T> {
    fn default() -> Self {
        Self { left: BURST, since: None, kept: None }
    }
}

impl<T> RateLimiter<T> {
    /// Returns the value if it may be passed on now.
    pub(super) fn take(&mut self, new: T, now: Instant) -> Option<T> {
        let since = *self.since.get_or_insert(now);
        let more = now.saturating_duration_since(since).as_millis() / EACH.as_millis();
        if more > 0 {
            self.left = self.left.saturating_add(u32::try_from(more).unwrap_or(BURST)).min(BURST);
            self.since = Some(now);
        }
        self.kept = Some(new);
        self.left.checked_sub(1).and_then(|left| {
            self.left = left;
            self.kept.take()
        })
    }

    /// Returns the value that was held back.
    pub(super) fn last(&mut self) -> Option<T> {
        self.kept.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_a_few_are_told_and_the_last() {
        let start = Instant::now();
        let mut pace = RateLimiter::default();
        let mut told: Vec<u32> = Vec::new();
        for number in 0..1_000_000_u32 {
            // A million within a second.
            told.extend(pace.take(number, start + Duration::from_micros(number.into())));
        }
        told.extend(pace.last());
        assert_eq!((told.len(), told.last()), (26, Some(&999_999)));
        assert_eq!(pace.last(), None);
        assert_eq!(pace.take(7, start + Duration::from_secs(9)), Some(7));
        assert_eq!(pace.last(), None);
    }
}
