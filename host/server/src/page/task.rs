//! One task run: why it is in its phase, what it was given and returned, and what its attempts wrote.

use axum::response::Response;
use maud::{Markup, html};
use phasm::{
    Phase, Value,
    engine::{
        plan::Work,
        run::{Run, ShownValue, TaskRun, ValueKind},
        text,
    },
    journal::LargeValues,
    store::AttemptLog,
    store::view::LineView,
};

use super::{actions, answer, explain, format, history, history::TaskHistory, shell::Shell};
use crate::{
    auth::caller::{Caller, Role},
    plugins::change::address,
    problem_response::ProblemResponse,
    request::RequestContext,
};

/// Attempts whose logs are shown: the last.
const MAX_LOGS: usize = 5;
/// Bytes of the comment on an approval.
const MAX_COMMENT_BYTES: usize = 1000;

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let run_id = actions::run_id(&context).await?;
    let id = actions::task_id(&context)?;
    let recorded = history::read(&context.app, &run_id, Some(id), &context.holder).await?;
    let run = &recorded.run;
    let task = run.task(id).ok_or_else(|| actions::no_task(&context))?;
    let logs = context.app.host.store().logs(&run_id, Some(id.0)).await?;
    let content = TaskContent {
        run,
        large: &recorded.large,
        told: &recorded.told,
        task,
        logs: &logs,
        caller: &context.caller,
    };
    let body = html! {
        (path(run, task))
        div class="head" { h1 id="title" data-part { (run.label(task)) (format::item(run, task)) " " (format::standing(run, task)) } }
        (content.draw(TaskHeadings::Page))
    };
    let title = format!("{} {}", run.path(task), task.phase);
    let live = (!run.is_over()).then(|| format!("/live?run={run_id}"));
    let standing = Some(format!("{} is {}", run.label(task), task.phase));
    let shell =
        Shell { live, standing, phase: Some(task.phase), ..Shell::new(&title, "/runs", &context.caller) };
    Ok(shell.around(&body))
}

/// Where a task run is shown, which decides the level of its headings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskHeadings {
    /// On a page of its own.
    Page,
    /// Beside a picture of the run.
    Panel,
}

impl TaskHeadings {
    fn draw(self, words: &str) -> Markup {
        html! { @match self { Self::Page => h2 { (words) }, Self::Panel => h3 { (words) } } }
    }
}

/// One task run as it is shown, on a page of its own or beside a picture of the run.
pub(super) struct TaskContent<'r> {
    pub(super) run: &'r Run,
    pub(super) large: &'r LargeValues,
    pub(super) told: &'r TaskHistory,
    pub(super) task: &'r TaskRun,
    pub(super) logs: &'r [AttemptLog],
    pub(super) caller: &'r Caller,
}

impl TaskContent<'_> {
    /// Why it is in its phase, its form, what it was given and returned, its attempts and their logs.
    pub(super) fn draw(&self, headings: TaskHeadings) -> Markup {
        let Self { run, large, told, task, logs, caller } = *self;
        let is_page = headings == TaskHeadings::Page;
        let may = |role| caller.may(role).is_ok();
        // Beside the picture the form stands above it.
        let form = Some(())
            .filter(|()| is_page && may(Role::Approve))
            .and_then(|()| answer::form(run, task, caller));
        html! {
            p id="why" class="why" data-part[is_page] { (format::prose(&explain::why(run, task, told.rule))) }
            div id="message" data-part[is_page] {
                @if form.is_none() && !task.message.is_empty() { div class=(message_class(task)) { p { (task.message) } } }
            }
            // Not replaced while the form is being filled in.
            div id="form" data-part[is_page] { @if let Some(form) = form { section class="ask" data-keep { (form) } } }
            div id="task-acts" class="acts" data-part[is_page] {
                @if may(Role::Run) && actions::is_open(task) {
                    form method="post" action={ "/runs/" (run.id()) "/tasks/" (task.id) "/cancel" } data-confirm="Cancel the task?" {
                        button class="danger" { "Cancel the task" }
                    }
                }
            }
            div id="task-facts" data-part[is_page] { (facts(run, task)) }
            div id="responses" data-part[is_page] { (responses(told, headings)) }
            div id="inside" data-part[is_page] { (inside(run, task, headings)) }
            div id="task-values" data-part[is_page] { (task_values(run, large, task, headings)) }
            div id="attempts" data-part[is_page] { (attempts(run, task, headings)) }
            @if matches!(run.node(task).work, Work::Executor(_)) { (log_section(run, task, logs, headings)) }
        }
    }
}

