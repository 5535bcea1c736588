use phasm_sdk::testing::{Test, call};

use super::*;

fn resumed(config: Value, answer: Value) -> Outcome {
    Test::new().config(config).inputs(answer).resumed().run(approval).outcome
}

#[test]
fn it_says_what_it_wants() {
    let outcome = call(approval, json!({ "message": "release 1.0?", "details": { "size": 3 } }));
    assert_eq!((outcome.code, outcome.message.as_str()), (ExecCode::Suspended, "release 1.0?"));
    let asked = outcome.get("asked").unwrap();
    assert_eq!(asked["details"], json!({ "size": 3 }));
    assert_eq!(asked["schema"]["required"], json!(["approved"]));
    assert_eq!(outcome.detail["approval"], asked);
}

#[test]
fn an_answer_that_fits_is_its_outputs() {
    let outcome = resumed(json!({}), json!({ "message": "release?", "approved": true, "by": "Ada" }));
    let expected = Outcome::succeeded().output("approved", true).output("by", "Ada");
    assert_eq!(outcome, expected);
}

#[test]
fn a_no_fails_unless_the_document_wants_to_know() {
    let no = json!({ "approved": false, "by": "Bob", "comment": "too early" });
    let outcome = resumed(json!({}), no.clone());
    assert_eq!((outcome.code, outcome.message.as_str()), (ExecCode::Failed, "rejected by Bob: too early"));
    assert_eq!(outcome.detail["error"], json!({ "kind": "rejected", "retryable": false }));
    assert_eq!(outcome.get("approved"), Some(json!(false)));
    for config in [json!({ "rejection": "continue" }), json!({ "spec": { "rejection": "continue" } })] {
        assert_eq!(resumed(config, no.clone()).code, ExecCode::Succeeded);
    }
}

#[test]
fn an_answer_that_does_not_fit_is_asked_for_again() {
    let schema = json!({
        "type": "object",
        "properties": {
            "count": { "type": "integer", "minimum": 1, "maximum": 9 },
            "colour": { "enum": ["red", "blue"] },
            "word": { "type": "string", "minLength": 2, "maxLength": 3 },
            "list": { "type": "array", "items": { "type": ["string", "null"] } },
            "same": { "const": 7 },
        },
        "required": ["count"],
        "additionalProperties": false,
    });
    let rows = [
        (json!({ "count": 1, "colour": "red", "word": "abc", "list": ["a", null], "same": 7 }), None),
        (json!({ "count": 2.0 }), None),
        (json!({}), Some("count is missing")),
        (json!({ "count": 0 }), Some("count: expected at least 1, got 0")),
        (json!({ "count": 10 }), Some("count: expected at most 9, got 10")),
        (json!({ "count": 1.5 }), Some("count: expected a whole number, got 1.5")),
        (
            json!({ "count": 1, "colour": "green" }),
            Some("colour: expected one of \"red\", \"blue\", got \"green\""),
        ),
        (json!({ "count": 1, "word": "ä" }), Some("word: expected at least 2 characters, got \"ä\"")),
        (json!({ "count": 1, "list": [1] }), Some("list[0]: expected a text or null, got 1")),
        (json!({ "count": 1, "same": 8 }), Some("same: expected 7, got 8")),
        (
            json!({ "count": 1, "more": 8 }),
            Some("more is not asked for; expected one of colour, count, list, same, word"),
        ),
        (
            json!({ "more": 8 }),
            Some("count is missing; more is not asked for; expected one of colour, count, list, same, word"),
        ),
    ];
    for (answer, problem) in rows {
        let outcome = resumed(json!({ "schema": schema }), answer.clone());
        match problem {
            None => assert_eq!(outcome.code, ExecCode::Succeeded, "{answer}: {}", outcome.message),
            Some(problem) => {
                assert_eq!(outcome.code, ExecCode::Suspended, "{answer}");
                assert_eq!(outcome, Outcome::refused(problem));
            }
        }
    }
}

