//! The document as a page, without a script.

use axum::response::{IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, html};

use super::segments;
use crate::{
    caller::Role,
    routes::{Parameter, ROUTES, Route},
};

pub(super) fn page() -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "Phasm: the API" }
            }
            body {
                h1 { "Phasm: the API" }
                p { "For programs: " a href="/v1/openapi.json" { "the OpenAPI document" } "." }
                ul { @for route in ROUTES { li { a href=(format!("#{}", route.id)) { code { (title(route)) } } } } }
                @for route in ROUTES { (shown(route)) }
            }
        }
    };
    page.into_response()
}

fn title(route: &Route) -> String {
    format!("{} {}", route.method.word().to_uppercase(), route.path)
}

fn shown(route: &Route) -> Markup {
    let role = route.needs.map_or("nobody's key", Role::word);
    let path = segments(route.path).map(|name| (name, "A part of the path."));
    let given = route.query.iter().chain(route.headers).map(|Parameter { name, what, .. }| (*name, *what));
    let parameters: Vec<_> = path.chain(given).collect();
    html! {
        section id=(route.id) {
            h2 { code { (title(route)) } }
            p { (route.what) " Needs: " (role) "." }
            @if !parameters.is_empty() {
                dl { @for (name, what) in parameters { dt { code { (name) } } dd { (what) } } }
            }
            ul {
                @for (status, what, _) in route.answers { li { (status) ": " (what) } }
                @if !route.refusals.is_empty() {
                    li { "refused with: " (route.refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")) }
                }
            }
        }
    }
}
