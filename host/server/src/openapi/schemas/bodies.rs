//! Bodies that no struct has: requests, pages of lists, events, and errors.

use serde_json::{Value, json};

use super::{NamedSchemas, count, list, object, of, page, page_of_entries, text, truth};

pub(super) fn schemas() -> NamedSchemas {
    let values =
        json!({ "type": "object", "description": "Values by name.", "additionalProperties": of("Value") });
    let status = json!({ "type": "integer", "minimum": 400, "maximum": 599 });
    vec![
        ("Any", json!({})),
        ("Document", document()),
        ("Answer", of("Values")),
        ("Values", values),
        ("Value", value()),
        ("Rerun", rerun()),
        ("Runs", page("runs", "Row", &text())),
        ("Events", page("events", "Event", &count(0))),
        ("Event", event()),
        ("Logs", page("logs", "Log", &count(0))),
        ("Schedules", page_of_entries("schedules", "Schedule")),
        ("Instants", object(&[("next", list(&of("Instant")))], &[])),
        ("Workflows", page_of_entries("workflows", "Workflow")),
        ("Plugins", page("plugins", "PluginRow", &text())),
        ("PluginVersions", object(&[("name", text()), ("versions", list(&of("PluginRow")))], &[])),
        ("Ticket", object(&[("ticket", text()), ("seconds", count(1))], &[])),
        ("Removed", object(&[("removed", truth())], &[])),
        ("Status", object(&[("status", text())], &[])),
        ("Problem", problem(status)),
    ]
}

fn document() -> Value {
    let workflow = json!({ "type": "object", "required": ["apiVersion", "kind", "spec"], "properties": {
        "apiVersion": text(), "kind": { "type": "string", "enum": ["Workflow", "CronWorkflow"] },
        "metadata": { "type": "object" }, "spec": { "type": "object" } } });
    let with_parameters =
        object(&[("document", json!({ "type": ["object", "string"] }))], &[("parameters", of("Values"))]);
    json!({ "description": "A workflow; or an object of `document`, which is one or its text, and of `parameters` by name. `phasm \
        schema` prints the JSON Schema of workflow files.", "anyOf": [workflow, with_parameters] })
}

fn rerun() -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": {
        "fromFailed": { "type": "boolean", "description": "Reuse the results of steps that succeeded." },
        "parameters": { "allOf": [of("Values")], "description": "Parameters that have other values than before." } } })
}

/// Any JSON, of whose numbers those that are integers have 64 bits.
fn value() -> Value {
    json!({ "anyOf": [
        { "type": ["null", "boolean", "string"] },
        { "type": "number", "minimum": i64::MIN, "maximum": u64::MAX },
        { "type": "array", "items": of("Value") },
        { "type": "object", "additionalProperties": of("Value") } ] })
}

/// The content of `data` depends on `type`; see the specification of journals.
fn event() -> Value {
    object(
        &[
            ("seq", count(0)),
            ("time", of("Instant")),
            ("type", text()),
            ("runID", text()),
            ("data", json!({ "type": "object" })),
        ],
        &[("taskRunID", text()), ("taskName", text()), ("scope", text()), ("attempt", count(1))],
    )
}

/// The schema of a member that a later format version will not have.
fn deprecated(mut schema: Value, name: &str) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("deprecated".to_owned(), json!(true));
        schema.insert("description".to_owned(), json!(format!("The earlier name of `{name}`.")));
    }
    schema
}

/// RFC 9457.
fn problem(status: Value) -> Value {
    object(
        &[("type", text()), ("title", text()), ("status", status), ("detail", text())],
        &[("errors", list(&of("Fault"))), ("problems", deprecated(list(&of("Fault")), "errors"))],
    )
}
