//! The logs of all tasks of a run: those of attempts that have ended, and by a stream what is written now.

use maud::{Markup, html};
use phasm::{
    RunHandle,
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
#[derive(Clone)]
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

    fn is_of_all(&self) -> bool {
        self.task.is_empty() && self.text.is_empty()
    }

    fn means(&self, run: &Run, task: &TaskRun) -> bool {
        self.task.is_empty() || is_named(run, task, &self.task)
    }
}

/// A task run that has been tried.
struct TriedTask {
    id: TaskId,
    path: String,
    item: Markup,
    attempts: usize,
}

/// The logs that are kept, the ones of the last tasks if they are many.
pub(super) async fn draw(
    context: &RequestContext,
    handle: &RunHandle,
    wanted: &LogQuery,
) -> Result<Markup, ProblemResponse> {
    let query = wanted.clone();
    let (tried, left_out, is_over) = handle.outline(move |run, _| tried(run, &query)).await?;
    let (mut shown, mut bytes) = (Vec::new(), 0);
    let mut rest = tried.iter();
    for task in rest.by_ref() {
        let logs = context.app.host.store().logs(handle.id(), Some(task.id.0)).await?;
        for log in logs.into_iter().rev().filter(|log| !log.text.is_empty()) {
            bytes += log.text.len();
            shown.push((task, log));
        }
        if bytes > MAX_BYTES {
            break;
        }
    }
    shown.reverse();
    Ok(page(handle.id(), is_over, wanted, &shown, left_out + rest.len()))
}

/// The last task runs that were tried, the last one first; how many more there are; and whether the run is over.
fn tried(run: &Run, wanted: &LogQuery) -> (Vec<TriedTask>, usize, bool) {
    let mut all: Vec<_> = run.tasks().iter().filter(|task| !task.attempts.is_empty()).collect();
    all.sort_by_key(|task| task.started_at);
    let mut fitting = all.into_iter().rev().filter(|task| wanted.means(run, task));
    let tried = fitting.by_ref().take(MAX_TASKS).map(|task| TriedTask {
        id: task.id,
        path: run.path(task),
        item: format::item(run, task),
        attempts: task.attempts.len(),
    });
    (tried.collect(), fitting.count(), run.is_over())
}

fn page(
    run_id: &str,
    is_over: bool,
    wanted: &LogQuery,
    shown: &[(&TriedTask, AttemptLog)],
    left_out: usize,
) -> Markup {
    let stream = (!is_over).then(|| {
        let mut query = form_urlencoded::Serializer::new("stream=true".to_owned());
        if !wanted.task.is_empty() {
            query.append_pair("task", &wanted.task);
        }
        format!("/v1/runs/{run_id}/logs?{}", query.finish())
    });
    html! {
        (filters(run_id, wanted))
        @if left_out > 0 {
            p class="none" { "Logs of " (format::count(left_out, "earlier task run")) " are left out: choose a task, or get all by "
                code { "phasm logs " (run_id) } "." }
        }
        div id="run-logs" data-logs=[stream] data-text=[(!wanted.text.is_empty()).then_some(&wanted.text)] {
            @for (task, log) in shown { (attempt(run_id, task, log, &wanted.text)) }
        }
        @if shown.is_empty() && is_over {
            p class="empty" {
                @if wanted.is_of_all() { "No task has written a log. Messages of tasks that failed stand above and in " a href={ "/runs/" (run_id) "?view=tasks" } { "Tasks" } "." }
                @else { "No line fits the filter." }
            }
        }
        noscript { @if !is_over { p class="help" { "Load the page again for later lines." } } }
    }
}

fn filters(run_id: &str, wanted: &LogQuery) -> Markup {
    html! {
        form class="filters" method="get" action={ "/runs/" (run_id) } {
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
            @if !wanted.is_of_all() { a href={ "/runs/" (run_id) "?view=logs" } { "Show all" } }
        }
    }
}

fn attempt(run_id: &str, task: &TriedTask, log: &AttemptLog, wanted: &str) -> Markup {
    let text = String::from_utf8_lossy(&log.text);
    let lines: Vec<_> = text.lines().filter(|line| line.contains(wanted)).collect();
    let TriedTask { id, path, item, attempts } = task;
    html! {
        @if !lines.is_empty() {
            section class="log" aria-label={ "Log of " (path) ", attempt " (log.attempt) } data-log={ (path) "@" (log.attempt) } {
                p class="attempt" {
                    a href={ "/runs/" (run_id) "/tasks/" (id) } { (path) } (item)
                    @if *attempts > 1 { " attempt " (log.attempt) }
                }
                @if log.cut > 0 { p class="none" { (log.cut) " bytes before it were not kept." } }
                pre class="lines" tabindex="0" { @for line in lines { (log_line(line)) "\n" } }
            }
        }
    }
}
