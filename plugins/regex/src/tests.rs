use phasm_sdk::testing::call;

use super::*;

fn outputs(operation: &str, inputs: Value) -> Value {
    let mut inputs = inputs;
    inputs["operation"] = json!(operation);
    let outcome = call(regex, inputs);
    assert_eq!(outcome.message, "");
    Value::Object(outcome.outputs.iter().map(|(name, json)| (name.clone(), json.parse().unwrap())).collect())
}

fn fails(inputs: Value, code: i32, kind: &str, message: &str) {
    let outcome = call(regex, inputs);
    assert_eq!((i32::from(outcome.code), outcome.message.as_str()), (code, message));
    assert_eq!(outcome.detail["error"], json!({ "kind": kind, "retryable": false }));
}

#[test]
fn the_first_match_is_returned() {
    assert_eq!(
        outputs("match", json!({ "pattern": r"(?<key>\w+)=(\d+)", "text": "é, ä=12, b=3" })),
        json!({ "matched": true, "first": {
            "text": "ä=12", "start": 3, "end": 7, "captures": ["ä", "12"], "groups": { "key": "ä" },
        }})
    );
    assert_eq!(outputs("match", json!({ "pattern": "^b$", "text": "ab" })), json!({ "matched": false }));
}

#[test]
fn all_matches_are_found_with_places_in_characters() {
    assert_eq!(
        outputs("find", json!({ "pattern": "(?<a>a)|(?<b>b)", "text": "üaäb" })),
        json!({ "count": 2, "matches": [
            { "text": "a", "start": 1, "end": 2, "captures": ["a", null], "groups": { "a": "a", "b": null } },
            { "text": "b", "start": 3, "end": 4, "captures": [null, "b"], "groups": { "a": null, "b": "b" } },
        ]})
    );
    assert_eq!(outputs("find", json!({ "pattern": "x", "text": "" })), json!({ "count": 0, "matches": [] }));
    let first = outputs("find", json!({ "pattern": "[a-z]", "text": "aBc", "ignoreCase": true, "limit": 2 }));
    assert_eq!((&first["count"], &first["matches"][1]["text"]), (&json!(2), &json!("B")));
    // Empty matches do not stop the search.
    assert_eq!(outputs("find", json!({ "pattern": "", "text": "é" }))["count"], json!(2));
}

#[test]
fn matches_are_replaced() {
    for (pattern, replacement, text, expected, count) in [
        (r"(\w+)@(\w+)", "$2 at ${1}_x, $$5", "a@b c@d", "b at a_x, $5 d at c_x, $5", 2),
        ("(?<y>[0-9]{4})-(?<m>[0-9]{2})", "$m/$y", "on 2026-11", "on 11/2026", 1),
        ("a|(b)", "[$1]", "ab", "[][b]", 2),
        ("x", "y", "abc", "abc", 0),
        ("", "-", "ab", "-a-b-", 3),
        ("$", "!", "ab", "ab!", 1),
    ] {
        let inputs = json!({ "pattern": pattern, "replacement": replacement, "text": text });
        assert_eq!(outputs("replace", inputs), json!({ "text": expected, "count": count }), "{pattern}");
    }
    let once = json!({ "pattern": "a", "replacement": "", "text": "aaa", "limit": 1 });
    assert_eq!(outputs("replace", once), json!({ "text": "aa", "count": 1 }));
}

#[test]
fn texts_are_split() {
    let split = |more: Value| {
        let mut inputs = json!({ "pattern": r"\s*,\s*", "text": "a , b,,c" });
        inputs.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        outputs("split", inputs)
    };
    assert_eq!(split(json!({})), json!({ "parts": ["a", "b", "", "c"], "count": 3 }));
    assert_eq!(split(json!({ "limit": 1 })), json!({ "parts": ["a", "b,,c"], "count": 1 }));
    assert_eq!(split(json!({ "text": "" })), json!({ "parts": [""], "count": 0 }));
}

