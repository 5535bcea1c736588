//! One version of a plugin: a step that uses it, its inputs and outputs, its access, its signature; approving and removing it.

use std::{fmt::Write as _, sync::Arc};

use axum::response::Response;
use maud::{Markup, html};
use phasm::{
    Value,
    plugins::{CodeMeaning, PluginRow, PluginView},
};

use super::{form::Form, format, plugins, see_other, shell::Shell};
use crate::{
    plugins::{change::address, list, whose},
    problem_response::ProblemResponse,
    request::RequestContext,
};

/// Versions that are listed.
const MAX_VERSIONS: usize = 50;

/// Goes to the version that a bare name means.
pub(super) async fn first(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let name = context.segment("name");
    let entries = list::entries(&context.app, &context.caller, name).await?;
    let mut rows = list::rows(&context.app, &context.caller, entries).await?;
    rows.sort_by_key(PluginRow::is_held);
    let version = rows.into_iter().find_map(|row| row.digest.or(row.version));
    Ok(see_other(&version.map_or_else(|| "/plugins".to_owned(), |version| address(name, &version))))
}

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let tenant = context.query.text("tenant");
    context.query.done()?;
    let (name, version) = (context.segment("name"), context.segment("version"));
    let view = list::look(&context.app, &context.caller, name, version, tenant.as_deref()).await?;
    let exactly = exactly(&view);
    let entries = list::entries(&context.app, &context.caller, name).await?;
    let rows = list::rows(&context.app, &context.caller, entries).await?;
    let body = html! {
        p class="path" { a href="/plugins" { "Plugins" } }
        div class="head" { h1 { (exactly) } }
        @if let Some(description) = &view.description { p { (description) } }
        (warnings(&view, is_shadowed(&rows, &view)))
        @if view.state.is_some() && plugins::may_change(&context, &context.caller, view.tenant.as_deref()) { (action_forms(&view)) }
        h2 { "A step that uses it" }
        pre tabindex="0" data-copy { (example(&view)) }
        (access(&view))
        (ports("Inputs", &view.inputs, true))
        (ports("Outputs", &view.outputs, false))
        (settings(&view.settings))
        (codes(&view.codes))
        (defaults(&view))
        (versions(&rows, &view))
        h2 { "About this version" }
        (facts(&view))
        (imports(&view.imports))
    };
    Ok(Shell::new(&exactly, "/plugins", &context.caller).around(&body))
}

/// The reasons why workflow files cannot use the version, if there are any.
fn warnings(view: &PluginView, is_shadowed: bool) -> Markup {
    html! {
        @if !view.held.is_empty() {
            div class="callout ask" {
                p { "It is held, and used by no run:" }
                ul { @for why in &view.held { li { (why) } } }
            }
        }
        @if is_shadowed { div class="callout" { p { "It is shadowed: workflow files that name " code { (view.name) } " use another one, which is found first." } } }
        @for judged in view.trust.iter().filter_map(|judged| judged.why.as_deref()) {
            div class="callout bad" { p { "Not used: " (judged) } }
        }
    }
}

fn is_shown(row: &PluginRow, view: &PluginView) -> bool {
    row.tenant == view.tenant && row.digest.as_deref() == Some(&*view.digest)
}

/// Whether another of its name is found first, wherever its component lies.
fn is_shadowed(rows: &[PluginRow], view: &PluginView) -> bool {
    rows.iter().filter(|row| is_shown(row, view)).all(|row| row.shadowed)
}

