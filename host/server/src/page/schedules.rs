//! The schedules that are kept, when each comes, and how the last run of each went.

use axum::response::Response;
use maud::{Markup, html};
use phasm::{
    catalog::{CatalogItem, FiringNote, ScheduleState},
    engine::schedule::Zone,
    store::ReadStore,
};

use super::{format, saved, shell::Shell};
use crate::{
    auth::caller::Role,
    problem_response::ProblemResponse,
    request::RequestContext,
    saved::{EntryPage, found, schedules::FIND},
};

const AT: &str = "/schedules";

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.leave_out_empty();
    let EntryPage { items: mut all, damaged, next } = found(&mut context, FIND).await?;
    let store = context.app.reader();
    for one in &mut all {
        look(&*store, one).await?;
    }
    let may = context.caller.may(Role::Run).is_ok();
    let body = html! {
        div class="head" {
            h1 { "Schedules" }
            @if may { a class="button" href="/submit?example=schedule" { "Write a schedule" } }
        }
        (saved::filter(&context, AT))
        (saved::damaged(&damaged))
        div id="rows" data-part {
            @if all.is_empty() { (nothing(&context)) } @else { (table(&all)) }
            (saved::more(&context, AT, next.as_deref()))
        }
    };
    let shell = Shell { live: Some("/live".to_owned()), ..Shell::new("Schedules", AT, &context.caller) };
    Ok(shell.around(&body))
}

/// How the last run stands by now.
async fn look(store: &dyn ReadStore, one: &mut CatalogItem<ScheduleState>) -> Result<(), ProblemResponse> {
    let started = |firing: &&mut FiringNote| firing.was_started();
    let Some(last) = one.what.firings.iter_mut().rfind(started) else { return Ok(()) };
    if let Some(run_id) = last.open() {
        let row = store.get(run_id).await?;
        last.phase = row.filter(|row| !row.status.open).map(|row| row.status.phase);
    }
    Ok(())
}

fn table(all: &[CatalogItem<ScheduleState>]) -> Markup {
    html! {
        table class="list" {
            caption class="unseen" { "Schedules by name" }
            thead { tr { th scope="col" { "State" } th scope="col" { "Schedule" } th scope="col" { "When" } th scope="col" { "Next" }
                th scope="col" { "Last run" } th scope="col" { "If still running" } } }
            tbody { @for one in all { (line(one)) } }
        }
    }
}

fn line(one: &CatalogItem<ScheduleState>) -> Markup {
    let what = &one.what;
    let last = what.firings.iter().rfind(|firing| firing.was_started());
    html! {
        tr {
            td data-label="State" { (status(one)) }
            th scope="row" data-label="Schedule" {
                a href=(format::saved_path("schedules", &one.namespace, &one.name)) { (format::display_name(&one.namespace, &one.name)) }
            }
            td data-label="When" { code { (what.schedule) } " " (what.timezone) }
            td data-label="Next" { @match one.next { Some(at) => (format::clock(&zone(one), at)), None => span class="none" { "–" } } }
            td data-label="Last run" { @match last { Some(firing) => (run(&zone(one), firing)), None => span class="none" { "–" } } }
            td data-label="If still running" { (beside(&what.concurrency_policy)) }
        }
    }
}

/// Its clocks.
pub(super) fn zone(one: &CatalogItem<ScheduleState>) -> Zone {
    Zone::named(&one.what.timezone).unwrap_or_default()
}

/// How it stands, by a sign and a word.
pub(super) fn status(one: &CatalogItem<ScheduleState>) -> Markup {
    let word = one.standing();
    let sign = match word {
        "active" => "●",
        "suspended" => "‖",
        "in trouble" => "!",
        _ => "–",
    };
    html! { span class={ "standing " (word.replace(' ', "-")) } { span aria-hidden="true" { (sign) } " " (word) } }
}

/// The concurrency policy: the action if earlier runs are open.
pub(super) fn beside(policy: &str) -> String {
    let what = match policy {
        "Allow" => "another one starts",
        "Forbid" => "none starts",
        "Replace" => "they are cancelled",
        _ => "",
    };
    format!("{policy}: {what}")
}

/// The run of a firing: how it went, and when it was started.
pub(super) fn run(zone: &Zone, firing: &FiringNote) -> Markup {
    html! {
        (phase(firing)) " "
        @if let Some(run) = &firing.run_id { a href={ "/runs/" (run) } { (format::clock(zone, firing.at)) } }
        @else { (format::clock(zone, firing.at)) }
    }
}

/// How the run of a firing went.
pub(super) fn phase(firing: &FiringNote) -> Markup {
    html! {
        @match (firing.phase, firing.open()) {
            (Some(phase), _) => { (format::phase(phase)) (format::remark(firing.remark.as_deref())) }
            (None, Some(_)) => "open",
            (None, None) => span class="none" { "–" },
        }
    }
}

fn nothing(context: &RequestContext) -> Markup {
    html! {
        div class="empty" {
            h2 { "No schedule" }
            p { "A schedule starts a run of its workflow by itself, say every working day at half past seven." }
            @if context.caller.may(Role::Run).is_ok() {
                p { a href="/submit?example=schedule" { "Begin with an example" } ", or keep one that is in a file:" }
                (saved::command(context, "cron add report.yaml"))
            }
        }
    }
}
