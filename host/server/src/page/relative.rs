//! Times as people say them: how long ago something was, and how long it takes until it is.

use maud::{Markup, html};
use phasm::engine::{
    schedule::Zone,
    time::{Millis, Timestamp},
};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const TWO_DAYS: u64 = 2 * DAY;
/// Days after which a date says more than a number of days.
const MAX_DAYS: u64 = 30;

/// Returns how long before `now` a time was: `just now`, `12 s ago`, `3 min ago`, `2 h ago`, `yesterday`, `5 d ago`, and the date, in
/// UTC, of a time that is more than 30 days away. A time after `now` is `just now`, as clocks of hosts differ.
pub(super) fn ago(now: Timestamp, at: Timestamp) -> String {
    let seconds = now.since(at) / 1000;
    match seconds {
        0..5 => "just now".to_owned(),
        DAY..TWO_DAYS => "yesterday".to_owned(),
        _ => length(now.since(at)).map_or_else(|| date(at), |length| format!("{length} ago")),
    }
}

/// Returns how long after `now` a time is: `now`, `in 12 s`, `in 3 min`, `in 2 h 20 min`, `in 5 d 3 h`, and the date, in UTC, of a time that is more
/// than 30 days away.
pub(super) fn until(now: Timestamp, at: Timestamp) -> String {
    match at.since(now) / 1000 {
        0 => "now".to_owned(),
        _ => two_units(at.since(now)).map_or_else(|| date(at), |length| format!("in {length}")),
    }
}

/// A time as `words`, and by the clocks of a zone.
pub(super) fn with_clock(words: &str, zone: &Zone, at: Timestamp) -> Markup {
    let whole = at.to_rfc3339();
    html! {
        time datetime=(whole) title=(whole) { (words) }
        " " span class="clock" { (zone.written(at).unwrap_or_else(|| whole.clone())) }
    }
}

/// A length of time in its largest unit, rounded down. `None` if it has too many days.
fn length(millis: Millis) -> Option<String> {
    let seconds = millis / 1000;
    Some(match seconds {
        0..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => format!("{} h", seconds / HOUR),
        _ if seconds / DAY <= MAX_DAYS => format!("{} d", seconds / DAY),
        _ => return None,
    })
}

/// A length of time in its largest unit and the next one, rounded down: `2 d 20 h`. `None` if it has too many days.
fn two_units(millis: Millis) -> Option<String> {
    let large = length(millis)?;
    let seconds = millis / 1000;
    let (rest, unit) = match seconds {
        0..HOUR => (0, ""),
        HOUR..DAY => (seconds % HOUR / MINUTE, "min"),
        _ => (seconds % DAY / HOUR, "h"),
    };
    Some(if rest > 0 { format!("{large} {rest} {unit}") } else { large })
}

/// The day of a time, in UTC.
fn date(at: Timestamp) -> String {
    at.to_rfc3339().chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-01T12:00:00Z.
    const NOON: Timestamp = Timestamp(1_772_366_400_000);

    fn seconds(count: i64) -> Timestamp {
        Timestamp(NOON.0 + count * 1000)
    }

    #[test]
    fn times_before_now_are_said_roughly() {
        for (after, text) in [
            (-60, "just now"),
            (0, "just now"),
            (4, "just now"),
            (5, "5 s ago"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (3599, "59 min ago"),
            (3600, "1 h ago"),
            (86_399, "23 h ago"),
            (86_400, "yesterday"),
            (172_799, "yesterday"),
            (172_800, "2 d ago"),
            (30 * 86_400, "30 d ago"),
            (31 * 86_400, "2026-03-01"),
        ] {
            assert_eq!(ago(seconds(after), NOON), text, "{after}");
        }
    }

    #[test]
    fn times_after_now_are_said_roughly() {
        for (before, text) in [
            (-60, "now"),
            (0, "now"),
            (12, "in 12 s"),
            (180, "in 3 min"),
            (3 * 3600 + 3599, "in 3 h 59 min"),
            (2 * 86_400 + 20 * 3600, "in 2 d 20 h"),
            (86_400, "in 1 d"),
            (31 * 86_400, "2026-03-01"),
        ] {
            assert_eq!(until(seconds(-before), NOON), text, "{before}");
        }
    }
}
