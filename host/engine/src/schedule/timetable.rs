//! Minutes of a clock on the wall, and when a zone's clocks show them.

use jiff::{Span, ToSpan as _, civil::Date};

use super::zone::{MappedTime, Zone};
use crate::time::Timestamp;

/// There is no schedule with a longer pause: of 29 February that is a Monday there are fewest.
const MAX_PAUSE_YEARS: i16 = 41;

/// At which minutes of which days, as a clock on the wall shows them.
///
/// Where clocks are set forward, what they skip comes when they are set, once; where they are set back, what they show twice comes the first
/// time. A schedule for every hour, or every few (`*` or `*/n`), means the hours that pass: what is skipped does not come, and what
/// is shown twice comes twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timetable {
    /// The allowed numbers of each field.
    pub(super) minutes: u64,
    pub(super) hours: u64,
    pub(super) days: u64,
    pub(super) months: u64,
    /// From Sunday, 0.
    pub(super) weekdays: u64,
    /// Whether it means the hours that pass.
    pub(super) every_hour: bool,
    /// Whether days of the month and weekdays are both given: then each of them is meant.
    pub(super) either_day: bool,
}

impl Timetable {
    /// Whether there is a day that is meant.
    pub(super) fn comes(&self) -> bool {
        const MONTH_DAYS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let first = self.days.trailing_zeros();
        self.either_day || (1..).zip(MONTH_DAYS).any(|(month, days)| has(self.months, month) && first <= days)
    }

