//! Schemas of request and response bodies, complete for this version.

mod events;
mod plugin;
mod run;
mod saved;

use phasm::Phase;
use serde_json::{Map, Value, json};

/// By name.
pub(super) fn all() -> Value {
    let of_all = [
        ("Any", json!({})),
        ("Instant", json!({ "type": "string", "format": "date-time" })),
        ("Phase", words(Phase::ALL.map(Phase::as_str))),
        ("Named", object(&[("name", text()), ("value", json!({}))], &[])),
    ];
    let each = of_all
        .into_iter()
        .chain(run::schemas())
        .chain(saved::schemas())
        .chain(plugin::schemas())
        .chain(events::schemas());
    Value::Object(each.map(|(name, schema)| (name.to_owned(), schema)).collect())
}

/// Schemas by their names.
type NamedSchemas = Vec<(&'static str, Value)>;

/// An object that has all of `members`, may have `others`, and nothing else.
fn object(members: &[(&str, Value)], others: &[(&str, Value)]) -> Value {
    let names: Vec<_> = members.iter().map(|(name, _)| *name).collect();
    let all = members.iter().chain(others);
    let properties: Map<_, _> = all.map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "required": names, "properties": properties, "additionalProperties": false })
}

/// A page of a list, and where the next one begins.
fn page(word: &str, one: &str, next: &Value) -> Value {
    object(&[(word, list(&of(one))), ("next", maybe(next))], &[])
}

fn list(of: &Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn of(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn instant() -> Value {
    of("Instant")
}

fn truth() -> Value {
    json!({ "type": "boolean" })
}

/// A whole number from so much on.
fn count(least: u32) -> Value {
    json!({ "type": "integer", "minimum": least })
}

/// Any whole number.
fn number() -> Value {
    json!({ "type": "integer" })
}

fn maybe(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn words<const N: usize>(words: [&str; N]) -> Value {
    json!({ "type": "string", "enum": words.as_slice() })
}