#[test]
fn neither_the_document_nor_the_answer_passes_for_the_other() {
    let outcome = call(approval, json!({ "approved": true }));
    assert_eq!(outcome.code, ExecCode::Error);
    assert_eq!(outcome.message, "expected the inputs `message` and `details` only, got `approved` too");
    // A response cannot replace the schema or the effect of a rejection.
    let answer = json!({ "schema": {}, "rejection": "continue", "approved": false });
    let open = json!({ "schema": { "required": ["approved"] } });
    assert_eq!(resumed(open, answer).code, ExecCode::Failed);
}

/// R-L77: a schema that lists properties takes no others, unless it says so.
#[test]
fn a_misspelt_name_is_refused() {
    let properties = json!({ "approved": {}, "by": {} });
    let rows = [
        (json!({}), Some("bye is not asked for; expected one of approved, by, comment")),
        (
            json!({ "schema": { "properties": properties } }),
            Some("bye is not asked for; expected one of approved, by"),
        ),
        (json!({ "schema": { "properties": properties, "additionalProperties": true } }), None),
        (json!({ "schema": { "type": "object" } }), None),
    ];
    for (config, problem) in rows {
        let outcome = resumed(config.clone(), json!({ "approved": true, "bye": "Ada" }));
        let refused = problem.map(Outcome::refused);
        assert!(
            refused.map_or(outcome.code == ExecCode::Succeeded, |refused| outcome == refused),
            "{config}"
        );
    }
}

#[test]
fn a_schema_that_would_go_unchecked_is_refused() {
    let rows = [
        (
            json!({ "properties": { "a": { "pattern": "x" } } }),
            "properties.a.pattern is not known; expected one of type, enum, const, required, properties, additionalProperties, items, minimum, maximum, minLength, maxLength",
        ),
        (
            json!({ "type": "text" }),
            "type: not \"text\"; expected one or several of null, boolean, integer, number, string, array, object",
        ),
        (json!(1), "the schema: expected an object, got 1"),
        (json!({ "properties": [] }), "properties: expected an object, got []"),
        (json!({ "items": { "minimum": "1" } }), "items.minimum: not \"1\"; expected a number"),
    ];
    for (schema, problem) in rows {
        let outcome = Test::new().config(json!({ "schema": schema })).run(approval).outcome;
        assert_eq!((outcome.code, outcome.message), (ExecCode::Error, format!("config `schema`: {problem}")));
    }
}

fn yes() -> Value {
    json!({ "message": "release?", "approved": true })
}

fn answered(config: Value, caller: Option<&str>, answer: Value) -> Outcome {
    let test = Test::new().config(config).inputs(answer);
    let test = match caller {
        Some(caller) => test.resumed_by(caller),
        None => test.resumed(),
    };
    test.run(approval).outcome
}

/// R-S15: only the callers that the workflow names decide, and none of those that it excludes.
#[test]
fn others_than_the_approvers_are_refused() {
    let gate = json!({ "approvers": ["ada", "bob"], "notBy": ["ada"] });
    let in_spec = json!({ "spec": gate });
    let rows = [
        (Some("bob"), None),
        (Some("ada"), Some("ada may not respond to this approval (`notBy`)")),
        (Some("eve"), Some("eve is not one of the approvers: ada, bob")),
        (Some("Bob"), Some("Bob is not one of the approvers: ada, bob")),
        (Some("local:bob"), Some("local:bob is not one of the approvers: ada, bob")),
        (
            None,
            Some(
                "the caller is not known, and the approval says who may respond; respond through a server with a key",
            ),
        ),
    ];
    for (caller, refusal) in rows {
        for config in [&gate, &in_spec] {
            let outcome = answered(config.clone(), caller, yes());
            match refusal {
                None => assert_eq!(outcome.code, ExecCode::Succeeded, "{caller:?}: {}", outcome.message),
                Some(why) => assert_eq!(outcome, Outcome::refused(why), "{caller:?}"),
            }
        }
    }
    // A rejection, and an answer that does not fit, are refused to others all the same.
    for answer in [json!({ "approved": false }), json!({ "approved": "perhaps" })] {
        assert_eq!(answered(gate.clone(), Some("eve"), answer).message, rows[2].1.unwrap());
    }
    let only_not_by = json!({ "notBy": ["ada"] });
    assert_eq!(answered(only_not_by.clone(), Some("eve"), yes()).code, ExecCode::Succeeded);
    assert_eq!(answered(only_not_by, None, yes()).code, ExecCode::Suspended);
    assert_eq!(answered(json!({}), None, yes()).code, ExecCode::Succeeded);
}

