//! Schemas of saved documents, and of runs as stored.

use serde_json::{Value, json};

use super::{NamedSchemas, count, instant, list, maybe, number, object, of, page, text, truth, words};

pub(super) fn schemas() -> NamedSchemas {
    vec![
        ("Schedules", page("schedules", "Schedule", &text())),
        ("Schedule", schedule()),
        ("Firing", firing()),
        ("Instants", object(&[("next", list(&instant()))], &[])),
        ("Workflows", page("workflows", "Workflow", &text())),
        ("Workflow", workflow()),
        ("Version", version()),
        ("Ticket", object(&[("ticket", text()), ("seconds", count(1))], &[])),
        ("Removed", object(&[("removed", truth())], &[])),
        ("Rows", page("rows", "KeptRow", &text())),
        ("KeptRow", wire_row()),
        ("KeptRun", wire_run()),
        ("KeptRecord", wire_record()),
        ("KeptLog", wire_log()),
    ]
}

fn schedule() -> Value {
    let by = words(["byDocument", "byHand"]);
    let trouble = object(&[("why", text()), ("since", instant())], &[]);
    object(
        &[
            ("namespace", text()),
            ("name", text()),
            ("document", of("Version")),
            ("workflow", text()),
            ("schedule", text()),
            ("timezone", text()),
            ("concurrencyPolicy", words(["Allow", "Forbid", "Replace"])),
            ("decided", instant()),
            ("firings", list(&of("Firing"))),
        ],
        &[("next", instant()), ("suspended", by), ("trouble", trouble)],
    )
}

fn firing() -> Value {
    let what = words(["started", "triggered", "forbidden", "crowded", "missed"]);
    let others = [("runID", text()), ("phase", of("Phase")), ("replaced", truth())];
    object(&[("at", instant()), ("what", what)], &others)
}

fn workflow() -> Value {
    let members = [("namespace", text()), ("name", text()), ("versions", list(&of("Version")))];
    object(&members, &[("next", instant()), ("labels", labels())])
}

fn labels() -> Value {
    json!({ "type": "object", "additionalProperties": text() })
}

fn version() -> Value {
    object(
        &[("digest", text()), ("size", count(0)), ("file", text()), ("savedAt", instant())],
        &[("by", text())],
    )
}

/// Instants are milliseconds since 1970.
fn wire_row() -> Value {
    let rest = object(&[("parked", truth()), ("until", maybe(&number()))], &[]);
    let note = object(&[("why", text()), ("since", number())], &[]);
    object(
        &[
            ("number", count(0)),
            ("runID", text()),
            ("workflow", text()),
            ("namespace", text()),
            ("priority", count(0)),
            ("submittedAt", number()),
            ("key", maybe(&text())),
            ("labels", labels()),
            ("phase", of("Phase")),
            ("finishedAt", maybe(&number())),
            ("open", truth()),
            ("rest", maybe(&rest)),
            ("seq", count(0)),
            ("owner", maybe(&text())),
            ("wakeAt", maybe(&number())),
            ("note", maybe(&note)),
        ],
        &[],
    )
}

fn wire_run() -> Value {
    let (records, logs) = (list(&of("KeptRecord")), list(&of("KeptLog")));
    object(&[("row", of("KeptRow")), ("records", records), ("logs", logs)], &[])
}

/// Bytes are base64.
fn wire_record() -> Value {
    let document = object(&[("digest", text()), ("bytes", bytes())], &[]);
    let members = [
        ("firstSeq", count(0)),
        ("events", count(1)),
        ("time", number()),
        ("body", bytes()),
        ("document", maybe(&document)),
    ];
    object(&members, &[])
}

fn wire_log() -> Value {
    let members = [
        ("task", count(0)),
        ("attempt", count(1)),
        ("dispatch", count(1)),
        ("cut", count(0)),
        ("text", bytes()),
    ];
    object(&members, &[])
}

fn bytes() -> Value {
    json!({ "type": "string", "contentEncoding": "base64" })
}
