//! A document in the editor, and what is found of it: its problems, its graph, what it is given, when it comes, and what can be done
//! with it.

use std::{sync::Arc, time::Duration};

use maud::{Markup, PreEscaped, html};
use phasm::{
    Plan, Problem, catalog,
    clock::Clock,
    engine::{
        plan::Draft,
        schedule::{Cron, Schedule},
        time::Timestamp,
    },
    reader,
};
use phasm_graph::{Diagram, Limits, SvgOptions, graph_svg};
use tokio::time::timeout;

use super::{arguments, form::Form, format, reference};
use crate::{
    auth::caller::Caller, problem_response::ProblemResponse, request::RequestContext, state::AppState,
};

/// Problems that are shown.
const MAX_PROBLEMS: usize = 50;
/// Instants that are shown of a schedule.
const NEXT_TIMES: usize = 5;
/// For how long a page waits for plugins that are built first.
const BUILD_WAIT: Duration = Duration::from_secs(2);
/// Message while a check takes long.
pub(super) const CHECK_PENDING: &str =
    "Checking: an executor that is used for the first time is being built, which may take minutes.";

/// A document, and what was found of it.
pub(super) struct DocumentCheck {
    pub(super) text: String,
    pub(super) plan: Option<Arc<Plan>>,
    pub(super) problems: Vec<Problem>,
    /// Reason why the caller may not run the document.
    pub(super) refused: Option<ProblemResponse>,
    /// Graph of the plan, as SVG.
    graph: Option<String>,
    /// How many versions are kept by its name already, or 1 for a schedule.
    kept: usize,
    /// Whether it is still being looked at.
    is_pending: bool,
}

impl DocumentCheck {
    /// Looks at a document, however long that takes.
    pub(super) async fn of(context: &RequestContext, text: &str) -> Result<Self, ProblemResponse> {
        let (app, caller, checked) = (Arc::clone(&context.app), context.caller.clone(), Self::unseen(text));
        context.work_on(text.len(), checked.look(app, caller)).await?
    }

    async fn look(mut self, app: Arc<AppState>, caller: Caller) -> Result<Self, ProblemResponse> {
        let draft = match reader::read(self.file(), &self.text) {
            Ok(tree) => Draft::read(&tree),
            Err(problems) => return Ok(Self { problems, ..self }),
        };
        if let Some(namespace) = draft.namespace() {
            self.refused = caller.may_submit_to(&namespace).err();
        }
        if self.refused.is_some() {
            return Ok(self);
        }
        match app.host.plan_draft(draft).await {
            Ok(plan) => {
                self.refused = caller.may_submit_to(&plan.namespace).err();
                self.kept = saved_versions(&app, &plan).await?;
                self.graph = Some(drawn(&plan));
                self.plan = Some(plan);
            }
            Err(problems) => self.problems = problems.to_vec(),
        }
        Ok(self)
    }

    /// Looks at a document, and says so if that takes long.
    pub(super) async fn soon(context: &RequestContext, text: &str) -> Result<Self, ProblemResponse> {
        match timeout(BUILD_WAIT, Self::of(context, text)).await {
            Ok(checked) => checked,
            Err(_late) => Ok(Self { is_pending: true, ..Self::unseen(text) }),
        }
    }

    fn unseen(text: &str) -> Self {
        let text = text.replace("\r\n", "\n");
        let (plan, graph, refused) = (None, None, None);
        Self { text, plan, problems: Vec::new(), refused, graph, kept: 0, is_pending: false }
    }

    /// Returns the title of the page, which says whether a schedule is being written.
    pub(super) fn title(&self) -> &'static str {
        let is_schedule = match &self.plan {
            Some(plan) => plan.cron.is_some(),
            None => self.text.contains("CronWorkflow"),
        };
        if is_schedule { "Write a schedule" } else { "Write a workflow" }
    }

    /// Returns the name of the document in problems, which depends on its format.
    pub(super) fn file(&self) -> &'static str {
        if self.text.trim_start().starts_with('{') { "document.json" } else { "document.yaml" }
    }

    /// The plan, if the caller may run it. Problems beside it are of what is given to it, which is then corrected in the form.
    pub(super) fn sound(&self) -> Option<&Arc<Plan>> {
        self.plan.as_ref().filter(|_| self.refused.is_none())
    }
}

fn drawn(plan: &Plan) -> String {
    graph_svg(
        &Diagram::of_plan(plan, Limits::default()),
        SvgOptions { embedded: true, ..SvgOptions::default() },
    )
}

/// How much is kept by the name of a document already.
async fn saved_versions(app: &AppState, plan: &Plan) -> Result<usize, ProblemResponse> {
    let (store, namespace) = (app.reader(), &plan.namespace);
    Ok(match &plan.cron {
        Some(cron) => usize::from(catalog::schedule(&*store, namespace, &cron.name).await?.is_some()),
        None => {
            let found = catalog::saved_workflow(&*store, namespace, &plan.name).await?;
            found.map_or(0, |found| found.what.versions.len())
        }
    })
}

