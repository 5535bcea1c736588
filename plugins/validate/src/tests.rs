use phasm_sdk::testing::{Test, call};

use super::*;

fn person() -> Value {
    json!({
        "type": "object",
        "required": ["name", "mail"],
        "properties": {
            "name": { "type": "string", "pattern": "^[A-Z]" },
            "mail": { "type": "string", "format": "email" },
            "ages": { "type": "array", "items": { "type": "integer", "minimum": 0 } },
        },
        "additionalProperties": false,
    })
}

fn checked(value: Value, schema: Value) -> Outcome {
    call(validate, json!({ "value": value, "schema": schema }))
}

/// The path and keyword of each violation.
fn places(outcome: &Outcome) -> Vec<String> {
    let text = |violation: &Value, key: &str| violation[key].as_str().unwrap().to_owned();
    let violations = outcome.get("violations").unwrap();
    let violations = violations.as_array().unwrap().iter();
    violations.map(|one| format!("{} {}", text(one, "path"), text(one, "keyword"))).collect()
}

#[test]
fn a_value_that_fits_succeeds() {
    let outcome = checked(json!({ "name": "Ada", "mail": "ada@example.org", "ages": [36] }), person());
    assert_eq!(
        outcome,
        Outcome::succeeded().output("valid", true).output("violations", json!([])).output("count", 0)
    );
    let nothing = call(validate, json!({ "schema": { "type": "null" } }));
    assert_eq!(nothing.get("valid"), Some(json!(true)));
    assert_eq!(checked(json!(1), json!(true)).get("valid"), Some(json!(true)));
}

#[test]
fn all_violations_are_listed_with_their_paths() {
    let value = json!({ "name": "ada", "ages": [1, -1, "x"], "nick": 1, "mail": "nowhere" });
    let outcome = checked(value.clone(), person());
    let mut found = places(&outcome);
    found.sort();
    assert_eq!(
        found,
        [" additionalProperties", "/ages/1 minimum", "/ages/2 type", "/mail format", "/name pattern"]
    );
    assert_eq!((i32::from(outcome.code), outcome.get("count")), (2, Some(json!(5))));
    assert_eq!(outcome.detail["error"], json!({ "kind": "invalid", "retryable": false }));
    for part in ["the value does not fit its schema: ", "`/ages/1`: -1 is less than the minimum of 0"] {
        assert!(outcome.message.contains(part), "{}", outcome.message);
    }
    let violations = outcome.get("violations").unwrap();
    let minimum = violations.as_array().unwrap().iter().find(|one| one["keyword"] == "minimum").unwrap();
    assert_eq!(minimum["schemaPath"], json!("/properties/ages/items/minimum"));
    let reported = call(validate, json!({ "value": value, "schema": person(), "invalid": "report" }));
    assert_eq!((reported.code, reported.get("valid")), (ExecCode::Succeeded, Some(json!(false))));
}

#[test]
fn drafts_and_formats_can_be_chosen() {
    // Draft 4 writes it as a boolean, 2020-12 as a number.
    let schema = json!({ "minimum": 1, "exclusiveMinimum": true });
    let old = call(validate, json!({ "value": 1, "schema": schema, "draft": "4" }));
    assert_eq!(i32::from(old.code), 2, "{}", old.message);
    let message = checked(json!(1), schema).message;
    assert!(
        message.starts_with("input `schema` is no JSON Schema: `/exclusiveMinimum`: true is not of type"),
        "{message}"
    );
    let loose = json!({ "value": "x", "schema": { "format": "date" }, "formats": false });
    assert_eq!(call(validate, loose).get("valid"), Some(json!(true)));
    let named = json!({ "$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true });
    assert_eq!(i32::from(checked(json!(1), named).code), 2);
}

#[test]
fn a_schema_that_is_none_is_an_error_with_all_its_faults() {
    let outcome = checked(json!(1), json!({ "type": "strin", "minimum": "1", "required": "a" }));
    assert_eq!(i32::from(outcome.code), 3);
    assert_eq!(outcome.detail["error"]["kind"], json!("schema"));
    for part in ["`/type`: ", "`/minimum`: ", "`/required`: "] {
        assert!(outcome.message.contains(part), "{}", outcome.message);
    }
    for (schema, part) in [
        (json!([]), "expected an object or a boolean"),
        (json!({ "$schema": "https://example.org/own" }), "`$schema` names a draft that is not known"),
        (json!({ "$ref": "https://example.org/schema.json" }), "https://example.org/schema.json"),
        (json!({ "$ref": "file:///etc/passwd" }), "file:///etc/passwd"),
        (json!({ "$ref": "#/$defs/none" }), "/$defs/none"),
        (json!({ "pattern": "(a" }), "`/pattern`: "),
        (json!({ "pattern": "(?=a)" }), "(?=a)"),
    ] {
        let outcome = checked(json!("a"), schema.clone());
        assert_eq!(i32::from(outcome.code), 3, "{schema}: {}", outcome.message);
        assert!(outcome.message.contains(part), "{schema}: {}", outcome.message);
    }
}

#[test]
fn references_within_the_schema_are_followed() {
    let tree = json!({
        "$defs": { "node": { "properties": { "n": { "type": "integer" }, "next": { "$ref": "#/$defs/node" } } } },
        "$ref": "#/$defs/node",
    });
    let outcome = checked(json!({ "n": 1, "next": { "next": { "n": "x" } } }), tree);
    assert_eq!(places(&outcome), ["/next/next/n type"]);
}

/// A pattern for which other engines take exponential time.
#[test]
fn catastrophic_patterns_end() {
    let outcome = checked(json!(format!("{}!", "a".repeat(50_000))), json!({ "pattern": "^(a+)+$" }));
    assert_eq!(i32::from(outcome.code), 2);
    // The text is not repeated.
    assert!(outcome.message.len() < 1000, "{}", outcome.message.len());
    let large = checked(json!("a"), json!({ "pattern": "((\\w{100}){100}){100}" }));
    assert_eq!(i32::from(large.code), 3, "{}", large.message);
}

#[test]
fn many_violations_are_counted_and_some_are_listed() {
    let outcome = checked(json!(vec!["x"; 20_000]), json!({ "items": { "type": "integer" } }));
    assert_eq!(outcome.get("count"), Some(json!(20_000)));
    assert_eq!(places(&outcome).len(), 100);
    assert!(outcome.message.ends_with("19990 more are counted in the outputs"), "{}", outcome.message);
}

#[test]
fn deep_values_and_schemas_are_refused() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
    let outcome = Test::new()
        .input("schema", json!({}))
        .input_json("value", Json::from_text(deep("[", "]")))
        .run(validate)
        .outcome;
    assert!(outcome.message.starts_with("input `value`: recursion limit exceeded"), "{}", outcome.message);
    let outcome = Test::new()
        .input_json("schema", Json::from_text(deep("{\"not\":", "}")))
        .input("value", 1)
        .run(validate)
        .outcome;
    assert!(outcome.message.contains("recursion limit exceeded"), "{}", outcome.message);
    // The depth that is allowed.
    let nested =
        |depth: usize| (0..depth).fold(json!({ "type": "integer" }), |schema, _| json!({ "items": schema }));
    let value = (0..60).fold(json!("x"), |value, _| json!([value]));
    assert_eq!(checked(value, nested(60)).get("count"), Some(json!(1)));
}

/// References in a circle neither hang nor overflow the stack.
#[test]
fn references_in_a_circle_end() {
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } }, "$ref": "#/$defs/a" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
    ] {
        let outcome = checked(json!(1), schema.clone());
        assert!(outcome.code != ExecCode::Timeout, "{schema}");
    }
}
