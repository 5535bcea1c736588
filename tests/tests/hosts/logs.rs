//! Logs of attempts, whatever befalls the hosts: an attempt has its log exactly if its end is recorded.

use std::collections::BTreeSet;

use phasm::{
    Map, Phase,
    engine::{
        event::{Event, Fence},
        phase::TaskKind,
    },
    journal,
    store::{AttemptLog, Record},
};

use super::{
    MANY, case,
    house::{House, Trouble},
    stage::Play,
};

/// Hosts die after up to so many calls to the store.
const CALLS: u64 = 60;
const SEEDS: u64 = 12;

/// Compares the logs of a run with its events. An attempt that its executor ended wrote a log; no attempt has one whose end is not
/// recorded, as it may be executed again.
pub(crate) fn check(run_id: &str, records: &[Record<Vec<u8>>], logs: &[AttemptLog]) -> Result<(), String> {
    let (mut ended, mut returned) = (BTreeSet::new(), BTreeSet::new());
    let number = |Fence { task, attempt, dispatch }: Fence| (task.0, attempt, dispatch);
    let replayed = journal::replay(run_id, records, |run, _, _, events| {
        for event in events {
            if let Event::AttemptEnded(end) = event {
                ended.insert(number(end.fence));
                let is_leaf = run.task(end.fence.task).is_some_and(|task| run.kind(task) == TaskKind::Leaf);
                if is_leaf && matches!(end.phase, Phase::Succeeded | Phase::Failed) {
                    returned.insert(number(end.fence));
                }
            }
            // The attempt was stopped, or waits for people.
            if let Event::Phase(change) = event
                && (change.to.is_terminal() || change.to == Phase::Suspended)
            {
                ended.extend(run.task(change.task).map(|task| number(task.fence())));
            }
        }
    });
    replayed.map_err(|error| error.to_string())?;
    let logged: BTreeSet<_> = logs.iter().map(|log| (log.task, log.attempt, log.dispatch)).collect();
    if logged.len() != logs.len() {
        return Err("an attempt has two logs".to_owned());
    }
    if let Some(open) = logged.difference(&ended).next() {
        return Err(format!("there is a log of {open:?}, the end of which is not recorded"));
    }
    match returned.difference(&logged).next() {
        Some(lost) => Err(format!("the log of {lost:?} is lost")),
        None => Ok(()),
    }
}

/// R-L15: a host that dies between any two calls to the store leaves no ended attempt without its log, and no log without the end.
#[test]
fn a_host_that_dies_anywhere_leaves_logs_and_ends_together() {
    for seed in (0..SEEDS).map(|seed| seed * 5 + 3) {
        let document = case(seed).document;
        for calls in 0..CALLS {
            let house = House::new(seed, Play::Seed(seed), MANY, Trouble::None).dying_after(calls);
            let played = house.play(&document, &Map::new(), &[]);
            assert!(played.is_ok(), "seed {seed}, {calls} calls: {}", played.unwrap_err());
        }
    }
}
