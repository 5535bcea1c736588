use phasm_sdk::testing::{Test, call};

use super::*;

/// Parses and gives the value as JSON text, so that the order of keys counts.
fn parsed(inputs: Value) -> String {
    let outcome = call(parse, inputs);
    assert_eq!(outcome.message, "");
    outcome.outputs.into_iter().map(|(name, json)| format!("{name}={json}")).collect()
}

fn rendered(inputs: Value, value: &str) -> String {
    let test =
        Test::new().inputs(inputs).input("operation", "render").input_json("value", Json::from_text(value));
    let outcome = test.run(parse).outcome;
    assert_eq!(outcome.message, "");
    outcome.get("text").unwrap().as_str().unwrap().to_owned()
}

fn fails(inputs: Value, code: i32, message: &str) {
    let outcome = call(parse, inputs);
    assert_eq!((i32::from(outcome.code), outcome.message.as_str()), (code, message));
}

#[test]
fn json_passes_untouched() {
    let text = "\u{feff} {\"b\": 1.0, \"a\": [1e2, 12345678901234567890]}\n";
    let expected = "value={\"b\": 1.0, \"a\": [1e2, 12345678901234567890]}";
    assert_eq!(parsed(json!({ "format": "json", "text": text })), expected);
}

#[test]
fn toml_keeps_its_order_and_dates_become_texts() {
    let text = "z = 1\na = 1.0\nwhen = 1979-05-27T07:32:00Z\n[[b.c]]\ny = 'x'\nx = [true, {q = -1}]\n";
    let expected =
        r#"value={"z":1,"a":1.0,"when":"1979-05-27T07:32:00Z","b":{"c":[{"y":"x","x":[true,{"q":-1}]}]}}"#;
    assert_eq!(parsed(json!({ "format": "toml", "text": text })), expected);
}

#[test]
fn yaml_is_of_version_1_2() {
    let text = "z: yes\na: &x {n: null, t: true}\nb: *x\n1: 0o17\n2.5: 0x1F\nlist:\n- 1.5\n- -3\n- '1'\n";
    let expected = r#"value={"z":"yes","a":{"n":null,"t":true},"b":{"n":null,"t":true},"1":15,"2.5":31,"list":[1.5,-3,"1"]}"#;
    assert_eq!(parsed(json!({ "format": "yaml", "text": text })), expected);
    assert_eq!(parsed(json!({ "format": "yaml", "text": "" })), "value=null");
}

