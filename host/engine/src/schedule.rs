//! When a workflow starts by itself: the next instant of a schedule, in any time zone. Nothing here reads a clock.
//!
//! ```text
//!  30 2 * * 1-5 ──▶ Timetable: dates and minutes of a clock on the wall ─┐
//!  Europe/Berlin ─▶ Zone: what that clock shows, and when it is set ─┼─▶ Schedule::next_after(instant) ─▶ instant
//!  startAt, endAt ───────────────────────────────────────────────────┘
//! ```

mod columns;
mod cron;
mod instant;
mod timetable;
mod zone;

use crate::time::{Millis, Timestamp};

pub use columns::TimetableError;
pub(crate) use columns::pattern;
pub use cron::{Concurrency, Cron};
pub(crate) use instant::{INSTANT_PATTERN, InstantError, instant};
pub use timetable::Timetable;
pub use zone::Zone;

/// A schedule in a time zone, between two instants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// At which minutes.
    pub times: Timetable,
    /// The time zone whose clock is meant.
    pub zone: Zone,
    /// From when on, that instant included.
    pub start_at: Option<Timestamp>,
    /// Until when, that instant included.
    pub end_at: Option<Timestamp>,
}

/// The state of a schedule at some instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The last of its instants that have come, if that is not too long ago.
    pub at: Option<Timestamp>,
    /// Whether others have come since the one that was last dealt with, which are too late now.
    pub missed: bool,
    /// Its next instant.
    pub next: Option<Timestamp>,
}

impl Schedule {
    /// The first instant after `after`.
    #[must_use]
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let before_first = self.start_at.map(|start| Timestamp(start.0.saturating_sub(1)));
        let next = self.times.next_after(&self.zone, before_first.map_or(after, |first| first.max(after)))?;
        Some(next).filter(|next| self.end_at.is_none_or(|end| *next <= end))
    }

    /// Returns the action due at `now`, if everything up to `last` was dealt with. If several instants have passed, only the last
    /// one counts, and not even that if it passed longer than `deadline` ago.
    #[must_use]
    pub fn due(&self, last: Timestamp, now: Timestamp, deadline: Option<Millis>) -> Due {
        // A clock that was set back shows what was dealt with once more.
        let next = self.next_after(now.max(last));
        let Some((latest, alone)) = self.latest(last, now) else {
            return Due { at: None, missed: false, next };
        };
        let is_late = deadline.is_some_and(|deadline| now.since(latest) > deadline);
        Due { at: Some(latest).filter(|_| !is_late), missed: is_late || !alone, next }
    }

    /// The instants after `last` and up to `end`, the first one first: at most `most`, of which the last one stands for all that
    /// follow it, and says which is the very last of them.
    #[must_use]
    pub fn between(
        &self,
        last: Timestamp,
        end: Timestamp,
        most: usize,
    ) -> Vec<(Timestamp, Option<Timestamp>)> {
        let first = self.next_after(last);
        let instants = std::iter::successors(first, |at| self.next_after(*at)).take_while(|at| *at <= end);
        let mut found: Vec<_> = instants.take(most).map(|at| (at, None)).collect();
        if let Some((at, until)) = found.last_mut() {
            *until = self.latest(*at, end).map(|(latest, _)| latest);
        }
        found
    }

    /// The last instant after `last` and up to `now`, and whether it is the only one. Looks back in steps that grow, so that it does not
    /// matter how long ago `last` was.
    fn latest(&self, last: Timestamp, now: Timestamp) -> Option<(Timestamp, bool)> {
        const HOUR: i64 = 3_600_000;
        let first = self.next_after(last).filter(|first| *first <= now)?;
        let end = self.end_at.map_or(now, |end| end.min(now));
        let back = [1, 24, 32 * 24, 366 * 24].map(|hours| Timestamp(end.0.saturating_sub(hours * HOUR)));
        let from = back.into_iter().map(|from| from.max(last));
        let begin =
            from.chain([last]).find_map(|from| self.next_after(from).filter(|found| *found <= now))?;
        let mut latest = begin;
        while let Some(found) = self.next_after(latest).filter(|found| *found <= now) {
            latest = found;
        }
        Some((latest, latest == first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_rfc3339(text).unwrap()
    }

    fn schedule(times: &str, zone: &str) -> Schedule {
        Schedule {
            times: times.parse().unwrap(),
            zone: Zone::named(zone).unwrap(),
            start_at: None,
            end_at: None,
        }
    }

    #[test]
    fn a_schedule_begins_and_ends_with_its_instants() {
        let noon = Schedule {
            start_at: Some(at("2026-01-02T12:00:00Z")),
            end_at: Some(at("2026-01-03T12:00:00Z")),
            ..schedule("0 12 * * *", "UTC")
        };
        let all: Vec<_> =
            std::iter::successors(noon.next_after(Timestamp(0)), |at| noon.next_after(*at)).collect();
        assert_eq!(all, [at("2026-01-02T12:00:00Z"), at("2026-01-03T12:00:00Z")]);
    }

    #[test]
    fn the_last_instant_that_came_counts_unless_it_is_too_late() {
        let hourly = schedule("0 * * * *", "UTC");
        let (last, now) = (at("2026-01-01T00:00:00Z"), at("2026-01-01T05:10:00Z"));
        let next = Some(at("2026-01-01T06:00:00Z"));
        let five = at("2026-01-01T05:00:00Z");
        assert_eq!(hourly.due(last, now, None), Due { at: Some(five), missed: true, next });
        assert_eq!(hourly.due(last, now, Some(600_000)), Due { at: Some(five), missed: true, next });
        assert_eq!(hourly.due(last, now, Some(599_999)), Due { at: None, missed: true, next });
        let four = at("2026-01-01T04:00:00Z");
        assert_eq!(hourly.due(four, now, None), Due { at: Some(five), missed: false, next });
        assert_eq!(hourly.due(five, now, None), Due { at: None, missed: false, next });
        // The clock was set back.
        let before = at("2026-01-01T03:10:00Z");
        assert_eq!(hourly.due(five, before, None), Due { at: None, missed: false, next });
    }

    #[test]
    fn the_instants_between_are_listed_and_what_is_beyond_the_bound_is_one() {
        let hourly = schedule("0 * * * *", "UTC");
        let hour = |hour: u32| at(&format!("2026-01-01T{hour:02}:00:00Z"));
        let between = |last, end, most| hourly.between(hour(last), hour(end), most);
        assert_eq!(between(1, 1, 3), []);
        assert_eq!(between(1, 3, 3), [(hour(2), None), (hour(3), None)]);
        assert_eq!(between(1, 4, 3), [(hour(2), None), (hour(3), None), (hour(4), None)]);
        assert_eq!(between(1, 9, 3), [(hour(2), None), (hour(3), None), (hour(4), Some(hour(9)))]);
    }

    #[test]
    fn it_does_not_matter_for_how_long_nobody_looked() {
        let now = at("2026-06-15T10:30:20Z");
        for (times, latest) in [
            ("* * * * *", "2026-06-15T10:30:00Z"),
            ("0 3 * * *", "2026-06-15T03:00:00Z"),
            ("0 0 1 * *", "2026-06-01T00:00:00Z"),
            ("0 0 1 1 *", "2026-01-01T00:00:00Z"),
            ("0 0 29 2 *", "2024-02-29T00:00:00Z"),
        ] {
            let due = schedule(times, "UTC").due(at("1990-01-01T00:00:00Z"), now, None);
            assert_eq!((due.at, due.missed), (Some(at(latest)), true), "{times}");
        }
    }
}
