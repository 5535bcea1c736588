//! All tasks that wait for a person, across runs.

use axum::response::Response;
use maud::{Markup, html};
use phasm::{
    engine::run::Run,
    store::{
        Filter, RunRow,
        view::{Presence, RunState},
    },
};

use super::{answer, attention, format, shell::Shell, view::View};
use crate::{auth::caller::Caller, problem_response::ProblemResponse, request::RequestContext};

/// Open runs that are looked through, the newest first.
const MAX_OPEN: usize = 1000;
/// Waiting runs that are shown.
const MAX_SHOWN: usize = 30;

/// Callers whose responses are waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The caller's.
    Mine,
    /// Anyone's.
    Anyone,
}

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let whose = if context.query.flag("all") { Whose::Anyone } else { Whose::Mine };
    context.query.done()?;
    let store = context.app.reader();
    let namespaces = context.caller.namespaces.to_vec();
    let rows = store.list(Filter { namespaces, open: true, ..Filter::default() }, MAX_OPEN).await?;
    let presence = Presence::of(&*store, true, &rows).await?;
    let waiting: Vec<_> = rows.into_iter().filter(|row| presence.state(row) == RunState::Parked).collect();
    let (mut shown, mut others) = (Vec::new(), 0);
    for row in waiting.iter().take(MAX_SHOWN) {
        let handle = context.app.host.run_of(row).counted_for(context.holder.clone());
        let (row, caller) = (row.clone(), context.caller.clone());
        let drawn = handle.outline(move |run, _| draw(run, &row, &caller, whose)).await?;
        others += usize::from(drawn.is_none());
        shown.extend(drawn);
    }
    let more = waiting.len().saturating_sub(MAX_SHOWN);
    let body = html! {
        div class="head" { h1 { "Waiting for approval" } }
        div id="rows" data-part {
            @if shown.is_empty() { (nothing(whose, others)) }
            @for one in &shown { (one) }
            @if others > 0 && !shown.is_empty() { p { a href="/waiting?all=true" { (format::count(others, "run")) " waiting for others" } } }
            @if more > 0 { p { a href="/runs?status=suspended" { (more) " more runs are waiting" } } }
        }
    };
    let live = Some("/live".to_owned());
    Ok(Shell { live, ..Shell::new("Waiting for approval", "/waiting", &context.caller) }.around(&body))
}

/// The questions of a run; `None` if none of them is for the caller.
fn draw(run: &Run, row: &RunRow, caller: &Caller, whose: Whose) -> Option<Markup> {
    if whose == Whose::Mine && !answer::is_for(run, caller) {
        return None;
    }
    Some(html! {
        article id={ "run-" (row.head.run_id) } class="waiting-run" {
            p class="origin" {
                a href={ "/runs/" (row.head.run_id) } { (row.head.workflow) " " (format::short_id(&row.head.run_id)) } ", submitted " (format::time(row.head.submitted_at))
                @if &*row.head.namespace != "default" { ", in " (row.head.namespace) }
            }
            (attention::waiting(run, caller, View::Graph))
        }
    })
}

fn nothing(whose: Whose, others: usize) -> Markup {
    html! {
        div class="empty" {
            h2 { @if whose == Whose::Mine { "Nothing waits for you" } @else { "Nothing waits" } }
            p { "A workflow waits where a step asks a person, as the executor " code { "approval" } " does." }
            @if others > 0 { p { a href="/waiting?all=true" { (format::count(others, "run")) " waiting for others" } } }
        }
    }
}
