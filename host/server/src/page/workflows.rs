//! The saved workflows, to be run by their names.

use axum::response::Response;
use maud::{Markup, html};
use phasm::catalog::{CatalogItem, SavedWorkflow};

use super::{format, saved, shell::Shell};
use crate::{
    auth::caller::Role,
    problem_response::ProblemResponse,
    request::RequestContext,
    saved::{EntryPage, found, workflows::FIND},
};

const AT: &str = "/workflows";

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.leave_out_empty();
    let EntryPage { items: all, damaged, next } = found(&mut context, FIND).await?;
    let is_plain = next.is_none() && all.iter().all(|one| &*one.namespace == "default");
    let body = html! {
        div class="head" {
            h1 { "Workflows" }
            @if context.caller.may(Role::Run).is_ok() { a class="button" href="/submit" { "Write a workflow" } }
        }
        p class="help" { "Workflows that are saved by their names. Runs of others are among the " a href="/runs" { "runs" } "." }
        (saved::filter(&context, AT, is_plain))
        (saved::damaged(&damaged))
        div id="rows" data-part {
            @if all.is_empty() { (nothing(&context)) } @else { (table(&all)) }
            (saved::more(&context, AT, next.as_deref()))
        }
    };
    let shell = Shell { live: Some("/live".to_owned()), ..Shell::new("Workflows", AT, &context.caller) };
    Ok(shell.around(&body))
}

fn table(all: &[CatalogItem<SavedWorkflow>]) -> Markup {
    html! {
        table class="list brief" {
            caption class="unseen" { "Saved workflows by name" }
            thead { tr { th scope="col" { "Workflow" } th scope="col" { "Versions" } th scope="col" { "Saved" } th scope="col" { "Last version" } } }
            tbody { @for one in all { (line(one)) } }
        }
    }
}

fn line(one: &CatalogItem<SavedWorkflow>) -> Markup {
    let last = one.what.versions.last();
    html! {
        tr {
            th scope="row" {
                a href=(format::saved_path("workflows", &one.namespace, &one.name)) { (format::display_name(&one.namespace, &one.name)) }
            }
            td class="state" { (format::count(one.what.versions.len(), "version")) }
            td class="when" {
                @if let Some(last) = last { (saved::origin(last)) }
            }
            td class="wide" { @if let Some(last) = last { (format::digest(&last.digest)) } }
        }
    }
}

fn nothing(context: &RequestContext) -> Markup {
    html! {
        div class="empty" {
            h2 { "No saved workflow" }
            p { "A workflow that is saved is run by its name, with a form for its parameters, and keeps its earlier versions." }
            @if context.caller.may(Role::Run).is_ok() {
                p { a href="/submit" { "Write one, and save it" } ", or save one that is in a file:" }
                (saved::command(context, "workflow save greet.yaml"))
            }
        }
    }
}