#[test]
fn a_pattern_that_does_not_compile_is_an_error() {
    for (pattern, message) in [
        ("a(b", "unclosed group at column 2"),
        ("é[", "unclosed character class at column 2"),
        ("a**?+{2}{3,1}", "invalid repetition count range, the start must be <= the end at column 9"),
        (
            "(?=a)",
            "look-around, including look-ahead and look-behind, is not supported at column 1; there are neither \
             look-arounds nor backreferences, so that the time is linear in the text",
        ),
        (
            r"(a)\1",
            "backreferences are not supported at column 4; there are neither look-arounds nor backreferences, so that \
             the time is linear in the text",
        ),
        (r"\p{Nonsense}", "Unicode property not found at column 1"),
    ] {
        let inputs = json!({ "operation": "match", "pattern": pattern, "text": "" });
        fails(inputs, 3, "pattern", &format!("the pattern does not compile: {message}"));
    }
}

#[test]
fn hostile_patterns_are_refused() {
    let refused = |pattern: String| {
        let outcome = call(regex, json!({ "operation": "match", "pattern": pattern, "text": "" }));
        assert_eq!(i32::from(outcome.code), 3, "{outcome:?}");
        assert_eq!(outcome.detail["error"]["kind"], json!("pattern"));
        outcome.message
    };
    let deep = format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(refused(deep).contains("nest"));
    let large = refused(r"((\w{100}){100}){100}".to_owned());
    assert!(large.contains("compiled it is larger than 4194304 bytes; use smaller numbers"), "{large}");
    assert!(refused("a".repeat(65_537)).contains("it has 65537 bytes; expected at most 65536"));
    // A line per fault does not repeat the pattern.
    assert!(refused(format!("({}", "a".repeat(60_000))).len() < 200);
}

/// Patterns for which other engines take exponential time.
#[test]
fn catastrophic_patterns_end() {
    let text = format!("{}!", "a".repeat(100_000));
    for pattern in ["^(a+)+$", "^(a|aa)+$", "^(a|a?)+$", "(.*a){12}b"] {
        let found = outputs("match", json!({ "pattern": pattern, "text": text }));
        assert_eq!(found, json!({ "matched": false }), "{pattern}");
    }
}

#[test]
fn results_are_bounded() {
    let text = "a".repeat(100_000);
    let many = |operation: &str, what: &str| {
        let mut inputs = json!({ "operation": operation, "pattern": "", "text": text });
        if operation == "replace" {
            inputs["replacement"] = json!("");
        }
        let message = format!(
            "there are more than 10000 {what}; `maxMatches` sets the limit, and `limit` ends the search earlier"
        );
        fails(inputs, 2, "too-large", &message);
    };
    many("find", "matches");
    many("replace", "matches");
    many("split", "parts");
    let message = "the text would be larger than 4194304 bytes after `replace`; `maxBytes` sets the limit";
    let inputs = json!({ "operation": "replace", "pattern": "^.*$", "text": text, "replacement": "$0".repeat(100_000) });
    fails(inputs, 2, "too-large", message);
    let message = "the text would be larger than 3 bytes after `replace`; `maxBytes` sets the limit";
    let inputs =
        json!({ "operation": "replace", "pattern": "b", "text": "aaaa", "replacement": "", "maxBytes": 3 });
    fails(inputs, 2, "too-large", message);
}

#[test]
fn a_group_that_is_not_there_is_an_error() {
    let inputs = |replacement: &str| json!({ "operation": "replace", "pattern": "(?<x>a)(b)", "text": "ab", "replacement": replacement });
    let message = "input `replacement`: the pattern has no group `1a`; expected `0`, `x`, `2`, as `${1}` where an alphanumeric character or `_` follows; the pattern has no group `y`; expected `0`, `x`, `2`, as `${y}` where an alphanumeric character or `_` follows; a `$` without a group; write `$$` for the character itself";
    fails(inputs("$1a ${y} $"), 3, "input", message);
    let inputs = json!({ "operation": "replace", "pattern": "a", "text": "" });
    let message = "input `replacement` is missing; expected the text to put in place of each match";
    fails(inputs, 3, "input", message);
    let inputs = json!({ "operation": "find", "pattern": "a", "text": "", "replacement": "" });
    fails(inputs, 3, "input", "input `replacement`: only `replace` reads it; write `operation: replace`");
}
