//! The logs of all tasks of a run: those of attempts that have ended, and by a stream what is written now.

use maud::{Markup, html};
use phasm::{
    engine::{
        event::TaskId,
        run::{Run, TaskRun},
    },
    is_named,
    store::AttemptLog,
};

use super::{format, task::log_line};
use crate::{problem_response::ProblemResponse, query::Query, request::RequestContext};

/// Bytes of logs on a page: the last attempts are shown.
const MAX_BYTES: usize = 256 << 10;
/// Task runs whose logs are looked for on one page.
const MAX_TASKS: usize = 500;

/// Which logs are shown.
pub(super) struct LogQuery {
    /// Name, path or id of a task.
    task: String,
    /// Text that lines have.
    text: String,
}

impl LogQuery {
    pub(super) fn of(query: &mut Query) -> Self {
        Self { task: query.text("task").unwrap_or_default(), text: query.text("text").unwrap_or_default() }
    }

    fn means(&self, run: &Run, task: &TaskRun) -> bool {
        self.task.is_empty() || is_named(run, task, &self.task)
    }
}

/// The logs that are kept, the ones of the last tasks if they are many.
pub(super) async fn draw(
    context: &RequestContext,
    run: &Run,
    wanted: &LogQuery,
) -> Result<Markup, ProblemResponse> {
    let tried: Vec<&TaskRun> = run
        .tasks_in_order()
        .into_iter()
        .filter(|task| !task.attempts.is_empty() && wanted.means(run, task))
        .collect();
    let (mut shown, mut bytes, mut looked) = (Vec::new(), 0, 0);
    for task in tried.iter().rev().take(MAX_TASKS) {
        if bytes > MAX_BYTES {
            break;
        }
        looked += 1;
        let logs = context.app.host.store().logs(run.id(), Some(task.id.0)).await?;
        for log in logs.into_iter().rev().filter(|log| !log.text.is_empty()) {
            bytes += log.text.len();
            shown.push((task.id, log));
        }
    }
    shown.reverse();
    Ok(page(run, wanted, &shown, tried.len() - looked))
}

fn page(run: &Run, wanted: &LogQuery, shown: &[(TaskId, AttemptLog)], left_out: usize) -> Markup {
    let stream = (!run.is_over()).then(|| {
        let mut query = form_urlencoded::Serializer::new("stream=true".to_owned());
        if !wanted.task.is_empty() {
            query.append_pair("task", &wanted.task);
        }
        format!("/v1/runs/{}/logs?{}", run.id(), query.finish())
    });
    html! {
        (filters(run, wanted))
        @if left_out > 0 {
            p class="none" { "Logs of " (format::count(left_out, "earlier task run")) " are left out: choose a task, or get all by "
                code { "phasm logs " (run.id()) } "." }
        }
        div id="run-logs" data-logs=[stream] data-text=[(!wanted.text.is_empty()).then_some(&wanted.text)] {
            @for (id, log) in shown { @if let Some(task) = run.task(*id) { (attempt(run, task, log, &wanted.text)) } }
        }
        @if shown.is_empty() && run.is_over() { p class="empty" { "No logs." } }
        noscript { @if !run.is_over() { p class="help" { "Load the page again for later lines." } } }
    }
}

fn filters(run: &Run, wanted: &LogQuery) -> Markup {
    html! {
        form class="filters" method="get" action={ "/runs/" (run.id()) } {
            input type="hidden" name="view" value="logs";
            div class="field" {
                label for="log-task" { "Task" }
                input id="log-task" name="task" value=(wanted.task) placeholder="name or path";
            }
            div class="field" {
                label for="log-text" { "Lines with" }
                input id="log-text" name="text" type="search" value=(wanted.text);
            }
            button class="plain" { "Filter" }
            @if !wanted.task.is_empty() || !wanted.text.is_empty() { a href={ "/runs/" (run.id()) "?view=logs" } { "Show all" } }
        }
    }
}

fn attempt(run: &Run, task: &TaskRun, log: &AttemptLog, wanted: &str) -> Markup {
    let text = String::from_utf8_lossy(&log.text);
    let lines: Vec<_> = text.lines().filter(|line| line.contains(wanted)).collect();
    let path = run.path(task);
    html! {
        @if !lines.is_empty() {
            section class="log" aria-label={ "Log of " (path) ", attempt " (log.attempt) } data-log={ (path) "@" (log.attempt) } {
                p class="attempt" {
                    a href={ "/runs/" (run.id()) "/tasks/" (task.id) } { (path) } (format::item(run, task))
                    @if task.attempts.len() > 1 { " attempt " (log.attempt) }
                }
                @if log.cut > 0 { p class="none" { (log.cut) " bytes before it were not kept." } }
                pre class="lines" tabindex="0" { @for line in lines { (log_line(line)) "\n" } }
            }
        }
    }
}
