//! One run: what it is, and its graph, its timeline, its tasks or its events.

use axum::{http::StatusCode, response::Response};
use maud::{Markup, PreEscaped, html};
use phasm::{
    Phase, Value,
    catalog::{self, SCHEDULE_LABEL},
    clock::Clock,
    engine::{
        event::TaskId,
        run::{Run, ShownValue, TaskRun, ValueKind},
        text,
    },
    journal::LargeValues,
    notify::NoticeSummary,
    store::RunRow,
    store::view::RunState,
};
use phasm_graph::{Diagram, Limits, SvgOptions, Timeline, graph_svg, timeline_svg};

use super::{answer, events, format, history, once, shell::Shell, table};
use crate::{
    auth::caller::{Caller, Role},
    problem_response::ProblemResponse,
    request::RequestContext,
};

/// Suspended tasks that are named at the top.
const MAX_QUESTIONS: usize = 10;
/// Responses that are listed.
const MAX_RESPONSES: usize = 10;
/// Longest question of a suspended task, in bytes.
const MAX_QUESTION_BYTES: usize = 160;

/// Views of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    Graph,
    Timeline,
    Tasks,
    Events,
}

impl View {
    const ALL: [Self; 4] = [Self::Graph, Self::Timeline, Self::Tasks, Self::Events];

    const fn word(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Timeline => "timeline",
            Self::Tasks => "tasks",
            Self::Events => "events",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Graph => "Graph",
            Self::Timeline => "Timeline",
            Self::Tasks => "Tasks",
            Self::Events => "Events",
        }
    }
}

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.leave_out_empty();
    let named = |word: &str| View::ALL.into_iter().find(|view| view.word() == word);
    let view = context.query.parsed("view", "graph, timeline, tasks or events", named).unwrap_or(View::Graph);
    let wanted = table::TableQuery::of(&mut context.query);
    let wanted_events = events::EventQuery::of(&mut context.query);
    context.query.done()?;
    let row = RunSummary::of(&context, context.run().await?).await?;
    let body = match view {
        View::Timeline => {
            let recorded = history::read(&context.app, &row.head.run_id, None, &context.holder).await?;
            let now = Clock::start().now();
            let timeline = Timeline::of(&recorded.run, &recorded.suspensions, now, Limits::default());
            let links = links(&recorded.run);
            let picture = timeline_svg(&timeline, SvgOptions { links: Some(&links), embedded: true });
            whole(
                &recorded.run,
                &recorded.large,
                &row,
                view,
                &html! { (drawn(&picture, "Timeline")) (legend()) },
            )
        }
        View::Events => {
            let list = events::list(&context, &row, &wanted_events).await?;
            let recorded = history::read(&context.app, &row.head.run_id, None, &context.holder).await?;
            whole(&recorded.run, &recorded.large, &row, view, &list)
        }
        View::Graph | View::Tasks => {
            let handle = context.app.host.run_of(&row).counted_for(context.holder.clone());
            let shown = row.clone();
            handle
                .outline(move |run, large| whole(run, large, &shown, view, &looked(run, view, &wanted)))
                .await?
        }
    };
    let title = format!("{} {}", row.head.workflow, row.status.phase);
    let live = row.status.open.then(|| format!("/live?run={}", row.head.run_id));
    let standing = Some(format!("{} is {}", row.head.workflow, row.status.phase));
    let shell = Shell { live, standing, ..Shell::new(&title, "/runs", &context.caller) };
    Ok(shell.respond(StatusCode::OK, &body))
}

/// A run's row, what it came from as far as that is kept, and the caller who looks at it.
#[derive(Clone)]
struct RunSummary {
    row: RunRow,
    /// Names, and where they are.
    from: Vec<(&'static str, String, String)>,
    notices: Option<NoticeSummary>,
    caller: Caller,
}

impl std::ops::Deref for RunSummary {
    type Target = RunRow;

