//! One schedule: its next runs, its history, and the forms that pause, start and remove it.

use axum::{http::StatusCode, response::Response};
use maud::{Markup, html};
use phasm::{
    SubmitError, SubmitOptions, TriggerError, TriggerRequest,
    catalog::{self, CatalogItem, FiringNote, ScheduleState, Suspension},
    clock::Clock,
    engine::{schedule::Zone, time::Timestamp},
};

use super::{
    arguments, editor, firings, form::Form, format, once, relative, saved, saved::SavedDocument, schedules,
    see_other, shell::Shell,
};
use crate::{
    auth::caller::Role,
    problem_response::ProblemResponse,
    request::RequestContext,
    saved::{named, nothing, schedules::one},
};

const AT: &str = "/schedules";
/// Next runs that are shown.
const NEXT_TIMES: usize = 5;

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    render(&context, StatusCode::OK, None, &[]).await
}

async fn render(
    context: &RequestContext,
    status: StatusCode,
    form: Option<&Form>,
    problems: &[phasm::Problem],
) -> Result<Response, ProblemResponse> {
    let found = one(context).await?;
    let kept = SavedDocument::read(context, &found.what.document).await?;
    // A document that cannot be read any more has no next times.
    let next =
        context.app.host.next_instants(&found.namespace, &found.name, NEXT_TIMES).await.unwrap_or_default();
    let (zone, may) = (schedules::zone(&found), context.caller.may(Role::Run).is_ok());
    let now = Clock::start().now();
    let address = format::saved_path("schedules", &found.namespace, &found.name);
    let body = html! {
        p class="path" { a href=(AT) { "Schedules" } }
        div class="head" {
            h1 id="title" data-part { (format::display_name(&found.namespace, &found.name)) " " (firings::status(&found)) }
            div id="acts" class="acts" data-part { @if may { (action_forms(&found, &address)) } }
        }
        div id="facts" data-part { (facts(&found, &zone)) }
        div id="next" data-part { (next_runs(&found, &next, &zone, now)) }
        @if may { (trigger_form(&address, &kept, form, problems)) }
        div id="firings" data-part { (history(&found, &zone, now)) }
        h2 { "Workflow file" }
        @if may { p { a href={ (address) "/edit" } { "Edit" } } }
        (kept.draw())
        (saved::badge(context, "schedules", &found.namespace, &found.name))
    };
    let title = format::display_name(&found.namespace, &found.name);
    let standing = Some(format!("{title} is {}", firings::state(&found)));
    let shell = Shell { live: Some("/live".to_owned()), standing, ..Shell::new(&title, AT, &context.caller) };
    Ok(shell.respond(status, &body))
}

fn action_forms(found: &CatalogItem<ScheduleState>, address: &str) -> Markup {
    let (act, label) = match found.what.suspended {
        Some(_) => ("resume", "Resume"),
        None => ("suspend", "Pause"),
    };
    html! {
        form method="post" action={ (address) "/" (act) } { button class="plain" { (label) } }
        a class="button danger" href={ (address) "/remove" } { "Remove …" }
    }
}

fn facts(found: &CatalogItem<ScheduleState>, zone: &Zone) -> Markup {
    let ScheduleState { schedule, concurrency_policy, workflow, document, suspended, trouble, .. } =
        &found.what;
    html! {
        dl class="facts" {
            div { dt { "When" } dd { code { (schedule) } " " (zone) } }
            div { dt { "Last runs" } dd { (firings::strip(found, zone)) } }
            @if let Some(since) = firings::since(&found.what) { div { dt { "Failing since" } dd { (format::time(since)) " (" (format::instant(since)) ")" } } }
            div { dt { "Run name" } dd { (workflow) } }
            div { dt { "If still running" } dd { (schedules::if_still_running(concurrency_policy)) } }
            @if &*found.namespace != "default" { div { dt { "Namespace" } dd { (found.namespace) } } }
            div { dt { "Version" } dd { (format::digest(&document.digest)) } }
            div { dt { "Saved" } dd { (saved::origin(document)) } }
        }
        @if let Some(trouble) = trouble {
            div class="callout bad" role="alert" {
                p { "It cannot start its run since " (format::time(trouble.since)) ", and is tried again: " (trouble.why) }
            }
        }
        @match suspended {
            Some(Suspension::ByDocument) => { div class="callout" { p { "Paused by its workflow file. When you resume it, missed runs are not started." } } }
            Some(Suspension::ByHand) => { div class="callout" { p { "Paused by a user. When you resume it, missed runs are not started." } } }
            None => {}
        }
    }
}

fn next_runs(found: &CatalogItem<ScheduleState>, next: &[Timestamp], zone: &Zone, now: Timestamp) -> Markup {
    html! {
        h2 { @if found.what.suspended.is_some() { "Next runs, if resumed" } @else { "Next runs" } }
        @if next.is_empty() { p class="none" { "It has no more runs." } }
        @else { ol class="instants" { @for at in next { li { (relative::with_clock(&relative::until(now, *at), zone, *at)) } } } }
    }
}