/// Problems, warnings, what the document has to be given, when it comes, and what can be done.
pub(super) fn report(checked: &DocumentCheck, form: Option<&Form>) -> Markup {
    let warnings = checked.plan.as_ref().map(|plan| plan.warnings.as_slice()).unwrap_or_default();
    html! {
        div id="report" data-title=(checked.title()) data-pending[checked.is_pending] {
            div class="findings" role="status" { (findings(checked)) }
            (list(&checked.problems, "problems"))
            (list(warnings, "problems warnings"))
            @if let Some(plan) = checked.sound() {
                @match &plan.cron {
                    Some(cron) => (next_runs(cron)),
                    None => fieldset id="arguments" data-keys=(keys(plan)) { legend { "Parameters" } (arguments::draw(plan, form, &checked.problems)) }
                }
            }
            div class="acts" id="acts" {
                @if let Some(plan) = checked.sound() { (action_buttons(plan, checked.kept)) }
                @else { noscript { button class="plain" name="act" value="check" { "Check it" } } }
            }
        }
    }
}

/// The graph of the plan, if the workflow file is valid.
pub(super) fn graph(checked: &DocumentCheck) -> Markup {
    html! {
        div id="plan" {
            @match checked.graph.as_ref().filter(|_| checked.sound().is_some()) {
                Some(drawn) => {
                    div class="picture" tabindex="0" role="group" aria-label="Graph" { (PreEscaped(drawn)) }
                    p class="help" { "This graph is of the last text without errors." }
                }
                None => p class="none" { "The graph appears here when the workflow file is valid." },
            }
        }
    }
}

fn findings(checked: &DocumentCheck) -> Markup {
    html! {
        @if checked.is_pending {
            p { (CHECK_PENDING) }
        } @else if let Some(refused) = &checked.refused {
            p class="bad" { (format::prose(refused.detail())) }
        } @else if !checked.problems.is_empty() {
            p class="bad" { (format::count(checked.problems.len(), "error")) }
        } @else {
            p class="good" { "The workflow file is valid." }
        }
    }
}

/// The buttons say what they do.
fn action_buttons(plan: &Plan, kept: usize) -> Markup {
    html! {
        @match (&plan.cron, kept) {
            (Some(cron), 0) => button name="act" value="keep" { "Start the schedule " (cron.name) },
            (Some(cron), _) => button name="act" value="keep" { "Replace the file of the schedule " (cron.name) },
            (None, kept) => {
                button name="act" value="submit" { "Submit a run of " (plan.name) }
                button class="plain" name="act" value="save" {
                    @if kept == 0 { "Save it as the workflow " (plan.name) } @else { "Save it as another version of " (plan.name) }
                }
            }
        }
    }
}

/// When a schedule comes, if it is kept now.
fn next_runs(cron: &Cron) -> Markup {
    let Schedule { zone, .. } = &cron.schedule;
    let instants = next(&cron.schedule);
    html! {
        section id="comes" aria-labelledby="comes-title" {
            h2 id="comes-title" { "It starts a run" }
            @if cron.suspend { p { "Paused until you resume it: the workflow says " code { "suspend: true" } "." } }
            @if instants.is_empty() { p class="bad" { "Never: it has no more runs." } }
            @else { ol class="instants" { @for at in instants { li { (format::clock(zone, at)) } } li { "and so on, in the time zone " (zone) } } }
        }
    }
}

fn next(schedule: &Schedule) -> Vec<Timestamp> {
    let first = schedule.next_after(Clock::start().now());
    std::iter::successors(first, |at| schedule.next_after(*at)).take(NEXT_TIMES).collect()
}

/// Returns a key of the form's parameters. The form is replaced when it changes.
fn keys(plan: &Plan) -> String {
    let all = plan.arguments.iter().map(|argument| format!("{}:{}", argument.name, argument.kind.as_str()));
    all.collect::<Vec<_>>().join(",")
}

/// Returns what is wrong, and what was expected, which may be a list of all names: the hint stands before it.
fn in_parts(message: &str) -> (&str, Option<&str>) {
    match message.split_once("; ") {
        Some((wrong, expected)) if expected.starts_with("expected ") => (wrong, Some(expected)),
        _ => (message, None),
    }
}

/// Problems with their places.
pub(super) fn list(problems: &[Problem], class: &str) -> Markup {
    html! {
        @if !problems.is_empty() {
            ul class=(class) {
                @for problem in problems.iter().take(MAX_PROBLEMS) {
                    li data-line=(problem.line) data-column=(problem.column) {
                        @if problem.line > 0 { span class="place" { "line " (problem.line) } " " }
                        a href=(reference::error_path(problem.code)) target="_blank" { code { (problem.code) } } " "
                        @if !problem.path.is_empty() { code { (problem.path) } ": " }
                        @let (wrong, expected) = in_parts(&problem.message);
                        span class="said" { (format::prose(wrong)) }
                        @if let Some(hint) = &problem.hint { " " span class="hint" { (format::prose(hint)) } }
                        @if let Some(expected) = expected { " " span class="expected" { (format::prose(expected)) } }
                    }
                }
                @if problems.len() > MAX_PROBLEMS { li { "and " (problems.len() - MAX_PROBLEMS) " more" } }
            }
        }
    }
}
