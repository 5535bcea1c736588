//! One saved workflow: its versions, each with its workflow file and a form to run it.

use axum::{http::StatusCode, response::Response};
use maud::{Markup, html};
use phasm::{
    SubmitError,
    catalog::{self, CatalogItem, SavedWorkflow, Version},
};

use super::{
    arguments, editor, form::Form, format, once, saved, saved::SavedDocument, see_other, shell::Shell,
};
use crate::{
    auth::caller::Role,
    problem_response::ProblemResponse,
    request::RequestContext,
    saved::{named, nothing, workflows::one},
};

const AT: &str = "/workflows";

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.leave_out_empty();
    let version = context.query.text("version");
    context.query.done()?;
    render(&context, StatusCode::OK, version.as_deref(), None, &[]).await
}

async fn render(
    context: &RequestContext,
    status: StatusCode,
    version: Option<&str>,
    form: Option<&Form>,
    problems: &[phasm::Problem],
) -> Result<Response, ProblemResponse> {
    let found = one(context).await?;
    let version = found.what.version(version).ok_or_else(|| nothing(&found.namespace, &found.name))?;
    let kept = SavedDocument::read(context, version).await?;
    let may = context.caller.may(Role::Run).is_ok();
    let (name, address) = (
        format::display_name(&found.namespace, &found.name),
        format::saved_path("workflows", &found.namespace, &found.name),
    );
    let body = html! {
        p class="path" { a href=(AT) { "Workflows" } }
        div class="head" {
            h1 { (name) }
            div class="acts" { @if may { a class="button danger" href={ (address) "/remove" } { "Remove …" } } }
        }
        dl class="facts" {
            div { dt { "Version" } dd { (format::digest(&version.digest)) @if is_last(&found, version) { " (the last)" } } }
            div { dt { "Saved" } dd { (saved::origin(version)) } }
            @if &*found.namespace != "default" { div { dt { "Namespace" } dd { (found.namespace) } } }
            div { dt { "Runs" } dd { a href=(runs_of(&found)) { "All its runs" } } }
        }
        @if may { (run_form(&address, &found, version, &kept, form, problems)) }
        (versions(&found, version, &address))
        h2 { "Workflow file" }
        @if may { p { a href={ (address) "/edit?version=" (version.digest) } { "Edit" } } }
        (kept.draw())
        (saved::badge(context, "workflows", &found.namespace, &found.name))
    };
    Ok(Shell::new(&name, AT, &context.caller).respond(status, &body))
}

fn is_last(found: &CatalogItem<SavedWorkflow>, version: &Version) -> bool {
    found.what.versions.last().is_some_and(|last| last.digest == version.digest)
}

fn runs_of(found: &CatalogItem<SavedWorkflow>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("workflow", &found.name).append_pair("namespace", &found.namespace);
    format!("/runs?{}", query.finish())
}

fn run_form(
    address: &str,
    found: &CatalogItem<SavedWorkflow>,
    version: &Version,
    kept: &SavedDocument,
    form: Option<&Form>,
    problems: &[phasm::Problem],
) -> Markup {
    html! {
        section aria-labelledby="run-title" {
            h2 id="run-title" { "Run it" }
            (editor::list(problems, "problems"))
            form class="sheet" method="post" action={ (address) "/run" } {
                (once::field(form))
                input type="hidden" name="version" value=(version.digest);
                @if let Some(plan) = &kept.plan { (arguments::draw(plan, form, problems)) }
                button { "Submit a run of " @if is_last(found, version) { (found.name) } @else { "this version" } }
            }
        }
    }
}

fn versions(found: &CatalogItem<SavedWorkflow>, shown: &Version, address: &str) -> Markup {
    html! {
        h2 { "Versions" }
        table class="list brief" {
            caption class="unseen" { "Versions, the last one first" }
            thead { tr { th scope="col" { "Digest" } th scope="col" { "Size" } th scope="col" { "Saved" } th scope="col" { "File" } } }
            tbody { @for version in found.what.versions.iter().rev() { tr {
                th scope="row" {
                    a href={ (address) "?version=" (version.digest) } aria-current=[(version.digest == shown.digest).then_some("true")] {
                        (format::digest(&version.digest)) }
                }
                td class="state" { (version.size) " bytes" }
                td class="when" { (saved::origin(version)) }
                td class="wide" { (version.file) }
            } } }
        }
    }
}

pub(super) async fn run(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let form = Form::read(&mut context).await?;
    context.on_work_thread(async move |context| submit(&context, &form).await).await
}

async fn submit(context: &RequestContext, form: &Form) -> Result<Response, ProblemResponse> {
    let (namespace, name) = named(context)?;
    let version = Some(form.text("version")).filter(|version| !version.is_empty());
    let host = &context.app.host;
    let submitted = match host.saved_plan(&namespace, &name, version).await {
        Ok(plan) => match arguments::read(&plan, form) {
            Ok(parameters) => {
                async { once::start(host.new_run(&plan, &parameters).await?, form).await }.await
            }
            Err(problems) => Err(problems.into()),
        },
        Err(phasm::TriggerError::Submit(error)) => Err(error),
        Err(error) => return Err(error.into()),
    };
    match submitted {
        Ok(run_id) => Ok(see_other(&format!("/runs/{run_id}"))),
        Err(SubmitError::Problems(problems)) => {
            render(context, StatusCode::UNPROCESSABLE_ENTITY, version, Some(form), &problems).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn ask(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let found = one(&context).await?;
    let versions = format::count(found.what.versions.len(), "version");
    let what = html! { p { "The workflow is removed with its " (versions) ". Its runs are kept." } };
    Ok(saved::question(&context, AT, "workflow", &found.namespace, &found.name, &what))
}

pub(super) async fn remove(context: RequestContext) -> Result<Response, ProblemResponse> {
    let (namespace, name) = named(&context)?;
    match catalog::remove_workflow(&**context.app.host.store(), &namespace, &name).await? {
        true => Ok(see_other(AT)),
        false => Err(nothing(&namespace, &name)),
    }
}
