//! Tasks of a run that need people, above its picture: the tasks that wait for a response, with their forms, and those that failed.

use maud::{Markup, html};
use phasm::{
    Phase,
    engine::{
        run::{Run, TaskRun},
        text,
    },
};

use super::{answer, format, summary};
use crate::auth::caller::{Caller, Role};

/// Waiting tasks that are listed.
const MAX_WAITING: usize = 10;
/// Failed tasks that are listed.
const MAX_FAILED: usize = 5;
/// Longest message of a failed task, in bytes.
const MAX_MESSAGE_BYTES: usize = 240;

pub(super) fn draw(run: &Run, caller: &Caller) -> Markup {
    html! { (waiting(run, caller)) (failed(run)) }
}

/// The tasks that wait for a response, each with its form if the caller may respond.
pub(super) fn waiting(run: &Run, caller: &Caller) -> Markup {
    let mut waiting = run.tasks().iter().filter(|task| task.phase == Phase::Suspended);
    let shown: Vec<_> = waiting.by_ref().take(MAX_WAITING).collect();
    let more = waiting.count();
    let may_respond = caller.may(Role::Approve).is_ok();
    html! {
        @for task in &shown { (question(run, task, caller, may_respond)) }
        @if more > 0 { p { a href={ "/runs/" (run.id()) "?view=tasks&phase=Suspended" } { (more) " more are waiting" } } }
    }
}

fn question(run: &Run, task: &TaskRun, caller: &Caller, may_respond: bool) -> Markup {
    html! {
        section class="ask" id={ "ask-" (task.id) } aria-labelledby={ "ask-title-" (task.id) } data-keep {
            @if let Some(form) = answer::form(run, task, caller).filter(|_| may_respond) { (form) }
            @else {
                h2 id={ "ask-title-" (task.id) } { (answer::question(task).unwrap_or("Waiting for a response")) }
                p class="help" { (place(run, task)) ": a key with the role " code { "approve" } " can respond." }
            }
        }
    }
}

/// The address and the path of a task run.
fn place(run: &Run, task: &TaskRun) -> Markup {
    html! { a href={ "/runs/" (run.id()) "?view=graph&task=" (task.id) } data-inside { (run.path(task)) } }
}

fn failed(run: &Run) -> Markup {
    let mut failures = summary::failures(run);
    let shown: Vec<_> = failures.by_ref().take(MAX_FAILED).collect();
    let more = failures.count();
    let is_good = run.phase() == Phase::Succeeded;
    html! {
        @if !shown.is_empty() {
            section class={ "callout " (if is_good { "warn" } else { "bad" }) } aria-label="Failed tasks" {
                h2 { (format::count(shown.len() + more, "failed task")) @if is_good { " (tolerated)" } }
                ul class="failed-tasks" { @for task in &shown { li {
                    (format::standing(run, task)) " " (place(run, task)) (format::item(run, task))
                    @let message = text::cut(run.cause(task), MAX_MESSAGE_BYTES);
                    @if !message.is_empty() { ": " (message) }
                } } }
                @if more > 0 { p { a href={ "/runs/" (run.id()) "?view=tasks&failed=true" } { "All " (shown.len() + more) " failed tasks" } } }
            }
        }
    }
}
