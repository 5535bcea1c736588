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
    editor::{CHECK_PENDING, DocumentCheck, report},
    form::Form,
    format, once, see_other,
    shell::Shell,
    yaml::yaml,
};
use crate::{
    auth::caller::Caller,
    problem_response::ProblemResponse,
    request::RequestContext,
    saved::{by, schedules, workflows},
};

/// Examples: name in the address, title, and document.
const EXAMPLES: [(&str, &str, &str); 3] = [
    ("hello", "a greeting", include_str!("assets/hello.yaml")),
    ("approval", "an approval", include_str!("assets/approval.yaml")),
    ("schedule", "every working day", include_str!("assets/schedule.yaml")),
];

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.leave_out_empty();
    let named = |word: &str| EXAMPLES.iter().find(|(known, ..)| *known == word).map(|(_, _, text)| *text);
    let example = context.query.parsed("example", "hello, approval or schedule", named);
    context.query.done()?;
    let [(_, _, first), ..] = EXAMPLES;
    let text = example_for(&context.caller, example.unwrap_or(first));
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
    Ok(render(&context, StatusCode::OK, &checked, Some(&arguments::given(&parameters))))
}

async fn saved_document(context: &RequestContext, digest: &str) -> Result<Response, ProblemResponse> {
    let text = saved_text(&*context.app.reader(), digest).await?.unwrap_or_default();
    edit(context, &text).await
}

async fn edit(context: &RequestContext, text: &str) -> Result<Response, ProblemResponse> {
    let checked = DocumentCheck::soon(context, text).await?;
    Ok(render(context, StatusCode::OK, &checked, None))
}

/// Returns an example, in a namespace that the caller may use.
fn example_for(caller: &Caller, text: &str) -> String {
    match caller.namespaces.first().filter(|_| !caller.sees("default")) {
        Some(own) => text.replacen("metadata: { ", &format!("metadata: {{ namespace: {own}, "), 1),
        None => text.to_owned(),
    }
}

/// The check of a document, as a part of the page.
pub(super) async fn check(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let form = Form::read(&mut context).await?;
    let checked = DocumentCheck::of(&context, form.text("document")).await?;
    Ok(report(&checked, Some(&form)).into_response())
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
    let submission = async { once::start(begun?, form).await };
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
    let body = html! {
        h1 { "Write a workflow" }
        p class="examples" {
            "Begin with an example: "
            @for (word, name, _) in EXAMPLES { a href={ "/submit?example=" (word) } { (name) } " " }
            span class="none" { "(their executors come with Phasm)" }
        }
        form class="sheet wide" method="post" action="/submit" data-editor="/submit/check" data-late=(CHECK_PENDING) {
            (once::field(form))
            div class="field" {
                label for="document" { "Workflow file, YAML or JSON" }
                div class="editor" {
                    textarea id="document" name="document" rows="22" spellcheck="false" autocapitalize="off" autocomplete="off"
                        wrap="off" aria-describedby="report" { "\n" (checked.text) }
                }
            }
            (report(checked, form))
            noscript { p class="help" { "Without scripts: check your changes before you submit." } }
        }
    };
    Shell::new("Write a workflow", "/submit", &context.caller).respond(status, &body)
}
