//! The plugins that runs find, and what each may touch.

use axum::response::Response;
use maud::{Markup, html};
use phasm::{Value, plugins::Plugins};

use super::shell::Shell;
use crate::{call::Call, refusal::Refusal};

pub(super) async fn page(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let plugins = call.app.host.plugins();
    let names = plugins.map(Plugins::names).unwrap_or_default();
    let body = html! {
        h1 { "Plugins" }
        p { "Each runs in a sandbox, and may touch nothing but what the configuration grants it." }
        @if names.is_empty() {
            div class="empty" {
                h2 { "No plugin" }
                p { "Make one with " code { "phasm plugin new greet" } ", or add one with " code { "phasm plugin add FILE" } "." }
            }
        } @else {
            table class="list" {
                caption class="unseen" { "Plugins by name" }
                thead { tr { th scope="col" { "Plugin" } th scope="col" { "May touch" } } }
                tbody { @for name in &names { tr {
                    th scope="row" data-label="Plugin" { code { (name) } }
                    td data-label="May touch" { (grants(&plugins.map(|plugins| plugins.granted(name)).unwrap_or_default())) }
                } } }
            }
        }
    };
    std::future::ready(Ok(Shell::new("Plugins", "/plugins", &call.caller).around(&body))).await
}

/// What is granted, as a journal describes it.
fn grants(granted: &Value) -> Markup {
    let list = |name| granted.member(name).and_then(Value::as_array).unwrap_or_default();
    let dirs = granted.member("dirs").and_then(Value::as_object);
    html! {
        @if granted.is_null() { span class="none" { "nothing" } } @else {
            ul class="grants" {
                @for (dir, mode) in dirs.into_iter().flatten() {
                    li { "directory " code { (dir) } @if mode.as_str() == Some("rw") { ", to read and write" } @else { ", to read" } }
                }
                @for name in list("env").iter().filter_map(Value::as_str) { li { "variable " code { (name) } } }
                @for pattern in list("http").iter().filter_map(Value::as_str) { li { "requests " code { (pattern) } } }
                @for network in list("networks").iter().filter_map(Value::as_str) { li { "network " code { (network) } } }
                @if granted.member("clock").is_some() { li { "the real clock" } }
            }
        }
    }
}
