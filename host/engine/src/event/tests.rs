use serde_json::{Value as Json, json};

use super::*;

/// Returns JSON of every event, and of all data that can come with one.
fn shapes() -> Vec<Json> {
    let fence = || json!({ "task": 1, "attempt": 1, "dispatch": 2 });
    let inputs = || json!([{ "name": "a", "value": null }, { "name": "b", "secretKeyRef": { "name": "s", "key": "k" } }]);
    let outputs = || json!([{ "name": "o", "value": { "any": "key" } }]);
    let phase = |with: Json| json!({ "phase": { "task": 1, "from": "Created", "to": "Ready", "reason": "user", "with": with } });
    let policy = |verdict: Json| {
        json!({ "policyEvaluated": {
            "fence": fence(), "rule": { "rule": 0 }, "verdict": verdict, "iter": { "any": 1 }, "ctx": { "any": 1 },
        } })
    };
    vec![
        json!({ "submitted": {
            "runId": "r", "document": { "any": "key" }, "parameters": { "any": "key" },
            "facts": { "os": "linux", "arch": "amd64", "vars": { "any": "key" } },
            "executors": { "echo": {
                "plugin": "echo", "digest": "sha256:00", "defaults": { "any": 1 }, "inputs": { "any": 1 },
                "outputs": { "any": 1 }, "grants": { "any": 1 },
            } },
            "secrets": [{ "name": "s", "key": "k" }],
            "by": "ada",
            "rerun": {
                "runID": "q", "changed": ["p"], "items": { "l": [{ "any": "key" }] },
                "results": { "a": {
                    "inputs": inputs(), "config": { "any": 1 }, "code": 0, "message": "m", "outputs": outputs(), "retries": 2,
                    "resumedBy": "bob",
                } },
            },
            "warnings": [{ "code": "W001", "path": "spec", "message": "m" }],
            "defaults": { "any": "key" },
        } }),
        json!({ "runPhase": "Running" }),
        json!("cancelRequested"),
        json!({ "cancelRequestedBy": "ada" }),
        json!({ "taskCancelRequested": [1, "ada"] }),
        json!({ "taskCancelRequested": [1, null] }),
        json!({ "scopeOpened": { "task": 1, "inputs": inputs(), "items": [{ "any": "key" }] } }),
        json!({ "repeated": 1 }),
        json!({ "reused": 1 }),
        phase(json!({ "bound": { "inputs": inputs(), "config": { "any": "key" } } })),
        phase(json!({ "partial": { "message": "m", "outputs": outputs() } })),
        phase(json!({ "refused": { "reason": "m" } })),
        phase(json!({ "refused": { "reason": "m", "by": "ada" } })),
        phase(json!({ "result": { "message": "m", "outputs": outputs() } })),
        json!({ "attemptStarted": fence() }),
        json!({ "attemptEnded": {
            "fence": fence(), "phase": "Failed", "code": 2, "message": "m", "outputs": outputs(), "durationMs": 3,
        } }),
        json!({ "timedOut": [1, "maxRuntime"] }),
        json!({ "resumed": [1, { "any": "key" }] }),
        json!({ "resumed": [1, { "any": "key" }, "ada"] }),
        policy(json!({ "retry": { "attempts": { "limited": 3 }, "delay_ms": 5 } })),
        policy(json!({ "jump": 1 })),
        json!({ "retryScheduled": { "task": 1, "attempt": 2, "delayMs": 5, "wakeAt": 9 } }),
        json!({ "taskEnded": [1, true] }),
        json!({ "hookFired": {
            "run": 2, "of": 1, "kind": "onExit", "hook": 0, "inputs": inputs(), "config": { "any": "key" },
        } }),
        json!({ "hookFailed": { "of": 1, "kind": "onExit", "run": 2, "message": "m" } }),
        json!({ "warning": { "task": 1, "code": "c", "message": "m" } }),
        json!({ "broken": "m" }),
    ]
}

/// The places of all objects but those whose keys are people's.
fn objects(json: &Json, at: &str, found: &mut Vec<String>) {
    match json {
        Json::Object(members) if members.contains_key("any") => {}
        Json::Object(members) => {
            found.push(at.to_owned());
            for (key, member) in members {
                objects(member, &format!("{at}/{key}"), found);
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(item, &format!("{at}/{index}"), found);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

fn decode(json: &Json) -> Result<Event, String> {
    serde_json::from_str(&json.to_string()).map_err(|error| error.to_string())
}

/// R-D1: a journal's records are read exactly as they were written. A record with an unknown field is refused, by the field's
/// name: the writer meant something by it.
#[test]
fn unknown_fields_of_events_are_refused() {
    let mut seen = 0;
    for shape in shapes() {
        let event = decode(&shape).unwrap_or_else(|error| panic!("{error}: {shape}"));
        assert_eq!(serde_json::to_value(&event).unwrap(), shape);
        let mut places = Vec::new();
        objects(&shape, "", &mut places);
        for place in places {
            let mut changed = shape.clone();
            let object = changed.pointer_mut(&place).and_then(Json::as_object_mut).unwrap();
            // Beside the one key that tells a variant, another is refused without being looked at.
            let tells_variant = object.len() == 1;
            object.insert("surprise".to_owned(), json!(1));
            let refused = decode(&changed).expect_err(&changed.to_string());
            assert!(tells_variant || refused.contains("unknown field `surprise`"), "{refused}: {changed}");
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

/// An input has a value, or names a secret.
#[test]
fn an_input_of_neither_kind_is_refused() {
    let secret = json!({ "name": "s", "key": "k" });
    for input in [json!({ "name": "a" }), json!({ "name": "a", "value": 1, "secretKeyRef": secret })] {
        let event = json!({ "scopeOpened": { "task": 1, "inputs": [input] } });
        assert!(decode(&event).unwrap_err().contains("either `value` or `secretKeyRef`"));
    }
}

/// R-D1: a response that is too short or too long for one is refused.
#[test]
fn a_response_has_two_or_three_parts() {
    for parts in [json!([1]), json!([]), json!([1, {}, "ada", 1]), json!([1, {}, 7]), json!({ "task": 1 })] {
        let refused = decode(&json!({ "resumed": parts })).expect_err(&parts.to_string());
        assert!(!refused.is_empty());
    }
}