fn message_class(task: &TaskRun) -> &'static str {
    match task.phase {
        Phase::Failed | Phase::Error | Phase::Timeout => "callout bad",
        Phase::Suspended => "callout ask",
        Phase::Created
        | Phase::Ready
        | Phase::Running
        | Phase::Succeeded
        | Phase::Skipped
        | Phase::Cancelled => "callout",
    }
}

/// All responses that the task was given, the refused ones too.
fn responses(told: &TaskHistory, headings: TaskHeadings) -> Markup {
    let all = &told.responses;
    html! {
        @if !all.is_empty() {
            (headings.draw("Responses"))
            ul class="responses" { @for one in all { li {
                strong { (one.verdict()) }
                @match &one.by { Some(by) => { " by " (by) }, None => (format::unchecked_name(one.name())) }
                ", " (format::time(one.at))
                @if let Some(comment) = one.comment() { ": " (text::cut(comment, MAX_COMMENT_BYTES)) }
                @if let Some(reason) = &one.refused { p class="bad" { "Refused: " (reason) } }
            } } }
        }
    }
}

/// The task's ancestors, from the run downwards.
fn path(run: &Run, task: &TaskRun) -> Markup {
    let mut above: Vec<&TaskRun> = std::iter::successors(run.above(task), |task| run.above(task)).collect();
    above.reverse();
    html! {
        nav class="path" aria-label="Parent tasks" {
            a href="/runs" { "Runs" } " / "
            a href={ "/runs/" (run.id()) } { (run.plan().name) }
            @for task in above { " / " a href={ "/runs/" (run.id()) "/tasks/" (task.id) } { (run.label(task)) } }
        }
    }
}

fn facts(run: &Run, task: &TaskRun) -> Markup {
    let node = run.node(task);
    let executor = match &node.work {
        Work::Executor(context) => Some(context.executor_type.to_string()),
        Work::Container(_) | Work::Wrapper(_) => None,
    };
    let settings = &node.settings;
    let limits = [
        ("timeout", settings.timeout),
        ("maxRuntime", settings.max_runtime.map(|policy| policy.timeout)),
        ("maxInactivity", settings.max_inactivity.map(|policy| policy.timeout)),
        ("deadline", settings.deadline.map(|policy| policy.timeout)),
    ];
    html! {
        dl class="facts" {
            @if run.item_around(task).is_some() { div { dt { "Item" } dd { @if let Some(item) = run.item_around(task) { (format::value(item)) } } } }
            @if let Some(executor) = &executor { div { dt { "Executor" } dd { (plugin(run, executor)) } } }
            div { dt { "Task run" } dd { (format::id(&run.task_run_id(task.id))) } }
            @if let Some(by) = task.cancelled_by() { div { dt { "Cancelled by" } dd { (by) } } }
            div { dt { "Started" } dd { (format::offset(run.times().submitted_at, task.started_at)) } }
            @if task.finished_at.is_some() { div { dt { "Ended" } dd { (format::offset(run.times().submitted_at, task.finished_at)) } } }
            @if let Some(started) = task.started_at { div { dt { "Took" } dd { (format::took_or_counts(started, task.finished_at)) } } }
            @if task.retries > 0 { div { dt { "Retries" } dd { (task.retries) } } }
            @for (name, limit) in limits {
                @if let Some(limit) = limit { div { dt { code { (name) } } dd { (text::elapsed(limit)) } } }
            }
        }
    }
}

/// The executor. A plugin is shown by the component that it resolved to when the run was submitted.
fn plugin(run: &Run, executor: &str) -> Markup {
    let pinned = run.plan().executors.get(executor);
    let place = pinned.and_then(|pinned| Some(address(pinned.plugin.as_deref()?, pinned.digest.as_deref()?)));
    html! {
        @match place {
            Some(place) => a href=(place) { code { (executor) } },
            None => code { (executor) },
        }
    }
}

/// The tasks of a container.
fn inside(run: &Run, task: &TaskRun, headings: TaskHeadings) -> Markup {
    let all = run.children(task).len();
    html! {
        @if all > 0 {
            (headings.draw(&format!("{} in it", format::count(all, "task"))))
            ul class="inside" {
                @for child in failed_first(run, task).into_iter().take(100) {
                    li { (format::standing(run, child)) " " a href={ "/runs/" (run.id()) "/tasks/" (child.id) } { (run.label(child)) } }
                }
            }
            @if all > 100 { p { a href={ "/runs/" (run.id()) "?view=tasks" } { "All tasks of the run" } } }
        }
    }
}

