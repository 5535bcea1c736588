//! Schemas of request and response bodies, complete for this version.
//!
//! A schema is derived from the struct that is sent. Those of requests, and of responses that are put together from others, are
//! written here.

mod bodies;

use phasm::{
    artifacts::{ArtifactView, ArtifactsView},
    catalog::{CatalogItem, DamagedEntry, SavedWorkflow, ScheduleState},
    engine::run::{RunView, TaskView},
    notify::NoticeSummary,
    plugins::{AddView, ApprovalView, PluginRow, PluginView},
    store::view::{LogView, ProblemView, RowView, RowWaits, SubmittedView},
};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::{
    validate::ValidationView,
    wire::{WireNotices, WireRows, WireRun},
};

/// Where schemas are in the document.
const PLACE: &str = "/components/schemas";

/// Returns all schemas by name.
pub(super) fn all() -> Value {
    let mut all = derived();
    let row = all.get("Row").cloned().unwrap_or_default();
    if let Some(run) = all.get_mut("Run") {
        complete_run(run, &row);
    }
    all.extend(bodies::schemas().into_iter().map(|(name, schema)| (name.to_owned(), schema)));
    Value::Object(all)
}

/// Returns the schemas of views, and of all that they consist of.
fn derived() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = PLACE.into();
        settings.meta_schema = None;
    });
    let mut generator = settings.for_serialize().into_generator();
    let views: [fn(&mut SchemaGenerator); 21] = [
        add::<RunView>,
        add::<TaskView>,
        add::<RowView<'_>>,
        add::<RowWaits<'_>>,
        add::<SubmittedView<'_>>,
        add::<LogView<'_>>,
        add::<ProblemView>,
        add::<ValidationView>,
        add::<NoticeSummary>,
        add::<WireNotices>,
        add::<WireRows>,
        add::<WireRun>,
        add::<CatalogItem<ScheduleState>>,
        add::<DamagedEntry>,
        add::<CatalogItem<SavedWorkflow>>,
        add::<PluginRow>,
        add::<PluginView>,
        add::<AddView>,
        add::<ApprovalView>,
        add::<ArtifactView>,
        add::<ArtifactsView>,
    ];
    for add in views {
        add(&mut generator);
    }
    let mut all = generator.take_definitions(true);
    for schema in all.values_mut() {
        close(schema);
    }
    all
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    let _reference = generator.subschema_for::<T>();
}

/// Adds to the schema of a run the members that the store knows of it, and not its journal.
fn complete_run(run: &mut Value, row: &Value) {
    let Some(members) = run.get_mut("properties").and_then(Value::as_object_mut) else { return };
    members.insert("notices".to_owned(), of("NoticeSummary"));
    for name in ["status", "host"] {
        if let Some(member) = row.pointer(&format!("/properties/{name}")) {
            members.insert(name.to_owned(), member.clone());
        }
    }
    members.insert("waiting".to_owned(), json!({ "anyOf": [of("Waiting"), of("RowWaiting")] }));
}

/// Adds what serialisation keeps to: an object has no other members, and a member that may be left out is never null.
fn close(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(close),
        Value::Object(keywords) => {
            keywords.values_mut().for_each(close);
            close_object(keywords);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn close_object(keywords: &mut Map<String, Value>) {
    let required = keywords.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(members) = keywords.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, member) in members {
        if let Some(member) = member.as_object_mut().filter(|_| !required.contains(&json!(name))) {
            member.remove("default");
            without_null(member);
        }
    }
    keywords.insert("additionalProperties".to_owned(), json!(false));
}

fn without_null(keywords: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = keywords.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            keywords.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = keywords.get_mut("anyOf") {
        choices.retain(|one| one.get("type") != Some(&json!("null")));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            keywords.remove("anyOf");
            keywords.extend(only);
        }
    }
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

/// A page of entries, and those of them that are damaged.
fn page_of_entries(word: &str, one: &str) -> Value {
    object(&[(word, list(&of(one))), ("next", maybe(&text()))], &[("damaged", list(&of("DamagedEntry")))])
}

fn list(of: &Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn of(schema: &str) -> Value {
    json!({ "$ref": format!("#{PLACE}/{schema}") })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn truth() -> Value {
    json!({ "type": "boolean" })
}

/// A whole number from so much on.
fn count(least: u32) -> Value {
    json!({ "type": "integer", "minimum": least })
}

fn maybe(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}
