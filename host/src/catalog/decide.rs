//! Decisions about a schedule. Nothing here reads a clock or a store.

use std::sync::Arc;

use phasm_engine::{
    phase::Phase,
    schedule::{Concurrency, Cron, Due},
    time::Timestamp,
};

use super::schedule::{FiringNote, FiringResult, ScheduleState};

/// How many runs of a schedule may be open when another one is to be started.
pub(crate) const MAX_OPEN_RUNS: usize = 100;
/// A history limit above this is no limit: runs are kept until `phasm prune` deletes them.
const MAX_HISTORY_LIMIT: u32 = 1000;
/// Number of firings without a run, and of runs without a limit, that are remembered.
const MAX_REMEMBERED_FIRINGS: usize = 20;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunStands {
    Open,
    Ended(Phase),
    /// The run was deleted.
    Gone,
}

/// The decision about a schedule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    /// The schedule as it will be, but for the run that is to be started.
    pub(crate) state: ScheduleState,
    /// When to look again.
    pub(crate) due: Option<Timestamp>,
    /// Runs that are to be cancelled, before that is kept.
    pub(crate) cancel: Vec<Arc<str>>,
    /// Runs that are to be deleted, before that is kept.
    pub(crate) delete: Vec<Arc<str>>,
    /// The instant for which one is to be started.
    pub(crate) fire: Option<Timestamp>,
}

/// Decides what a schedule does at `now`, given the state of its runs. A decision that was not stored is made again.
pub(crate) fn decide(
    state: &ScheduleState,
    cron: &Cron,
    now: Timestamp,
    stands: impl Fn(&str) -> RunStands,
) -> Decision {
    let mut state = state.clone();
    let cancel = look_at_runs(&mut state, stands);
    let delete = forget_old_ones(&mut state, cron);
    let fire = if state.suspended.is_some() { None } else { what_came(&mut state, cron, now) };
    let due = state.due(cron);
    Decision { state, due, cancel, delete, fire }
}

impl Decision {
    /// The schedule with the run that is started, and when to look at it again.
    pub(crate) fn started(
        &self,
        cron: &Cron,
        at: Timestamp,
        run_id: &Arc<str>,
    ) -> (ScheduleState, Option<Timestamp>) {
        let mut state = self.state.clone();
        if cron.concurrency == Concurrency::Replace {
            state
                .firings
                .iter_mut()
                .filter(|firing| firing.open().is_some())
                .for_each(|firing| firing.replaced = true);
        }
        state.note(at, FiringResult::Started, Some(Arc::clone(run_id)));
        state.trouble = None;
        let due = state.due(cron);
        (state, due)
    }
}

impl ScheduleState {
    pub(crate) fn note(&mut self, at: Timestamp, what: FiringResult, run_id: Option<Arc<str>>) {
        let firing = FiringNote { at, until: None, what, run_id, by: None, phase: None, replaced: false };
        self.firings.push(firing);
    }

    /// How many of its runs are open, as far as is known.
    pub(crate) fn open(&self) -> usize {
        self.firings.iter().filter(|firing| firing.open().is_some()).count()
    }
}

/// Takes down what became of runs that were open; returns those that are to be cancelled.
fn look_at_runs(state: &mut ScheduleState, stands: impl Fn(&str) -> RunStands) -> Vec<Arc<str>> {
    let mut cancel = Vec::new();
    state.firings.retain_mut(|firing| {
        let Some(run_id) = firing.open().cloned() else { return true };
        match stands(&run_id) {
            RunStands::Gone => return false,
            RunStands::Ended(phase) => firing.phase = Some(phase),
            RunStands::Open if firing.replaced => cancel.push(run_id),
            RunStands::Open => {}
        }
        firing.replaced = false;
        true
    });
    cancel
}

