//! The journal of a run, by pages, filtered by type and task.

use maud::{Markup, html};
use phasm::{
    engine::{run::EventView, text},
    store::RunRow,
};

use super::{
    event_text::{TYPES, sentence, words},
    format,
};
use crate::{problem_response::ProblemResponse, query::Query, request::RequestContext};

/// Events of a page.
const PAGE_EVENTS: usize = 200;
/// Events that one page looks at for those that fit its filter.
const MAX_SCANNED_EVENTS: usize = 20_000;
/// Longest sentence and longest JSON of an event, in bytes.
const MAX_SENTENCE_BYTES: usize = 600;
const MAX_JSON_BYTES: usize = 4000;

/// Events that are wanted.
pub(super) struct EventQuery {
    /// Number of the first event.
    since: u64,
    /// Type of the events, if only one is wanted.
    kind: Option<&'static str>,
    /// Text in the paths of their tasks.
    path: Option<String>,
}

impl EventQuery {
    pub(super) fn of(query: &mut Query) -> Self {
        let known = |text: &str| TYPES.iter().find(|(name, _)| *name == text).map(|(name, _)| *name);
        Self {
            since: query.count("since", 0, u32::MAX as usize).unwrap_or(0) as u64,
            kind: query.parsed("event", "a type of events", known),
            path: query.text("path"),
        }
    }

    const fn is_filter(&self) -> bool {
        self.kind.is_some() || self.path.is_some()
    }

    fn fits(&self, view: &EventView<'_>) -> bool {
        let has = |text: &String| view.path().is_some_and(|path| path.contains(text.as_str()));
        self.kind.is_none_or(|kind| kind == view.event().name()) && self.path.as_ref().is_none_or(has)
    }

    /// The address of the same events from `since` on.
    fn address(&self, row: &RunRow, since: u64) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("view", "events");
        let filter = [("event", self.kind), ("path", self.path.as_deref())];
        query.extend_pairs(filter.into_iter().filter_map(|(name, value)| Some((name, value?))));
        query.append_pair("since", &since.to_string());
        format!("/runs/{}?{}", row.head.run_id, query.finish())
    }
}

/// A page of events.
struct EventPage {
    lines: Vec<Markup>,
    scanned: usize,
    /// Number of the event at which the next page begins, if there are more.
    next: Option<u64>,
}

/// The events that are wanted, a page of them.
pub(super) async fn list(
    context: &RequestContext,
    row: &RunRow,
    wanted: &EventQuery,
) -> Result<Markup, ProblemResponse> {
    let page = read(context, row, wanted).await?;
    Ok(html! {
        (filter(row, wanted))
        @if page.lines.is_empty() { p class="empty" { "No matching events" @if page.next.is_some() { " among " (page.scanned) } "." } } @else {
            table class="list brief events" {
                caption class="unseen" { "Events, the first ones first" }
                thead { tr { th scope="col" { "No." } th scope="col" { "Time" } th scope="col" { "Event" } th scope="col" { "Task" }
                    th scope="col" { "Details" } } }
                tbody { @for line in &page.lines { (line) } }
            }
        }
        p class="more" { (links(row, wanted, page.next)) }
    })
}

async fn read(
    context: &RequestContext,
    row: &RunRow,
    wanted: &EventQuery,
) -> Result<EventPage, ProblemResponse> {
    let app = &context.app;
    let mut cursor = app.cursors.take(&app.host, &row.head.run_id, wanted.since);
    let (mut lines, mut scanned) = (Vec::new(), 0);
    let shown = cursor.show(|view| {
        if lines.len() == PAGE_EVENTS || scanned == MAX_SCANNED_EVENTS {
            return false;
        }
        scanned += 1;
        if wanted.fits(view) {
            lines.push(line(row, view));
        }
        true
    });
    let more = shown.await?;
    let next = cursor.next();
    app.cursors.leave(cursor);
    Ok(EventPage { lines, scanned, next: more.then_some(next) })
}

fn filter(row: &RunRow, wanted: &EventQuery) -> Markup {
    let address = format!("/runs/{}", row.head.run_id);
    html! {
        form class="filters" method="get" action=(address) {
            input type="hidden" name="view" value="events";
            div class="field" {
                label for="event" { "Event" }
                select id="event" name="event" {
                    option value="" { "any" }
                    @for (name, label) in TYPES { option value=(name) selected[wanted.kind == Some(name)] { (label) } }
                }
            }
            div class="field" {
                label for="path" { "Task" }
                input id="path" name="path" size="24" value=(wanted.path.as_deref().unwrap_or_default()) placeholder="any";
            }
            button class="plain" { "Filter" }
            @if wanted.is_filter() { a href={ (address) "?view=events" } { "Show all" } }
        }
    }
}

/// Links to other pages. The page before a filtered one is not known: its link leads to the beginning.
fn links(row: &RunRow, wanted: &EventQuery, next: Option<u64>) -> Markup {
    let (since, is_filter) = (wanted.since, wanted.is_filter());
    html! {
        @if since > 0 && is_filter { a href=(wanted.address(row, 0)) { "First events" } " " }
        @else if since > 0 { a href=(wanted.address(row, since.saturating_sub(PAGE_EVENTS as u64))) rel="prev" { "Earlier events" } " " }
        @if let Some(next) = next {
            a href=(wanted.address(row, next)) rel="next" { @if is_filter { "Continue from event " (next) } @else { "Later events" } }
        }
    }
}

fn line(row: &RunRow, view: &EventView<'_>) -> Markup {
    let (event, json) = (view.event(), view.json());
    let text = json.to_string();
    let attempt = json.get("attempt").map(|attempt| format!(" @{attempt}")).unwrap_or_default();
    html! {
        tr {
            td class="wide number" { (view.seq()) }
            td class="state" { (format::offset(row.head.submitted_at, Some(view.time()))) }
            th scope="row" title=(event.name()) { (words(event.name())) }
            td class="full" { (view.path().unwrap_or_default()) (attempt) }
            td class="full" {
                (text::cut(&sentence(view, &json), MAX_SENTENCE_BYTES)) " "
                details {
                    summary { "JSON" }
                    code class="data" { (text::cut(&text, MAX_JSON_BYTES)) }
                    @if text.len() > MAX_JSON_BYTES {
                        " " a href={ "/v1/runs/" (row.head.run_id) "/events?limit=1&since=" (view.seq()) } { "All of it" }
                    }
                }
            }
        }
    }
}
