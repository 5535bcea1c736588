//! Tasks of a run that need people, above its picture: the tasks that wait for a response, with their forms, and those that failed.

use maud::{Markup, html};
use phasm::{
    Phase,
    engine::{
        run::{Run, TaskRun},
        text,
    },
};

use super::{answer, explain, format, leaves::Leaves, view::View};
use crate::auth::caller::{Caller, Role};

/// Waiting tasks that are listed.
const MAX_WAITING: usize = 10;
/// Failed tasks that are listed.
const MAX_FAILED: usize = 5;
/// Longest message of a failed task, in bytes.
const MAX_MESSAGE_BYTES: usize = 240;

/// Both lists. Addresses lead to the view that is shown.
pub(super) fn draw(run: &Run, leaves: &Leaves<'_>, caller: &Caller, view: View) -> Markup {
    html! { (waiting(run, caller, view)) (failed(run, leaves, view)) }
}

/// The tasks that wait for a response, each with its form if the caller may respond.
pub(super) fn waiting(run: &Run, caller: &Caller, view: View) -> Markup {
    let mut waiting = run.tasks().iter().filter(|task| task.phase == Phase::Suspended);
    let shown: Vec<_> = waiting.by_ref().take(MAX_WAITING).collect();
    let more = waiting.count();
    html! {
        @for task in &shown { (question(run, task, caller, view)) }
        @if more > 0 { p { a href={ "/runs/" (run.id()) "?view=tasks&phase=Suspended" } { (more) " more are waiting" } } }
    }
}

fn question(run: &Run, task: &TaskRun, caller: &Caller, view: View) -> Markup {
    let may_respond = caller.may(Role::Approve).is_ok();
    html! {
        section class="ask" id={ "ask-" (task.id) } aria-labelledby={ "ask-title-" (task.id) } data-keep {
            @if let Some(form) = answer::form(run, task, caller).filter(|_| may_respond) { (form) }
            @else {
                h2 id={ "ask-title-" (task.id) } { (answer::question(task).unwrap_or("Waiting for a response")) }
                p class="help" { (place(run, task, view)) ": a key with the role " code { "approve" } " can respond." }
            }
        }
    }
}

/// The address and the path of a task run.
fn place(run: &Run, task: &TaskRun, view: View) -> Markup {
    html! { a href={ "/runs/" (run.id()) "?view=" (view.beside_tasks().word()) "&task=" (task.id) } data-inside { (run.path(task)) } }
}

/// The names of the first tasks that were not run.
fn names(run: &Run, leaves: &Leaves<'_>) -> String {
    let names: Vec<_> = leaves.first_not_run.iter().map(|task| run.label(task).to_string()).collect();
    let more = if leaves.not_run > names.len() { " …" } else { "" };
    format!(": {}{more}", names.join(", "))
}

fn failed(run: &Run, leaves: &Leaves<'_>, view: View) -> Markup {
    let all = leaves.failed.len();
    let shown = leaves.failed.get(..all.min(MAX_FAILED)).unwrap_or_default();
    let is_good = run.phase() == Phase::Succeeded;
    html! {
        @if all > 0 {
            section class={ "callout " (if is_good { "warn" } else { "bad" }) } aria-label="Failed tasks" {
                h2 {
                    (format::count(all, if leaves.are_rejected(run) { "rejected task" } else { "failed task" })) @if is_good { " (tolerated)" }
                    @if leaves.not_run > 0 { ", " (format::count(leaves.not_run, "task")) " not run because of " @if all == 1 { "it" } @else { "them" } (names(run, leaves)) }
                }
                ul class="failed-tasks" { @for task in shown { li {
                    (format::standing(run, task)) " " (place(run, task, view)) (format::item(run, task))
                    @let message = text::cut(run.cause(task), MAX_MESSAGE_BYTES);
                    ": " @if message.is_empty() { (format::prose(&explain::why(run, task, None))) } @else { (format::message(&message)) }
                } } }
                @if all > shown.len() { p { a href={ "/runs/" (run.id()) "?view=tasks&failed=true" } { "All " (all) " failed tasks" } } }
            }
        }
    }
}
