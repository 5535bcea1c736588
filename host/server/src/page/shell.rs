//! The layout around every page.

use axum::{
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use maud::{DOCTYPE, Markup, html};
use phasm::Phase;

use crate::auth::caller::{Caller, Role};

/// A page.
pub(crate) struct Shell<'a> {
    pub(super) title: &'a str,
    /// Where one is.
    pub(super) at: &'static str,
    pub(super) caller: Option<&'a Caller>,
    /// Where changes of it are told; nothing, if it stays as it is.
    pub(super) live: Option<String>,
    /// Status that screen readers announce when it changes.
    pub(super) standing: Option<String>,
    /// Phase of what is shown, which the page's icon has.
    pub(super) phase: Option<Phase>,
    /// Subject of the page, for search and previews.
    pub(super) description: Option<String>,
}

pub(crate) const API: &str = "/v1/docs";

const PLACES: [(&str, &str, Role); 6] = [
    ("/runs", "Runs", Role::Read),
    ("/waiting", "Waiting", Role::Read),
    ("/submit", "Write", Role::Run),
    ("/workflows", "Workflows", Role::Read),
    ("/schedules", "Schedules", Role::Read),
    ("/plugins", "Plugins", Role::Read),
];

impl<'a> Shell<'a> {
    pub(crate) fn new(title: &'a str, at: &'static str, caller: &'a Caller) -> Self {
        Self { at, ..Self::outside(title, Some(caller)) }
    }

    /// A page that belongs to none of the places, for a caller who may not be known.
    pub(super) fn outside(title: &'a str, caller: Option<&'a Caller>) -> Self {
        Self { title, at: "", caller, live: None, standing: None, phase: None, description: None }
    }

    /// The page with that in it.
    pub(crate) fn around(&self, body: &Markup) -> Response {
        self.respond(StatusCode::OK, body)
    }

    pub(super) fn respond(&self, status: StatusCode, body: &Markup) -> Response {
        (status, self.whole(body)).into_response()
    }

    fn whole(&self, body: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · Phasm" }
                    @if let Some(description) = &self.description { meta name="description" content=(description); }
                    link rel="icon" href=(self.icon()) type="image/svg+xml";
                    link rel="stylesheet" href="/assets/page.css";
                    script type="module" src="/assets/page.js" {}
                }
                body {
                    a class="skip" href="#main" { "Skip to the content" }
                    p id="connection" class="connection" role="status" hidden { "The connection to the server is lost. Trying again …" }
                    header class="top" { (self.navigation()) }
                    main id="main" tabindex="-1" data-live=[self.live.as_deref()] data-standing=[self.standing.as_deref()] { (body) }
                    div id="told" class="unseen" role="status" aria-live="polite" {}
                }
            }
        }
    }

    fn icon(&self) -> String {
        self.phase.map_or_else(|| "/favicon.ico".to_owned(), |phase| format!("/assets/{phase}.svg"))
    }

    fn navigation(&self) -> Markup {
        // The API's page needs no key.
        let is_open = self.at == API;
        let may = |role| is_open || self.caller.is_some_and(|caller| caller.may(role).is_ok());
        html! {
            nav aria-label="Main" {
                a class="brand" href="/runs" { "Phasm" }
                @for (address, name, role) in PLACES {
                    @if may(role) {
                        a href=(address) aria-current=[(address == self.at).then_some("page")] { (name) }
                    }
                }
                a href=(API) aria-current=[is_open.then_some("page")] { "API" }
            }
            @if let Some(key) = self.caller.and_then(|caller| caller.key.as_deref()) {
                form class="who" method="post" action="/logout" {
                    span { "key " code { (key) } }
                    button class="plain" { "Sign out" }
                }
            }
        }
    }
}