    pub(super) fn next_after(&self, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
        // Times that the clock skipped the day before may come today.
        let today = zone.shows(after)?.date();
        let mut date = today.yesterday().unwrap_or(today);
        let last = today.checked_add(Span::new().years(MAX_PAUSE_YEARS)).unwrap_or(Date::MAX);
        while date <= last {
            if !has(self.months, date.month().into()) {
                date = date.first_of_month().checked_add(1.month()).ok()?;
                continue;
            }
            if self.means(date)
                && let Some(next) = self.instants(zone, date).filter(|at| *at > after).min()
            {
                return Some(next);
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn means(&self, date: Date) -> bool {
        let day = has(self.days, date.day().into());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset().into());
        if self.either_day { day || weekday } else { day && weekday }
    }

    /// When they come that are meant on a date.
    fn instants(&self, zone: &Zone, date: Date) -> impl Iterator<Item = Timestamp> {
        let minutes = move |hour| members(self.minutes).map(move |minute| (hour, minute));
        let shown = members(self.hours)
            .flat_map(minutes)
            .filter_map(move |(hour, minute)| zone.when(date.at(hour, minute, 0, 0)));
        shown
            .flat_map(|shown| match shown {
                MappedTime::Once(at) => [Some(at), None],
                MappedTime::Never(set) => [Some(set).filter(|_| !self.every_hour), None],
                MappedTime::Twice(first, second) => [Some(first), Some(second).filter(|_| self.every_hour)],
            })
            .flatten()
    }
}

fn has(numbers: u64, number: i64) -> bool {
    numbers >> number & 1 == 1
}

fn members(numbers: u64) -> impl Iterator<Item = i8> {
    (0..60).filter(move |number| has(numbers, (*number).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The instants from `from` up to `to`, as a clock in UTC shows them.
    fn all(times: &str, zone: &str, from: &str, to: &str) -> Vec<String> {
        let at = |text: &str| Timestamp::from_rfc3339(text).unwrap();
        let (times, zone): (Timetable, _) = (times.parse().unwrap(), Zone::named(zone).unwrap());
        let begin = Timestamp(at(from).0 - 1);
        let instants =
            std::iter::successors(times.next_after(&zone, begin), |at| times.next_after(&zone, *at));
        let short = |at: Timestamp| at.to_rfc3339()[..16].to_owned();
        instants.take_while(|instant| *instant <= at(to)).map(short).collect()
    }

    /// R-W17.
    #[test]
    fn fields_mean_what_they_say() {
        let (from, to) = ("2026-01-01T00:00:00Z", "2026-01-31T23:59:59Z");
        let rows: [(&str, &[&str]); 9] = [
            ("30 3 1 1 *", &["2026-01-01T03:30"]),
            ("0 0 1,15 * *", &["2026-01-01T00:00", "2026-01-15T00:00"]),
            (
                "0 12 * jan sun",
                &["2026-01-04T12:00", "2026-01-11T12:00", "2026-01-18T12:00", "2026-01-25T12:00"],
            ),
            // Days of the month or weekdays.
            (
                "0 0 2 * thu",
                &[
                    "2026-01-01T00:00",
                    "2026-01-02T00:00",
                    "2026-01-08T00:00",
                    "2026-01-15T00:00",
                    "2026-01-22T00:00",
                    "2026-01-29T00:00",
                ],
            ),
            // Every tenth day that is a Sunday.
            ("0 0 */10 * 0", &["2026-01-11T00:00"]),
            ("0 6 ? 2 *", &[]),
            // A list is no `*/n`, though it begins with one: a day that matches either counts.
            (
                "0 0 */10,5 * mon",
                &[
                    "2026-01-01T00:00",
                    "2026-01-05T00:00",
                    "2026-01-11T00:00",
                    "2026-01-12T00:00",
                    "2026-01-19T00:00",
                    "2026-01-21T00:00",
                    "2026-01-26T00:00",
                    "2026-01-31T00:00",
                ],
            ),
            // A list with a `*` is `*`.
            (
                "0 0 *,5 * mon",
                &["2026-01-05T00:00", "2026-01-12T00:00", "2026-01-19T00:00", "2026-01-26T00:00"],
            ),
            ("0 0 31 * 3-5/7,*", &["2026-01-31T00:00"]),
        ];
        for (times, expected) in rows {
            assert_eq!(all(times, "UTC", from, to), expected, "{times}");
        }
    }

    #[test]
    fn instants_are_the_zones() {
        let day = |zone| all("0 9 * * *", zone, "2026-07-01T00:00:00Z", "2026-07-01T23:59:59Z");
        for (zone, expected) in [
            ("UTC", "2026-07-01T09:00"),
            ("Europe/Berlin", "2026-07-01T07:00"),
            ("America/New_York", "2026-07-01T13:00"),
            ("Asia/Kathmandu", "2026-07-01T03:15"),
            ("Pacific/Auckland", "2026-07-01T21:00"),
        ] {
            assert_eq!(day(zone), [expected], "{zone}");
        }
        assert_eq!(Zone::named("Mars/Olympus"), None);
        assert_eq!(Zone::nearest("Europe/Berln").as_deref(), Some("Europe/Berlin"));
    }

    /// Where clocks are set forward: Berlin from 2:00 to 3:00 (1:00 UTC), Lord Howe from 2:00 to 2:30, Samoa over a whole day, Santiago at midnight.
    /// R-W17.
    #[test]
    fn what_clocks_skip_comes_when_they_are_set() {
        let rows: [(&str, &str, &str, &str, &[&str]); 7] = [
            (
                "30 2 * * *",
                "Europe/Berlin",
                "2026-03-28T12:00:00Z",
                "2026-03-30T12:00:00Z",
                &["2026-03-29T01:00", "2026-03-30T00:30"],
            ),
            (
                "*/15 2 * * *",
                "Europe/Berlin",
                "2026-03-29T00:00:00Z",
                "2026-03-29T12:00:00Z",
                &["2026-03-29T01:00"],
            ),
            (
                "30 * * * *",
                "Europe/Berlin",
                "2026-03-29T00:00:00Z",
                "2026-03-29T02:00:00Z",
                &["2026-03-29T00:30", "2026-03-29T01:30"],
            ),
            (
                "0 */2 * * *",
                "Europe/Berlin",
                "2026-03-28T22:00:00Z",
                "2026-03-29T03:00:00Z",
                &["2026-03-28T23:00", "2026-03-29T02:00"],
            ),
            (
                "15 2 * * *",
                "Australia/Lord_Howe",
                "2026-10-03T12:00:00Z",
                "2026-10-04T12:00:00Z",
                &["2026-10-03T15:30"],
            ),
            (
                "0 12 * * *",
                "Pacific/Apia",
                "2011-12-29T00:00:00Z",
                "2011-12-31T12:00:00Z",
                &["2011-12-29T22:00", "2011-12-30T10:00", "2011-12-30T22:00"],
            ),
            (
                "0 0 * * *",
                "America/Santiago",
                "2026-09-05T12:00:00Z",
                "2026-09-06T12:00:00Z",
                &["2026-09-06T04:00"],
            ),
        ];
        for (times, zone, from, to, expected) in rows {
            assert_eq!(all(times, zone, from, to), expected, "{times} {zone}");
        }
    }

    /// Where clocks are set back: Berlin from 3:00 to 2:00 (1:00 UTC), the Azores from 1:00 to 0:00.
    /// R-W17.
    #[test]
    fn what_clocks_show_twice_comes_the_first_time() {
        let rows: [(&str, &str, &str, &str, &[&str]); 8] = [
            // Hours that are named are those of the clock, also where all are named: one hour less than pass.
            (
                "0 0-23 * * *",
                "Europe/Berlin",
                "2026-10-24T23:00:00Z",
                "2026-10-25T02:00:00Z",
                &["2026-10-24T23:00", "2026-10-25T00:00", "2026-10-25T02:00"],
            ),
            (
                "0 */2,3 * * *",
                "Europe/Berlin",
                "2026-10-24T23:00:00Z",
                "2026-10-25T02:00:00Z",
                &["2026-10-25T00:00", "2026-10-25T02:00"],
            ),
            (
                "0 *,3 * * *",
                "Europe/Berlin",
                "2026-10-24T23:00:00Z",
                "2026-10-25T02:00:00Z",
                &["2026-10-24T23:00", "2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T02:00"],
            ),
            (
                "30 2 * * *",
                "Europe/Berlin",
                "2026-10-24T12:00:00Z",
                "2026-10-26T12:00:00Z",
                &["2026-10-25T00:30", "2026-10-26T01:30"],
            ),
            (
                "*/30 2 * * *",
                "Europe/Berlin",
                "2026-10-25T00:00:00Z",
                "2026-10-25T12:00:00Z",
                &["2026-10-25T00:00", "2026-10-25T00:30"],
            ),
            (
                "30 * * * *",
                "Europe/Berlin",
                "2026-10-24T23:00:00Z",
                "2026-10-25T02:00:00Z",
                &["2026-10-24T23:30", "2026-10-25T00:30", "2026-10-25T01:30"],
            ),
            (
                "0 0 * * *",
                "Atlantic/Azores",
                "2026-10-24T12:00:00Z",
                "2026-10-26T12:00:00Z",
                &["2026-10-25T00:00", "2026-10-26T01:00"],
            ),
            (
                "59 23 * * *",
                "Africa/Casablanca",
                "2026-02-14T12:00:00Z",
                "2026-02-15T12:00:00Z",
                &["2026-02-14T22:59"],
            ),
        ];
        for (times, zone, from, to, expected) in rows {
            assert_eq!(all(times, zone, from, to), expected, "{times} {zone}");
        }
    }

    /// An instant is no other's: each follows the one before, and what lies between is none.
    #[test]
    fn a_year_of_a_zone_is_walked_in_order() {
        let times: Timetable = "*/30 * * * *".parse().unwrap();
        for zone in ["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Africa/Cairo"] {
            let zone = Zone::named(zone).unwrap();
            let mut at = Timestamp::from_rfc3339("2026-01-01T00:00:00Z").unwrap();
            for _ in 0..2 * 24 * 365 {
                let next = times.next_after(&zone, at).unwrap();
                assert_eq!(next.since(at), 1_800_000, "{zone} {}", at.to_rfc3339());
                at = next;
            }
        }
    }

    #[test]
    fn rare_days_come() {
        let next = |times: &str, after: &str| {
            let after = Timestamp::from_rfc3339(after).unwrap();
            times.parse::<Timetable>().unwrap().next_after(&Zone::default(), after).unwrap().to_rfc3339()
        };
        assert_eq!(next("0 0 29 2 *", "2096-03-01T00:00:00Z"), "2104-02-29T00:00:00.000Z");
        assert_eq!(next("0 0 */28 2 mon", "2026-03-01T00:00:00Z"), "2027-02-01T00:00:00.000Z");
    }
}
