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

use super::{actions, answer, explain, format, history, shell::Shell};
use crate::{
    auth::caller::Role, plugins::change::address, problem_response::ProblemResponse, request::RequestContext,
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
    let may = |role| context.caller.may(role).is_ok();
    let may_respond = may(Role::Approve);
    // The form says it.
    let is_asked = may_respond && task.phase == Phase::Suspended;
    let body = html! {
        (path(run, task))
        div class="head" {
            h1 id="title" data-part { (run.label(task)) " " (format::standing(run, task)) }
            div id="acts" class="acts" data-part {
                @if may(Role::Run) && actions::is_open(task) {
                    form method="post" action={ "/runs/" (run_id) "/tasks/" (id) "/cancel" } data-confirm="Cancel the task?" {
                        button class="danger" { "Cancel the task" }
                    }
                }
            }
        }
        p id="why" class="why" data-part { (explain::why(run, task, recorded.told)) }
        div id="message" data-part { @if !is_asked && !task.message.is_empty() { div class="callout" { p { (task.message) } } } }
        // Not replaced while the form is being filled in.
        div id="form" data-part data-keep { @if may_respond { @if let Some(form) = answer::form(run, task) { (form) } } }
        div id="facts" data-part { (facts(run, task)) }
        div id="inside" data-part { (inside(run, task)) }
        div id="values" data-part { (values(run, &recorded.large, task)) }
        div id="attempts" data-part { (attempts(run, task)) }
        @if matches!(run.node(task).work, Work::Executor(_)) { (log_section(run, task, &logs)) }
    };
    let title = format!("{} {}", run.path(task), task.phase);
    let live = (!run.is_over()).then(|| format!("/live?run={run_id}"));
    let standing = Some(format!("{} is {}", run.label(task), task.phase));
    Ok(Shell { live, standing, ..Shell::new(&title, "/runs", &context.caller) }.around(&body))
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
            @if let Some(executor) = &executor { div { dt { "Executor" } dd { (plugin(run, executor)) } } }
            div { dt { "Task run" } dd { (format::id(&run.task_run_id(task.id))) } }
            @if let Some(response) = run.response(task) {
                div { dt { "Response" } dd { (response) @if let Some(at) = task.resumed_at() { ", " (format::time(at)) } } }
            }
            @if let Some(comment) = run.comment(task) { div { dt { "Comment" } dd { (text::cut(comment, MAX_COMMENT_BYTES)) } } }
            @if let Some(by) = task.refused_by() { div { dt { "Refused response" } dd { "by " (by) } } }
            @if let Some(by) = task.cancelled_by() { div { dt { "Cancelled by" } dd { (by) } } }
            div { dt { "Started" } dd { (format::maybe_time(task.started_at)) } }
            div { dt { "Ended" } dd { (format::maybe_time(task.finished_at)) } }
            div { dt { "Took" } dd { (task.duration().map_or_else(|| "–".to_owned(), text::elapsed)) } }
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
fn inside(run: &Run, task: &TaskRun) -> Markup {
    let all = run.children(task).len();
    html! {
        @if all > 0 {
            h2 { (format::count(all, "task")) " in it" }
            ul class="inside" {
                @for child in run.children_in_order(task).into_iter().take(100) {
                    li { (format::standing(run, child)) " " a href={ "/runs/" (run.id()) "/tasks/" (child.id) } { (run.label(child)) } }
                }
            }
            @if all > 100 { p { a href={ "/runs/" (run.id()) "?view=tasks" } { "All tasks of the run" } } }
        }
    }
}

fn values(run: &Run, large: &LargeValues, task: &TaskRun) -> Markup {
    let owner = run.task_run_id(task.id);
    let shown = |kind, name: &str, value: &Value| {
        format::run_value(run, large, ShownValue { kind, owner: &owner, name, value })
    };
    html! {
        @if !task.inputs.is_empty() {
            h2 { "Inputs" }
            dl class="values" { @for input in task.inputs.iter() { dt { (input.name) } dd { (shown(ValueKind::Input, &input.name, &input.value.visible())) } } }
        }
        @if !task.outputs.is_empty() {
            h2 { "Outputs" }
            dl class="values" { @for output in task.outputs.iter() { dt { (output.name) } dd { (shown(ValueKind::Output, &output.name, &output.value)) } } }
        } @else if run.phase().is_terminal() { p class="none" { "It returned nothing." } }
    }
}

fn attempts(run: &Run, task: &TaskRun) -> Markup {
    html! {
        @if !task.attempts.is_empty() {
            h2 { "Attempts" }
            table class="list" {
                caption class="unseen" { "Attempts, the first ones first" }
                thead { tr { th scope="col" { "No." } th scope="col" { "Phase" } th scope="col" { "Code" } th scope="col" { "Reason" }
                    th scope="col" { "Started" } th scope="col" { "Took" } th scope="col" { "Message" } } }
                tbody { @for attempt in &task.attempts { tr {
                    th scope="row" data-label="No." { (attempt.number) }
                    td data-label="Phase" { (format::phase(attempt.phase)) }
                    td data-label="Code" { @if let Some(code) = attempt.code { (code) } @else { span class="none" { "–" } } }
                    td data-label="Reason" { @if let Some(reason) = run.reason_of(task, attempt) { (reason) } @else { span class="none" { "–" } } }
                    td data-label="Started" { (format::maybe_time(attempt.started_at)) }
                    td data-label="Took" { (format::took(attempt.started_at, attempt.finished_at)) }
                    td data-label="Message" { (text::cut(&attempt.message, 400)) }
                } } }
            }
        }
    }
}

/// Logs of the attempts, the current one included.
fn log_section(run: &Run, task: &TaskRun, logs: &[AttemptLog]) -> Markup {
    let query = form_urlencoded::Serializer::new("stream=true".to_owned())
        .append_pair("task", &run.path(task))
        .finish();
    let stream = format!("/v1/runs/{}/logs?{query}", run.id());
    let shown = logs.get(logs.len().saturating_sub(MAX_LOGS)..).unwrap_or_default();
    html! {
        h2 { "Log" }
        div id="logs" data-part {
            @if logs.is_empty() && task.phase.is_terminal() { p class="none" { "It wrote nothing." } }
            @for log in shown {
                @let text = String::from_utf8_lossy(&log.text);
                section aria-label={ "Log of attempt " (log.attempt) } {
                    h3 { "Attempt " (log.attempt) }
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

fn log_line(line: &str) -> Markup {
    let LineView { level, text } = LineView::of(line);
    html! {
        @match level {
            Some(level) => { span class={ "level " (level.as_str()) } { (level.as_str()) } " " (text) }
            None => (text),
        }
    }
}
