//! Hosts that are killed between any two things that they ask of the store.

use phasm::engine::phase::Phase;

use super::house::{House, document};

/// Kills a host after `calls` calls, at a time when an open run is replaced and an old one deleted; returns false if it was
/// through by then.
fn killed_after(calls: u64, hosts: u32) -> bool {
    let mut house = House::new("2026-01-01T10:30:00Z", hosts);
    let more = "concurrencyPolicy: Replace\n  failedJobsHistoryLimit: 1";
    house.put(&document("long", "0 * * * *", more).replace("type: quick", "type: never"));
    house.go_to("2026-01-01T13:30:00Z");
    assert_eq!(house.runs("long").len(), 2, "one is open, one is kept");

    (0..house.hosts()).for_each(|host| house.light_fuse(host, calls));
    house.pass(30 * 60_000);
    let died = (0..house.hosts()).filter(|host| house.is_dead(*host)).count() > 0;
    while house.hosts() > 0 {
        house.kill(0);
    }
    house.open();
    house.settle();

    assert!(house.fired_once("long"), "killed after {calls}: {:?}", house.fired("long"));
    assert_eq!(house.fired("long").last().unwrap(), "2026-01-01T14:00:00.000Z", "killed after {calls}");
    let mut runs = house.runs("long");
    assert!(runs.pop().unwrap().status.open, "killed after {calls}");
    assert!(runs.iter().all(|row| row.status.phase == Phase::Cancelled), "killed after {calls}: {runs:?}");
    let saved = house.schedule("long");
    assert_eq!(saved.next, Some(super::at("2026-01-01T15:00:00Z")), "killed after {calls}");
    assert_eq!(saved.what.firings.iter().filter(|firing| firing.open().is_some()).count(), 1);
    // A run that was not deleted before is deleted now at the latest.
    house.go_to("2026-01-01T15:10:00Z");
    assert_eq!(house.runs("long").len(), 2, "killed after {calls}");
    died
}

/// R-Z2, R-Z3: whatever a host had done when it was killed, there is one run for the instant, and the rest is done.
#[test]
fn wherever_a_host_is_killed_there_is_one_run_for_the_instant() {
    let kills = (0..200).take_while(|calls| killed_after(*calls, 1)).count();
    assert!(kills > 10, "only {kills} places were found");
}

/// R-Z2: the same where two compete for it, and both are killed.
#[test]
fn wherever_two_hosts_are_killed_there_is_one_run_for_the_instant() {
    let kills = (0..800).step_by(5).take_while(|calls| killed_after(*calls, 2)).count();
    assert!(kills > 3, "only {kills} places were found");
}
