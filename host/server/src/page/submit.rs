//! The editor: a document is written, submitted, saved as a workflow, or kept as a schedule.

use std::sync::Arc;

use axum::{
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use maud::html;
use phasm::{
    Plan, Problem, SubmitError,
    catalog::{SaveError, WrittenDocument, saved_text},
};

use super::{
    arguments,
    editor::{CHECK_PENDING, DocumentCheck, graph, report},
    examples,
    form::Form,
    format, once, reference, see_other,
    shell::Shell,
    yaml::yaml,
};
use crate::{
    problem_response::ProblemResponse,
    request::RequestContext,
    saved::{by, schedules, workflows},
};

/// The field with the id of the run whose file is edited.
const REPEATS: &str = "repeats";

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.leave_out_empty();
    let example = context.query.parsed("example", "the name of an example", examples::named);
    context.query.done()?;
    let text = examples::for_caller(&context.caller, example.unwrap_or(&examples::FIRST));
    edit(&context, &text).await
}

/// The document of a schedule, to be changed.
pub(super) async fn schedule(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let found = schedules::one(&context).await?;
    saved_document(&context, &found.what.document.digest).await
}

/// The document of a workflow, to be changed.
pub(super) async fn workflow(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let version = context.query.text("version");
    context.query.done()?;
    let found = workflows::one(&context).await?;
    let digest = found.what.version(version.as_deref()).map(|version| Arc::clone(&version.digest));
    saved_document(&context, &digest.unwrap_or_default()).await
}

/// The document of a run, to be changed and run with the parameters that it had.
pub(super) async fn rewrite(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let row = context.run().await?;
    let handle = context.app.host.run(&row.head.run_id).await?;
    let (document, parameters) =
        handle.look(|run| (run.plan().document.clone(), run.parameters().clone())).await?;
    let checked = DocumentCheck::soon(&context, &yaml(&document.value())).await?;
    let form = arguments::given(&parameters).with(REPEATS, &row.head.run_id);
    Ok(render(&context, StatusCode::OK, &checked, Some(&form)))
}

async fn saved_document(context: &RequestContext, digest: &str) -> Result<Response, ProblemResponse> {
    let text = saved_text(&*context.app.reader(), digest).await?.unwrap_or_default();
    edit(context, &text).await
}

async fn edit(context: &RequestContext, text: &str) -> Result<Response, ProblemResponse> {
    let checked = DocumentCheck::soon(context, text).await?;
    Ok(render(context, StatusCode::OK, &checked, None))
}

/// The check of a document, as parts of the page: the report, and the graph.
pub(super) async fn check(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let form = Form::read(&mut context).await?;
    let checked = DocumentCheck::of(&context, form.text("document")).await?;
    Ok(html! { (report(&checked, Some(&form))) (graph(&checked)) }.into_response())
}

pub(super) async fn submit(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let form = Form::read(&mut context).await?;
    let mut checked = DocumentCheck::of(&context, form.text("document")).await?;
    let act = form.text("act");
    let Some(plan) = checked.sound().cloned().filter(|_| act != "check") else {
        let status = match &checked.refused {
            Some(refused) => refused.status(),
            None if checked.problems.is_empty() => StatusCode::OK,
            None => StatusCode::UNPROCESSABLE_ENTITY,
        };
        return Ok(render(&context, status, &checked, Some(&form)));
    };
    let done = match act {
        "save" => save(&context, &checked, &plan).await,
        "keep" => keep(&context, &checked, &plan).await,
        _ => run(&context, &form, &plan, checked.text.len()).await,
    };
    match done? {
        Ok(address) => Ok(see_other(&address)),
        Err(problems) => {
            checked.problems = problems;
            Ok(render(&context, StatusCode::UNPROCESSABLE_ENTITY, &checked, Some(&form)))
        }
    }
}

/// Where what was done is to be seen, or the problems that it has.
type SubmitOutcome = Result<Result<String, Vec<Problem>>, ProblemResponse>;

