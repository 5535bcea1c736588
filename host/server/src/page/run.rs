//! One run: how it stands and why, what it waits for, and its graph, timeline, tasks, logs, definition or events.

use axum::{http::StatusCode, response::Response};
use maud::{Markup, PreEscaped, html};
use phasm::{
    Phase, RERUN_LABEL, Value,
    catalog::{self, SCHEDULE_LABEL},
    clock::Clock,
    engine::{
        event::TaskId,
        plan::Recovery,
        run::{Run, ShownValue, TaskRun, ValueKind},
    },
    journal::LargeValues,
    notify::NoticeSummary,
    store::{AttemptLog, RunRow, view::RunState},
};
use phasm_graph::{Diagram, Limits, Suspensions, SvgOptions, Timeline, graph_svg, timeline_svg};

use super::{
    attention, commands, definition, events, format,
    history::{self, RunHistory, TaskHistory},
    leaves::Leaves,
    lineage::RunLineage,
    once, run_logs, saved,
    shell::Shell,
    short_ids, summary, table,
    task::{TaskContent, TaskHeadings},
    view::View,
};
use crate::{
    auth::caller::{Caller, Role},
    problem_response::ProblemResponse,
    request::RequestContext,
};

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let found = context.run().await;
    if let Err(refusal) = &found
        && refusal.status() == StatusCode::NOT_FOUND
        && let Some(elsewhere) = short_ids::redirect(&context).await?
    {
        return Ok(elsewhere);
    }
    context.query.leave_out_empty();
    let named = |word: &str| View::ALL.into_iter().find(|view| view.word() == word);
    let expected = "graph, timeline, tasks, logs, definition or events";
    let view = context.query.parsed("view", expected, named).unwrap_or(View::Graph);
    let selected = if view.beside_tasks() == view {
        context.query.parsed("task", "the number of a task run", |text| text.parse().ok().map(TaskId))
    } else {
        None
    };
    let shown = match view {
        View::Tasks => ViewContent::Tasks(table::TableQuery::of(&mut context.query)),
        View::Events => ViewContent::Events(events::EventQuery::of(&mut context.query)),
        View::Logs => ViewContent::Logs(run_logs::LogQuery::of(&mut context.query)),
        View::Graph => ViewContent::Graph,
        View::Timeline => ViewContent::Timeline,
        View::Definition => ViewContent::Definition,
    };
    context.query.done()?;
    let row = RunSummary::of(&context, found?).await?;
    let body = body(&context, &row, PageView { selected, shown }).await?;
    let title = format!("{} {}", row.head.workflow, row.status.phase);
    let live = row.status.open.then(|| format!("/live?run={}", row.head.run_id));
    let standing = Some(format!("{} is {}", row.head.workflow, row.status.phase));
    let shell = Shell {
        live,
        standing,
        phase: Some(row.status.phase),
        description: Some(format!("Run {} of the workflow {}", row.head.run_id, row.head.workflow)),
        ..Shell::new(&title, "/runs", &context.caller)
    };
    Ok(shell.respond(StatusCode::OK, &body))
}

/// The view that is asked for, and the task run that is shown beside it.
struct PageView {
    selected: Option<TaskId>,
    shown: ViewContent,
}

/// A view, and the part of it that is asked for.
enum ViewContent {
    Graph,
    Timeline,
    Tasks(table::TableQuery),
    Logs(run_logs::LogQuery),
    Definition,
    Events(events::EventQuery),
}

impl ViewContent {
    const fn view(&self) -> View {
        match self {
            Self::Graph => View::Graph,
            Self::Timeline => View::Timeline,
            Self::Tasks(_) => View::Tasks,
            Self::Logs(_) => View::Logs,
            Self::Definition => View::Definition,
            Self::Events(_) => View::Events,
        }
    }
}

