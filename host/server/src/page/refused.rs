//! Why something was not done, for people.

use axum::response::Response;
use maud::html;

use super::shell::Shell;
use crate::{caller::Caller, refusal::Refusal};

pub(super) fn page(caller: Option<&Caller>, refusal: &Refusal) -> Response {
    let title = refusal.title();
    let shell = Shell { title, at: "", caller, live: None, standing: None };
    let body = html! {
        h1 { (title) }
        div class="notice bad" role="alert" { p { (refusal.detail()) } }
        @if !refusal.shown().is_empty() {
            ul class="problems" {
                @for problem in refusal.shown() { li { code { (problem.code) " " (problem.path) } " " (problem.message) } }
            }
        }
        p { a href="/runs" { "All runs" } }
    };
    shell.answered(refusal.status(), &body)
}
