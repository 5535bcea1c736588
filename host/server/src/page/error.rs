//! Why something was not done, for people.

use axum::response::Response;
use maud::{Markup, html};

use super::{format, shell::Shell};
use crate::{auth::caller::Caller, problem_response::ProblemResponse};

pub(super) fn page(caller: Option<&Caller>, refusal: &ProblemResponse) -> Response {
    let title = refusal.title();
    let shell = Shell::outside(title, caller);
    let body = html! {
        h1 { (title) }
        div class="callout bad" role="alert" { p { (refusal.detail()) } }
        (faults(refusal))
        p { a href="/runs" { "All runs" } }
    };
    shell.respond(refusal.status(), &body)
}

/// A list of the problems.
pub(super) fn faults(refusal: &ProblemResponse) -> Markup {
    html! {
        @if !refusal.shown().is_empty() {
            div role="alert" {
                ul class="problems" {
                    @for problem in refusal.shown() { li { code { (problem.path) } " " (format::prose(&problem.message)) } }
                }
            }
        }
    }
}
