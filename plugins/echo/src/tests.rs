use phasm_sdk::{
    Level,
    testing::{HostCall, Test, call},
};

use super::*;

/// Checks code, message and outputs of a first attempt.
fn check(inputs: Value, code: i32, message: &str, outputs: &Value) {
    check_outcome(&Test::new().inputs(inputs).run(echo).outcome, code, message, outputs);
}

fn check_outcome(outcome: &Outcome, code: i32, message: &str, outputs: &Value) {
    let names: Vec<_> = outcome.outputs.iter().map(|(name, _)| name.clone()).collect();
    let object = names.iter().map(|name| (name.clone(), outcome.get(name).unwrap_or_default())).collect();
    assert_eq!((i32::from(outcome.code), outcome.message.as_str()), (code, message), "{names:?}");
    assert_eq!(
        (Value::Object(object), names.len()),
        (outputs.clone(), outputs.as_object().map_or(0, |o| o.len()))
    );
}

#[test]
fn inputs_come_back_byte_for_byte_and_in_order() {
    let texts = [("z", "1.0"), ("a", r#"{ "k" : [1e2, 12345678901234567890123] }"#), ("m", "null")];
    let test =
        texts.iter().fold(Test::new(), |test, (name, text)| test.input_json(name, Json::from_text(*text)));
    let outcome = test.run(echo).outcome;
    let back: Vec<_> = outcome.outputs.iter().map(|(name, json)| (name.as_str(), json.as_str())).collect();
    assert_eq!((outcome.code, back), (ExecCode::Succeeded, texts.to_vec()));
}

#[test]
fn controls_never_come_back() {
    let inputs = json!({
        "outputs": [], "returns": [], "fail-count": 0, "failCount": 0, "suspend": false, "code": 0, "message": "",
        "detail": {}, "sleep": "0s", "trap": false, "spin": false, "allocate": 0, "log": 0, "auto-resume-after": "1h",
        "__resumed": true, "x": 1,
    });
    check(inputs, 0, "", &json!({ "x": 1 }));
}

#[test]
fn code_message_and_detail_are_returned() {
    check(json!({ "code": 4, "message": "late", "x": 1 }), 4, "late", &json!({ "x": 1 }));
    check(json!({ "code": -7 }), -7, "", &json!({}));
    let outcome = call(echo, json!({ "code": 2, "detail": { "error": { "kind": "http", "code": 503 } } }));
    assert_eq!(outcome.detail.get("error"), Some(&json!({ "kind": "http", "code": 503 })));
}

#[test]
fn declared_outputs_have_their_value_or_the_inputs_or_a_zero() {
    let outputs = json!([
        { "name": "fixed", "type": "string", "value": "v" },
        { "name": "x", "type": "integer" },
        { "name": "y", "value": "over" },
        { "name": "nothing", "value": null },
        { "name": "s", "type": "string" }, { "name": "n", "type": "number" }, { "name": "f", "type": "float" },
        { "name": "i", "type": "int" }, { "name": "b", "type": "bool" }, { "name": "o", "type": "object" },
        { "name": "a", "type": "array" }, { "name": "any", "type": "any" }, { "name": "untyped" },
        { "name": "odd", "type": "date" }, { "name": "list", "type": "list", "value": [1] },
    ]);
    let expected = json!({
        "fixed": "v", "x": 7, "y": "over", "nothing": null, "s": "", "n": 0, "f": 0, "i": 0, "b": false, "o": {},
        "a": [], "any": null, "untyped": null, "odd": "", "list": [1], "other": true,
    });
    check(json!({ "outputs": outputs, "x": 7, "y": "under", "other": true }), 0, "", &expected);
}

#[test]
fn the_first_attempts_fail() {
    for (key, attempt, code, message) in [
        ("fail-count", 1, 2, "attempt 1 of 2 that fail"),
        ("fail-count", 2, 2, "attempt 2 of 2 that fail"),
        ("fail-count", 3, 0, ""),
        ("failCount", 2, 2, "attempt 2 of 2 that fail"),
        ("failCount", 3, 0, ""),
    ] {
        let outcome = Test::new().inputs(json!({ key: 2, "x": 1 })).attempt(attempt).run(echo).outcome;
        check_outcome(&outcome, code, message, &json!({ "x": 1 }));
    }
    check(json!({ "fail-count": 1, "message": "not yet" }), 2, "not yet", &json!({}));
}

#[test]
fn returns_answer_attempt_by_attempt_and_the_last_repeats() {
    let returns = json!([
        { "code": 3, "message": "down", "detail": { "error": { "kind": "net" } } },
        { "code": 2, "outputs": { "x": 2, "y": [1.5] } },
        { "outputs": { "done": true } },
    ]);
    for (attempt, code, message, outputs) in [
        (1, 3, "down", json!({ "x": 1 })),
        (2, 2, "", json!({ "x": 2, "y": [1.5] })),
        (3, 0, "", json!({ "x": 1, "done": true })),
        (u32::MAX, 0, "", json!({ "x": 1, "done": true })),
    ] {
        let test = Test::new().inputs(json!({ "returns": returns, "x": 1, "code": 4, "message": "unheard" }));
        check_outcome(&test.attempt(attempt).run(echo).outcome, code, message, &outputs);
    }
    let detail = call(echo, json!({ "returns": returns })).detail;
    assert_eq!(detail.get("error"), Some(&json!({ "kind": "net" })));
}

#[test]
fn it_suspends_until_it_is_resumed() {
    let waiting = Test::new().inputs(json!({ "suspend": true, "x": 1, "message": "a yes", "code": 2 }));
    check_outcome(&waiting.clone().run(echo).outcome, 1, "a yes", &json!({ "x": 1 }));
    let payload = waiting.input("approved", true).resumed().run(echo).outcome;
    check_outcome(&payload, 2, "a yes", &json!({ "x": 1, "approved": true }));
}

/// R-I8.
#[test]
fn the_order_is_suspend_then_fail_count_then_returns() {
    let all = Test::new()
        .inputs(json!({ "suspend": true, "fail-count": 1, "returns": [{ "code": 4 }], "code": 3 }));
    let code = |test: Test| i32::from(test.run(echo).outcome.code);
    assert_eq!(code(all.clone()), 1);
    assert_eq!(code(all.clone().resumed()), 2);
    assert_eq!(code(all.attempt(2).resumed()), 4);
}

#[test]
fn what_the_inputs_do_not_say_the_config_may() {
    let config = json!({ "fail-count": 1, "message": "from config", "suspend": true, "unknown": 1 });
    let test = Test::new().config(config).inputs(json!({ "suspend": false, "message": null, "x": 1 }));
    check_outcome(&test.clone().run(echo).outcome, 2, "from config", &json!({ "x": 1 }));
    check_outcome(&test.attempt(2).run(echo).outcome, 0, "from config", &json!({ "x": 1 }));
}

#[test]
fn controls_may_be_texts_that_hold_json() {
    check(json!({ "code": "4" }), 4, "", &json!({}));
    check(json!({ "fail-count": "1", "suspend": "false" }), 2, "attempt 1 of 1 that fail", &json!({}));
    check(json!({ "returns": "[{\"code\": 4}]" }), 4, "", &json!({}));
    check(json!({ "outputs": "[{\"name\": \"a\", \"value\": 1}]" }), 0, "", &json!({ "a": 1 }));
}

#[test]
fn controls_that_do_not_fit_are_all_named() {
    let outcome =
        call(echo, json!({ "code": 1.5, "suspend": "maybe", "sleep": "1 week", "log": {}, "outputs": [{}] }));
    assert_eq!(i32::from(outcome.code), 3);
    for part in [
        "input `code`: expected an integer from -2147483648 to 2147483647, got floating point `1.5`",
        "input `suspend`: expected a boolean, got string \"maybe\"",
        "input `sleep`: no duration: unknown unit `week`; expected ms, s, m, h, d or their long forms \
         (milliseconds … days) (at byte 2)",
        "input `log`: expected a number of lines, a text or a list of texts",
        "input `name` is missing; expected a string",
    ] {
        assert!(outcome.message.contains(part), "{part}\n{}", outcome.message);
    }
}

#[test]
fn lines_are_logged() {
    let lines = |log: Value| {
        let host = Test::new().input("log", log).run(echo).host;
        host.into_iter()
            .map(|call| match call {
                HostCall::Log(Level::Info, text) => text,
                other @ (HostCall::Log(..) | HostCall::Progress(..) | HostCall::Heartbeat) => {
                    format!("{other:?}")
                }
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(json!(2)), ["line 1", "line 2"]);
    assert_eq!(lines(json!("1")), ["line 1"]);
    assert_eq!(lines(json!("hello")), ["hello"]);
    assert_eq!(lines(json!(["a", "b"])), ["a", "b"]);
}

#[test]
fn it_misbehaves_before_it_answers() {
    let trapping = || Test::new().inputs(json!({ "log": "first", "trap": true, "suspend": true })).run(echo);
    assert!(std::panic::catch_unwind(trapping).is_err());
    check(json!({ "allocate": 2, "code": 2 }), 2, "", &json!({}));
}