/// The form that starts a run at once, with the parameters of the workflow file.
fn trigger_form(
    address: &str,
    kept: &SavedDocument,
    form: Option<&Form>,
    problems: &[phasm::Problem],
) -> Markup {
    let plan = kept.plan.as_ref().filter(|plan| !plan.arguments.is_empty());
    html! {
        section aria-labelledby="trigger-title" {
            h2 id="trigger-title" { "Start a run now" }
            p class="help" { "At any time, also while the schedule is paused." }
            (editor::list(problems, "problems"))
            form class="sheet" method="post" action={ (address) "/trigger" } {
                (once::field(form))
                @if let Some(plan) = plan { (arguments::draw(plan, form, problems)) }
                button { "Start a run now" }
            }
        }
    }
}

fn history(found: &CatalogItem<ScheduleState>, zone: &Zone, now: Timestamp) -> Markup {
    html! {
        h2 { "History" }
        @if found.what.firings.is_empty() { p class="none" { "No runs yet." } } @else {
            table class="list brief" {
                caption class="unseen" { "History, latest first" }
                thead { tr { th scope="col" { "Time" } th scope="col" { "Phase" } th scope="col" { "Reason" } th scope="col" { "Start" } th scope="col" { "Run" } } }
                tbody { @for firing in found.what.firings.iter().rev() { (line(firing, zone, now)) } }
            }
            p { a href={ "/runs?label=phasm%2Fschedule%3D" (crate::client::segment(&found.name)) "&namespace=" (crate::client::segment(&found.namespace)) } {
                "All its runs" } }
        }
    }
}

fn line(firing: &FiringNote, zone: &Zone, now: Timestamp) -> Markup {
    html! {
        tr {
            th scope="row" {
                (relative::with_clock(&relative::ago(now, firing.at), zone, firing.at))
                @if let Some(until) = firing.until { span class="clock" { " to " (format::clock(zone, until)) } }
            }
            td class="state" { (firings::phase(firing)) }
            td class="full" { @if let Some(reason) = firings::reason(firing) { span class="reason" title=(reason) { (reason) } } }
            td class="when" { (firing.what.words()) @if let Some(by) = &firing.by { " by " (by) } }
            td class="end" { @if let Some(run) = &firing.run_id { a href={ "/runs/" (run) } { (format::id(run)) } } @else { span class="none" { "–" } } }
        }
    }
}

pub(super) async fn suspend(context: RequestContext) -> Result<Response, ProblemResponse> {
    let (namespace, name) = named(&context)?;
    context.app.host.suspend_schedule(&namespace, &name).await?;
    Ok(back(&namespace, &name))
}

pub(super) async fn resume(context: RequestContext) -> Result<Response, ProblemResponse> {
    let (namespace, name) = named(&context)?;
    context.app.host.resume_schedule(&namespace, &name).await?;
    Ok(back(&namespace, &name))
}

fn back(namespace: &str, name: &str) -> Response {
    see_other(&format::saved_path("schedules", namespace, name))
}

pub(super) async fn trigger(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let form = Form::read(&mut context).await?;
    context.on_work_thread(async move |context| start(&context, &form).await).await
}

async fn start(context: &RequestContext, form: &Form) -> Result<Response, ProblemResponse> {
    let found = one(context).await?;
    let kept = SavedDocument::read(context, &found.what.document).await?;
    let parameters = match kept.plan.as_ref().map(|plan| arguments::read(plan, form)).transpose() {
        Ok(parameters) => parameters.unwrap_or_default(),
        Err(problems) => {
            return render(context, StatusCode::UNPROCESSABLE_ENTITY, Some(form), &problems).await;
        }
    };
    let request = TriggerRequest {
        namespace: &found.namespace,
        name: &found.name,
        parameters: &parameters,
        options: SubmitOptions { key: once::key(form).map(Into::into), by: context.caller.requester() },
    };
    match context.app.host.trigger(request).await {
        Ok(triggered) => Ok(see_other(&format!("/runs/{}", triggered.run_id))),
        Err(TriggerError::Submit(SubmitError::Problems(problems))) => {
            render(context, StatusCode::UNPROCESSABLE_ENTITY, Some(form), &problems).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn ask(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let found = one(&context).await?;
    let what = html! { p { "The schedule starts no more runs. Its runs are kept, and open runs continue." } };
    Ok(saved::question(&context, AT, "schedule", &found.namespace, &found.name, &what))
}

pub(super) async fn remove(context: RequestContext) -> Result<Response, ProblemResponse> {
    let (namespace, name) = named(&context)?;
    match catalog::remove_schedule(&**context.app.host.store(), &namespace, &name).await? {
        true => Ok(see_other(AT)),
        false => Err(nothing(&namespace, &name)),
    }
}
