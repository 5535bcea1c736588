//! Events, logs, notices, and what is said of a request.

use serde_json::{Value, json};

use super::{NamedSchemas, count, instant, list, maybe, object, of, page, text, words};

pub(super) fn schemas() -> NamedSchemas {
    vec![
        ("Events", page("events", "Event", &count(0))),
        ("Event", event()),
        ("Logs", page("logs", "Log", &count(0))),
        ("Log", log()),
        ("Notices", page("notices", "Notice", &count(0))),
        ("Notice", notice()),
        ("Validated", object(&[("problems", list(&of("Fault"))), ("warnings", list(&of("Fault")))], &[])),
        ("Status", object(&[("status", text())], &[])),
        ("Problem", problem()),
        ("Fault", fault()),
    ]
}

/// The content of `data` depends on `type`; see the specification of journals.
fn event() -> Value {
    object(
        &[
            ("seq", count(0)),
            ("time", instant()),
            ("type", text()),
            ("runID", text()),
            ("data", json!({ "type": "object" })),
        ],
        &[("taskRunID", text()), ("taskName", text()), ("scope", text()), ("attempt", count(1))],
    )
}

fn notice() -> Value {
    let members = [
        ("id", text()),
        ("endpoint", text()),
        ("type", text()),
        ("seq", count(0)),
        ("at", instant()),
        ("standing", words(["waiting", "delivered", "givenUp", "gone"])),
        ("tries", count(0)),
    ];
    let others = [("due", instant()), ("triedAt", instant()), ("status", count(100)), ("failure", text())];
    object(&members, &others)
}

fn log() -> Value {
    let level = words(["trace", "debug", "info", "warn", "error"]);
    let line = object(&[("level", maybe(&level)), ("text", text())], &[]);
    let members = [
        ("task", text()),
        ("taskRunID", text()),
        ("attempt", count(1)),
        ("dispatch", count(1)),
        ("phase", maybe(&of("Phase"))),
        ("bytesCut", count(0)),
        ("lines", list(&line)),
    ];
    object(&members, &[])
}

/// RFC 9457.
fn problem() -> Value {
    let status = json!({ "type": "integer", "minimum": 400, "maximum": 599 });
    object(
        &[("type", text()), ("title", text()), ("status", status), ("detail", text())],
        &[("problems", list(&of("Fault")))],
    )
}

fn fault() -> Value {
    let members = [
        ("file", text()),
        ("code", text()),
        ("path", text()),
        ("line", count(0)),
        ("column", count(0)),
        ("value", json!({})),
        ("message", text()),
        ("hint", maybe(&text())),
    ];
    object(&members, &[])
}
