//! Parts that the pages of schedules and of saved workflows share.

use axum::{http::header, response::Response};
use maud::{Markup, html};
use phasm::{
    Plan, Value,
    catalog::{DamagedEntry, Version, saved_text},
    engine::plan::{Draft, Executors},
    reader,
};

use super::{format, shell::Shell};
use crate::{client::segment, problem_response::ProblemResponse, request::RequestContext};

/// A document of one version, and its plan as far as that needs no plugins: for its parameters.
pub(super) struct SavedDocument {
    pub(super) text: String,
    pub(super) plan: Option<Plan>,
}

impl SavedDocument {
    pub(super) async fn read(context: &RequestContext, version: &Version) -> Result<Self, ProblemResponse> {
        let text = saved_text(&*context.app.reader(), &version.digest).await?.unwrap_or_default();
        let file = version.file.clone();
        let planned = context.work_on(text.len(), async move {
            let read = reader::read(&file, &text);
            let plan = read.and_then(|tree| Draft::read(&tree).plan(&Executors::any(), &Value::Null)).ok();
            Self { plan, text }
        });
        planned.await
    }

    /// The document, to be looked at.
    pub(super) fn draw(&self) -> Markup {
        html! { pre class="document" tabindex="0" role="group" aria-label="The workflow file" { (self.text) } }
    }
}

/// Returns the server's URL, as the browser has it.
pub(crate) fn url(context: &RequestContext) -> String {
    let host = context.header(&header::HOST).unwrap_or("localhost");
    let scheme = if context.app.config.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{host}")
}

/// A command to copy, which does something here.
pub(super) fn command(context: &RequestContext, words: &str) -> Markup {
    html! {
        pre tabindex="0" data-copy { "phasm " (words) " --server " (url(context)) }
        @if context.caller.key.is_some() { p class="help" { "with a key in " code { "PHASM_KEY" } } }
    }
}

/// Names entries that the store does not have as they were written.
pub(super) fn damaged(entries: &[DamagedEntry]) -> Markup {
    html! {
        @for DamagedEntry { namespace, name, damaged } in entries {
            p class="error" role="alert" { (format::display_name(namespace, name)) " is damaged: " (damaged) }
        }
    }
}

/// How a version came to be.
pub(super) fn origin(version: &Version) -> Markup {
    html! { (format::time(version.saved_at)) @if let Some(by) = &version.by { " by " code { (by) } } }
}

/// The filter of a list by namespace, unless the list `is_plain`: all that there is, and all in the namespace `default`.
pub(super) fn filter(context: &RequestContext, at: &str, is_plain: bool) -> Markup {
    let query = context.path_and_query().1.unwrap_or_default();
    let given = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "namespace");
    let given = given.map(|(_, value)| value.into_owned()).unwrap_or_default();
    if is_plain && given.is_empty() {
        return html! {};
    }
    html! {
        form class="filters" role="search" method="get" action=(at) {
            div class="field" {
                label for="namespace" { "Namespace" }
                input id="namespace" name="namespace" size="14" value=(given) placeholder="all";
            }
            button class="plain" { "Filter" }
            @if !given.is_empty() { a href=(at) { "Show all" } }
        }
    }
}

/// The link to the next page.
pub(super) fn more(context: &RequestContext, at: &str, next: Option<&str>) -> Markup {
    let address = |cursor: &str| {
        let query = context.path_and_query().1.unwrap_or_default();
        let others = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "cursor");
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(others).append_pair("cursor", cursor);
        format!("{at}?{}", query.finish())
    };
    html! { @if let Some(next) = next { p class="more" { a href=(address(next)) rel="next" { "More" } } } }
}

/// The badge of a workflow or schedule, and the Markdown that shows it in a README. `kind` is `workflows` or `schedules`.
pub(super) fn badge(context: &RequestContext, kind: &str, namespace: &str, name: &str) -> Markup {
    let query = match namespace {
        "default" => String::new(),
        namespace => {
            let mut query = form_urlencoded::Serializer::new(String::new());
            format!("?{}", query.append_pair("namespace", namespace).finish())
        }
    };
    let picture = format!("/v1/{kind}/{}/badge.svg{query}", segment(name));
    let (server, page) = (url(context), format::saved_path(kind, namespace, name));
    let text: String = name.chars().map(|c| if "[]\\`".contains(c) { '-' } else { c }).collect();
    html! {
        section class="badge" aria-labelledby="badge-title" {
            h2 id="badge-title" { "Badge" }
            p { img src=(picture) alt={ "Badge with the phase of the latest ended run of " (name) } height="20"; }
            pre tabindex="0" data-copy { "[![" (text) "](" (server) (picture) ")](" (server) (page) ")" }
            @if context.caller.key.is_some() {
                p class="help" { "This server requires a key, also for the badge. A README can show it through a proxy that adds a key." }
            }
        }
    }
}

/// Asks once more before something is removed.
pub(super) fn question(
    context: &RequestContext,
    at: &'static str,
    kind: &str,
    namespace: &str,
    name: &str,
    what: &Markup,
) -> Response {
    let question = format!("Remove the {kind} {}?", format::display_name(namespace, name));
    let address = format::saved_path(&format!("{kind}s"), namespace, name);
    let body = html! {
        h1 { (question) }
        (what)
        form class="acts" method="post" action={ (address) "/remove" } {
            button class="danger" { "Remove it" }
            a class="button plain" href=(address) { "Keep it" }
        }
    };
    Shell::new(&question, at, &context.caller).around(&body)
}
