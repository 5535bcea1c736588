//! What bodies and answers hold.

use phasm::Phase;
use serde_json::{Value, json};

/// By name.
pub(super) fn all() -> Value {
    json!({
        "Any": {},
        "Phase": { "type": "string", "enum": Phase::ALL.map(Phase::as_str) },
        "Document": { "type": "object", "description": "A workflow as JSON; or an object of `document`, which is one or its text, and of \
            `parameters` by name. `phasm schema` prints the JSON Schema of documents." },
        "Answer": { "type": "object", "description": "Values by name." },
        "Rerun": { "type": "object", "additionalProperties": false, "properties": {
            "fromFailed": { "type": "boolean", "description": "Take over what had succeeded." },
            "parameters": { "type": "object", "description": "Parameters that are to be others." } } },
        "Submitted": object(&[("runID", text()), ("workflow", text()), ("isNew", json!({ "type": "boolean" }))]),
        "Runs": object(&[("runs", list(&of("Row"))), ("next", nullable("string"))]),
        "Schedules": object(&[("schedules", list(&of("Schedule"))), ("next", nullable("string"))]),
        "Schedule": object(&[("namespace", text()), ("name", text()), ("workflow", text()), ("schedule", text()), ("timezone", text()),
            ("concurrencyPolicy", text()), ("firings", list(&json!({ "type": "object" }))), ("document", of("Version"))]),
        "Instants": object(&[("next", list(&text()))]),
        "Workflows": object(&[("workflows", list(&of("Workflow"))), ("next", nullable("string"))]),
        "Workflow": object(&[("namespace", text()), ("name", text()), ("versions", list(&of("Version")))]),
        "Version": object(&[("digest", text()), ("size", json!({ "type": "integer" })), ("file", text()), ("savedAt", text())]),
        "Ticket": object(&[("ticket", text()), ("seconds", json!({ "type": "integer" }))]),
        "Removed": object(&[("removed", json!({ "type": "boolean" }))]),
        "Rows": object(&[("rows", list(&of("KeptRow"))), ("next", nullable("string"))]),
        "KeptRow": object(&[("number", json!({ "type": "integer" })), ("runID", text()), ("seq", json!({ "type": "integer" })),
            ("phase", of("Phase")), ("open", json!({ "type": "boolean" }))]),
        "KeptRun": object(&[("row", of("KeptRow")), ("records", list(&json!({ "type": "object" }))),
            ("logs", list(&json!({ "type": "object" })))]),
        "Row": object(&[
            ("runID", text()), ("workflow", text()), ("namespace", text()), ("phase", of("Phase")),
            ("open", json!({ "type": "boolean" })),
            ("state", json!({ "enum": ["ended", "driven", "parked", "waiting", "orphaned"] })),
            ("priority", json!({ "type": "integer" })), ("submittedAt", text()), ("finishedAt", nullable("string")),
        ]),
        "Run": object(&[
            ("runID", text()), ("workflow", text()), ("namespace", text()), ("phase", of("Phase")), ("message", text()),
            ("outputs", list(&of("Named"))), ("parameters", list(&of("Named"))), ("submittedAt", text()),
            ("progress", text()), ("tasks", list(&of("Task"))), ("hooks", list(&of("Task"))),
        ]),
        "Task": object(&[
            ("runID", text()), ("scope", text()), ("taskName", text()), ("templateType", text()), ("phase", of("Phase")),
            ("message", text()), ("inputs", list(&of("Named"))), ("outputs", list(&of("Named"))),
            ("retries", json!({ "type": "integer" })), ("attempts", list(&json!({ "type": "object" }))),
        ]),
        "Named": object(&[("name", text()), ("value", json!({}))]),
        "Events": object(&[("events", list(&of("Event"))), ("next", nullable("integer"))]),
        "Event": object(&[("seq", json!({ "type": "integer" })), ("time", text()), ("type", text()), ("runID", text()),
            ("data", json!({}))]),
        "Logs": object(&[("logs", list(&of("Log"))), ("next", nullable("integer"))]),
        "Log": object(&[("task", text()), ("taskRunID", text()), ("attempt", json!({ "type": "integer" })),
            ("dispatch", json!({ "type": "integer" })), ("bytesCut", json!({ "type": "integer" })),
            ("lines", list(&object(&[("level", nullable("string")), ("text", text())])))]),
        "Notices": object(&[("notices", list(&of("Notice"))), ("next", nullable("integer"))]),
        "Notice": object(&[("id", text()), ("endpoint", text()), ("type", text()), ("seq", json!({ "type": "integer" })), ("at", text()),
            ("standing", json!({ "enum": ["waiting", "delivered", "givenUp", "gone"] })), ("tries", json!({ "type": "integer" }))]),
        "Validated": object(&[("problems", list(&of("Fault"))), ("warnings", list(&of("Fault")))]),
        "Plugins": object(&[("plugins", list(&object(&[("name", text())])))]),
        "Status": object(&[("status", text())]),
        "Problem": { "type": "object", "required": ["type", "title", "status", "detail"], "properties": {
            "type": text(), "title": text(), "status": { "type": "integer" }, "detail": text(),
            "problems": list(&of("Fault")) } },
        "Fault": object(&[("file", text()), ("code", text()), ("path", text()), ("line", json!({ "type": "integer" })),
            ("column", json!({ "type": "integer" })), ("value", json!({})), ("message", text()), ("hint", nullable("string"))]),
    })
}

/// An object that has all of these members, and may have more.
fn object(members: &[(&str, Value)]) -> Value {
    let names: Vec<_> = members.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<_, _> =
        members.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "required": names, "properties": properties })
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

fn nullable(kind: &str) -> Value {
    json!({ "type": [kind, "null"] })
}
