//! The journal of a run, by pages.

use maud::{Markup, html};
use phasm::{engine::text, store::RunRow};
use serde_json::Value;

use super::format;
use crate::{problem_response::ProblemResponse, request::RequestContext};

/// Events of a page.
const PAGE_EVENTS: u64 = 200;
/// Longest text of an event, in bytes.
const MAX_EVENT_TEXT_BYTES: usize = 400;

/// The events from `since` on.
pub(super) async fn list(
    context: &RequestContext,
    row: &RunRow,
    since: u64,
) -> Result<Markup, ProblemResponse> {
    let app = &context.app;
    let mut cursor = app.cursors.take(&app.host, &row.head.run_id, since);
    let mut lines = Vec::new();
    let shown = cursor.show(|view| {
        let fits = (lines.len() as u64) < PAGE_EVENTS;
        if fits {
            lines.push(line(&view.json(), view.time()));
        }
        fits
    });
    let more = shown.await?;
    app.cursors.leave(cursor);
    let address = |since: u64| format!("/runs/{}?view=events&since={since}", row.head.run_id);
    Ok(html! {
        table class="list events" {
            caption class="unseen" { "Events, the first ones first" }
            thead { tr { th scope="col" { "No." } th scope="col" { "Time" } th scope="col" { "Event" } th scope="col" { "Task" }
                th scope="col" { "Data" } } }
            tbody { @for line in lines { (line) } }
        }
        p class="more" {
            @if since > 0 { a href=(address(since.saturating_sub(PAGE_EVENTS))) rel="prev" { "Earlier events" } " " }
            @if more { a href=(address(since + PAGE_EVENTS)) rel="next" { "Later events" } }
        }
    })
}

fn line(event: &Value, time: phasm::engine::time::Timestamp) -> Markup {
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let scope = text("scope");
    let path =
        if scope.is_empty() { text("taskName").to_owned() } else { format!("{scope}/{}", text("taskName")) };
    let attempt = event.get("attempt").map(|attempt| format!(" @{attempt}")).unwrap_or_default();
    let data = event.get("data").map(Value::to_string).unwrap_or_default();
    html! {
        tr {
            td data-label="No." { (event.get("seq").and_then(Value::as_u64).unwrap_or(0)) }
            td data-label="Time" { (format::exact_time(time)) }
            th scope="row" data-label="Event" { code { (text("type")) } }
            td data-label="Task" { (path) (attempt) }
            td data-label="Data" { code class="data" { (text::cut(&data, MAX_EVENT_TEXT_BYTES)) } }
        }
    }
}