/// `bytes` is the size of the document.
async fn run(context: &RequestContext, form: &Form, plan: &Arc<Plan>, bytes: usize) -> SubmitOutcome {
    let parameters = match arguments::read(plan, form) {
        Ok(parameters) => parameters,
        Err(problems) => return Ok(Err(problems.to_vec())),
    };
    let (host, planned) = (Arc::clone(&context.app.host), Arc::clone(plan));
    let by = context.caller.requester();
    let begun =
        context.work_on(bytes, async move { host.new_run_by(&planned, &parameters, by).await }).await?;
    // A run that the caller does not see is none to refer to.
    let repeats = match form.text(REPEATS) {
        "" => None,
        run_id => {
            context.app.host.store().get(run_id).await?.filter(|row| context.caller.sees(&row.head.namespace))
        }
    };
    let repeats = repeats.map(|row| Arc::clone(&row.head.run_id));
    let submission = async { once::start(begun?.repeats(repeats), form).await };
    match submission.await {
        Ok(run_id) => Ok(Ok(format!("/runs/{run_id}"))),
        Err(SubmitError::Problems(found)) => Ok(Err(found.to_vec())),
        Err(error) => Err(error.into()),
    }
}

async fn save(context: &RequestContext, checked: &DocumentCheck, plan: &Arc<Plan>) -> SubmitOutcome {
    let written = WrittenDocument { file: checked.file(), text: &checked.text };
    let saved = context.app.host.save_workflow(plan, written, by(&context.caller)).await;
    done("workflows", plan, &plan.name, saved.map(drop))
}

async fn keep(context: &RequestContext, checked: &DocumentCheck, plan: &Arc<Plan>) -> SubmitOutcome {
    let written = WrittenDocument { file: checked.file(), text: &checked.text };
    let kept = context.app.host.put_schedule(plan, written, by(&context.caller)).await;
    let name = plan.cron.as_ref().map_or(&plan.name, |cron| &cron.name);
    done("schedules", plan, name, kept.map(drop))
}

fn done(what: &str, plan: &Plan, name: &str, saved: Result<(), SaveError>) -> SubmitOutcome {
    match saved {
        Ok(()) => Ok(Ok(format::saved_path(what, &plan.namespace, name))),
        Err(SaveError::Problems(found)) => Ok(Err(found.to_vec())),
        Err(error) => Err(error.into()),
    }
}

fn render(
    context: &RequestContext,
    status: StatusCode,
    checked: &DocumentCheck,
    form: Option<&Form>,
) -> Response {
    let repeats = form.map(|form| form.text(REPEATS)).filter(|run_id| !run_id.is_empty());
    let title = if repeats.is_some() { "Edit and run again" } else { checked.title() };
    let body = html! {
        h1 { (title) }
        @match repeats {
            Some(run_id) => p class="help" {
                "The workflow file and the parameters of the run " a href={ "/runs/" (run_id) } { (format::short_id(run_id)) }
                ". Phasm keeps no comments of a file."
            },
            None => (examples::gallery()),
        }
        form class="sheet wide write" method="post" action="/submit" data-editor="/submit/check" data-late=(CHECK_PENDING)
            data-draft[repeats.is_none()] {
            @if let Some(run_id) = repeats { input type="hidden" name=(REPEATS) value=(run_id); }
            (once::field(form))
            div class="field" {
                label for="document" { "Workflow file, YAML or JSON" }
                div class="editor" {
                    textarea id="document" name="document" rows="22" spellcheck="false" autocapitalize="off" autocomplete="off"
                        wrap="off" aria-describedby="report" { "\n" (checked.text) }
                }
                p class="help" { a href=(reference::FIELDS) target="_blank" { "All fields" } ", " a href=(reference::ERRORS) target="_blank" { "all errors" } }
                noscript { p class="help" { "Without scripts: check your changes before you submit." } }
            }
            (graph(checked))
            (report(checked, form))
        }
    };
    Shell::new(title, "/submit", &context.caller).respond(status, &body)
}
