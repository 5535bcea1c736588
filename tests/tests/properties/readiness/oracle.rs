//! The rules of R-S1 to R-S4 as sums and comparisons of instants.

use std::collections::BTreeMap;

use phasm_engine::{event::Reason, phase::Phase, plan::Tolerance};

use super::generate::{Leaf, Scope, Task, When, Work};

/// How a task run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) phase: Phase,
    pub(super) reason: Option<Reason>,
    /// Set when it, or a leaf below it, was dispatched.
    pub(super) dispatched: bool,
}

/// How a run ends.
pub(super) struct Expected {
    /// Every task run that ever exists, by path.
    pub(super) ends: BTreeMap<String, End>,
    /// When, in ms.
    pub(super) finished: u64,
}

/// Returns the engine's expected decisions on this dag as `main`.
pub(super) fn expect(scope: &Scope) -> Expected {
    let mut ends = BTreeMap::new();
    let root = container(scope, "main", 0, &mut ends);
    ends.insert("main".to_owned(), root.end);
    Expected { ends, finished: root.at }
}

/// A task that had its turn.
#[derive(Clone, Copy)]
struct Ran {
    from: u64,
    at: u64,
    end: End,
}

type Ends = BTreeMap<String, End>;

/// Every task as if no failure stopped another one than its dependants; then what `failFast` would have stopped.
fn container(scope: &Scope, path: &str, from: u64, ends: &mut Ends) -> Ran {
    let mut ran: Vec<Option<Ran>> = Vec::new();
    let mut below: Vec<Ends> = Vec::new();
    for task in &scope.tasks {
        let mut inner = Ends::new();
        ran.push(turn(scope, task, &ran, from).map(|at| self::ran(task, &ran, path, at, &mut inner)));
        below.push(inner);
    }
    let failed = |(task, ran): (&Task, &Option<Ran>)| ran.filter(|ran| is_failure(scope, task, ran.end));
    let first = scope.tasks.iter().zip(&ran).filter_map(failed).map(|ran| ran.at).min();
    let stop = first.filter(|_| scope.fail_fast).unwrap_or(u64::MAX);
    let kept: Vec<Option<Ran>> = ran.into_iter().map(|ran| ran.filter(|ran| ran.from < stop)).collect();
    let cancelled = End { phase: Phase::Cancelled, reason: Some(Reason::ScopeFailed), dispatched: false };
    for ((task, ran), inner) in scope.tasks.iter().zip(&kept).zip(below) {
        ends.insert(format!("{path}/{}", task.name()), ran.map_or(cancelled, |ran| ran.end));
        if ran.is_some() {
            ends.extend(inner);
        }
    }
    let worst = scope.tasks.iter().zip(&kept).filter_map(failed).map(|ran| ran.end).min_by_key(severity);
    Ran {
        from,
        at: kept.iter().flatten().map(|ran| ran.at).max().unwrap_or(from),
        end: End {
            phase: worst.map_or(Phase::Succeeded, |end| end.phase),
            reason: worst.and_then(|end| end.reason.filter(|_| end.phase == Phase::Cancelled)),
            dispatched: kept.iter().flatten().any(|ran| ran.end.dispatched),
        },
    }
}

/// When a task's turn comes: all its dependencies have ended and are satisfied (R-S1).
fn turn(scope: &Scope, task: &Task, ran: &[Option<Ran>], from: u64) -> Option<u64> {
    let satisfied = |position: &usize| {
        ran[*position].filter(|ran| !is_failure(scope, &scope.tasks[*position], ran.end)).map(|ran| ran.at)
    };
    task.dependencies.iter().map(satisfied).try_fold(from, |latest, at| Some(latest.max(at?)))
}

fn ran(task: &Task, earlier: &[Option<Ran>], path: &str, from: u64, inner: &mut Ends) -> Ran {
    let first = task.dependencies.first().and_then(|position| earlier[*position]);
    let at_once = |phase, reason| Ran { from, at: from, end: End { phase, reason, dispatched: false } };
    let (takes, dispatched) = (task.takes(), true);
    let after = |phase, reason| Ran { from, at: from + takes, end: End { phase, reason, dispatched } };
    let holds = match (task.when, first) {
        (None, _) => true,
        (Some(When::Never), _) => false,
        (Some(When::FirstIs(phase)), first) => first.is_none_or(|first| first.end.phase == phase),
        (Some(When::Fails), _) => return at_once(Phase::Error, None),
    };
    if !holds {
        return at_once(Phase::Skipped, Some(Reason::When));
    }
    match &task.work {
        Work::Dag(scope) => container(scope, &format!("{path}/{}", task.name()), from, inner),
        Work::Leaf(Leaf::NeverRuns) => at_once(Phase::Skipped, Some(Reason::MaxAttempts0)),
        Work::Leaf(Leaf::Hangs(true)) => after(Phase::Error, Some(Reason::MaxRuntime)),
        Work::Leaf(Leaf::Hangs(false)) => after(Phase::Cancelled, Some(Reason::TimeoutPolicy)),
        Work::Leaf(Leaf::Code(code)) => after(phase(*code), None),
    }
}

fn phase(code: i32) -> Phase {
    match code {
        0 => Phase::Succeeded,
        2 => Phase::Failed,
        4 => Phase::Timeout,
        _ => Phase::Error,
    }
}

/// R-S3, R-S2: a task's own object replaces its dag's.
fn is_failure(scope: &Scope, task: &Task, end: End) -> bool {
    let Tolerance { failed, error, timeout } = task.continue_on.or(scope.continue_on).unwrap_or_default();
    match end.phase {
        Phase::Failed => !failed,
        Phase::Error => !error,
        Phase::Timeout => !timeout,
        Phase::Cancelled => end.reason != Some(Reason::TimeoutPolicy) || !timeout,
        Phase::Created
        | Phase::Ready
        | Phase::Running
        | Phase::Suspended
        | Phase::Succeeded
        | Phase::Skipped => false,
    }
}

/// R-S4: Error, then Timeout, then Failed, then Cancelled.
fn severity(end: &End) -> usize {
    let order = [Phase::Error, Phase::Timeout, Phase::Failed, Phase::Cancelled];
    order.iter().position(|phase| *phase == end.phase).unwrap_or(order.len())
}
