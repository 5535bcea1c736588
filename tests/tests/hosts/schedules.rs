//! Schedules that fire (R-Z2 to R-Z9): whole hosts on a stepped clock, which come, go and are killed, on one store.

mod house;
mod kills;
mod year;

use phasm::{
    catalog::{FiringResult, ScheduleState, Suspension},
    engine::{phase::Phase, time::Timestamp},
};

use self::house::{House, at, document};

fn came(state: &ScheduleState) -> Vec<FiringResult> {
    state.firings.iter().map(|firing| firing.what).collect()
}

/// R-Z3, R-Z8: a run is started at each instant, and says for which; it reads that, and is found by it.
#[test]
fn a_run_is_fired_for_each_instant() {
    let mut house = House::new("2026-01-01T10:30:00Z", 1);
    house.put(&document("hourly", "0 * * * *", "workflowMetadata: {name: report, labels: {team: a}}"));
    house.go_to("2026-01-01T12:59:00Z");
    assert_eq!(house.fired("hourly"), ["2026-01-01T11:00:00.000Z", "2026-01-01T12:00:00.000Z"]);
    let row = house.runs("hourly").remove(0);
    assert_eq!((&*row.head.workflow, row.status.phase), ("report", Phase::Succeeded));
    assert_eq!(row.head.labels.get("team").map(|team| &**team), Some("a"));
    assert_eq!(house.output(&row.head.run_id), "2026-01-01T11:00:00.000Z");
    let saved = house.schedule("hourly");
    assert_eq!(saved.next, Some(at("2026-01-01T13:00:00Z")));
    assert!(saved.what.firings.iter().all(|firing| firing.phase == Some(Phase::Succeeded)), "{saved:?}");
}

/// R-Z5: with Forbid nothing is started beside an open run, with Replace that one is cancelled, with Allow it goes on.
#[test]
fn runs_stand_beside_each_other_as_the_policy_says() {
    for (policy, started, open) in [("Allow", 3, 3), ("Forbid", 1, 1), ("Replace", 3, 1)] {
        let mut house = House::new("2026-01-01T10:30:00Z", 2);
        let document = document("long", "0 * * * *", &format!("concurrencyPolicy: {policy}"));
        house.put(&document.replace("type: quick", "type: never"));
        house.go_to("2026-01-01T13:10:00Z");
        let runs = house.runs("long");
        assert_eq!(
            (runs.len(), runs.iter().filter(|row| row.status.open).count()),
            (started, open),
            "{policy}"
        );
        let cancelled = runs.iter().filter(|row| row.status.phase == Phase::Cancelled).count();
        assert_eq!(cancelled, started - open, "{policy}");
        assert!(runs.last().unwrap().status.open, "{policy}: the last one stays");
    }
}

/// R-Z6: runs beyond the limits are deleted as soon as a later one has ended.
#[test]
fn old_runs_are_deleted() {
    let mut house = House::new("2026-01-01T10:30:00Z", 1);
    house.put(&document("hourly", "0 * * * *", "successfulJobsHistoryLimit: 2"));
    house.go_to("2026-01-01T16:30:00Z");
    assert_eq!(house.fired("hourly"), ["2026-01-01T15:00:00.000Z", "2026-01-01T16:00:00.000Z"]);
}

/// R-Z4: while no host is there, instants are missed; who comes starts the last one, unless it is too late for it.
#[test]
fn missed_instants_are_made_up_for_by_the_last() {
    for (more, expected) in [
        ("suspend: false", &["2026-01-01T14:00:00.000Z"][..]),
        ("startingDeadlineSeconds: 2400", &["2026-01-01T14:00:00.000Z"]),
        ("startingDeadlineSeconds: 600", &[]),
    ] {
        let mut house = House::new("2026-01-01T10:30:00Z", 1);
        house.put(&document("hourly", "0 * * * *", more));
        house.kill(0);
        house.go_to("2026-01-01T14:30:00Z");
        house.open();
        house.settle();
        assert_eq!(house.fired("hourly"), expected, "{more}");
        let first = came(&house.schedule("hourly").what).first().copied();
        assert_eq!(first, Some(FiringResult::Missed), "{more}");
        house.go_to("2026-01-01T15:10:00Z");
        assert_eq!(house.fired("hourly").last().unwrap(), "2026-01-01T15:00:00.000Z", "{more}");
    }
}

