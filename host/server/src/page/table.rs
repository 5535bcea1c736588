//! The tasks of a run as a table, by pages.

use maud::{Markup, html};
use phasm::{
    Phase,
    engine::{
        run::{Run, TaskRun},
        text,
    },
};

use super::{format, leaves::Leaves};
use crate::query::Query;

/// Task runs of a page.
const PAGE_TASKS: usize = 200;
/// Longest message, in bytes.
const MAX_MESSAGE_BYTES: usize = 160;

/// Which of them.
#[derive(Clone, Copy)]
pub(super) struct TableQuery {
    phase: Option<Phase>,
    /// Only those that failed in the end.
    failed: bool,
    after: usize,
}

impl TableQuery {
    pub(super) fn of(query: &mut Query) -> Self {
        let named = |text: &str| Phase::ALL.into_iter().find(|phase| phase.as_str() == text);
        let phase = query.parsed("phase", "the word of a phase", named);
        let failed = query.flag("failed");
        Self { phase, failed, after: query.count("after", 0, u32::MAX as usize).unwrap_or(0) }
    }

    fn address(self, run: &Run, after: usize) -> String {
        let phase = self.phase.map(|phase| format!("&phase={phase}")).unwrap_or_default();
        let failed = if self.failed { "&failed=true" } else { "" };
        format!("/runs/{}?view=tasks{phase}{failed}&after={after}", run.id())
    }

    fn chosen(self, run: &Run) -> Vec<&TaskRun> {
        let all = if self.failed { Leaves::of(run).failed } else { run.tasks_in_order() };
        all.into_iter().filter(|task| self.phase.is_none_or(|phase| phase == task.phase)).collect()
    }
}

pub(super) fn draw(run: &Run, wanted: &TableQuery) -> Markup {
    let all = wanted.chosen(run);
    let rows = all.get(wanted.after..).unwrap_or_default();
    let (rows, more) = rows.split_at_checked(PAGE_TASKS).unwrap_or((rows, &[]));
    html! {
        (filters(run, wanted))
        table class="list tasks" {
            caption class="unseen" { "Task runs, each container before its tasks" }
            thead { tr { th scope="col" { "Phase" } th scope="col" { "Task" } th scope="col" { "Started" }
                th scope="col" { "Took" } th scope="col" { "Message" } } }
            tbody { @for task in rows { (line(run, task)) } }
        }
        @if rows.is_empty() { p class="empty" { "No matching tasks." } }
        p class="more" {
            @if wanted.after > 0 { a href=(wanted.address(run, wanted.after.saturating_sub(PAGE_TASKS))) rel="prev" { "Earlier tasks" } " " }
            @if !more.is_empty() { a href=(wanted.address(run, wanted.after + PAGE_TASKS)) rel="next" { "Later tasks" } }
        }
    }
}

fn filters(run: &Run, wanted: &TableQuery) -> Markup {
    html! {
        form class="filters" method="get" action={ "/runs/" (run.id()) } data-apply {
            input type="hidden" name="view" value="tasks";
            (format::phase_choice(wanted.phase.map(Phase::as_str)))
            label class="choice" {
                input type="checkbox" name="failed" value="true" checked[wanted.failed];
                " failed only"
            }
            button class="plain" { "Filter" }
        }
    }
}

fn line(run: &Run, task: &TaskRun) -> Markup {
    let reason = task.reason.map(|reason| format!(" ({})", reason.for_people())).unwrap_or_default();
    let submitted = run.times().submitted_at;
    html! {
        tr id={ "task-" (task.id) } {
            td class="state" { (format::standing(run, task)) span class="none" { (reason) } }
            th scope="row" {
                a class="row" href={ "/runs/" (run.id()) "?view=tasks&task=" (task.id) } data-inside { (run.path(task)) }
                (format::item(run, task))
                @if task.attempt > 1 { span class="none" { " attempt " (task.attempt) } }
            }
            td { (format::offset(submitted, task.started_at)) }
            td { @if let Some(started) = task.started_at { (format::took_or_counts(started, task.finished_at)) } }
            td class="message" { (text::cut(&task.message, MAX_MESSAGE_BYTES)) }
        }
    }
}
