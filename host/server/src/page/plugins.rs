//! The plugins that runs find, the access of each, and those that wait to be approved.

use axum::{http::StatusCode, response::Response};
use maud::{Markup, html};
use phasm::{Value, plugins::PluginRow};

use super::{
    format,
    shell::Shell,
    upload_form::{FieldError, upload_form},
};
use crate::{
    auth::caller::{Caller, Role},
    plugins::{change::address, list, seen},
    problem_response::ProblemResponse,
    request::RequestContext,
};

/// Entries of a page.
const PAGE_PLUGINS: usize = 100;

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.leave_out_empty();
    let cursor = context.query.text("cursor");
    context.query.done()?;
    render(&context, StatusCode::OK, cursor.as_deref(), None).await
}

/// The list, and the form that adds one, with what was wrong with what was sent.
pub(super) async fn render(
    context: &RequestContext,
    status: StatusCode,
    cursor: Option<&str>,
    wrong: Option<&FieldError>,
) -> Result<Response, ProblemResponse> {
    let mut all = seen(&context.app.host, &context.caller).await;
    // One that is none shows the beginning.
    all.retain(|entry| cursor.is_none_or(|cursor| entry.is_behind(cursor).unwrap_or(true)));
    let is_more = all.len() > PAGE_PLUGINS;
    all.truncate(PAGE_PLUGINS);
    let next = all.last().filter(|_| is_more).map(phasm::plugins::PluginEntry::cursor);
    let rows = list::rows(&context.app, &context.caller, all).await?;
    let body = html! {
        h1 { "Plugins" }
        p { "Each plugin runs in a sandbox, and has only the access that the configuration grants." }
        @let (hidden, found): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.shadowed);
        @if rows.is_empty() { (nothing()) } @else if !found.is_empty() { (table(&found)) }
        @if !hidden.is_empty() {
            details { summary { (format::count(hidden.len(), "plugin")) " not used: another of its name is found first" } (table(&hidden)) }
        }
        @if let Some(next) = next {
            p class="more" { a href={ "/plugins?" (form_urlencoded::Serializer::new(String::new()).append_pair("cursor", &next).finish()) } { "More" } }
        }
        @if context.caller.may(Role::Admin).is_ok() { (upload_form(context, wrong)) }
    };
    Ok(Shell::new("Plugins", "/plugins", &context.caller).respond(status, &body))
}

fn nothing() -> Markup {
    html! {
        div class="empty" {
            h2 { "No plugin yet" }
            p { "A plugin is a WebAssembly component that does one kind of step. Make one:" }
            pre tabindex="0" data-copy { "phasm plugin new greet\nphasm plugin build greet" }
            p { "Then add the component here, or with " code { "phasm plugin add greet.wasm" } "; a step names it as " code { "executor: { type: greet }" } "." }
        }
    }
}

fn table(rows: &[&PluginRow]) -> Markup {
    let has_tenants = rows.iter().any(|row| row.tenant.is_some());
    html! {
        table class="list brief" {
            caption class="unseen" { "Plugins, in the order that they are searched" }
            thead { tr {
                th scope="col" { "Plugin" } th scope="col" { "State" } th scope="col" { "Version" }
                @if has_tenants { th scope="col" { "Tenant" } }
                th scope="col" { "Signed" } th scope="col" { "Access" }
            } }
            tbody { @for row in rows { tr {
                th scope="row" {
                    @match version(row) {
                        Some(version) => a href=(address_of(row, version)) { code { (row.name) } },
                        None => code { (row.name) },
                    }
                    @if let Some(description) = &row.description { p class="help" { (description) } }
                }
                td class="state" { (state(row)) }
                td class="when" { (row.version.as_deref().unwrap_or("–")) }
                @if has_tenants { td class="end" { (row.tenant.as_deref().unwrap_or("all")) } }
                td class="wide" { (signed(row)) }
                td class="wide" { (grants(&row.granted)) }
            } } }
        }
    }
}

/// The version, or else the digest, by which its page is found.
pub(super) fn version(row: &PluginRow) -> Option<&str> {
    row.version.as_deref().filter(|_| row.stored.is_some()).or(row.digest.as_deref())
}

pub(super) fn address_of(row: &PluginRow, version: &str) -> String {
    let tenant = row.tenant.as_deref().map(|tenant| {
        form_urlencoded::Serializer::new(String::from("?")).append_pair("tenant", tenant).finish()
    });
    format!("{}{}", address(&row.name, version), tenant.unwrap_or_default())
}

pub(super) fn state(row: &PluginRow) -> Markup {
    let word = if row.shadowed { "shadowed" } else { row.state.as_str() };
    html! {
        @match word {
            "held" => strong class="held" { "held" },
            "broken" => strong class="bad" { "broken" },
            // A file that is run as it is.
            "component" => "ready",
            word => (word),
        }
        @if let Some(meaning) = meaning(word) { p class="help" { (meaning) } }
        @if !row.held.is_empty() { ul class="grants" { @for why in &row.held { li { (why) } } } }
        @if let Some(by) = &row.approved_by { span class="none" { " by " (by) } }
    }
}

/// Returns an explanation of a state, where its name is not enough.
fn meaning(state: &str) -> Option<&'static str> {
    Some(match state {
        "stale" => "built when a workflow names it",
        "shadowed" => "another of its name is found first",
        _ => return None,
    })
}

pub(super) fn signed(row: &PluginRow) -> Markup {
    html! { @match &row.signature {
        Some(signature) => (format::signed(signature)),
        None => span class="none" { "–" },
    } }
}

/// Granted access, in words.
pub(super) fn grants(granted: &Value) -> Markup {
    let list = |name| granted.member(name).and_then(Value::as_array).unwrap_or_default();
    let texts = |name| list(name).iter().filter_map(Value::as_str);
    let dirs = granted.member("dirs").and_then(Value::as_object);
    html! {
        @if granted.is_null() { span class="none" { "none" } } @else {
            ul class="grants" {
                @for (dir, mode) in dirs.into_iter().flatten() {
                    li { @if mode.as_str() == Some("rw") { "reads and writes the directory " } @else { "reads the directory " } code { (dir) } }
                }
                @for name in texts("env") { li { "reads the variable " code { (name) } } }
                @for pattern in texts("http") { li { "sends requests " code { (pattern) } } }
                @for network in texts("networks") { li { "connects to the network " code { (network) } } }
                @if granted.member("clock").is_some() { li { "reads the real clock" } }
            }
        }
    }
}

/// Returns whether the caller may change a plugin of that tenant, or a shared one.
pub(super) fn may_change(context: &RequestContext, caller: &Caller, tenant: Option<&str>) -> bool {
    let asked = tenant.map(str::to_owned);
    let is_of_all = tenant.is_none() && caller.is_bound();
    caller.may(Role::Admin).is_ok()
        && !is_of_all
        && crate::plugins::whose(&context.app.host, caller, asked).is_ok()
}