    fn deref(&self) -> &RunRow {
        &self.row
    }
}

impl RunSummary {
    async fn of(context: &RequestContext, row: RunRow) -> Result<Self, ProblemResponse> {
        let (store, head) = (context.app.reader(), &row.head);
        let mut from = Vec::new();
        let mut add = |kind, what, name: &str| {
            let address = format::saved_path(what, &head.namespace, name);
            from.push((kind, format::display_name(&head.namespace, name), address));
        };
        if let Some(name) = head.labels.get(SCHEDULE_LABEL)
            && catalog::schedule(&*store, &head.namespace, name).await?.is_some()
        {
            add("Schedule", "schedules", name);
        }
        if catalog::saved_workflow(&*store, &head.namespace, &head.workflow).await?.is_some() {
            add("Saved workflow", "workflows", &head.workflow);
        }
        let notices = NoticeSummary::read(&*store, &head.run_id).await?;
        Ok(Self { from, notices, row, caller: context.caller.clone() })
    }

    /// The host that runs it, if one does.
    fn host(&self) -> Option<&str> {
        RunState::of(&self.row, true).host(&self.row)
    }
}

fn looked(run: &Run, view: View, wanted: &table::TableQuery) -> Markup {
    if view == View::Tasks {
        return table::draw(run, wanted);
    }
    let links = links(run);
    let diagram = Diagram::of_run(run, Limits::default());
    drawn(&graph_svg(&diagram, SvgOptions { links: Some(&links), embedded: true }), "Graph")
}

fn links(run: &Run) -> String {
    format!("/runs/{}/tasks/", run.id())
}

/// A picture, which may be wider than the page. It is escaped already.
fn drawn(picture: &str, name: &str) -> Markup {
    html! { div class="picture" tabindex="0" role="group" aria-label=(name) { (PreEscaped(picture)) } }
}

/// The legend of a timeline.
fn legend() -> Markup {
    html! {
        p class="help" {
            "Solid bar: running. Dashed: waiting for approval. Line: queued or retry delay. Hover for durations."
        }
    }
}

fn whole(run: &Run, large: &LargeValues, row: &RunSummary, view: View, shown: &Markup) -> Markup {
    html! {
        p class="path" { a href="/runs" { "Runs" } }
        div class="head" {
            h1 id="title" data-part { (run.plan().name) " " (standing(run)) }
            div id="acts" class="acts" data-part { @if row.caller.may(Role::Run).is_ok() { (action_forms(run)) } }
        }
        div id="facts" data-part { (facts(run, row)) }
        div id="asked" data-part { (questions(run)) }
        nav class="tabs" aria-label="Views of the run" {
            @for one in View::ALL {
                a href={ "/runs/" (run.id()) "?view=" (one.word()) } aria-current=[(one == view).then_some("page")] { (one.title()) }
            }
        }
        section id="view" class="view" aria-label=(view.title()) data-part { (shown) }
        div id="values" data-part { (values(run, large)) }
    }
}

fn action_forms(run: &Run) -> Markup {
    let action = |what: &str| format!("/runs/{}/{what}", run.id());
    html! {
        @if run.phase().is_terminal() {
            a class="button plain" href=(action("edit")) { "Edit and run again" }
            form method="post" action=(action("rerun")) { (once::field(None)) button class="plain" { "Run again" } }
            @if run.phase() != Phase::Succeeded {
                form method="post" action=(action("rerun")) {
                    (once::field(None))
                    input type="hidden" name="from" value="failed";
                    button { "Run the failed part again" }
                }
            }
        } @else {
            form method="post" action=(action("cancel")) data-confirm="Cancel the run? Tasks that have not ended end as Cancelled." {
                button class="danger" { "Cancel" }
            }
        }
    }
}

fn standing(run: &Run) -> Markup {
    html! {
        @match run.tasks().first() {
            Some(root) if run.phase().is_terminal() => (format::standing(run, root)),
            Some(_) | None => (format::phase(run.phase())),
        }
    }
}

fn facts(run: &Run, row: &RunSummary) -> Markup {
    let times = run.times();
    let labels: Vec<_> = row.head.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    html! {
        dl class="facts" {
            div { dt { "Run" } dd { (format::id(run.id())) } }
            div { dt { "Submitted" } dd { (format::time(times.submitted_at)) @if let Some(by) = run.submitted_by() { " by " (by) } } }
            @if let Some(by) = run.cancelled_by() { div { dt { "Cancelled by" } dd { (by) } } }
            div { dt { "Took" } dd { (format::took(Some(times.submitted_at), times.finished_at)) } }
            @if let Some(host) = row.host() { div { dt { "Host" } dd { (host) } } }
            div { dt { "Tasks ended" } dd { (run.progress()) } }
            div { dt { "Namespace" } dd { (row.head.namespace) } }
            @for (kind, name, address) in &row.from { div { dt { (kind) } dd { a href=(address) { (name) } } } }
            @if let Some(at) = run.run_deadline().filter(|_| !run.phase().is_terminal()) { div { dt { "Must end by" } dd { (format::time(at)) } } }
            @if let Some(of) = run.rerun_of() { div { dt { "Rerun of" } dd { a href={ "/runs/" (of) } { (format::id(of)) } } } }
            @if let Some(trace) = run.trace_id() { div { dt { "Trace" } dd { (format::id(trace)) } } }
            @if let Some(notices) = &row.notices {
                div { dt { "Notifications" } dd { (notices.counts()) @if let Some(why) = &notices.failure { " (" (why) ")" } } }
            }
            @if let Some(responses) = responses(run) { div { dt { "Responses" } dd { (responses) } } }
            @if !labels.is_empty() { div { dt { "Labels" } dd { (labels.join(", ")) } } }
        }
        @if let Some(note) = &row.note { div class="callout bad" role="alert" { p { "No host can resume it: " (note.why) } } }
        @if let Some(root) = run.tasks().first() {
            @if let Some(clock) = run.exceeded(root) { div class="callout bad" { p { "Timed out: " (clock) } } }
            @if !run.cause(root).is_empty() { div class="callout" { p { (run.cause(root)) } } }
        }
    }
}

/// The responses that tasks have, with their callers and times; the last ones, if there are many.
fn responses(run: &Run) -> Option<Markup> {
    let given = |task| Some((run.path(task), run.response(task)?, task.resumed_at(), run.comment(task)));
    let all: Vec<_> = run.tasks().iter().filter_map(given).collect();
    let shown = all.get(all.len().saturating_sub(MAX_RESPONSES)..).unwrap_or_default();
    (!shown.is_empty()).then(|| {
        html! {
            ul class="plain" { @for (path, response, at, comment) in shown {
                li {
                    (path) " " (response) @if let Some(at) = at { ", " (format::time(*at)) }
                    @if let Some(comment) = comment { ": " (text::cut(comment, MAX_QUESTION_BYTES)) }
                }
            } }
        }
    })
}

/// Suspended tasks that wait for a response.
fn questions(run: &Run) -> Markup {
    let suspended: Vec<&TaskRun> =
        run.tasks().iter().filter(|task| task.phase == Phase::Suspended).take(MAX_QUESTIONS).collect();
    html! {
        @if !suspended.is_empty() {
            div class="callout ask" {
                p { (format::count(suspended.len(), "task")) @if suspended.len() == MAX_QUESTIONS { " or more" } " waiting for approval or a response:" }
                ul { @for task in suspended {
                    li {
                        a href={ "/runs/" (run.id()) "/tasks/" (task.id) "#answer" } { "Respond to " (run.path(task)) }
                        @if let Some(question) = answer::question(task) { ": " (text::cut(question, MAX_QUESTION_BYTES)) }
                    }
                } }
            }
        }
    }
}

fn values(run: &Run, large: &LargeValues) -> Markup {
    let outputs = run.tasks().first().map(|root| root.outputs.clone()).unwrap_or_default();
    let root = run.task_run_id(TaskId::ROOT);
    let output = |name: &str, value: &Value| {
        format::run_value(run, large, ShownValue { kind: ValueKind::Output, owner: &root, name, value })
    };
    let parameter = |name: &str, value: &Value| {
        format::run_value(run, large, ShownValue { kind: ValueKind::Parameter, owner: run.id(), name, value })
    };
    html! {
        @if !outputs.is_empty() {
            h2 { "Outputs" }
            dl class="values" { @for one in outputs.iter() { dt { (one.name) } dd { (output(&one.name, &one.value)) } } }
        }
        @if !run.parameters().is_empty() {
            h2 { "Parameters" }
            dl class="values" { @for (name, value) in run.parameters().iter() { dt { (name) } dd { (parameter(name, value)) } } }
        }
        @if !run.warnings().is_empty() {
            h2 { "Warnings" }
            ul { @for warning in run.warnings() { li { (warning.message) } } }
        }
    }
}