async fn body(
    context: &RequestContext,
    row: &RunSummary,
    asked: PageView,
) -> Result<Markup, ProblemResponse> {
    let (run_id, store) = (&row.head.run_id, context.app.host.store());
    let handle = context.app.host.run_of(row).counted_for(context.holder.clone());
    let logs = match asked.selected {
        Some(id) => store.logs(run_id, Some(id.0)).await?,
        None => Vec::new(),
    };
    let listed = match &asked.shown {
        ViewContent::Events(wanted) => events::list(context, row, wanted).await?,
        ViewContent::Logs(wanted) => run_logs::draw(context, &handle, wanted).await?,
        ViewContent::Graph | ViewContent::Timeline | ViewContent::Tasks(_) | ViewContent::Definition => {
            Markup::default()
        }
    };
    // The journal is read only where it has what the state of the run has not.
    let (selected, is_timeline) = (asked.selected, matches!(asked.shown, ViewContent::Timeline));
    let looked = handle
        .outline(move |run, _| (is_told_by_journal(run, selected, is_timeline), run.rerun_of().is_some()));
    let (is_told_by_journal, has_same_parameters) = looked.await?;
    let lineage = RunLineage::of(context, row, has_same_parameters).await?;
    let page = RunPage { row: row.clone(), lineage, asked, listed, logs };
    if is_told_by_journal {
        let RunHistory { run, large, suspensions, told } =
            history::read(&context.app, run_id, selected, &context.holder).await?;
        return Ok(page.draw(&run, &large, &suspensions, &told));
    }
    let drawn = handle
        .outline(move |run, large| page.draw(run, large, &Suspensions::default(), &TaskHistory::default()));
    Ok(drawn.await?)
}

/// Whether a page shows what only the journal has: earlier suspensions, responses and decisions of rules.
fn is_told_by_journal(run: &Run, selected: Option<TaskId>, is_timeline: bool) -> bool {
    let was_suspended = |task: &TaskRun| task.suspended_at.is_some();
    let has_rules = |task: &TaskRun| matches!(run.node(task).settings.recovery, Some(Recovery::Policy(_)));
    let selected = selected.and_then(|id| run.task(id));
    selected.is_some_and(|task| was_suspended(task) || has_rules(task))
        || (is_timeline && run.tasks().iter().any(was_suspended))
}

/// Everything of a run's page but the run itself.
struct RunPage {
    row: RunSummary,
    lineage: RunLineage,
    asked: PageView,
    /// The events or logs, if these are shown.
    listed: Markup,
    /// Logs of the selected task run.
    logs: Vec<AttemptLog>,
}

impl RunPage {
    fn draw(&self, run: &Run, large: &LargeValues, suspensions: &Suspensions, told: &TaskHistory) -> Markup {
        let PageView { selected, shown } = &self.asked;
        let view = shown.view();
        let content = match shown {
            ViewContent::Graph => graph(run, *selected),
            ViewContent::Timeline => timeline(run, suspensions, *selected),
            ViewContent::Tasks(wanted) => table::draw(run, wanted),
            ViewContent::Definition => definition::draw(run, *selected),
            ViewContent::Logs(_) | ViewContent::Events(_) => self.listed.clone(),
        };
        let panel = selected.and_then(|id| run.task(id)).map(|task| {
            let content = TaskContent { run, large, told, task, logs: &self.logs, caller: &self.row.caller };
            panel(&content, view)
        });
        Frame { run, large, row: &self.row, lineage: &self.lineage, view, selected: *selected, panel }
            .whole(&content)
    }
}

/// The graph of a run, which can be made larger and moved.
fn graph(run: &Run, selected: Option<TaskId>) -> Markup {
    let diagram = Diagram::of_run(run, Limits::default());
    let links = task_links(run, View::Graph);
    let picture = graph_svg(&diagram, SvgOptions { links: Some(&links), embedded: true, selected });
    html! { div class="picture" tabindex="0" role="group" aria-label="Graph" data-zoom { (PreEscaped(picture)) } }
}

fn timeline(run: &Run, suspensions: &Suspensions, selected: Option<TaskId>) -> Markup {
    let timeline = Timeline::of(run, suspensions, Clock::start().now(), Limits::default());
    let links = task_links(run, View::Timeline);
    let options = SvgOptions { links: Some(&links), embedded: true, selected };
    let picture = timeline_svg(&timeline, options);
    html! {
        div class="picture" tabindex="0" role="group" aria-label="Timeline" { (PreEscaped(picture)) }
        (legend())
    }
}