/// Forgets what is no longer told; returns the runs that are kept no longer.
fn forget_old_ones(state: &mut ScheduleState, cron: &Cron) -> Vec<Arc<str>> {
    let limit =
        |limit: Option<u32>| limit.filter(|limit| *limit <= MAX_HISTORY_LIMIT).map(|limit| limit as usize);
    let (succeeded, others) = (limit(cron.keep_succeeded), limit(cron.keep_others));
    let (mut good, mut bad) =
        (succeeded.unwrap_or(MAX_REMEMBERED_FIRINGS), others.unwrap_or(MAX_REMEMBERED_FIRINGS));
    let (mut quiet, mut kept, mut delete) = (MAX_REMEMBERED_FIRINGS, Vec::new(), Vec::new());
    let mut is_latest = true;
    for mut firing in state.firings.drain(..).rev() {
        let (left, limit) = match firing.phase {
            None if firing.run_id.is_some() => {
                kept.push(firing);
                continue;
            }
            None => (&mut quiet, None),
            Some(Phase::Succeeded | Phase::Skipped) => (&mut good, succeeded),
            Some(_) => (&mut bad, others),
        };
        let was_latest = firing.phase.is_some() && std::mem::take(&mut is_latest);
        if *left > 0 {
            *left -= 1;
            kept.push(firing);
        } else if limit.is_some() {
            delete.extend(firing.run_id.take());
            // How the last run ended is told also where none is kept.
            kept.extend(Some(firing).filter(|_| was_latest));
        }
    }
    kept.reverse();
    state.firings = kept;
    delete
}

/// Decides about what has come; returns the instant for which a run is to be started.
fn what_came(state: &mut ScheduleState, cron: &Cron, now: Timestamp) -> Option<Timestamp> {
    let Due { at, missed, .. } = cron.schedule.due(state.decided, now, cron.starting_deadline);
    if missed {
        let end = at.map_or(now, |at| Timestamp(at.0 - 1));
        for (at, until) in cron.schedule.between(state.decided, end, MAX_REMEMBERED_FIRINGS) {
            state.note(at, FiringResult::Missed, None);
            if let Some(note) = state.firings.last_mut() {
                note.until = until;
            }
        }
    }
    if let Some(at) = at.or(missed.then_some(now)) {
        state.decided = state.decided.max(at);
    }
    let at = at?;
    let open = state.open();
    match cron.concurrency {
        Concurrency::Forbid if open > 0 => state.note(at, FiringResult::Forbidden, None),
        _ if open >= MAX_OPEN_RUNS => state.note(at, FiringResult::Crowded, None),
        Concurrency::Allow | Concurrency::Forbid | Concurrency::Replace => return Some(at),
    }
    None
}

#[cfg(test)]
mod tests {
    use phasm_engine::schedule::Schedule;

    use super::*;
    use crate::catalog::{Suspension, Version};

    const HOUR: i64 = 3_600_000;

    fn hourly() -> Cron {
        let schedule = Schedule {
            times: "0 * * * *".parse().unwrap(),
            zone: phasm_engine::schedule::Zone::default(),
            start_at: None,
            end_at: None,
        };
        Cron {
            name: "s".into(),
            written: "0 * * * *".into(),
            schedule,
            concurrency: Concurrency::Allow,
            starting_deadline: None,
            keep_succeeded: None,
            keep_others: None,
            suspend: false,
        }
    }

    /// The state of a schedule at 10 h.
    fn state(firings: Vec<FiringNote>) -> ScheduleState {
        let version =
            Version { digest: "d".into(), size: 0, file: "s.yaml".into(), saved_at: Timestamp(0), by: None };
        ScheduleState {
            document: version,
            workflow: "s".into(),
            schedule: "0 * * * *".into(),
            timezone: "UTC".into(),
            concurrency_policy: "Allow".into(),
            suspended: None,
            decided: Timestamp(10 * HOUR),
            firings,
            trouble: None,
        }
    }

    fn firing(hour: i64, phase: Option<Phase>) -> FiringNote {
        let run_id = Some(format!("run{hour}").into());
        let at = Timestamp(hour * HOUR);
        FiringNote { at, until: None, what: FiringResult::Started, run_id, by: None, phase, replaced: false }
    }

    fn open(_: &str) -> RunStands {
        RunStands::Open
    }

    fn what(decided: &Decision) -> Vec<FiringResult> {
        decided.state.firings.iter().map(|firing| firing.what).collect()
    }

