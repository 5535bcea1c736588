//! The runs that there are.

use axum::{http::StatusCode, response::Response};
use maud::{Markup, html};
use phasm::{
    Phase,
    catalog::SCHEDULE_LABEL,
    store::RunRow,
    store::view::{Presence, RowWaits, RunState},
};

use super::{error, format, saved, shell::Shell};
use crate::{auth::caller::Role, problem_response::ProblemResponse, request::RequestContext, runs::list};

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.leave_out_empty();
    let asked = RunFilter::of(&context);
    let (status, faults, (rows, next)) = match list::rows(&mut context).await {
        Ok(found) => (StatusCode::OK, None, found),
        // TaskHistory beside the fields, in which it stays.
        Err(refusal) if refusal.status() == StatusCode::BAD_REQUEST => {
            (refusal.status(), Some(refusal), (Vec::new(), None))
        }
        Err(refusal) => return Err(refusal),
    };
    let next = next.map(|cursor| asked.address(&cursor));
    let presence = Presence::of(&**context.app.host.store(), true, &rows).await?;
    let body = html! {
        div class="head" {
            h1 { "Runs" }
            @if context.caller.may(Role::Run).is_ok() { a class="button" href="/submit" { "Write a workflow" } }
        }
        (asked.form())
        @if let Some(refusal) = &faults { (error::faults(refusal)) }
        @else { div id="rows" data-part {
            @if rows.is_empty() { (nothing(&context, &asked)) } @else { (table(&rows, &presence)) }
            @if let Some(next) = &next { p class="more" { a href=(next) rel="next" { "Older runs" } } }
        } }
    };
    let live = faults.is_none().then(|| "/live".to_owned());
    Ok(Shell { live, ..Shell::new("Runs", "/runs", &context.caller) }.respond(status, &body))
}

/// The filter of the list.
struct RunFilter(Vec<(String, String)>);

impl RunFilter {
    fn of(context: &RequestContext) -> Self {
        let query = context.path_and_query().1.unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
        Self(pairs.filter(|(name, value)| name != "cursor" && !value.is_empty()).collect())
    }

    fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Where the page after that cursor is.
    fn address(&self, cursor: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(&self.0).append_pair("cursor", cursor);
        format!("/runs?{}", query.finish())
    }

    fn field(&self, name: &str, label: &str, placeholder: &str) -> Markup {
        html! {
            div class="field" {
                label for=(name) { (label) }
                input id=(name) name=(name) size="14" value=(self.text(name)) placeholder=(placeholder);
            }
        }
    }

    fn form(&self) -> Markup {
        html! {
            form class="filters" role="search" method="get" action="/runs" {
                div class="field" {
                    label for="text" { "Search" }
                    input id="text" name="text" type="search" value=(self.text("text")) placeholder="id, workflow, label";
                }
                div class="field" {
                    label for="phase" { "Phase" }
                    select id="phase" name="phase" {
                        option value="" { "any" }
                        @for phase in Phase::ALL { option selected[self.text("phase") == phase.as_str()] { (phase) } }
                    }
                }
                @if !self.text("workflow").is_empty() { (self.field("workflow", "Workflow", "")) }
                (self.field("namespace", "Namespace", "all"))
                (self.field("label", "Label", "team=data"))
                div class="field" {
                    label for="since" { "Since" }
                    input id="since" name="since" size="12" value=(self.text("since")) placeholder="2h";
                }
                label class="choice" {
                    input type="checkbox" name="open" value="true" checked[self.text("open") == "true"];
                    " open only"
                }
                button class="plain" { "Filter" }
                @if !self.0.is_empty() { a href="/runs" { "Show all" } }
            }
        }
    }
}

fn table(rows: &[RunRow], presence: &Presence) -> Markup {
    html! {
        table class="list" {
            caption class="unseen" { "Runs, the newest first" }
            thead {
                tr { th scope="col" { "Phase" } th scope="col" { "Workflow" } th scope="col" { "Run" } th scope="col" { "Namespace" }
                    th scope="col" { "Submitted" } th scope="col" { "Took" } th scope="col" { "Waits for" } }
            }
            tbody { @for row in rows { (line(row, presence.state(row))) } }
        }
    }
}

fn line(row: &RunRow, state: RunState) -> Markup {
    let (head, status) = (&row.head, &row.status);
    let waits = RowWaits::of(row, state).map(|waits| match waits.why {
        Some(why) => format!("{}: {why}", waits.what),
        None => waits.what.to_owned(),
    });
    let waits = row.damaged.as_ref().map(|why| format!("damaged: {why}")).or(waits);
    html! {
        tr {
            td data-label="Phase" { @if row.damaged.is_some() { "damaged" } @else { (format::phase(status.phase)) (format::remark(row.remark.as_deref())) } }
            th scope="row" data-label="Workflow" {
                a href={ "/runs/" (head.run_id) } { (head.workflow) }
                @if let Some(schedule) = head.labels.get(SCHEDULE_LABEL) {
                    " " a class="origin" href=(format::saved_path("schedules", &head.namespace, schedule)) { "schedule " (schedule) }
                }
            }
            td data-label="Run" { (format::id(&head.run_id)) }
            td data-label="Namespace" { (head.namespace) }
            td data-label="Submitted" { (format::time(head.submitted_at)) }
            td data-label="Took" { (format::took(Some(head.submitted_at), status.finished_at)) }
            td data-label="Waits for" { (waits.unwrap_or_default()) }
        }
    }
}

/// The page of a store without runs, with a first command to copy.
fn nothing(context: &RequestContext, asked: &RunFilter) -> Markup {
    let key = if context.caller.key.is_some() { " -H \"Authorization: Bearer $PHASM_KEY\"" } else { "" };
    html! {
        div class="empty" {
            @if asked.0.is_empty() {
                h2 { "No run yet" }
                p { "A run is one execution of a workflow file." }
                @if context.caller.may(Role::Run).is_ok() {
                    p { a href="/submit" { "Write a workflow here" } " (it begins with an example), or send one that is in a file:" }
                    pre tabindex="0" data-copy {
                        "curl " (saved::url(context)) "/v1/runs" (key) " \\\n     -H 'Content-Type: application/yaml' --data-binary @greet.yaml"
                    }
                    p { "It appears here once it is accepted." }
                }
            } @else {
                h2 { "No matching runs" }
                p { a href="/runs" { "Show all runs" } }
            }
        }
    }
}