/// The tasks of a container in their order, those that failed before all others.
fn failed_first<'r>(run: &'r Run, task: &TaskRun) -> Vec<&'r TaskRun> {
    let mut children = run.children_in_order(task);
    children.sort_by_key(|child| !matches!(child.phase, Phase::Failed | Phase::Error | Phase::Timeout));
    children
}

fn task_values(run: &Run, large: &LargeValues, task: &TaskRun, headings: TaskHeadings) -> Markup {
    let owner = run.task_run_id(task.id);
    let shown = |kind, name: &str, value: &Value| {
        format::run_value(run, large, ShownValue { kind, owner: &owner, name, value })
    };
    html! {
        @if !task.inputs.is_empty() {
            (headings.draw("Inputs"))
            dl class="values" { @for input in task.inputs.iter() { dt { (input.name) } dd { (shown(ValueKind::Input, &input.name, &input.value.visible())) } } }
        }
        // The question is the form's.
        @let outputs: Vec<_> = task.outputs.iter().filter(|output| &*output.name != "asked").collect();
        @if !outputs.is_empty() {
            (headings.draw("Outputs"))
            dl class="values" { @for output in &outputs { dt { (output.name) } dd { (shown(ValueKind::Output, &output.name, &output.value)) } } }
        } @else if task.phase.is_terminal() { p class="none" { "No outputs." } }
    }
}

fn attempts(run: &Run, task: &TaskRun, headings: TaskHeadings) -> Markup {
    html! {
        @if !task.attempts.is_empty() {
            (headings.draw("Attempts"))
            table class="list" {
                caption class="unseen" { "Attempts, the first ones first" }
                thead { tr { th scope="col" { "No." } th scope="col" { "Phase" } th scope="col" { "Code" } th scope="col" { "Reason" }
                    th scope="col" { "Started" } th scope="col" { "Took" } th scope="col" { "Message" } } }
                tbody { @for attempt in &task.attempts { tr {
                    th scope="row" data-label="No." { (attempt.number) }
                    td data-label="Phase" { (format::phase(attempt.phase)) }
                    td data-label="Code" { @if let Some(code) = attempt.code { (code) } @else { span class="none" { "–" } } }
                    td data-label="Reason" { @if let Some(reason) = run.reason_of(task, attempt) { (reason) } @else { span class="none" { "–" } } }
                    td data-label="Started" { (format::offset(run.times().submitted_at, attempt.started_at)) }
                    td data-label="Took" { @if let Some(started) = attempt.started_at { (format::took_or_counts(started, attempt.finished_at)) } }
                    td data-label="Message" { (text::cut(&attempt.message, 400)) }
                } } }
            }
        }
    }
}

/// Logs of the attempts, the current one included.
fn log_section(run: &Run, task: &TaskRun, logs: &[AttemptLog], headings: TaskHeadings) -> Markup {
    let query = form_urlencoded::Serializer::new("stream=true".to_owned())
        .append_pair("task", &run.path(task))
        .finish();
    let stream = format!("/v1/runs/{}/logs?{query}", run.id());
    let shown = logs.get(logs.len().saturating_sub(MAX_LOGS)..).unwrap_or_default();
    html! {
        (headings.draw("Log"))
        div id="logs" data-part[headings == TaskHeadings::Page] {
            @let left_out = logs.len() - shown.len();
            @if left_out > 0 { p { a href={ "/runs/" (run.id()) "?view=logs&task=" (run.path(task)) } { "Logs of " (format::count(left_out, "earlier attempt")) } } }
            @if logs.is_empty() && task.phase.is_terminal() { p class="none" { "No log lines." } }
            @for log in shown {
                @let text = String::from_utf8_lossy(&log.text);
                section aria-label={ "Log of attempt " (log.attempt) } {
                    p class="attempt" { "Attempt " (log.attempt) }
                    @if log.cut > 0 { p class="none" { (log.cut) " bytes before it were not kept." } }
                    pre class="lines" tabindex="0" { @for line in text.lines() { (log_line(line)) "\n" } }
                }
            }
        }
        @if actions::is_open(task) {
            pre id="lines" class="lines" tabindex="0" role="log" aria-label="Output of the attempt" data-stream=(stream) {}
            noscript { p class="help" { "Its output is shown when the attempt has ended: load the page again." } }
        }
    }
}

pub(super) fn log_line(line: &str) -> Markup {
    let LineView { level, text } = LineView::of(line);
    html! {
        @match level {
            Some(level) => { span class={ "level " (level.as_str()) } { (level.as_str()) } " " (text) }
            None => (text),
        }
    }
}