/// All versions of its name, in the order in which they are searched.
fn versions(rows: &[PluginRow], view: &PluginView) -> Markup {
    html! {
        h2 { "Versions" }
        table class="list brief" {
            caption class="unseen" { "Versions of " (view.name) ", in the order that they are searched" }
            thead { tr { th scope="col" { "Version" } th scope="col" { "State" } th scope="col" { "Signed" } } }
            tbody { @for row in rows.iter().take(MAX_VERSIONS) { tr {
                th scope="row" {
                    @let shown = row.version.as_deref().unwrap_or("–");
                    @match plugins::version(row) {
                        Some(version) => a href=(plugins::address_of(row, version)) aria-current=[is_shown(row, view).then_some("true")] { (shown) },
                        None => (shown),
                    }
                    @if let Some(tenant) = &row.tenant { span class="none" { " of " (tenant) } }
                }
                td class="state" { (plugins::state(row)) }
                td class="when" { (plugins::signed(row)) }
            } } }
        }
        @if rows.len() > MAX_VERSIONS { p class="none" { "And " (rows.len() - MAX_VERSIONS) " more." } }
    }
}

/// Interfaces that the component imports, which say the same of most plugins.
fn imports(imports: &[String]) -> Markup {
    html! {
        @if !imports.is_empty() {
            details class="more-of" {
                summary { "Imported interfaces (" (imports.len()) ")" }
                ul class="grants" { @for one in imports { li { code { (one) } } } }
            }
        }
    }
}

fn exactly(view: &PluginView) -> String {
    match &view.version {
        Some(version) => format!("{}@{version}", view.name),
        None => view.name.clone(),
    }
}

fn facts(view: &PluginView) -> Markup {
    html! {
        dl class="facts" {
            @if let Some(state) = &view.state { div { dt { "State" } dd { (state) @if let Some(by) = &view.approved_by { " by " (by) } } } }
            @if let Some(by) = &view.added_by { div { dt { "Added by" } dd { (by) } } }
            div { dt { "Signature" } dd { (format::signed(&view.signature)) } }
            div { dt { "Size" } dd { (view.bytes) " bytes" } }
            div { dt { "Digest" } dd { (format::id(&view.digest)) } }
            @if let Some(tenant) = &view.tenant { div { dt { "Tenant" } dd { (tenant) } } }
        }
        @if let Some(comment) = &view.signature.comment { p class="help" { "Signer's comment: " (comment) } }
    }
}

fn action_forms(view: &PluginView) -> Markup {
    let exactly = exactly(view);
    let action =
        |what| format!("{}/{what}", address(&view.name, view.version.as_deref().unwrap_or_default()));
    html! {
        div class="acts" {
            @if !view.held.is_empty() {
                (confirmed("Approve…", &action("approve"), view, &html! {
                    p { "Workflow files that name " code { (view.name) } " use it from then on. That grants it nothing." }
                    button { "Approve " (exactly) }
                }))
            }
            (confirmed("Remove…", &action("remove"), view, &html! {
                p { "Workflows cannot use it any more. Runs that were submitted with it continue: they have its component." }
                button class="danger" { "Remove " (exactly) }
            }))
        }
    }
}

/// A button behind a first one, so that nothing is done by one click, with a script or without.
fn confirmed(summary: &str, action: &str, view: &PluginView, inner: &Markup) -> Markup {
    html! {
        details class="confirm" {
            summary { (summary) }
            form method="post" action=(action) {
                input type="hidden" name="tenant" value=(view.tenant.as_deref().unwrap_or_default());
                (inner)
            }
        }
    }
}

/// A table of inputs or outputs.
fn ports(title: &str, schema: &Value, are_inputs: bool) -> Markup {
    let properties = schema.member("properties").and_then(Value::as_object);
    html! {
        h2 { (title) }
        @match properties.filter(|properties| !properties.is_empty()) {
            None => p class="none" { @if schema.is_null() { "Not in its manifest." } @else { "none" } },
            Some(properties) => table class="list brief" {
                caption class="unseen" { (title) }
                thead { tr {
                    th scope="col" { "Name" } th scope="col" { "Type" }
                    @if are_inputs { th scope="col" { "Required" } th scope="col" { "Default" } }
                    th scope="col" { "Description" }
                } }
                tbody { @for (name, property) in properties { tr {
                    th scope="row" { code { (name) } }
                    td class="state" { (kind(property)) }
                    @if are_inputs {
                        td class="when" data-label="Required" { @if is_required(schema, name) { "yes" } @else { span class="none" { "no" } } }
                        td class="end" data-label="Default" { @match property.member("default") { Some(default) => code { (default.to_json()) }, None => span class="none" { "–" } } }
                    }
                    td class="full" { (format::prose(property.member("description").and_then(Value::as_str).unwrap_or_default())) }
                } } }
            },
        }
    }
}

