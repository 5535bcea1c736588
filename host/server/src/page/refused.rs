//! Why something was not done, for people.

use axum::response::Response;
use maud::{Markup, html};

use super::{shell::Shell, words};
use crate::{auth::caller::Caller, refusal::Refusal};

pub(super) fn page(caller: Option<&Caller>, refusal: &Refusal) -> Response {
    let title = refusal.title();
    let shell = Shell { title, at: "", caller, live: None, standing: None };
    let body = html! {
        h1 { (title) }
        div class="notice bad" role="alert" { p { (refusal.detail()) } }
        (faults(refusal))
        p { a href="/runs" { "All runs" } }
    };
    shell.answered(refusal.status(), &body)
}

/// A list of the problems.
pub(super) fn faults(refusal: &Refusal) -> Markup {
    html! {
        @if !refusal.shown().is_empty() {
            div role="alert" {
                ul class="problems" {
                    @for problem in refusal.shown() { li { code { (problem.path) } " " (words::said(&problem.message)) } }
                }
            }
        }
    }
}
