//! How a run stands, in a few lines: since when or how long, why, how many of its tasks ended how, and what it repeats.

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped, html};
use phasm::{
    Map, Phase, Value,
    engine::{
        event::Reason,
        run::{Run, TaskRun},
        text,
    },
};
use phasm_graph::proportion;

use super::{explain, format, leaves::Leaves, lineage::RunLineage};

/// Longest reason in the line, in bytes.
const MAX_REASON_BYTES: usize = 300;
/// Parameters that differ from those of an earlier run and are shown.
const MAX_PARAMETERS: usize = 5;
/// Longest value of such a parameter, in bytes.
const MAX_PARAMETER_BYTES: usize = 60;
/// Responses that are listed.
const MAX_RESPONSES: usize = 10;
/// Longest comment of a response, in bytes.
const MAX_COMMENT_BYTES: usize = 160;

/// The line, a bar of the tasks by phase, and the runs that it repeats and that repeat it.
pub(super) fn draw(run: &Run, leaves: &Leaves<'_>, lineage: &RunLineage) -> Markup {
    let total = leaves.count();
    html! {
        p class="summary" {
            (standing(run, leaves))
            @if let Some(reason) = reason(run, leaves) { ": " strong { (format::message(&text::cut(&reason, MAX_REASON_BYTES))) } }
        }
        @if let Some(of) = &lineage.of { (repeats(run, leaves, of, lineage)) }
        @for later in &lineage.later {
            p class="help" { "Run again as " a href={ "/runs/" (later.head.run_id) } { (format::short_id(&later.head.run_id)) } ": " (format::phase(later.status.phase)) }
        }
        (responses(run))
        @if total > 1 {
            (PreEscaped(proportion(&leaves.tally)))
            p class="tally" {
                @if run.phase().is_terminal() { (format::count(total, "task")) ": " }
                @else { (run.progress()) " tasks ended: " }
                @for (at, (phase, count, words)) in parts(leaves).into_iter().enumerate() {
                    @if at > 0 { ", " }
                    a href={ "/runs/" (run.id()) "?view=tasks&phase=" (phase) } { (count) " " (words) }
                }
            }
        }
    }
}

/// The run that this one repeats, how that ended, and how much of it is taken over.
fn repeats(run: &Run, leaves: &Leaves<'_>, of: &str, lineage: &RunLineage) -> Markup {
    let anew = leaves.count() - leaves.reused - leaves.not_run;
    html! {
        p class="help" {
            "Rerun of " a href={ "/runs/" (of) } { (format::short_id(of)) }
            @if let Some(earlier) = &lineage.earlier { ", which " @if earlier.status.open { "is " } @else { "ended in " } (format::phase(earlier.status.phase)) }
            ". "
            @match (run.rerun_of(), leaves.reused) {
                (None, _) => { (changes(lineage.parameters.as_deref(), run.parameters())) }
                (Some(_), 0) => "No result is reused.",
                (Some(_), reused) => { (format::count(reused, "result")) " reused, " (format::count(anew, "task")) " run anew." }
            }
        }
    }
}

/// The parameters that differ from those of the earlier run, which may also have had another file.
fn changes(before: Option<&Map>, now: &Map) -> Markup {
    let Some(before) = before else {
        return html! { "It was submitted from the edited file, or with other parameters." };
    };
    let shown = |value: Option<&Value>| {
        let written = value.map_or_else(|| "none".to_owned(), Value::to_json);
        text::cut(&written, MAX_PARAMETER_BYTES).into_owned()
    };
    let names: BTreeSet<_> = before.keys().chain(now.keys()).collect();
    let changed: Vec<_> = names.into_iter().filter(|name| before.get(*name) != now.get(*name)).collect();
    html! {
        @if changed.is_empty() { "It has the same parameters, and may have an edited file." }
        @else { "With other parameters: " @for (at, name) in changed.iter().take(MAX_PARAMETERS).enumerate() {
            @if at > 0 { ", " }
            (name) " " code { (shown(before.get(*name))) } " → " code { (shown(now.get(*name))) }
        } @if changed.len() > MAX_PARAMETERS { " …" } "." }
    }
}

/// The responses that tasks have, with callers, times and comments; the last ones, if there are many.
fn responses(run: &Run) -> Markup {
    let given: Vec<_> = run.tasks().iter().filter(|task| task.resumed_at().is_some()).collect();
    let shown = given.get(given.len().saturating_sub(MAX_RESPONSES)..).unwrap_or_default();
    html! {
        @for task in shown {
            p class="help" {
                (run.path(task)) " " (run.response(task).unwrap_or_else(|| format!("{}{}", verdict(run, task), format::unchecked_name(run.responder(task)))))
                @if let Some(at) = task.resumed_at() { ", " (format::time(at)) " (" (format::instant(at)) ")" }
                @if let Some(comment) = run.comment(task) { ": " (text::cut(comment, MAX_COMMENT_BYTES)) }
            }
        }
    }
}

/// The verdict of a response to a task, in a word.
fn verdict(run: &Run, task: &TaskRun) -> &'static str {
    match run.approval(task) {
        Some(true) => "approved",
        Some(false) => "rejected",
        None => "answered",
    }
}

/// The counts: what was not run, or waits for its retry, is told from what else has its phase.
fn parts(leaves: &Leaves<'_>) -> Vec<(Phase, u64, &'static str)> {
    let apart = |phase| {
        if phase == Phase::Cancelled {
            (leaves.not_run, "not run")
        } else if phase == Phase::Created {
            (leaves.retrying, "waiting for a retry")
        } else {
            (0, "")
        }
    };
    let of = |(phase, count): (Phase, u64)| {
        let (other, said) = apart(phase);
        let other = u64::try_from(other).unwrap_or(0).min(count);
        [(phase, count - other, words(phase)), (phase, other, said)]
    };
    leaves.tally.in_order().flat_map(of).filter(|(_, count, _)| *count > 0).collect()
}

fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::Created => "not started",
        Phase::Suspended => "waiting for approval",
        Phase::Succeeded => "succeeded",
        Phase::Failed => "failed",
        Phase::Error => "failed with an error",
        Phase::Timeout => "timed out",
        Phase::Cancelled => "cancelled",
        Phase::Skipped => "skipped",
        Phase::Running => "running",
        Phase::Ready => "starting",
    }
}

fn standing(run: &Run, leaves: &Leaves<'_>) -> Markup {
    let times = run.times();
    let took = format::took_or_counts(times.submitted_at, times.finished_at);
    html! {
        @match (run.phase(), run.tasks().first()) {
            (phase, Some(root)) if phase.is_terminal() => {
                // A clock that ended it stands in the reason.
                @if root.reason.is_some_and(Reason::is_clock) { "Ended" }
                @else if phase == Phase::Failed && leaves.are_rejected(run) { "Rejected" }
                @else { (phase) }
                " after " (took)
                @if leaves.retries > 0 { ", " (leaves.retries) @if leaves.retries == 1 { " retry" } @else { " retries" } }
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
    let silent =
        leaves.failed.first().filter(|failed| failed.message.is_empty() && run.phase() != Phase::Succeeded);
    // An executor without a message leaves the rule that applied.
    let explained = silent.map(|failed| format!("{}: {}", run.path(failed), explain::why(run, failed, None)));
    clock.or(explained).or(told)
}