/// Names of the settings in `config`.
fn settings(names: &[String]) -> Markup {
    html! {
        @if !names.is_empty() {
            h2 { "Settings in config" }
            p { @for (at, name) in names.iter().enumerate() { @if at > 0 { ", " } code { (name) } } }
        }
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let names = schema.member("required").and_then(Value::as_array).unwrap_or_default();
    names.iter().any(|required| required.as_str() == Some(name))
}

/// The type, in a word or two.
fn kind(schema: &Value) -> String {
    if schema.member("format").and_then(Value::as_str) == Some("phasm-duration") {
        return "duration".to_owned();
    }
    let words = |of: &Value| match of.as_array() {
        Some(all) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        None => of.as_str().unwrap_or("any").to_owned(),
    };
    schema.member("enum").or_else(|| schema.member("type")).map_or_else(|| "any".to_owned(), words)
}

/// The access that it has, and the access that it asks for and lacks.
fn codes(codes: &[CodeMeaning]) -> Markup {
    html! {
        @if !codes.is_empty() {
            h2 { "Codes" }
            dl class="facts" { @for one in codes { div { dt { (one.code) } dd { (one.meaning) } } } }
        }
    }
}

fn access(view: &PluginView) -> Markup {
    let table = match &view.tenant {
        Some(tenant) => format!("[tenants.{tenant}.grants.{}]", view.name),
        None => format!("[grants.{}]", view.name),
    };
    let file = html! { code { "phasm.toml" } ", the file of " code { "phasm serve --config" } };
    html! {
        h2 { "Access" }
        @if view.granted.is_null() { p { "It has no access to files, environment variables or the network." } }
        @else {
            p { "It is granted by " code { (table) } " in " (file) ":" }
            (plugins::grants(&view.granted))
            @if view.to_grant.is_none() {
                p class="help" { "To grant more, add to the lists of that table, and start the server again. For example:" }
                pre tabindex="0" data-copy { (table) "\n" (grant_example(view)) }
            }
        }
        @match &view.to_grant {
            Some(to_grant) => {
                h3 { "Access that it asks for and lacks" }
                ul class="grants" { @for access in &to_grant.lacking { li { (access) } } }
                p { "To grant all of it, add this to " (file) ":" }
                pre tabindex="0" data-copy { (to_grant.lines) }
            }
            None if view.granted.is_null() => {
                p class="help" { "It asks for none by itself. To grant it access, add a table to " (file) ", and start the server again. For example:" }
                pre tabindex="0" data-copy { (table) "\n" (grant_example(view)) }
            }
            None => {}
        }
    }
}

/// Lines that grant what a plugin can use, by its imports: requests together with those that are granted already.
fn grant_example(view: &PluginView) -> String {
    let imports = |name: &str| view.imports.iter().any(|import| import.contains(name));
    if imports("wasi:http") {
        let granted = view.granted.member("http").and_then(Value::as_array).unwrap_or_default();
        let more = ["https://api.example.com", "GET https://example.org/v1/*"];
        let all: Vec<_> =
            granted.iter().filter_map(Value::as_str).chain(more).map(|text| format!("{text:?}")).collect();
        format!("# all requests to a host, and one kind of request to another\nhttp = [{}]", all.join(", "))
    } else if imports("wasi:filesystem") {
        "dirs = [{ host = \"data\", guest = \"/data\" }]".to_owned()
    } else {
        "env = { REGION = \"eu\" }".to_owned()
    }
}

/// Default policies of its tasks.
fn defaults(view: &PluginView) -> Markup {
    html! {
        @if !view.defaults.is_empty() {
            h2 { "Unless a workflow file sets another value" }
            dl class="values" { @for (name, value) in view.defaults.iter() { dt { (name) } dd { (format::value(value)) } } }
        }
    }
}

/// A task of a workflow file, with the required inputs.
pub(super) fn example(view: &PluginView) -> String {
    let mut lines =
        format!("- name: {}\n  executor: {{ type: {} }}\n", task_name(&view.name), yaml(&exactly(view)));
    lines += &inputs_example(&view.inputs);
    lines
}

/// Names that mean the long form where inputs are written by name.
const LONG_FORM: [&str; 2] = ["parameters", "artifacts"];

/// The inputs that have to be given, as a document of `phasm/v1` has them.
fn inputs_example(schema: &Value) -> String {
    let properties = schema.member("properties").and_then(Value::as_object).into_iter().flatten();
    let required: Vec<_> = properties.filter(|(name, _)| is_required(schema, name)).collect();
    if required.is_empty() {
        return String::new();
    }
    if required.iter().all(|(name, _)| !LONG_FORM.contains(&&***name)) {
        let one = |(name, property): &(&Arc<str>, &Value)| format!("{}: {}", yaml(name), sample(property));
        return format!("  inputs: {{ {} }}\n", required.iter().map(one).collect::<Vec<_>>().join(", "));
    }
    let mut lines = "  inputs:\n    parameters:\n".to_owned();
    for (name, property) in required {
        // Into a String nothing fails.
        let _ = writeln!(lines, "      - {{ name: {}, value: {} }}", yaml(name), sample(property));
    }
    lines
}

/// Names of tasks have fewer characters than those of plugins.
fn task_name(name: &str) -> String {
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { "step".to_owned() }
}

/// Any text is one in quotes as JSON has them.
fn yaml(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && text.chars().all(is_plain) { text.to_owned() } else { Value::from(text).to_json() }
}

fn sample(schema: &Value) -> String {
    if let Some(known) = schema.member("default").or_else(|| schema.member("enum")?.as_array()?.first()) {
        return known.to_json();
    }
    match kind(schema).split(' ').next() {
        Some("duration") => "5s",
        Some("integer" | "number") => "1",
        Some("boolean") => "true",
        Some("array") => "[]",
        Some("object") => "{}",
        _ => "\"…\"",
    }
    .to_owned()
}

pub(super) async fn approve(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let (tenant, version) = meant(&mut context).await?;
    let by = context.caller.key.as_deref().map(str::to_owned);
    let approved = context.app.host.approve_plugin(tenant.as_deref(), &version, by).await?;
    Ok(see_other(&address(&approved.name, &approved.digest)))
}

pub(super) async fn remove(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let (tenant, version) = meant(&mut context).await?;
    context.app.host.remove_plugin(tenant.as_deref(), &version).await?;
    Ok(see_other("/plugins"))
}

/// Returns the tenant and the version that the request names.
async fn meant(context: &mut RequestContext) -> Result<(Option<Arc<str>>, String), ProblemResponse> {
    let form = Form::read(context).await?;
    let tenant = Some(form.text("tenant").to_owned()).filter(|tenant| !tenant.is_empty());
    let tenant = whose(&context.app.host, &context.caller, tenant)?;
    Ok((tenant, format!("{}@{}", context.segment("name"), context.segment("version"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-W23: the example has the short form, unless a name would mean the long one.
    #[test]
    fn inputs_stand_under_their_names() {
        let example = |json: &str| inputs_example(&Value::from_json(json).unwrap());
        let schema = r#"{"required": ["readings", "wait"], "properties": {"readings": {"type": "string"},
            "wait": {"type": "string", "format": "phasm-duration"}, "more": {}}}"#;
        assert_eq!(example(schema), "  inputs: { readings: \"…\", wait: 5s }\n");
        let long = r#"{"required": ["parameters"], "properties": {"parameters": {"type": "array"}}}"#;
        assert_eq!(example(long), "  inputs:\n    parameters:\n      - { name: parameters, value: [] }\n");
        assert_eq!(example(r#"{"properties": {"more": {}}}"#), "");
    }
}
