use phasm_sdk::{
    Level,
    testing::{HostCall, Test, call},
};

use super::*;

/// Runs `filter` over `input` and gives the results as JSON text.
fn results(filter: &str, input: &str) -> String {
    let outcome =
        Test::new().input("filter", filter).input_json("input", Json::from_text(input)).run(jq).outcome;
    assert_eq!(outcome.message, "", "{filter}");
    outcome.outputs.into_iter().map(|(name, json)| format!("{name}={json} ")).collect()
}

fn fails(filter: &str, code: i32, message: &str) {
    let outcome = call(jq, json!({ "filter": filter, "input": 1 }));
    assert_eq!((i32::from(outcome.code), outcome.message.as_str()), (code, message));
}

#[test]
fn results_are_the_first_and_all() {
    for (filter, input, expected) in [
        (".a", r#"{"a":[1]}"#, "result=[1] results=[[1]] "),
        (".[]", "[1,2]", "result=1 results=[1,2] "),
        ("empty", "1", "result=null results=[] "),
        ("1, halt, 2", "1", "result=1 results=[1] "),
    ] {
        assert_eq!(results(filter, input), expected, "{filter}");
    }
}

#[test]
fn order_and_numbers_are_kept() {
    let value = r#"{"z":1.0,"a":[1e2,12345678901234567890,0.1]}"#;
    assert_eq!(results(".", value), format!("result={value} results=[{value}] "));
    assert_eq!(results(".+1", "3000000000"), "result=3000000001 results=[3000000001] ");
}

#[test]
fn a_number_that_the_host_could_not_keep_fails() {
    let kept = "expected an integer of 64 bits or a finite double; `tostring` makes it text";
    let lost = |number: &str| format!("a result is no value: number {number} cannot be kept exactly; {kept}");
    fails("12345678901234567890123", 2, &lost("12345678901234567890123"));
    fails("[\"18446744073709551616\" | fromjson]", 2, &lost("18446744073709551616"));
    fails("{a: (\"3.14159265358979323846\" | tonumber)}", 2, &lost("3.14159265358979323846"));
    assert_eq!(
        results("12345678901234567890123 | tostring", "1").split_once(' ').unwrap().0,
        "result=\"12345678901234567890123\""
    );
}

#[test]
fn the_usual_filters_are_there() {
    for (filter, input, expected) in [
        (
            "group_by(.a) | map({a: .[0].a, n: length})",
            r#"[{"a":2},{"a":1},{"a":2}]"#,
            r#"[{"a":1,"n":1},{"a":2,"n":2}]"#,
        ),
        ("to_entries | map(select(.value > 1).key)", r#"{"b":1,"a":2}"#, r#"["a"]"#),
        ("[match(\"(?<x>[a-z])1\"; \"g\").captures[0].string]", "\"a1b1\"", r#"["a","b"]"#),
        ("ascii_downcase | ltrimstr(\"a\")", "\"ABC\"", "\"bc\""),
        ("try error(\"x\") catch .", "1", "\"x\""),
        ("reduce .[] as $x (0; . + $x)", "[1,2.5]", "3.5"),
        ("def f(g): g | g; f(. * 2)", "1", "4"),
    ] {
        assert_eq!(results(filter, input), format!("result={expected} results=[{expected}] "), "{filter}");
    }
}

#[test]
fn args_are_variables_and_input_may_be_absent() {
    let outcome = call(jq, json!({ "filter": "[., $a, $b.c]", "args": { "a": 1, "b": { "c": "x" } } }));
    assert_eq!(outcome.get("result"), Some(json!([null, 1, "x"])));
}

#[test]
fn a_filter_that_does_not_compile_is_an_error() {
    for (filter, faults) in [
        ("1 +", "expected term, got the end at line 1, column 4"),
        ("[1,\n2", "expected closing bracket, got the end at line 2, column 2"),
        ("é | &", "expected token, got `é | &` at line 1, column 1"),
        ("\"\\q\"", "expected string escape sequence, got `q\"` at line 1, column 3"),
        (
            "a\n|  foo(1) | $x",
            "the filter `a/0` is not defined at line 1, column 1; the filter `foo/1` is not defined at line 2, column 4; \
             the variable `$x` is not defined at line 2, column 13",
        ),
        ("import \"a\" as a; 1", "cannot load a module: module loading not supported at line 1, column 9"),
    ] {
        fails(filter, 3, &format!("the filter does not compile: {faults}"));
    }
}

#[test]
fn a_filter_that_raises_an_error_fails() {
    for (filter, message) in [
        ("error(\"x\")", "the filter raised an error: x"),
        ("error({a: 1})", "the filter raised an error: {\"a\":1}"),
        (".a.b", "the filter raised an error: cannot index 1 with \"a\""),
        ("halt_error", "the filter halted with status 5"),
        ("[nan]", "a result has the number NaN, which JSON has not"),
        ("{a: infinite}", "a result has the number inf, which JSON has not"),
        ("{(1): 2}", "a result has the key 1, which JSON has not"),
        ("\"a\" | tobytes", "a result has a string of bytes, which JSON has not"),
    ] {
        fails(filter, 2, message);
    }
}

#[test]
fn bad_inputs_are_errors() {
    let outcome = call(jq, json!({ "args": [1] }));
    let message =
        "input `filter` is missing; expected a string; input `args`: expected an object, got a list";
    assert!(outcome.message.starts_with(message), "{}", outcome.message);
    assert_eq!(outcome.code, ExecCode::Error);
}

#[test]
fn debug_is_a_log_line() {
    let ran = Test::new().inputs(json!({ "filter": "debug", "input": 7 })).run(jq);
    assert!(
        matches!(&ran.host[..], [HostCall::Log(Level::Debug, text)] if text.contains('7')),
        "{:?}",
        ran.host
    );
}
