//! Plugins.

use serde_json::{Value, json};

use super::{NamedSchemas, count, list, maybe, object, of, page, text, truth, words};

pub(super) fn schemas() -> NamedSchemas {
    vec![
        ("Plugins", page("plugins", "PluginRow", &text())),
        ("PluginVersions", object(&[("name", text()), ("versions", list(&of("PluginRow")))], &[])),
        ("PluginRow", row()),
        ("Plugin", whole()),
        ("AddedPlugin", added()),
        ("ApprovedPlugin", approved()),
        ("Signature", signature()),
        ("MissingGrants", object(&[("lacking", list(&text())), ("lines", text())], &[])),
    ]
}

fn row() -> Value {
    let state = words(["component", "built", "stale", "broken", "approved", "held"]);
    object(
        &[
            ("name", text()),
            ("version", maybe(&text())),
            ("state", state),
            ("description", maybe(&text())),
            ("shadowed", truth()),
            ("granted", json!({})),
        ],
        &[
            ("path", text()),
            ("tenant", text()),
            ("digest", text()),
            ("size", count(0)),
            ("signature", of("Signature")),
            ("held", list(&text())),
            ("approvedBy", text()),
        ],
    )
}

fn whole() -> Value {
    let policy = object(&[("policy", text()), ("used", truth()), ("why", maybe(&text()))], &[]);
    object(
        &[
            ("name", text()),
            ("version", maybe(&text())),
            ("description", maybe(&text())),
            ("defaults", json!({ "type": "object" })),
            ("inputs", json!({})),
            ("outputs", json!({})),
            ("wants", json!({ "type": "object" })),
            ("granted", json!({})),
            ("bytes", count(0)),
            ("digest", text()),
            ("state", maybe(&words(["approved", "held"]))),
            ("held", list(&text())),
            ("signature", of("Signature")),
            ("trust", list(&policy)),
            ("imports", list(&text())),
            ("exports", list(&text())),
        ],
        &[
            ("tenant", text()),
            ("toGrant", of("MissingGrants")),
            ("component", text()),
            ("approvedBy", text()),
        ],
    )
}

fn added() -> Value {
    object(
        &[
            ("name", text()),
            ("version", text()),
            ("digest", text()),
            ("state", words(["approved", "held"])),
            ("held", list(&text())),
            ("signature", of("Signature")),
            ("wants", json!({ "type": "object" })),
            ("newest", maybe(&text())),
            ("beyond", maybe(&list(&text()))),
            ("toGrant", maybe(&of("MissingGrants"))),
            ("isNew", truth()),
        ],
        &[],
    )
}

fn approved() -> Value {
    object(
        &[
            ("name", text()),
            ("version", text()),
            ("digest", text()),
            ("wasHeld", truth()),
            ("toGrant", maybe(&of("MissingGrants"))),
        ],
        &[],
    )
}

fn signature() -> Value {
    let state = words(["good", "none", "unknown-key", "wrong", "unreadable"]);
    object(
        &[
            ("state", state),
            ("key", maybe(&text())),
            ("number", maybe(&text())),
            ("comment", maybe(&text())),
            ("why", maybe(&text())),
        ],
        &[],
    )
}
