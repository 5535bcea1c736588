//! The workflows that are kept, to be run by their names.

use axum::response::Response;
use maud::{Markup, html};
use phasm::catalog::{Saved, SavedWorkflow};

use super::{kept, shell::Shell, words};
use crate::{
    auth::caller::Role,
    call::Call,
    refusal::Refusal,
    saved::{found, workflows::FIND},
};

const AT: &str = "/workflows";

pub(super) async fn page(mut call: Call) -> Result<Response, Refusal> {
    call.query.leave_out_empty();
    let (all, next) = found(&mut call, FIND).await?;
    let body = html! {
        div class="head" {
            h1 { "Workflows" }
            @if call.caller.may(Role::Run).is_ok() { a class="button" href="/submit" { "Write a workflow" } }
        }
        (kept::filter(&call, AT))
        div id="rows" data-part {
            @if all.is_empty() { (nothing(&call)) } @else { (table(&all)) }
            (kept::more(&call, AT, next.as_deref()))
        }
    };
    let shell = Shell { live: Some("/live".to_owned()), ..Shell::new("Workflows", AT, &call.caller) };
    Ok(shell.around(&body))
}

fn table(all: &[Saved<SavedWorkflow>]) -> Markup {
    html! {
        table class="list" {
            caption class="unseen" { "Saved workflows by name" }
            thead { tr { th scope="col" { "Workflow" } th scope="col" { "Last version" } th scope="col" { "Saved" } th scope="col" { "Versions" } } }
            tbody { @for one in all { (line(one)) } }
        }
    }
}

fn line(one: &Saved<SavedWorkflow>) -> Markup {
    let last = one.what.versions.last();
    html! {
        tr {
            th scope="row" data-label="Workflow" {
                a href=(words::kept_path("workflows", &one.namespace, &one.name)) { (words::kept_name(&one.namespace, &one.name)) }
            }
            td data-label="Last version" { @if let Some(last) = last { (words::digest(&last.digest)) } }
            td data-label="Saved" { @if let Some(last) = last { (kept::origin(last)) } }
            td data-label="Versions" { (one.what.versions.len()) }
        }
    }
}

fn nothing(call: &Call) -> Markup {
    html! {
        div class="empty" {
            h2 { "No saved workflow" }
            p { "A workflow that is saved is run by its name, with a form for its parameters, and keeps its earlier versions." }
            @if call.caller.may(Role::Run).is_ok() {
                p { a href="/submit" { "Write one, and save it" } ", or save one that is in a file:" }
                (kept::command(call, "workflow save greet.yaml"))
            }
        }
    }
}