    /// R-Z3: at an instant one run is started, and the schedule is due at the next; before it nothing happens.
    #[test]
    fn an_instant_is_decided_once() {
        let cron = hourly();
        let early = decide(&state(Vec::new()), &cron, Timestamp(11 * HOUR - 1), open);
        assert_eq!((early.fire, early.due), (None, Some(Timestamp(11 * HOUR))));
        let now = Timestamp(11 * HOUR + 5);
        let decided = decide(&state(Vec::new()), &cron, now, open);
        assert_eq!(decided.fire, Some(Timestamp(11 * HOUR)));
        let (state, due) = decided.started(&cron, Timestamp(11 * HOUR), &"run11".into());
        assert_eq!(due, Some(Timestamp(12 * HOUR)));
        let again = decide(&state, &cron, now, open);
        assert_eq!((again.fire, &again.state, again.due), (None, &state, due), "nothing is decided twice");
        // The clock was set back.
        let back = decide(&state, &cron, Timestamp(5 * HOUR), open);
        assert_eq!((back.fire, back.due), (None, due));
    }

    /// R-Z4: of several that have come the last one counts, unless it is too late for it.
    #[test]
    fn what_nobody_saw_is_missed_but_the_last() {
        let now = Timestamp(14 * HOUR + 600_000);
        let decided = decide(&state(Vec::new()), &hourly(), now, open);
        let missed = |decided: &Decision| -> Vec<i64> {
            let firings = decided.state.firings.iter();
            firings.map(|firing| (firing.what, firing.at.0 / HOUR)).filter_map(only_missed).collect()
        };
        assert_eq!((decided.fire, missed(&decided)), (Some(Timestamp(14 * HOUR)), vec![11, 12, 13]));
        let late = Cron { starting_deadline: Some(599_999), ..hourly() };
        let decided = decide(&state(Vec::new()), &late, now, open);
        assert_eq!((decided.fire, missed(&decided)), (None, vec![11, 12, 13, 14]));
        assert_eq!(decided.due, Some(Timestamp(15 * HOUR)));
        let again = decide(&decided.state, &late, now, open);
        assert_eq!(again.state, decided.state, "each is noted once");
        // After a long time the last note stands for the rest.
        let decided = decide(&state(Vec::new()), &hourly(), Timestamp(1000 * HOUR), open);
        assert_eq!(missed(&decided), (11..31).collect::<Vec<_>>());
        let until = decided.state.firings.last().and_then(|firing| firing.until);
        assert_eq!((decided.fire, until), (Some(Timestamp(1000 * HOUR)), Some(Timestamp(999 * HOUR))));
    }

    fn only_missed((what, hour): (FiringResult, i64)) -> Option<i64> {
        (what == FiringResult::Missed).then_some(hour)
    }

    /// R-Z5.
    #[test]
    fn an_open_run_counts_as_the_policy_says() {
        let now = Timestamp(11 * HOUR);
        let with_open = state(vec![firing(9, None), firing(10, None)]);
        for (concurrency, fires, replaced) in
            [(Concurrency::Allow, true, 0), (Concurrency::Forbid, false, 0), (Concurrency::Replace, true, 2)]
        {
            let cron = Cron { concurrency, ..hourly() };
            let decided = decide(&with_open, &cron, now, open);
            assert_eq!(decided.fire.is_some(), fires, "{concurrency:?}");
            if !fires {
                assert_eq!(what(&decided).last(), Some(&FiringResult::Forbidden));
                assert_eq!(decided.due, Some(Timestamp(12 * HOUR)));
                continue;
            }
            let (state, due) = decided.started(&cron, now, &"run11".into());
            assert_eq!(state.firings.iter().filter(|firing| firing.replaced).count(), replaced);
            assert_eq!(due, Some(Timestamp(if replaced > 0 { 11 } else { 12 } * HOUR)));
            let then = decide(&state, &cron, now, open);
            assert_eq!((then.cancel.len(), then.fire), (replaced, None));
            assert_eq!(then.due, Some(Timestamp(12 * HOUR)));
        }
        let ended = |_: &str| RunStands::Ended(Phase::Failed);
        let cron = Cron { concurrency: Concurrency::Forbid, ..hourly() };
        assert_eq!(decide(&with_open, &cron, now, ended).fire, Some(now));
    }