/// R-L122: a response without a name has its caller's, where the schema takes one.
#[test]
fn the_caller_is_the_name_to_show() {
    let by = |config: Value, answer: Value| answered(config, Some("local:ada"), answer).get("by");
    assert_eq!(by(json!({}), yes()), Some(json!("local:ada")));
    assert_eq!(by(json!({}), json!({ "approved": true, "by": "Bob" })), Some(json!("Bob")));
    assert_eq!(answered(json!({}), None, yes()).get("by"), None);
    let other = json!({ "schema": { "type": "object", "properties": { "size": { "type": "integer" } } } });
    assert_eq!(by(other, json!({ "size": 3 })), None);
}

/// R-S15: neither a response nor the workflow passes for a caller.
#[test]
fn a_response_cannot_forge_its_caller() {
    let gate = json!({ "approvers": ["bob"], "phasm.resumedBy": "bob" });
    let forged = json!({ "approved": true, "by": "bob", "resumedBy": "bob", "phasm.resumedBy": "bob" });
    for caller in [None, Some("eve")] {
        assert_eq!(answered(gate.clone(), caller, forged.clone()).code, ExecCode::Suspended, "{caller:?}");
    }
}

#[test]
fn the_question_says_who_may_respond() {
    let gate = json!({ "approvers": ["ada", "bob"], "notBy": ["ada"] });
    let asked = Test::new().config(gate).run(approval).outcome.get("asked").unwrap();
    assert_eq!((&asked["approvers"], &asked["notBy"]), (&json!(["ada", "bob"]), &json!(["ada"])));
    let asked = Test::new().run(approval).outcome.get("asked").unwrap();
    assert!(asked.get("approvers").is_none() && asked.get("notBy").is_none());
}

/// A gate that would let everyone through, or no one, is refused before it asks.
#[test]
fn settings_that_cannot_be_meant_are_refused() {
    let null =
        "is null, which names no caller; a task that was not resumed by a known caller has no `resumedBy`";
    let known = "schema, rejection, approvers, notBy, message, details, spec";
    let rows = [
        (json!({ "approvers": [] }), "config `approvers` is empty; expected at least one name".to_owned()),
        (json!({ "approvers": null }), "config `approvers`: expected a list of names, got null".to_owned()),
        (
            json!({ "approvers": "ada" }),
            "config `approvers`: expected a list of names, got \"ada\"".to_owned(),
        ),
        (json!({ "approvers": [1] }), "config `approvers[0]`: expected a name, got 1".to_owned()),
        (json!({ "approvers": [" "] }), "config `approvers[0]`: expected a name, got \" \"".to_owned()),
        (json!({ "notBy": ["ada", null] }), format!("config `notBy[1]` {null}")),
        (json!({ "notBy": null }), "config `notBy`: expected a list of names, got null".to_owned()),
        (
            json!({ "approvers": ["ada"], "notBy": ["bob", "ada"] }),
            "config `notBy` names all of `approvers`, so no one could respond".to_owned(),
        ),
        (json!({ "aprovers": ["ada"] }), format!("config `aprovers` is not known; expected one of {known}")),
        (
            json!({ "spec": { "notby": ["ada"] } }),
            format!("config `notby` is not known; expected one of {known}"),
        ),
    ];
    for (config, problem) in rows {
        let outcome = Test::new().config(config.clone()).run(approval).outcome;
        assert_eq!((outcome.code, outcome.message), (ExecCode::Error, problem), "{config}");
    }
}

#[test]
fn a_rejection_names_its_caller() {
    let no = |by: Value| json!({ "approved": false, "by": by });
    let rows = [
        (Some("bob"), json!(""), "rejected by bob"),
        (Some("bob"), json!("bob"), "rejected by bob"),
        (Some("bob"), json!("Ada"), "rejected by bob (as Ada)"),
        (None, json!("Ada"), "rejected by Ada"),
    ];
    for (caller, by, message) in rows {
        assert_eq!(answered(json!({}), caller, no(by)).message, message);
    }
}