#[test]
fn csv_rows_are_objects_or_lists() {
    let text = "z,a\n1,\"x, \"\"y\"\"\"\n,2\n";
    let expected = r#"value=[{"z":"1","a":"x, \"y\""},{"z":"","a":"2"}]"#;
    assert_eq!(parsed(json!({ "format": "csv", "text": text })), expected);
    let tabs = json!({ "format": "csv", "text": "a\tb\n1\t2", "delimiter": "\t", "header": false });
    assert_eq!(parsed(tabs), r#"value=[["a","b"],["1","2"]]"#);
    assert_eq!(parsed(json!({ "format": "csv", "text": "" })), "value=[]");
}

#[test]
fn yaml_scalars_have_the_types_of_the_core_schema() {
    let text = "[1:30, 2020-01-01, ~, +1, .5, 1e3, !!str 1, on, True]";
    let expected = r#"value=["1:30","2020-01-01",null,1,0.5,1000.0,"1","on",true]"#;
    assert_eq!(parsed(json!({ "format": "yaml", "text": text })), expected);
}

#[test]
fn a_number_that_would_become_another_one_fails() {
    for (format, text, number, line, column) in [
        ("json", "{\"a\":\n [1, 18446744073709551616]}", "18446744073709551616", 2, 6),
        ("json", "[1e999]", "1e999", 1, 2),
        ("json", "9007199254740993.0", "9007199254740993.0", 1, 1),
        ("yaml", "# 1.5\na: [1.5,\n  -9223372036854775809]", "-9223372036854775809", 3, 3),
        ("yaml", "id: 123456789012345678901234567890", "123456789012345678901234567890", 1, 5),
        ("yaml", "x: 3.14159265358979323846", "3.14159265358979323846", 1, 4),
        ("toml", "a = 'é'\nx = 3.141_592_653_589_793_238_46", "3.141_592_653_589_793_238_46", 2, 5),
    ] {
        let kept = "expected an integer of 64 bits or a finite double";
        let place = format!("at line {line}, column {column} of the {}", format.to_uppercase());
        let message = format!("number {number} cannot be kept exactly; {kept}; write it in quotes, {place}");
        fails(json!({ "format": format, "text": text }), 2, &message);
    }
    let quoted = "[1.5, \"18446744073709551616\", 1e23, 0.1]";
    assert_eq!(parsed(json!({ "format": "json", "text": quoted })), format!("value={quoted}"));
    let kept = "a: 3.141592653589793\nb: '3.14159265358979323846'";
    let expected = r#"value={"a":3.141592653589793,"b":"3.14159265358979323846"}"#;
    assert_eq!(parsed(json!({ "format": "yaml", "text": kept })), expected);
}

#[test]
fn what_does_not_parse_fails_where_it_stands() {
    for (format, text, message) in [
        ("json", "{\n \"a\": }", "JSON: expected value at line 2, column 7"),
        ("json", "", "JSON: EOF while parsing a value at line 1, column 0"),
        ("toml", "a = 1\na = 2", "TOML: duplicate key at line 2, column 1"),
        (
            "toml",
            "a = 1\né = nan",
            "TOML: invalid unquoted key, expected letters, numbers, `-`, `_` at line 2, column 1",
        ),
        (
            "toml",
            "é = 1",
            "TOML: invalid unquoted key, expected letters, numbers, `-`, `_` at line 1, column 1",
        ),
        ("toml", "\"é\" = nan", "TOML: JSON has no NaN at line 1, column 7"),
        ("yaml", "a: 1\nb: [", "YAML: unclosed bracket '[' at line 2, column 4"),
        ("yaml", "a: 1\na: 2", "YAML: duplicate mapping key: a not allowed here at line 2, column 1"),
        ("yaml", "a: .nan", "YAML: value `.nan` is not a finite number at line 1, column 4"),
        (
            "yaml",
            "a: 1\n---\nb: 2",
            "YAML: only single YAML document expected but multiple found at line 3, column 1",
        ),
        ("yaml", "[a]: 1", "YAML: a key that is a list or an object at line 1, column 1"),
        ("csv", "a,b\n1,2\n1,2,3\n", "CSV: a row of 3 cells among rows of 2 at line 3, column 1"),
        ("csv", "a,b\n\"x", "CSV: a row of 1 cells among rows of 2 at line 2, column 1"),
        ("csv", "a,a\n", "CSV: the column `a` occurs twice at line 1, column 1"),
    ] {
        fails(json!({ "format": format, "text": text }), 2, &format!("the text is not {message}"));
    }
}

#[test]
fn aliases_are_bounded() {
    let layers = ('b'..='g')
        .zip('a'..)
        .map(|(to, from)| format!("{to}: &{to} [{}]\n", vec![format!("*{from}"); 12].join(", ")));
    let bomb = format!("a: &a [x]\n{}", layers.collect::<String>());
    let outcome = call(parse, json!({ "format": "yaml", "text": bomb }));
    assert_eq!(
        (outcome.code, outcome.message.contains("too large or too complex")),
        (ExecCode::Failed, true)
    );
}

#[test]
fn values_are_rendered_in_order() {
    let value = r#"{"z":1,"a":[1.5,"yes",{"c":"x: y"}],"t":true}"#;
    for (format, text) in [
        ("json", value),
        ("toml", "z = 1\na = [\n    1.5,\n    \"yes\",\n    { c = \"x: y\" },\n]\nt = true\n"),
        ("yaml", "z: 1\na:\n- 1.5\n- \"yes\"\n- c: \"x: y\"\nt: true\n"),
    ] {
        assert_eq!(rendered(json!({ "format": format }), value), text);
        assert_eq!(parsed(json!({ "format": format, "text": text })), format!("value={value}"));
    }
    assert_eq!(rendered(json!({ "format": "json", "pretty": true }), "[1]"), "[\n  1\n]");
    assert_eq!(rendered(json!({ "format": "json" }), "null"), "null");
}

#[test]
fn csv_is_rendered_from_objects_and_lists() {
    let objects = r#"[{"z":"1","a":"x, \"y\""},{"b":null,"a":[1]}]"#;
    assert_eq!(rendered(json!({ "format": "csv" }), objects), "z,a,b\n1,\"x, \"\"y\"\"\",\n,[1],\n");
    assert_eq!(
        rendered(json!({ "format": "csv", "header": false, "delimiter": ";" }), "[[1,\"a;b\"],[true]]"),
        "1;\"a;b\"\ntrue\n"
    );
    assert_eq!(rendered(json!({ "format": "csv" }), "[]"), "");
}

#[test]
fn a_value_that_the_format_cannot_hold_fails() {
    for (format, value, message) in [
        ("toml", json!([1]), "TOML cannot hold the value: at the top there must be an object"),
        (
            "toml",
            json!({ "a": [1, { "b": null }] }),
            "TOML cannot hold the value: there is no null in TOML, but `.a[1].b` is null",
        ),
        ("csv", json!({}), "CSV cannot hold the value: at the top there must be a list of objects or lists"),
        ("csv", json!([[1], 2]), "CSV cannot hold the value: [1] is no object or list"),
    ] {
        fails(json!({ "operation": "render", "format": format, "value": value }), 2, message);
    }
}

#[test]
fn bad_inputs_are_errors() {
    fails(json!({ "format": "json" }), 3, "input `text` is missing; expected the text to parse");
    fails(
        json!({ "format": "xml", "text": 1 }),
        3,
        "input `format`: expected `json`, `toml`, `yaml` or `csv`, got string \"xml\"; \
        input `text`: expected a string, got integer `1`",
    );
    for delimiter in ["", "ab", "é", "\n"] {
        let message = format!(
            "input `delimiter`: expected one ASCII character, no quote or line end, got {delimiter:?}"
        );
        fails(json!({ "format": "csv", "text": "", "delimiter": delimiter }), 3, &message);
    }
}
