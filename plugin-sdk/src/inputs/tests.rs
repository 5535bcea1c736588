use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::{
    Call, Level, Map,
    testing::{HostCall, Test, call},
};

inputs! {
    #[derive(Debug, PartialEq)]
    struct Sample {
        text: String,
        count as "how-many": u32 = 1 + 1,
        choice: Option<Choice>,
        any: Option<Value>,
        within: Option<Object<Within>>,
    }
}

inputs! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Choice { One = "one", Two = "two", Three = "three" }
}

inputs! {
    #[derive(Debug, PartialEq)]
    struct Within { deep: bool }
}

use crate::inputs;

fn read<I: FromInputs>(inputs: Value) -> Result<I, String> {
    let Value::Object(inputs) = inputs else { return Err("no object".to_owned()) };
    let inputs = inputs.into_iter().map(|(name, value)| (name, value.into())).collect();
    I::from_inputs(inputs, &Json::from_text("{}")).map_err(|why| why.to_string())
}

#[test]
fn fields_are_read_with_their_defaults() {
    let given = json!({
        "text": "t", "how-many": 3, "choice": "two", "any": [1], "within": { "deep": true },
    });
    let sample = Sample {
        text: "t".to_owned(),
        count: 3,
        choice: Some(Choice::Two),
        any: Some(json!([1])),
        within: Some(Object(Within { deep: true })),
    };
    assert_eq!(read(given), Ok(sample));
    let bare = Sample { text: String::new(), count: 2, choice: None, any: None, within: None };
    assert_eq!(read(json!({ "text": "", "how-many": null, "choice": null, "any": null })), Ok(bare));
    assert_eq!(Sample::INPUTS, ["text", "how-many", "choice", "any", "within"]);
}

#[test]
fn every_problem_names_its_input_what_was_expected_and_what_was_given() {
    let problems = |inputs: Value| read::<Sample>(inputs).unwrap_err();
    assert_eq!(problems(json!({})), "input `text` is missing; expected a string");
    assert_eq!(problems(json!({ "text": null })), "input `text` is missing; expected a string");
    assert_eq!(
        problems(json!({ "text": 1, "how-many": -1, "choice": "four", "within": { "deep": "x" } })),
        "input `text`: expected a string, got integer `1`; \
         input `how-many`: expected an integer from 0 to 4294967295, got integer `-1`; \
         input `choice`: expected `one`, `two` or `three`, got string \"four\"; \
         input `within`: input `deep`: expected a boolean, got string \"x\" (line 1, column 12 of its JSON)"
    );
    assert_eq!(
        problems(json!({ "text": "", "choice": 1, "within": [] })),
        "input `choice`: expected `one`, `two` or `three`, got integer `1`; \
         input `within`: expected an object, got a list"
    );
}

#[test]
fn what_was_given_is_shortened() {
    let why = read::<Sample>(json!({ "text": "", "how-many": "ü".repeat(1000) })).unwrap_err();
    assert!(
        why.starts_with("input `how-many`: expected an integer from 0 to 4294967295, got string \"üüü")
            && why.ends_with("ü…"),
        "{why}"
    );
    assert!(why.chars().count() < 200, "{why}");
}

#[test]
fn of_equal_names_the_last_wins() {
    let pairs = [("text", "\"a\""), ("text", "\"b\"")];
    let pairs =
        || pairs.iter().map(|(name, text)| ((*name).to_owned(), Json::from_text(*text))).collect::<Inputs>();
    let config = Json::from_text("{}");
    assert_eq!(Sample::from_inputs(pairs(), &config).unwrap().text, "b");
    let map = BTreeMap::<String, String>::from_inputs(pairs(), &config).unwrap();
    assert_eq!(map.get("text").map(String::as_str), Some("b"));
}

#[test]
fn the_config_fills_in_what_is_absent_or_null() {
    let test = Test::new().config(json!({ "text": "config", "how-many": 7 }));
    let texts = |call: Call<Sample>| {
        Outcome::succeeded().output("t", call.inputs.text).output("c", call.inputs.count)
    };
    let outcome = |test: Test| test.run(texts).outcome;
    assert_eq!(
        outcome(test.clone().input("text", "input").input("how-many", Value::Null)).get("t"),
        Some(json!("input"))
    );
    assert_eq!(outcome(test.input("how-many", Value::Null)).get("c"), Some(json!(7)));
}

#[test]
fn an_input_that_nobody_asked_for_is_named_in_the_log() {
    let ran = Test::new().inputs(json!({ "deep": true, "depp": 1 })).run(|_: Call<Within>| ());
    let text = "input `depp` is not used; this executor knows `deep`".to_owned();
    assert_eq!(ran.host, [HostCall::Log(Level::Warn, text)]);
}

#[test]
fn serde_types_are_read_too() {
    type Numbers = BTreeMap<String, u8>;
    assert_eq!(read::<Numbers>(json!({ "a": 1, "b": null })), Ok(BTreeMap::from([("a".to_owned(), 1)])));
    assert_eq!(
        read::<Numbers>(json!({ "a": 256 })),
        Err("input `a`: expected an integer from 0 to 255, got integer `256`".to_owned())
    );
    assert_eq!(read::<Map<String, Value>>(json!({})), Ok(Map::new()));
    let config = Test::new().config(json!({ "a": 1, "b": 2 })).input("a", 3);
    let ran = config.run(|call: Call<Numbers>| Outcome::succeeded().output("all", call.inputs));
    assert_eq!(ran.outcome.get("all"), Some(json!({ "a": 3, "b": 2 })));
}

#[test]
fn untyped_inputs_are_untouched() {
    let outcome = call(
        |call: Call| {
            let inputs = &call.inputs;
            assert_eq!((inputs.len(), inputs.is_empty(), inputs.get("b")), (1, false, None));
            assert_eq!(inputs.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["a"]);
            assert_eq!(inputs.get("a").map(Json::as_str), Some("1"));
        },
        json!({ "a": 1 }),
    );
    assert_eq!(outcome, Outcome::succeeded());
}

#[test]
fn bad_inputs_are_no_matter_of_retrying() {
    let outcome = call(|_: Call<Within>| (), json!({}));
    assert_eq!(i32::from(outcome.code), 3);
    assert_eq!(outcome.detail.get("error"), Some(&json!({ "kind": "input", "retryable": false })));
}
