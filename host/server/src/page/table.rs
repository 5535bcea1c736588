//! The tasks of a run as a table, by pages.

use maud::{Markup, html};
use phasm::{
    Phase,
    engine::{
        run::{Run, TaskRun, WaitsFor},
        text,
    },
};

use super::format;
use crate::query::Query;

/// Task runs of a page.
const PAGE_TASKS: usize = 200;
/// Longest message, in bytes.
const MAX_MESSAGE_BYTES: usize = 160;

/// Which of them.
#[derive(Clone, Copy)]
pub(super) struct TableQuery {
    phase: Option<Phase>,
    after: usize,
}

impl TableQuery {
    pub(super) fn of(query: &mut Query) -> Self {
        let named = |text: &str| Phase::ALL.into_iter().find(|phase| phase.as_str() == text);
        let phase = query.parsed("phase", "the word of a phase", named);
        Self { phase, after: query.count("after", 0, u32::MAX as usize).unwrap_or(0) }
    }

    fn address(self, run: &Run, after: usize) -> String {
        let phase = self.phase.map(|phase| format!("&phase={phase}")).unwrap_or_default();
        format!("/runs/{}?view=tasks{phase}&after={after}", run.id())
    }
}

pub(super) fn draw(run: &Run, wanted: &TableQuery) -> Markup {
    let fit = |task: &&TaskRun| wanted.phase.is_none_or(|phase| phase == task.phase);
    let mut found = run.tasks_in_order().into_iter().filter(fit).skip(wanted.after);
    let rows: Vec<&TaskRun> = found.by_ref().take(PAGE_TASKS).collect();
    let more = found.next().is_some();
    html! {
        form class="filters" method="get" action={ "/runs/" (run.id()) } {
            input type="hidden" name="view" value="tasks";
            div class="field" {
                label for="phase" { "Phase" }
                select id="phase" name="phase" {
                    option value="" { "any" }
                    @for phase in Phase::ALL { option selected[wanted.phase == Some(phase)] { (phase) } }
                }
            }
            button class="plain" { "Filter" }
        }
        table class="list" {
            caption class="unseen" { "Task runs, in the order of execution" }
            thead { tr { th scope="col" { "Phase" } th scope="col" { "Task" } th scope="col" { "Attempt" } th scope="col" { "Started" }
                th scope="col" { "Took" } th scope="col" { "Message" } } }
            tbody { @for task in &rows { (line(run, task)) } }
        }
        @if rows.is_empty() { p class="empty" { "No matching tasks." } }
        p class="more" {
            @if wanted.after > 0 { a href=(wanted.address(run, wanted.after.saturating_sub(PAGE_TASKS))) rel="prev" { "Earlier tasks" } " " }
            @if more { a href=(wanted.address(run, wanted.after + PAGE_TASKS)) rel="next" { "Later tasks" } }
        }
    }
}

fn line(run: &Run, task: &TaskRun) -> Markup {
    let waits = run
        .waiting(task)
        .filter(|waiting| waiting.what == WaitsFor::Retry)
        .map(|_| " (waits for its retry)".to_owned());
    let reason = task.reason.map(|reason| format!(" ({})", reason.as_str())).or(waits).unwrap_or_default();
    html! {
        tr {
            td data-label="Phase" { (format::standing(run, task)) span class="none" { (reason) } }
            th scope="row" data-label="Task" { a href={ "/runs/" (run.id()) "/tasks/" (task.id) } { (run.path(task)) } }
            td data-label="Attempt" { @if task.attempt > 0 { (task.attempt) } @else { span class="none" { "–" } } }
            td data-label="Started" { (format::maybe_time(task.started_at)) }
            td data-label="Took" { (task.duration().map_or_else(|| "–".to_owned(), text::elapsed)) }
            td data-label="Message" { (text::cut(&task.message, MAX_MESSAGE_BYTES)) }
        }
    }
}
