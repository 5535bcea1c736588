//! Runs, and what is sent about them.

use serde_json::{Value, json};

use super::{NamedSchemas, count, instant, list, maybe, number, object, of, page, text, truth, words};

pub(super) fn schemas() -> NamedSchemas {
    vec![
        ("Document", document()),
        ("Answer", of("Values")),
        (
            "Values",
            json!({ "type": "object", "description": "Values by name.", "additionalProperties": of("Value") }),
        ),
        ("Value", value()),
        ("Rerun", rerun()),
        ("Submitted", object(&[("runID", text()), ("workflow", text()), ("isNew", truth())], &[])),
        ("Runs", page("runs", "Row", &text())),
        ("Row", row()),
        ("Run", run()),
        ("Task", object(&task(), &task_others())),
        ("Hook", hook()),
        ("Attempt", attempt()),
        ("Output", object(&[("name", text()), ("type", text()), ("value", json!({}))], &[])),
        ("Usage", usage()),
        ("Metrics", metrics()),
        ("Warning", object(&[("code", text()), ("path", text()), ("message", text())], &[])),
        ("Waiting", waiting()),
        ("RowWaiting", row_waiting()),
    ]
}

fn document() -> Value {
    let workflow = json!({ "type": "object", "required": ["apiVersion", "kind", "spec"], "properties": {
        "apiVersion": text(), "kind": words(["Workflow", "CronWorkflow"]), "metadata": { "type": "object" },
        "spec": { "type": "object" } } });
    let beside =
        object(&[("document", json!({ "type": ["object", "string"] }))], &[("parameters", of("Values"))]);
    json!({ "description": "A workflow; or an object of `document`, which is one or its text, and of `parameters` by name. `phasm \
        schema` prints the JSON Schema of documents.", "anyOf": [workflow, beside] })
}

fn rerun() -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": {
        "fromFailed": { "type": "boolean", "description": "Take over what had succeeded." },
        "parameters": { "allOf": [of("Values")], "description": "Parameters that are to be others." } } })
}

/// Any JSON, of whose numbers those that are integers have 64 bits.
fn value() -> Value {
    json!({ "anyOf": [
        { "type": ["null", "boolean", "string"] },
        { "type": "number", "minimum": i64::MIN, "maximum": u64::MAX },
        { "type": "array", "items": of("Value") },
        { "type": "object", "additionalProperties": of("Value") } ] })
}

fn row() -> Value {
    object(
        &[
            ("runID", text()),
            ("workflow", text()),
            ("namespace", text()),
            ("phase", of("Phase")),
            ("open", truth()),
            ("state", words(["ended", "driven", "parked", "waiting", "orphaned"])),
            ("priority", count(0)),
            ("submittedAt", instant()),
            ("finishedAt", maybe(&instant())),
        ],
        &[("waiting", of("RowWaiting"))],
    )
}

/// Reason why a run waits, as far as its row shows.
fn row_waiting() -> Value {
    let what = words(["answer", "time", "host", "missing", "quota"]);
    object(&[("for", what)], &[("since", instant()), ("until", instant()), ("why", text())])
}

/// Reason why a task or run waits. A run's may also come from its row.
fn waiting() -> Value {
    let what = words(["slot", "quota", "parallelism", "start", "retry", "answer"]);
    object(
        &[("for", what), ("since", instant())],
        &[("until", instant()), ("at", text()), ("tenant", text()), ("running", count(0))],
    )
}

fn run() -> Value {
    object(
        &[
            ("runID", text()),
            ("workflow", text()),
            ("namespace", text()),
            ("phase", of("Phase")),
            ("message", text()),
            ("reason", maybe(&text())),
            ("outputs", list(&of("Output"))),
            ("parameters", list(&of("Named"))),
            ("warnings", list(&of("Warning"))),
            ("submittedAt", instant()),
            ("startedAt", maybe(&instant())),
            ("finishedAt", maybe(&instant())),
            ("durationMs", maybe(&count(0))),
            ("deadlineAt", maybe(&instant())),
            ("progress", json!({ "type": "string", "pattern": "^[0-9]+/[0-9]+$" })),
            ("tasks", list(&of("Task"))),
            ("hooks", list(&of("Hook"))),
        ],
        &[
            ("rerunOf", text()),
            ("traceID", json!({ "type": "string", "pattern": "^[0-9a-f]{32}$" })),
            ("notices", notice_summary()),
            ("waiting", json!({ "anyOf": [of("Waiting"), of("RowWaiting")] })),
            ("usage", of("Usage")),
        ],
    )
}

/// How its notices stand.
fn notice_summary() -> Value {
    let counts = ["waiting", "delivered", "givenUp", "gone"].map(|name| (name, count(0)));
    object(&[&counts[..], &[("more", truth())]].concat(), &[("failure", text())])
}

fn task() -> Vec<(&'static str, Value)> {
    vec![
        ("runID", text()),
        ("parentRunID", maybe(&text())),
        ("scope", text()),
        ("taskName", text()),
        ("templateName", maybe(&text())),
        ("templateType", words(["task", "dag", "loop", "pipeline"])),
        ("depth", count(0)),
        ("phase", of("Phase")),
        ("reason", maybe(&text())),
        ("code", maybe(&number())),
        ("message", text()),
        ("inputs", list(&of("Named"))),
        ("outputs", list(&of("Output"))),
        ("retries", count(0)),
        ("metrics", of("Metrics")),
        ("attempts", json!({ "type": "array", "items": of("Attempt"), "maxItems": 64 })),
        ("createdAt", instant()),
        ("startedAt", maybe(&instant())),
        ("suspendedAt", maybe(&instant())),
        ("finishedAt", maybe(&instant())),
        ("durationMs", maybe(&count(0))),
        ("wakeAt", maybe(&instant())),
        ("deadlineAt", maybe(&instant())),
    ]
}

fn task_others() -> [(&'static str, Value); 2] {
    [("reused", text()), ("waiting", of("Waiting"))]
}

/// A task run that is a hook's.
fn hook() -> Value {
    let kinds = words([
        "onStart",
        "onSuccess",
        "onFailure",
        "onError",
        "onTimeout",
        "onSuspend",
        "onResume",
        "onExit",
        "onCancel",
    ]);
    let members = [task(), vec![("hookOf", text()), ("hookType", kinds)]].concat();
    object(&members, &task_others())
}

fn attempt() -> Value {
    object(
        &[
            ("number", count(1)),
            ("startedAt", maybe(&instant())),
            ("finishedAt", maybe(&instant())),
            ("phase", of("Phase")),
            ("code", maybe(&number())),
            ("message", text()),
        ],
        &[("usage", of("Usage"))],
    )
}

fn metrics() -> Value {
    object(&[("retries", count(0)), ("durationMs", maybe(&count(0)))], &[("usage", of("Usage"))])
}

fn usage() -> Value {
    let each = ["cpuUs", "memoryBytes", "bytesIn", "bytesOut", "hostCalls"];
    object(&each.map(|name| (name, count(0))), &[])
}
