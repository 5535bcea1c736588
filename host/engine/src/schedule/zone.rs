//! Time zones, by their names in the IANA's database, of which a copy is linked.

use std::{fmt, sync::Arc};

use jiff::{
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase},
};

use crate::{suggest, time::Timestamp};

/// A time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: Arc<str>,
    rules: TimeZone,
}

impl Default for Zone {
    fn default() -> Self {
        Self { name: "UTC".into(), rules: TimeZone::UTC }
    }
}

/// Instants at which a clock shows a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MappedTime {
    Once(Timestamp),
    /// The clock was set forward beyond it; when.
    Never(Timestamp),
    /// The clock was set back before it.
    Twice(Timestamp, Timestamp),
}

impl Zone {
    /// The zone of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        // The database does not mind the case of letters; its names have one.
        let rules = TimeZoneDatabase::bundled().get(name).ok()?;
        let is_its_name = rules.iana_name().is_none_or(|known| known == name);
        is_its_name.then(|| Self { name: name.into(), rules })
    }

    /// The names of all zones, in order.
    #[must_use]
    pub fn names() -> Vec<String> {
        let mut names: Vec<_> =
            TimeZoneDatabase::bundled().available().map(|known| known.to_string()).collect();
        names.sort();
        names
    }

    /// The name that is nearest to one that there is not.
    #[must_use]
    pub fn nearest(name: &str) -> Option<String> {
        let known = Self::names();
        suggest::nearest(name, known.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Returns the time its clocks show at an instant, if that is within the years from -9999 to 9999.
    pub(super) fn shows(&self, at: Timestamp) -> Option<DateTime> {
        let at = jiff::Timestamp::from_millisecond(at.0).ok()?;
        Some(self.rules.to_datetime(at))
    }

    /// Returns the time its clocks show at an instant, to the minute and with the offset from UTC: `2026-11-23 03:00 +01:00`.
    #[must_use]
    pub fn written(&self, at: Timestamp) -> Option<String> {
        let at = jiff::Timestamp::from_millisecond(at.0).ok()?;
        Some(at.to_zoned(self.rules.clone()).strftime("%Y-%m-%d %H:%M %:z").to_string())
    }

    /// When its clocks show that.
    pub(super) fn when(&self, shown: DateTime) -> Option<MappedTime> {
        let instant = |offset: jiff::tz::Offset| offset.to_timestamp(shown).ok();
        Some(match self.rules.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => MappedTime::Once(ours(instant(offset)?)),
            AmbiguousOffset::Gap { before, .. } => MappedTime::Never(self.set_before(instant(before)?)?),
            AmbiguousOffset::Fold { before, after } => {
                MappedTime::Twice(ours(instant(before)?), ours(instant(after)?))
            }
        })
    }

    /// When its clocks were last set, seen from `at`.
    fn set_before(&self, at: jiff::Timestamp) -> Option<Timestamp> {
        let after = at.checked_add(jiff::SignedDuration::from_secs(1)).ok()?;
        self.rules.preceding(after).next().map(|set| ours(set.timestamp()))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn ours(at: jiff::Timestamp) -> Timestamp {
    Timestamp(at.as_millisecond())
}
