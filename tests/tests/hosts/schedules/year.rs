//! A year, with hosts that come, go, are killed, and are all away for days.

use std::collections::BTreeMap;

use phasm::engine::{schedule::Schedule, time::Timestamp};

use super::house::{House, at, document, planned};

const DAY: u64 = 86_400_000;

const SCHEDULES: [(&str, &str, &str); 6] = [
    ("berlin", "30 2 * * *", "Europe/Berlin"),
    ("new-york", "30 1 * * *", "America/New_York"),
    ("lord-howe", "15 2 * * *", "Australia/Lord_Howe"),
    ("santiago", "0 */12 * * *", "America/Santiago"),
    ("kathmandu", "0 9 * * mon-fri", "Asia/Kathmandu"),
    ("apia", "0 0 1,15 * *", "Pacific/Apia"),
];

/// The expected history of a schedule.
struct Expected {
    schedule: Schedule,
    decided: Timestamp,
    fired: Vec<String>,
}

impl Expected {
    /// Looks at the schedule: out of the times that have passed since, the last counts.
    fn look(&mut self, now: Timestamp) {
        let first = self.schedule.next_after(self.decided);
        let come = std::iter::successors(first, |at| self.schedule.next_after(*at));
        if let Some(last) = come.take_while(|at| *at <= now).last() {
            self.decided = last;
            self.fired.push(last.to_rfc3339());
        }
    }
}

/// R-Z3, R-Z4: what each schedule is to start it starts, once, in order, whatever befalls the hosts.
#[test]
fn a_year_is_fired_without_loss_or_double() {
    let (begin, end) = ("2026-01-01T00:00:30Z", at("2027-01-01T00:00:00Z"));
    let mut house = House::new(begin, 2);
    let mut expected = BTreeMap::new();
    for (name, times, zone) in SCHEDULES {
        let document = document(name, times, &format!("timezone: {zone}"));
        let schedule = planned(&document).cron.unwrap().schedule;
        house.put(&document);
        expected.insert(name, Expected { schedule, decided: at(begin), fired: Vec::new() });
    }
    let (mut kills, mut away) = (0, 0);
    while let Some(due) = house.next_due().filter(|due| *due < end) {
        let wait = due.since(house.wall());
        if house.random.chance(2) {
            // All of them go, for up to four days.
            while house.hosts() > 0 {
                house.kill(0);
            }
            let days = house.random.below(4 * DAY);
            house.pass((wait + days).min(end.since(house.wall()).saturating_sub(1)));
            (0..2).for_each(|_| house.open());
            away += 1;
        } else {
            house.time.pass(wait);
            if house.random.chance(20) {
                // In the middle of what follows.
                let victim = house.any();
                let rounds = house.random.below(40);
                house.go_on(victim, rounds);
                house.kill(victim);
                house.open();
                kills += 1;
            }
        }
        house.settle();
        let now = house.wall();
        expected.values_mut().for_each(|expected| expected.look(now));
    }
    assert!(kills > 100 && away > 5, "{kills} {away}");
    for (name, expected) in expected {
        assert_eq!(house.fired(name), expected.fired, "{name}");
        assert!(house.runs(name).iter().all(|row| !row.status.open), "{name}: what was fired has ended");
    }
}

/// R-Z3, R-W17: at the clocks' changes in both directions, through whole hosts.
#[test]
fn what_clocks_skip_or_show_twice_is_fired_once() {
    let rows = [
        ("berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"]),
        ("berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"]),
        ("new-york", "2026-10-31T12:00:00Z", ["2026-11-01T05:30:00.000Z", "2026-11-02T06:30:00.000Z"]),
        ("lord-howe", "2026-10-03T12:00:00Z", ["2026-10-03T15:30:00.000Z", "2026-10-04T15:15:00.000Z"]),
        ("lord-howe", "2026-04-04T00:00:00Z", ["2026-04-04T15:45:00.000Z", "2026-04-05T15:45:00.000Z"]),
    ];
    for (name, begin, expected) in rows {
        let (_, times, zone) = SCHEDULES.into_iter().find(|(known, ..)| *known == name).unwrap();
        let mut house = House::new(begin, 2);
        house.put(&document(name, times, &format!("timezone: {zone}")));
        house.go_to(&Timestamp(at(begin).0 + 2 * DAY.cast_signed()).to_rfc3339());
        assert_eq!(house.fired(name), expected, "{name} from {begin}");
    }
}