/// The beginning of the addresses at which a task run is shown beside a view.
fn task_links(run: &Run, view: View) -> String {
    format!("/runs/{}?view={}&task=", run.id(), view.word())
}

/// The legend of a timeline.
fn legend() -> Markup {
    html! {
        ul class="legend" {
            @for (class, word) in phasm_graph::legend() {
                li { (PreEscaped(phasm_graph::swatch(class))) " " (word) }
            }
        }
    }
}

/// A task run beside the picture that it was chosen in.
fn panel(content: &TaskContent<'_>, view: View) -> Markup {
    let run = content.run;
    let close = format!("/runs/{}?view={}", run.id(), view.word());
    html! {
        div class="panel-head" {
            h2 { (run.label(content.task)) (format::item(run, content.task)) " " (format::standing(run, content.task)) }
            a class="close" href=(close) data-inside aria-label="Close the details" { "✕" }
        }
        p class="more" {
            a href={ "/runs/" (run.id()) "/tasks/" (content.task.id) } { "Open as a page" }
            a href={ "/runs/" (run.id()) "?view=definition&task=" (content.task.id) } { "Show in the workflow file" }
        }
        (content.draw(TaskHeadings::Panel))
    }
}

/// A run's row, what it came from as far as that is kept, and the caller who looks at it.
#[derive(Clone)]
struct RunSummary {
    row: RunRow,
    /// Names, and where they are.
    from: Vec<(&'static str, String, String)>,
    /// Whether a workflow is saved under its name.
    is_saved: bool,
    notices: Option<NoticeSummary>,
    caller: Caller,
    /// The server's address, as the browser has it.
    url: String,
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
        let is_saved = catalog::saved_workflow(&*store, &head.namespace, &head.workflow).await?.is_some();
        if is_saved {
            add("Saved under its name", "workflows", &head.workflow);
        }
        let notices = NoticeSummary::read(&*store, &head.run_id).await?;
        Ok(Self { from, is_saved, notices, row, caller: context.caller.clone(), url: saved::url(context) })
    }

    /// The host that runs it, if one does.
    fn host(&self) -> Option<&str> {
        RunState::of(&self.row, true).host(&self.row)
    }
}

/// Parts of the page that every view of a run has around it.
struct Frame<'r> {
    run: &'r Run,
    large: &'r LargeValues,
    row: &'r RunSummary,
    lineage: &'r RunLineage,
    view: View,
    selected: Option<TaskId>,
    panel: Option<Markup>,
}

impl Frame<'_> {
    fn whole(&self, shown: &Markup) -> Markup {
        let Self { run, row, lineage, view, selected, .. } = self;
        let leaves = Leaves::of(run);
        html! {
            p class="path" { a href="/runs" { "Runs" } }
            div class="head" {
                h1 id="title" data-part { (run.plan().name) " " (standing(run, &leaves)) }
                div id="acts" class="acts" data-part { @if row.caller.may(Role::Run).is_ok() { (action_forms(run, &leaves)) } }
            }
            div id="summary" data-part { (summary::draw(run, &leaves, lineage)) (notes(run, row)) }
            div id="attention" data-part { (attention::draw(run, &leaves, &row.caller, *view)) }
            nav class="tabs" aria-label="Views of the run" {
                @for one in View::ALL {
                    a href={ "/runs/" (run.id()) "?view=" (one.word()) (one.of_task(*selected)) } aria-current=[(one == *view).then_some("page")] { (one.title()) }
                }
            }
            div class="split" {
                // Logs are kept up to date by a stream of their own.
                section id="view" class="view" aria-label=(view.title()) data-part[*view != View::Logs] { (shown) }
                aside id="panel" aria-label="Task" data-part { @if let Some(panel) = &self.panel { (panel) } }
            }
            div id="values" data-part { (values(run, self.large)) }
            div id="facts" data-part { (facts(run, row)) (commands::of_run(run, &row.url, row.caller.key.is_some())) }
        }
    }
}