/// R-Z7: a paused schedule starts nothing and makes up for nothing; a pause outlasts another document.
#[test]
fn a_schedule_pauses_and_goes_on() {
    let mut house = House::new("2026-01-01T10:30:00Z", 1);
    house.put(&document("hourly", "0 * * * *", "suspend: true"));
    house.go_to("2026-01-01T12:10:00Z");
    assert_eq!(house.fired("hourly"), [""; 0]);
    assert_eq!(house.schedule("hourly").what.suspended, Some(Suspension::ByDocument));
    house.resume("hourly");
    house.go_to("2026-01-01T13:10:00Z");
    assert_eq!(house.fired("hourly"), ["2026-01-01T13:00:00.000Z"]);
    house.suspend("hourly");
    house.go_to("2026-01-01T15:10:00Z");
    house.put(&document("hourly", "0 * * * *", "suspend: false"));
    house.go_to("2026-01-01T16:10:00Z");
    assert_eq!(house.fired("hourly").len(), 1, "another document does not end a pause");
    assert_eq!(house.schedule("hourly").what.suspended, Some(Suspension::ByHand));
    let triggered = house.trigger("hourly");
    house.settle();
    assert_eq!(house.fired("hourly").len(), 2);
    house.resume("hourly");
    house.go_to("2026-01-01T17:10:00Z");
    assert_eq!(house.fired("hourly").last().unwrap(), "2026-01-01T17:00:00.000Z");
    let state = house.schedule("hourly").what;
    assert_eq!(came(&state), [FiringResult::Started, FiringResult::Triggered, FiringResult::Started]);
    assert_eq!(state.firings.get(1).unwrap().run_id.as_deref(), Some(&*triggered));
}

/// R-Z3: a schedule begins and ends with its document's instants, and another document changes what comes.
#[test]
fn a_schedule_begins_and_ends() {
    let mut house = House::new("2026-01-01T10:30:00Z", 1);
    let bounds = "startAt: '2026-01-01T12:00:00Z'\n  endAt: '2026-01-01T13:00:00Z'";
    house.put(&document("hourly", "0 * * * *", bounds));
    house.go_to("2026-01-01T20:00:00Z");
    assert_eq!(house.fired("hourly"), ["2026-01-01T12:00:00.000Z", "2026-01-01T13:00:00.000Z"]);
    assert_eq!(house.schedule("hourly").next, None);
    house.put(&document("hourly", "30 * * * *", ""));
    house.go_to("2026-01-01T20:45:00Z");
    assert_eq!(house.fired("hourly").last().unwrap(), "2026-01-01T20:30:00.000Z");
}

/// R-Z3: a wall clock that is set back fires nothing twice, and one that is set forward is noticed within half a minute.
#[test]
fn clocks_that_are_set_fire_nothing_twice() {
    const HOUR: i64 = 3_600_000;
    let mut house = House::new("2026-01-01T10:30:00Z", 2);
    house.put(&document("hourly", "0 * * * *", ""));
    house.go_to("2026-01-01T11:10:00Z");
    house.time.set(-2 * HOUR);
    house.pass(2 * HOUR.unsigned_abs());
    assert_eq!(house.fired("hourly"), ["2026-01-01T11:00:00.000Z"], "it is 11:10 again");
    house.time.set(2 * HOUR);
    house.pass(30_000);
    assert_eq!(house.fired("hourly"), ["2026-01-01T11:00:00.000Z", "2026-01-01T13:00:00.000Z"]);
}

/// R-Z9: a schedule that cannot fire says so, is tried again, and stops no other; what it lacked may come.
#[test]
fn a_schedule_that_cannot_fire_says_so_and_is_tried_again() {
    let mut house = House::new("2026-01-01T10:30:00Z", 1);
    house.put(&document("good", "0 * * * *", ""));
    house.put(&document("bad", "0 * * * *", ""));
    house.spoil("bad");
    house.go_to("2026-01-01T11:05:00Z");
    assert_eq!(house.fired("good").len(), 1);
    let bad = house.schedule("bad");
    assert!(
        bad.what.trouble.as_ref().is_some_and(|trouble| trouble.why.contains("s.json:1:1: P001")),
        "{bad:?}"
    );
    assert_eq!((house.fired("bad").len(), bad.next), (0, Some(at("2026-01-01T11:00:00Z"))));
    house.go_to("2026-01-01T12:30:00Z");
    assert_eq!(house.fired("good").len(), 2);
    house.mend("bad");
    house.pass(600_000);
    assert_eq!(house.fired("bad"), ["2026-01-01T12:00:00.000Z"]);
    assert_eq!(house.schedule("bad").what.trouble, None);
}

#[test]
fn instants_are_read_as_they_are_written() {
    assert_eq!(at("1970-01-01T00:00:01Z"), Timestamp(1000));
}