    /// R-Z5: whatever the policy, a schedule has a bounded number of open runs.
    #[test]
    fn too_many_open_runs_are_enough() {
        let crowd = state((0..100).map(|_| firing(9, None)).collect());
        let decided = decide(&crowd, &hourly(), Timestamp(11 * HOUR), open);
        assert_eq!((decided.fire, what(&decided).last()), (None, Some(&FiringResult::Crowded)));
        let cron = Cron { concurrency: Concurrency::Replace, ..hourly() };
        assert_eq!(decide(&crowd, &cron, Timestamp(11 * HOUR), open).fire, None);
    }

    /// R-Z6.
    #[test]
    fn old_runs_are_deleted_by_how_they_ended() {
        let ends = [Phase::Succeeded, Phase::Failed, Phase::Succeeded, Phase::Cancelled, Phase::Succeeded];
        let firings: Vec<_> = (1..).zip(ends).map(|(hour, phase)| firing(hour, Some(phase))).collect();
        let now = Timestamp(10 * HOUR);
        let deleted = |keep_succeeded, keep_others| {
            let cron = Cron { keep_succeeded, keep_others, ..hourly() };
            let decided = decide(&state(firings.clone()), &cron, now, open);
            let mut delete: Vec<_> = decided.delete.iter().map(ToString::to_string).collect();
            delete.sort();
            (delete.join(" "), decided.state.firings.len())
        };
        assert_eq!(deleted(None, None), (String::new(), 5));
        assert_eq!(deleted(Some(1), None), ("run1 run3".to_owned(), 3));
        assert_eq!(deleted(Some(2), Some(0)), ("run1 run2 run4".to_owned(), 2));
        assert_eq!(deleted(Some(1001), Some(2)), (String::new(), 5), "that is no limit");

        // The last end is told also where no run is kept.
        assert_eq!(deleted(Some(0), Some(0)), ("run1 run2 run3 run4 run5".to_owned(), 1));
        let cron = Cron { keep_succeeded: Some(0), ..hourly() };
        let decided = decide(&state(vec![firing(5, Some(Phase::Succeeded))]), &cron, now, open);
        let kept = decided.state.firings.first().unwrap();
        assert_eq!((&kept.run_id, kept.phase, kept.was_started()), (&None, Some(Phase::Succeeded), true));
        let again = decide(&decided.state, &cron, now, open);
        assert_eq!((again.delete.len(), again.state.firings), (0, decided.state.firings));

        let many = (0..500).map(|hour| firing(hour, Some(Phase::Succeeded))).collect();
        let decided = decide(&state(many), &hourly(), now, open);
        assert_eq!((decided.delete.len(), decided.state.firings.len()), (0, 20), "told, not kept");
    }

    /// R-Z6: what became of runs is taken down; those that are gone are forgotten.
    #[test]
    fn what_became_of_runs_is_taken_down() {
        let stands = |run: &str| match run {
            "run7" => RunStands::Gone,
            "run8" => RunStands::Ended(Phase::Timeout),
            _ => RunStands::Open,
        };
        let looked = state(vec![firing(7, None), firing(8, None), firing(9, None)]);
        let decided = decide(&looked, &hourly(), Timestamp(10 * HOUR), stands);
        assert_eq!(decided.state.firings, [firing(8, Some(Phase::Timeout)), firing(9, None)]);
    }

    /// R-Z7: what pauses starts nothing, and is due for nothing but what it still has to cancel.
    #[test]
    fn what_pauses_starts_nothing() {
        let mut paused = state(vec![firing(9, None)]);
        paused.suspended = Some(Suspension::ByHand);
        let decided = decide(&paused, &hourly(), Timestamp(20 * HOUR), open);
        assert_eq!((decided.fire, decided.due, &decided.state), (None, None, &paused));
        paused.firings[0].replaced = true;
        let decided = decide(&paused, &hourly(), Timestamp(20 * HOUR), open);
        assert_eq!((decided.cancel.len(), decided.due), (1, None));
    }
}
