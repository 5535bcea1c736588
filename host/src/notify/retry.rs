//! When what was not taken is tried again.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::SystemTime,
};

use phasm_engine::time::{Millis, Timestamp};

use crate::store::NoticeId;

const SECOND: Millis = 1000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;

/// Pauses after failed tries; after the last of them the notification is given up. Three days in all.
const PAUSES: [Millis; 10] = [
    5 * SECOND,
    MINUTE,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
];
/// No wish for a later try is granted beyond that.
const MAX_PAUSE_MILLIS: Millis = 24 * HOUR;

/// How long to wait after so many tries, or nothing if there were enough; `wish` is the endpoint's.
pub(crate) fn pause(id: &NoticeId, tries: u32, wish: Option<Millis>) -> Option<Millis> {
    let at = usize::try_from(tries.saturating_sub(1)).unwrap_or(usize::MAX);
    let pause = *PAUSES.get(at)?;
    // A fifth of it apart, so that those that failed together do not come back together.
    let mut hasher = DefaultHasher::new();
    (id, tries).hash(&mut hasher);
    let apart = hasher.finish() % (pause / 5);
    Some((pause + apart).max(wish.unwrap_or(0).min(MAX_PAUSE_MILLIS)))
}

/// Parses `Retry-After`: seconds, or a date.
pub(crate) fn wish(header: &str, now: Timestamp) -> Option<Millis> {
    if let Ok(seconds) = header.trim().parse::<u64>() {
        return Some(seconds.saturating_mul(SECOND));
    }
    let at = httpdate::parse_http_date(header.trim()).ok()?;
    let at = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let at = Timestamp(i64::try_from(at.as_millis()).ok()?);
    Some(at.since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(seq: u64) -> NoticeId {
        NoticeId { run_id: "r".into(), seq, endpoint: "e".into() }
    }

    /// R-Y5.
    #[test]
    fn pauses_grow_and_end() {
        for (tries, least) in (1..).zip(PAUSES) {
            let pause = pause(&id(1), tries, None).unwrap();
            assert!((least..least + least / 5).contains(&pause), "{tries}: {pause}");
        }
        assert_eq!(pause(&id(1), 11, Some(5)), None);
        assert_ne!(pause(&id(1), 5, None), pause(&id(2), 5, None), "apart from each other");
        assert_eq!(pause(&id(1), 1, Some(HOUR)), Some(HOUR));
        assert_eq!(pause(&id(1), 1, Some(u64::MAX)), Some(MAX_PAUSE_MILLIS));
        assert!(pause(&id(1), 4, Some(1)).unwrap() >= 30 * MINUTE);
    }

    /// R-Y5: both forms of `Retry-After`.
    #[test]
    fn a_wish_is_seconds_or_a_date() {
        let now = Timestamp(784_111_777_000);
        assert_eq!(wish("120", now), Some(120_000));
        assert_eq!(wish(" Sun, 06 Nov 1994 08:50:37 GMT", now), Some(60_000));
        assert_eq!(wish("Sun, 06 Nov 1994 08:49:00 GMT", now), Some(0), "it is over");
        assert_eq!(wish("soon", now), None);
        assert_eq!(wish("-1", now), None);
    }
}
