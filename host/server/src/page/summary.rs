//! How a run stands, in a few lines: since when or how long, why, how many of its tasks ended how, and what it repeats.

use maud::{Markup, PreEscaped, html};
use phasm::{
    Phase,
    engine::{event::Reason, run::Run, text},
    store::RunRow,
};
use phasm_graph::proportion;

use super::{format, leaves::Leaves};

/// Longest reason in the line, in bytes.
const MAX_REASON_BYTES: usize = 300;

/// The line, a bar of the tasks by phase, and what the run it repeats came to: `earlier`, if that is kept.
pub(super) fn draw(run: &Run, leaves: &Leaves<'_>, earlier: Option<&RunRow>) -> Markup {
    let total = leaves.count();
    html! {
        p class="summary" {
            (standing(run))
            @if let Some(reason) = reason(run, leaves) { ": " strong { (text::cut(&reason, MAX_REASON_BYTES)) } }
        }
        @if let Some(of) = run.rerun_of() { (repeats(leaves, of, earlier)) }
        @if total > 1 {
            (PreEscaped(proportion(&leaves.tally)))
            p class="tally" {
                @if run.phase().is_terminal() { (format::count(total, "task")) ": " }
                @else { (run.progress()) " tasks ended: " }
                @for (at, (phase, count)) in leaves.tally.in_order().enumerate() {
                    @if at > 0 { ", " }
                    a href={ "/runs/" (run.id()) "?view=tasks&phase=" (phase) } { (count) " " (words(phase)) }
                }
            }
        }
    }
}

/// The run that this one repeats, how that ended, and how much of it is taken over.
fn repeats(leaves: &Leaves<'_>, of: &str, earlier: Option<&RunRow>) -> Markup {
    let anew = leaves.count() - leaves.reused;
    html! {
        p class="help" {
            "Rerun of " a href={ "/runs/" (of) } { (format::short_id(of)) }
            @if let Some(earlier) = earlier { ", which " @if earlier.status.open { "is " } @else { "ended " } (format::phase(earlier.status.phase)) }
            ": " (format::count(leaves.reused, "result")) " reused, " (format::count(anew, "task")) " not"
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
fn reason(run: &Run, leaves: &Leaves<'_>) -> Option<String> {
    let root = run.tasks().first()?;
    if !run.phase().is_terminal() {
        return None;
    }
    let clock = run.exceeded(root).map(|clock| format!("timed out, {clock}"));
    let told = Some(run.failure_reason(root)).filter(|reason| !reason.is_empty());
    clock.or(told).or_else(|| {
        let failed = leaves.failed.first().filter(|_| run.phase() != Phase::Succeeded)?;
        Some(format!("{} ended {}", run.path(failed), failed.phase))
    })
}
