//! The reference of workflow files, for readers without another place to look: all fields, and all errors and warnings.

use std::borrow::Cow;

use axum::response::Response;
use maud::{Markup, html};
use phasm::engine::{
    document,
    problem::codes::{self, Entry},
};
use serde_json::{Map, Value as Json};

use super::{format, shell::Shell};
use crate::{problem_response::ProblemResponse, request::RequestContext};

/// The address of all fields.
pub(super) const FIELDS: &str = "/reference";
/// The address of all errors and warnings.
pub(super) const ERRORS: &str = "/reference/errors";
/// Names of definitions of the older dialect end so.
const OLDER: &str = "-aether";

/// The address of the entry of an error or a warning.
pub(super) fn error_path(code: &str) -> String {
    format!("{ERRORS}#{code}")
}

/// All fields of a workflow file.
pub(super) async fn fields(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let schema = document::schema();
    let definitions = schema.get("$defs").and_then(Json::as_object);
    let mut objects: Vec<_> =
        definitions.into_iter().flatten().filter_map(|(name, schema)| object(name, schema)).collect();
    let order = order(&schema);
    objects.sort_by_key(|(name, ..)| order.iter().position(|known| known == name).unwrap_or(order.len()));
    let contents = objects.iter().map(|(name, ..)| (Cow::from(*name), Cow::from(*name))).collect::<Vec<_>>();
    let body = html! {
        (head("Fields of a workflow file", FIELDS))
        p { "Completion in " a href="/submit" { "the editor" } " shows the same. "
            code { "phasm schema" } " prints it for other editors." }
        div class="api" {
            (list(&contents))
            div {
                @for (name, schema, properties) in &objects {
                    section aria-labelledby=(name) {
                        h2 id=(name) { (name) }
                        p { (format::prose(text(schema, "description"))) }
                        (table(properties, &required(schema)))
                    }
                }
            }
        }
    };
    Ok(Shell::new("Fields of a workflow file", FIELDS, &context.caller).around(&body))
}

/// All errors and warnings, with what to do.
pub(super) async fn errors(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let all: Vec<&Entry> = codes::all().collect();
    let contents: Vec<_> = all
        .iter()
        .map(|entry| (Cow::from(entry.code), format!("{} {}", entry.code, entry.title).into()))
        .collect();
    let body = html! {
        (head("Errors and warnings", ERRORS))
        div class="api" {
            (list(&contents))
            div { @for entry in &all { (explained(entry)) } }
        }
    };
    Ok(Shell::new("Errors and warnings", ERRORS, &context.caller).around(&body))
}

fn head(title: &str, at: &str) -> Markup {
    let pages = [(FIELDS, "Fields"), (ERRORS, "Errors and warnings")];
    html! {
        h1 { (title) }
        nav class="tabs" aria-label="Reference" {
            @for (address, words) in pages { a href=(address) aria-current=[(address == at).then_some("page")] { (words) } }
        }
    }
}

/// The contents: fragments and their words.
fn list(contents: &[(Cow<'_, str>, Cow<'_, str>)]) -> Markup {
    html! {
        nav class="contents long" aria-label="Contents" {
            ul { @for (fragment, words) in contents { li { a href={ "#" (fragment) } { (words) } } } }
        }
    }
}

fn explained(entry: &Entry) -> Markup {
    html! {
        section aria-labelledby=(entry.code) {
            h2 id=(entry.code) { (entry.code) ": " (entry.title) }
            p { (format::prose(entry.explanation)) }
            pre tabindex="0" { (entry.wrong) }
            p { "Right:" }
            pre tabindex="0" { (entry.right) }
        }
    }
}

/// Names of definitions from the whole file inwards, as fields refer to them.
fn order(schema: &Json) -> Vec<String> {
    let mut order = vec!["workflow".to_owned()];
    let mut at = 0;
    while let Some(definition) =
        order.get(at).map(|name| schema.pointer(&format!("/$defs/{name}")).cloned().unwrap_or_default())
    {
        for name in references(&definition) {
            if !order.contains(&name) {
                order.push(name);
            }
        }
        at += 1;
    }
    order
}

/// Names of definitions that a schema refers to.
fn references(schema: &Json) -> Vec<String> {
    match schema {
        Json::Object(members) => {
            let own =
                members.get("$ref").and_then(Json::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
            own.map(str::to_owned).into_iter().chain(members.values().flat_map(references)).collect()
        }
        Json::Array(items) => items.iter().flat_map(references).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    }
}

/// The name, the schema and the fields of a definition that is an object with fields.
fn object<'s>(name: &'s str, schema: &'s Json) -> Option<(&'s str, &'s Json, &'s Map<String, Json>)> {
    let properties = schema.get("properties")?.as_object()?;
    let is_shown = !name.ends_with(OLDER) && !properties.is_empty();
    is_shown.then_some((name, schema, properties))
}

fn required(schema: &Json) -> Vec<&str> {
    let names = schema.get("required").and_then(Json::as_array);
    names.into_iter().flatten().filter_map(Json::as_str).collect()
}

fn table(properties: &Map<String, Json>, required: &[&str]) -> Markup {
    html! {
        table class="list" {
            thead { tr { th scope="col" { "Field" } th scope="col" { "Value" } th scope="col" { "Default" } th scope="col" { "Meaning" } } }
            tbody { @for (name, field) in properties { tr {
                th scope="row" { code { (name) } @if required.contains(&name.as_str()) { " (required)" } }
                td data-label="Value" { (format::prose(&kind(field))) }
                td data-label="Default" { @if let Some(default) = field.get("default") { code { (default) } } @else { span class="none" { "–" } } }
                td data-label="Meaning" { (format::prose(text(field, "description"))) }
            } } }
        }
    }
}

fn text<'s>(schema: &'s Json, member: &str) -> &'s str {
    schema.get(member).and_then(Json::as_str).unwrap_or_default()
}

/// The values that a schema accepts, in words. Names of definitions are in backquotes.
fn kind(schema: &Json) -> String {
    if let Some(name) = text(schema, "$ref").strip_prefix("#/$defs/") {
        return format!("`{}`", name.trim_end_matches(OLDER));
    }
    if let Some(values) = schema.get("enum").and_then(Json::as_array) {
        let words: Vec<_> = values
            .iter()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .collect();
        return format!("one of {}", words.join(", "));
    }
    if let Some(choices) = schema.get("anyOf").and_then(Json::as_array) {
        let mut words: Vec<_> = choices.iter().map(kind).collect();
        words.dedup();
        return words.join(" or ");
    }
    match (text(schema, "type"), schema.get("items")) {
        ("array", Some(items)) => format!("list of {}", kind(items)),
        ("array", None) => "list".to_owned(),
        ("", _) => "any".to_owned(),
        (kind, _) => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_said_in_words() {
        for (schema, words) in [
            (json!({ "$ref": "#/$defs/duration" }), "`duration`"),
            (json!({ "enum": ["Allow", "Forbid"] }), "one of Allow, Forbid"),
            (
                json!({ "anyOf": [{ "type": "integer" }, { "$ref": "#/$defs/expression" }] }),
                "integer or `expression`",
            ),
            (json!({ "type": "array", "items": { "type": "string" } }), "list of string"),
            (json!({}), "any"),
        ] {
            assert_eq!(kind(&schema), words);
        }
    }
}
