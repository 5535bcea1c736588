//! One saved workflow: its versions, each with its document and a form to run it.

use axum::{http::StatusCode, response::Response};
use maud::{Markup, html};
use phasm::{
    SubmitError,
    catalog::{self, Saved, SavedWorkflow, Version},
};

use super::{arguments, checked, form::Form, kept, kept::Kept, see_other, shell::Shell, words};
use crate::{
    auth::caller::Role,
    call::Call,
    refusal::Refusal,
    saved::{named, nothing, workflows::one},
};

const AT: &str = "/workflows";

pub(super) async fn page(mut call: Call) -> Result<Response, Refusal> {
    call.query.leave_out_empty();
    let version = call.query.text("version");
    call.query.done()?;
    shown(&call, StatusCode::OK, version.as_deref(), None, &[]).await
}

async fn shown(
    call: &Call,
    status: StatusCode,
    version: Option<&str>,
    form: Option<&Form>,
    problems: &[phasm::Problem],
) -> Result<Response, Refusal> {
    let found = one(call).await?;
    let version = found.what.version(version).ok_or_else(|| nothing(&found.namespace, &found.name))?;
    let kept = Kept::read(call, version).await?;
    let may = call.caller.may(Role::Run).is_ok();
    let (name, address) = (
        words::kept_name(&found.namespace, &found.name),
        words::kept_path("workflows", &found.namespace, &found.name),
    );
    let body = html! {
        p class="path" { a href=(AT) { "Workflows" } }
        div class="head" {
            h1 { (name) }
            div class="acts" { @if may { a class="button danger" href={ (address) "/remove" } { "Remove …" } } }
        }
        dl class="facts" {
            div { dt { "Version" } dd { (words::digest(&version.digest)) @if is_last(&found, version) { " (the last)" } } }
            div { dt { "Saved" } dd { (kept::origin(version)) } }
            div { dt { "Namespace" } dd { (found.namespace) } }
            div { dt { "Runs" } dd { a href=(runs_of(&found)) { "all of that name" } } }
        }
        @if may { (run_form(&address, &found, version, &kept, form, problems)) }
        (versions(&found, version, &address))
        h2 { "Document" }
        @if may { p { a href={ (address) "/edit?version=" (version.digest) } { "Change it" } } }
        (kept.draw())
    };
    Ok(Shell::new(&name, AT, &call.caller).answered(status, &body))
}

fn is_last(found: &Saved<SavedWorkflow>, version: &Version) -> bool {
    found.what.versions.last().is_some_and(|last| last.digest == version.digest)
}

fn runs_of(found: &Saved<SavedWorkflow>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("workflow", &found.name).append_pair("namespace", &found.namespace);
    format!("/runs?{}", query.finish())
}

fn run_form(
    address: &str,
    found: &Saved<SavedWorkflow>,
    version: &Version,
    kept: &Kept,
    form: Option<&Form>,
    problems: &[phasm::Problem],
) -> Markup {
    html! {
        section aria-labelledby="run-title" {
            h2 id="run-title" { "Run it" }
            (checked::list(problems, "problems"))
            form class="sheet" method="post" action={ (address) "/run" } {
                input type="hidden" name="version" value=(version.digest);
                @if let Some(plan) = &kept.plan { (arguments::draw(plan, form)) }
                button { "Submit a run of " @if is_last(found, version) { (found.name) } @else { "this version" } }
            }
        }
    }
}

fn versions(found: &Saved<SavedWorkflow>, shown: &Version, address: &str) -> Markup {
    html! {
        h2 { "Versions" }
        table class="list" {
            caption class="unseen" { "Versions, the last one first" }
            thead { tr { th scope="col" { "Digest" } th scope="col" { "Saved" } th scope="col" { "Bytes" } th scope="col" { "File" } } }
            tbody { @for version in found.what.versions.iter().rev() { tr {
                th scope="row" data-label="Digest" {
                    a href={ (address) "?version=" (version.digest) } aria-current=[(version.digest == shown.digest).then_some("true")] {
                        (words::digest(&version.digest)) }
                }
                td data-label="Saved" { (kept::origin(version)) }
                td data-label="Bytes" { (version.size) }
                td data-label="File" { (version.file) }
            } } }
        }
    }
}

pub(super) async fn run(mut call: Call) -> Result<Response, Refusal> {
    let form = Form::read(&mut call).await?;
    let (namespace, name) = named(&call)?;
    let version = Some(form.text("version")).filter(|version| !version.is_empty());
    let host = &call.app.host;
    let submitted = match host.saved_plan(&namespace, &name, version).await {
        Ok(plan) => host.submit(&plan, &arguments::read(&plan, &form)).await,
        Err(phasm::TriggerError::Submit(error)) => Err(error),
        Err(error) => return Err(error.into()),
    };
    match submitted {
        Ok(run) => Ok(see_other(&format!("/runs/{}", run.id()))),
        Err(SubmitError::Problems(problems)) => {
            shown(&call, StatusCode::UNPROCESSABLE_ENTITY, version, Some(&form), &problems).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn ask(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let found = one(&call).await?;
    let versions = words::count(found.what.versions.len(), "version");
    let what = html! { p { "With it " (versions) " of it are gone. Its runs stay." } };
    Ok(kept::question(&call, AT, "workflow", &found.namespace, &found.name, &what))
}

pub(super) async fn remove(call: Call) -> Result<Response, Refusal> {
    let (namespace, name) = named(&call)?;
    match catalog::remove_workflow(&**call.app.host.store(), &namespace, &name).await? {
        true => Ok(see_other(AT)),
        false => Err(nothing(&namespace, &name)),
    }
}
