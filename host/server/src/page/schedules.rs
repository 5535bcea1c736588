//! The schedules, the next run of each, and how its last runs ended.

use axum::response::Response;
use maud::{Markup, html};
use phasm::{
    catalog::{CatalogItem, FiringNote, ScheduleState},
    clock::Clock,
    engine::{schedule::Zone, time::Timestamp},
    store::ReadStore,
};

use super::{firings, format, relative, saved, shell::Shell};
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
    let is_plain = next.is_none() && all.iter().all(|one| &*one.namespace == "default");
    let body = html! {
        div class="head" {
            h1 { "Schedules" }
            @if may { a class="button" href="/submit?example=schedule" { "Write a schedule" } }
        }
        (saved::filter(&context, AT, is_plain))
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
    let now = Clock::start().now();
    html! {
        table class="list brief" {
            caption class="unseen" { "Schedules by name" }
            thead { tr { th scope="col" { "Schedule" } th scope="col" { "State" } th scope="col" { "Next run" } th scope="col" { "Last runs" }
                th scope="col" { "When" } th scope="col" { "If still running" } } }
            tbody { @for one in all { (line(one, now)) } }
        }
    }
}

fn line(one: &CatalogItem<ScheduleState>, now: Timestamp) -> Markup {
    let (what, zone) = (&one.what, zone(one));
    html! {
        tr {
            th scope="row" {
                a href=(format::saved_path("schedules", &one.namespace, &one.name)) { (format::display_name(&one.namespace, &one.name)) }
            }
            td class="state" { (firings::status(one)) }
            td class="when" { @match one.next { Some(at) => (clock(now, &zone, at)), None => span class="none" { "–" } } }
            td class="end" { (firings::strip(one, &zone)) }
            td class="wide" { code { (what.schedule) } " " (what.timezone) }
            td class="wide" { (if_still_running(&what.concurrency_policy)) }
        }
    }
}

/// The next run, in words; by the clocks of the schedule where one points at it.
fn clock(now: Timestamp, zone: &Zone, at: Timestamp) -> Markup {
    let title = zone.written(at).unwrap_or_else(|| at.to_rfc3339());
    html! { time datetime=(at.to_rfc3339()) title=(title) { (relative::until(now, at)) } p class="help" { (title) } }
}

/// The time zone of a schedule.
pub(super) fn zone(one: &CatalogItem<ScheduleState>) -> Zone {
    Zone::named(&one.what.timezone).unwrap_or_default()
}

/// The concurrency policy: the action if earlier runs are open.
pub(super) fn if_still_running(policy: &str) -> &str {
    match policy {
        "Allow" => "start another",
        "Forbid" => "skip",
        "Replace" => "cancel the earlier",
        policy => policy,
    }
}

fn nothing(context: &RequestContext) -> Markup {
    html! {
        div class="empty" {
            h2 { "No schedule" }
            p { "A schedule starts a run of its workflow by itself, for example every working day at half past seven." }
            @if context.caller.may(Role::Run).is_ok() {
                p { a href="/submit?example=schedule" { "Begin with an example" } ", or add one from a file:" }
                (saved::command(context, "cron add report.yaml"))
            }
        }
    }
}