fn action_forms(run: &Run, leaves: &Leaves<'_>) -> Markup {
    let action = |what: &str| format!("/runs/{}/{what}", run.id());
    let plain = |is_plain: bool| is_plain.then_some("plain");
    // A task that failed before it was executed fails again, unless the workflow file is changed.
    let has_to_change =
        !leaves.failed.is_empty() && leaves.failed.iter().all(|task| task.dispatched_at.is_none());
    let reused = leaves.tally.count(Phase::Succeeded);
    let is_plain = has_to_change || leaves.are_rejected(run);
    html! {
        @if run.phase().is_terminal() {
            a class={ "button " (plain(!has_to_change).unwrap_or_default()) } href=(action("edit")) { "Edit and run again" }
            form method="post" action=(action("rerun")) { (once::field(None)) button class="plain" title="Runs every task again, and reuses no result" { "Run again" } }
            @if run.phase() != Phase::Succeeded {
                form method="post" action=(action("rerun")) {
                    (once::field(None))
                    input type="hidden" name="from" value="failed";
                    button class=[plain(is_plain)] title={ "Takes over up to " (reused) " results of tasks that succeeded" } {
                        "Run the failed part again" @if reused > 0 { ", keeping " (format::count(usize::try_from(reused).unwrap_or(usize::MAX), "result")) }
                    }
                }
            }
        } @else {
            form method="post" action=(action("cancel")) data-confirm="Cancel the run? Tasks that have not ended end as Cancelled." {
                button class="danger" { "Cancel" }
            }
        }
    }
}

fn standing(run: &Run, leaves: &Leaves<'_>) -> Markup {
    html! {
        @match run.tasks().first() {
            Some(root) if root.phase == Phase::Failed && leaves.are_rejected(run) => {
                (format::rejected())
            }
            Some(root) if run.phase().is_terminal() => (format::standing(run, root)),
            Some(_) if run.is_parked() => (format::marked(Phase::Suspended, "Waiting for approval")),
            Some(_) | None => (format::phase(run.phase())),
        }
    }
}

/// Reasons that the row has, and warnings.
fn notes(run: &Run, row: &RunSummary) -> Markup {
    html! {
        @if let Some(note) = &row.note { div class="callout bad" role="alert" { p { "No host can resume it: " (note.why) } } }
        @if !run.warnings().is_empty() {
            details class="callout warn" {
                summary { (format::count(run.warnings().len(), "warning")) }
                ul { @for warning in run.warnings() { li { (format::prose(&warning.message)) } } }
            }
        }
    }
}

fn facts(run: &Run, row: &RunSummary) -> Markup {
    let times = run.times();
    let labels: Vec<_> = row
        .head
        .labels
        .iter()
        .filter(|(key, _)| &***key != RERUN_LABEL)
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    html! {
        h2 { "About this run" }
        dl class="facts" {
            div { dt { "Run" } dd { (format::id(run.id())) } }
            div { dt { "Submitted" } dd { (format::time(times.submitted_at)) " (" (format::instant(times.submitted_at)) ")" @if let Some(by) = run.submitted_by() { " by " (by) } } }
            @if let Some(by) = run.cancelled_by() { div { dt { "Cancelled by" } dd { (by) } } }
            div { dt { "Took" } dd { (format::took_or_counts(times.submitted_at, times.finished_at)) } }
            @if let Some(host) = row.host() { div { dt { "Host" } dd { (host) } } }
            div { dt { "Tasks ended" } dd { (run.progress()) } }
            @if &*row.head.namespace != "default" { div { dt { "Namespace" } dd { (row.head.namespace) } } }
            @for (kind, name, address) in &row.from { div { dt { (kind) } dd { a href=(address) { (name) } } } }
            @if !row.is_saved && row.caller.may(Role::Run).is_ok() { div { dt { "Saved workflow" } dd { a href={ "/runs/" (run.id()) "/edit" } { "Save it …" } } } }
            @if let Some(at) = run.run_deadline().filter(|_| !run.phase().is_terminal()) { div { dt { "Must end by" } dd { (format::time(at)) } } }
            @if let Some(trace) = run.trace_id() { div { dt { "Trace" } dd { (format::id(trace)) } } }
            @if let Some(notices) = &row.notices {
                div { dt { "Notifications" } dd { (notices.counts()) @if let Some(why) = &notices.failure { " (" (why) ")" } } }
            }
            @if !labels.is_empty() { div { dt { "Labels" } dd { (labels.join(", ")) } } }
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
    }
}
