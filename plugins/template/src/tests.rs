use phasm_sdk::testing::{Test, call};

use super::*;

fn text(inputs: Value) -> Value {
    let outcome = call(template, inputs);
    assert_eq!(outcome.message, "");
    outcome.get("text").unwrap()
}

fn fails(inputs: Value, code: i32, message: &str) {
    let outcome = call(template, inputs);
    assert_eq!((i32::from(outcome.code), outcome.message.as_str()), (code, message));
}

#[test]
fn inputs_and_values_are_variables() {
    let inputs = json!({
        "template": "{{ a }} {{ b.c }} {{ b.d[1] }}\n",
        "values": { "a": "under", "b": { "c": 1.5, "d": [1, 2] } },
        "a": "over",
    });
    assert_eq!(text(inputs), "over 1.5 2\n");
}

#[test]
fn keys_keep_their_order() {
    let test = Test::new().input("template", "{% for k, v in o|items %}{{ k }}={{ v }};{% endfor %}");
    let outcome = test.input_json("o", Json::from_text(r#"{"z":1,"a":true,"m":null}"#)).run(template).outcome;
    assert_eq!(outcome.get("text"), Some(json!("z=1;a=True;m=None;")));
}

#[test]
fn html_is_escaped_and_text_is_not() {
    let template = "<b>{{ x }}</b>{{ x|safe }}";
    assert_eq!(text(json!({ "template": template, "x": "<&>" })), "<b><&></b><&>");
    assert_eq!(
        text(json!({ "template": template, "x": "<&>", "format": "html" })),
        "<b>&lt;&amp;&gt;</b><&>"
    );
}

#[test]
fn an_undefined_value_fails_unless_told_otherwise() {
    let message = "cannot render the template in line 2: undefined value: `missing` is undefined";
    fails(json!({ "template": "a\n{{ missing }}" }), 2, message);
    let message = "cannot render the template in line 2: undefined value: `a.b` is undefined";
    fails(json!({ "template": "a\n{{ a.b.c }}", "a": {} }), 2, message);
    assert_eq!(text(json!({ "template": "a{{ a.b.c }}", "undefined": "lenient" })), "a");
    assert_eq!(text(json!({ "template": "{{ missing|default('x') }}" })), "x");
}

#[test]
fn values_that_do_not_fit_fail() {
    let message = "cannot render the template in line 1: invalid operation: tried to use + operator on unsupported types \
                   string and number";
    fails(json!({ "template": "{{ a + 1 }}", "a": "x" }), 2, message);
}

#[test]
fn a_wrong_template_is_an_error() {
    for (template, message) in [
        ("a\n{% if %}", "line 2: syntax error: unexpected end of block"),
        ("{{ 1|nothing }}", "line 1: unknown filter: filter nothing is unknown"),
        ("{{ nothing() }}", "line 1: unknown function: nothing is unknown"),
        ("{% include 'x' %}", "line 1: template not found: tried to include non-existing template 'x'"),
    ] {
        fails(json!({ "template": template }), 3, &format!("cannot render the template in {message}"));
    }
    fails(json!({}), 3, "input `template` is missing; expected a string");
}

#[test]
fn blocks_may_leave_no_blank_lines() {
    let template = "a\n  {% if true %}\nb\n  {% endif %}\nc\n";
    assert_eq!(text(json!({ "template": template })), "a\n  \nb\n  \nc\n");
    assert_eq!(text(json!({ "template": template, "trimBlocks": true })), "a\nb\nc\n");
}
