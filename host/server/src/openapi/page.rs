//! The document as a page, without a script.

use axum::response::Response;
use maud::{Markup, html};

use super::segments;
use crate::{
    auth::caller::{Caller, Role},
    page::{API, Shell, format},
    route::{Parameter, Route},
};

/// Returns the document of these routes as a page.
pub(crate) fn page(routes: &[&Route], caller: &Caller) -> Response {
    let page = html! {
        h1 { "The API" }
        p { "For programs: " a href="/v1/openapi.json" { "the OpenAPI document" } "." }
        table class="list requests" {
            caption class="unseen" { "All responses" }
            thead { tr { th scope="col" { "Request" } th scope="col" { "Effect" } } }
            tbody { @for route in routes { tr {
                th scope="row" { a href=(format!("#{}", route.id)) { code { (title(route)) } } }
                td { (format::prose(route.what)) }
            } } }
        }
        @for route in routes { (section(route)) }
    };
    Shell::new("The API", API, caller).around(&page)
}

fn title(route: &Route) -> String {
    format!("{} {}", route.method.word().to_uppercase(), route.path)
}

fn section(route: &Route) -> Markup {
    let role = route.needs.map_or("no key", Role::word);
    let path = segments(route.path).map(|name| (name, "A part of the path."));
    let given = route.query.iter().chain(route.headers).map(|Parameter { name, what, .. }| (*name, *what));
    let parameters: Vec<_> = path.chain(given).collect();
    html! {
        section id=(route.id) {
            h2 { code { (title(route)) } }
            p { (format::prose(route.what)) " Needs: " (role) "." }
            @if !parameters.is_empty() {
                dl class="values" { @for (name, what) in parameters { dt { code { (name) } } dd { (format::prose(what)) } } }
            }
            ul {
                @for (status, what, _) in route.answers { li { (status) ": " (format::prose(what)) } }
                @if !route.refusals.is_empty() {
                    li { "refused with: " (route.refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")) }
                }
            }
        }
    }
}
