//! How a run stands, in one line: since when or how long, why, and how many of its tasks ended how.

use maud::{Markup, html};
use phasm::{
    Phase,
    engine::{
        event::Reason,
        phase::TaskKind,
        run::{Place, Run, TaskRun},
        text,
    },
};

use super::format;

/// Longest reason in the line, in bytes.
const MAX_REASON_BYTES: usize = 300;
/// The order in which counts are named: the bad ones first, then those to come.
const ORDER: [Phase; 10] = [
    Phase::Failed,
    Phase::Error,
    Phase::Timeout,
    Phase::Cancelled,
    Phase::Suspended,
    Phase::Running,
    Phase::Ready,
    Phase::Created,
    Phase::Skipped,
    Phase::Succeeded,
];

/// The line, and a bar of the tasks by phase.
pub(super) fn draw(run: &Run) -> Markup {
    let counts = counts(run);
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    html! {
        p class="summary" {
            (standing(run))
            @if let Some(reason) = reason(run) { ": " strong { (text::cut(&reason, MAX_REASON_BYTES)) } }
        }
        @if total > 1 {
            (bar(&counts, total))
            p class="tally" {
                @if run.phase().is_terminal() { (format::count(total, "task")) ": " }
                @else { (run.progress()) " tasks ended: " }
                @for (at, (phase, count)) in counts.iter().enumerate() {
                    @if at > 0 { ", " }
                    a href={ "/runs/" (run.id()) "?view=tasks&phase=" (phase) } { (count) " " (words(*phase)) }
                }
            }
        }
    }
}

fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::Created => "not started",
        Phase::Suspended => "waiting for approval",
        Phase::Succeeded => "succeeded",
        Phase::Failed => "failed",
        Phase::Error => "with an error",
        Phase::Timeout => "timed out",
        Phase::Cancelled => "cancelled",
        Phase::Skipped => "skipped",
        Phase::Running => "running",
        Phase::Ready => "starting",
    }
}

fn standing(run: &Run) -> Markup {
    let times = run.times();
    let took = format::took_or_counts(times.submitted_at, times.finished_at);
    html! {
        @match (run.phase(), run.tasks().first()) {
            (phase, Some(root)) if phase.is_terminal() => {
                // A clock that ended it stands in the reason.
                @if root.reason.is_some_and(Reason::is_clock) { "Ended" } @else { (phase) }
                " after " (took)
                @for remark in run.remarks(root) { ", " (remark) }
            }
            _ if run.is_parked() => { "Waiting for a person; submitted " (format::time(times.submitted_at)) }
            (phase, _) => { (phase) " for " (took) }
        }
    }
}

/// Returns why the run has ended as it did, unless it simply succeeded.
fn reason(run: &Run) -> Option<String> {
    let root = run.tasks().first()?;
    if !run.phase().is_terminal() {
        return None;
    }
    let clock = run.exceeded(root).map(|clock| format!("timed out, {clock}"));
    let cause = Some(run.cause(root)).filter(|cause| !cause.is_empty());
    clock.or_else(|| cause.map(str::to_owned)).or_else(|| {
        let failed = failures(run).next()?;
        let message = if failed.message.is_empty() { failed.phase.as_str() } else { &*failed.message };
        (run.phase() != Phase::Succeeded).then(|| format!("{}: {message}", run.path(failed)))
    })
}

/// The task runs that failed in the end: leaves that no later attempt of what they stand in made good.
pub(super) fn failures(run: &Run) -> impl Iterator<Item = &TaskRun> {
    leaves(run).filter(|task| matches!(task.phase, Phase::Failed | Phase::Error | Phase::Timeout))
}

/// The leaves of the last attempts.
fn leaves(run: &Run) -> impl Iterator<Item = &TaskRun> {
    run.tasks().iter().filter(|task| {
        run.kind(task) == TaskKind::Leaf && task.hook.is_none() && is_of_last_attempt(run, task)
    })
}

fn is_of_last_attempt(run: &Run, task: &TaskRun) -> bool {
    let mut inner = task;
    while let Some(outer) = run.parent(inner) {
        if matches!(inner.place, Place::Attempt(..))
            && run.children(outer).next_back().is_some_and(|last| last.id != inner.id)
        {
            return false;
        }
        inner = outer;
    }
    true
}

fn counts(run: &Run) -> Vec<(Phase, usize)> {
    let mut counts = ORDER.map(|phase| (phase, 0));
    for task in leaves(run) {
        if let Some((_, count)) = counts.iter_mut().find(|(phase, _)| *phase == task.phase) {
            *count += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// A bar of the phases in their proportions. The words stand below it.
fn bar(counts: &[(Phase, usize)], total: usize) -> Markup {
    let mut at = 0;
    let parts: Vec<_> = counts
        .iter()
        .map(|(phase, count)| {
            let begin = at;
            // A phase that few tasks have is seen all the same.
            let width = (count * 1000 / total).max(6);
            at += width;
            (phase, begin, width)
        })
        .collect();
    html! {
        svg class="phasm proportion" viewBox={ "0 0 " (at.max(1)) " 8" } preserveAspectRatio="none" aria-hidden="true" {
            @for (phase, begin, width) in parts {
                rect class={ "phasm-bar phasm-" (phase) } x=(begin) y="0" width=(width) height="8" {}
            }
        }
    }
}
