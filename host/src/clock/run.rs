//! The time of one run.

use std::time::Instant;

use phasm_engine::time::{Millis, Timestamp};

use super::Clock;

/// A wall clock that differs by less was not set: two clocks are never read at once, and some are kept right bit by bit.
pub(crate) const NOT_SET: Millis = 1000;

/// The wall clock, and never back. While a length of time runs, it goes on at its pace.
#[derive(Debug)]
pub(crate) struct RunClock {
    clock: Clock,
    /// The run's time when nothing had elapsed.
    offset: i64,
    /// The wall clock is ahead, and is followed then.
    behind_until: Option<Timestamp>,
}

impl RunClock {
    /// The clock of a run that was last recorded at `last` and continues now.
    pub(crate) fn from(clock: Clock, last: Timestamp) -> Self {
        let ahead = last.0.saturating_sub(clock.now().0).max(0);
        let offset = clock.offset().saturating_add(ahead);
        Self { clock, offset, behind_until: None }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.at(self.clock.elapsed())
    }

    /// Follows a wall clock that was set forward, unless there are lengths: then at their end.
    pub(crate) fn follow(&mut self, lengths_end: impl FnOnce() -> Option<Timestamp>) -> Timestamp {
        let now = self.now();
        if self.clock.now().since(now) < NOT_SET {
            self.behind_until = None;
        } else if self.behind_until.is_none_or(|end| end <= now) {
            self.behind_until = lengths_end();
            if self.behind_until.is_none() {
                self.offset = self.clock.offset();
            }
        }
        self.now()
    }

    /// The time on the host's clock at which the run is due, or follows the wall clock.
    pub(crate) fn next(&self, wait: Option<Timestamp>) -> Option<Millis> {
        let at = [wait, self.behind_until].into_iter().flatten().min()?;
        Some(at.since(Timestamp(self.offset)))
    }

    /// The run's time when so much has elapsed.
    pub(crate) fn at(&self, elapsed: Millis) -> Timestamp {
        Timestamp(self.offset).after(elapsed)
    }

    /// The host's clock at a time of the run.
    pub(crate) fn elapsed_at(&self, at: Timestamp) -> Millis {
        at.since(Timestamp(self.offset))
    }

    /// The monotonic instant of a time of the run; one too far off is none.
    pub(crate) fn instant(&self, at: Timestamp) -> Option<Instant> {
        self.clock.instant(at.since(Timestamp(self.offset)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{super::manual::ManualClock, *};

    const HOUR: i64 = 3_600_000;

    /// At 10 h, nothing having elapsed.
    fn at_ten() -> (Arc<ManualClock>, Clock) {
        let manual = Arc::new(ManualClock::default());
        manual.set(10 * HOUR);
        (Arc::clone(&manual), Clock::from(manual as Arc<_>))
    }

    fn nothing() -> Option<Timestamp> {
        None
    }

    /// R-T11: taken up, a run goes on from the later of its journal and the wall clock.
    #[test]
    fn a_run_goes_on_from_the_later() {
        let (_, clock) = at_ten();
        assert_eq!(RunClock::from(clock.clone(), Timestamp(9 * HOUR)).now(), Timestamp(10 * HOUR));
        assert_eq!(RunClock::from(clock, Timestamp(11 * HOUR)).now(), Timestamp(11 * HOUR));
    }

    /// R-T11: set back, the wall clock changes nothing; the run's time does not stand still either.
    #[test]
    fn time_never_goes_back() {
        let (manual, clock) = at_ten();
        let mut run = RunClock::from(clock, Timestamp(0));
        manual.set(-HOUR);
        assert_eq!(run.follow(nothing), Timestamp(10 * HOUR));
        manual.pass(5);
        assert_eq!(run.follow(nothing), Timestamp(10 * HOUR + 5));
        assert_eq!(run.next(Some(Timestamp(10 * HOUR + 9))), Some(9));
    }

    /// R-T11: set forward, it is followed; what differs by less than a second was not set.
    #[test]
    fn the_wall_clock_is_followed_forward() {
        let (manual, clock) = at_ten();
        let mut run = RunClock::from(clock, Timestamp(0));
        manual.set(999);
        assert_eq!(run.follow(nothing), Timestamp(10 * HOUR));
        manual.set(HOUR - 999);
        assert_eq!(run.follow(nothing), Timestamp(11 * HOUR));
        assert_eq!(run.next(Some(Timestamp(11 * HOUR + 1))), Some(1));
    }

    /// R-T11: a delay or a `maxRuntime` is not shortened; when it is over the wall clock is followed.
    #[test]
    fn lengths_are_not_shortened() {
        let (manual, clock) = at_ten();
        let mut run = RunClock::from(clock, Timestamp(0));
        manual.set(HOUR);
        let end = Timestamp(10 * HOUR + 50);
        assert_eq!(run.follow(|| Some(end)), Timestamp(10 * HOUR));
        assert_eq!(run.next(Some(Timestamp(11 * HOUR))), Some(50), "it is looked again then");
        manual.pass(49);
        assert_eq!(run.follow(|| panic!("it was read too early")), Timestamp(10 * HOUR + 49));
        manual.pass(1);
        assert_eq!(run.follow(nothing), Timestamp(11 * HOUR + 50));
    }
}
