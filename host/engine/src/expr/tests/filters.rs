//! Every filter: results, null, wrong operands.

use super::*;

const ENV: &str = r#"{"s": "  Straße ", "n": null, "list": [3, "b", null, true, 1.5, {"k": 1}], "o": {"b": 1, "a": 2},
    "words": "a,b,,c", "i": 7, "x": -2.5, "nested": "[1, {\"a\": null}]"}"#;

/// R-X5.
#[test]
fn of_texts() {
    check(
        ENV,
        &[
            ("'AbC' | lower", r#""abc""#),
            ("'AbC'.upper()", r#""ABC""#),
            ("'ÉÀ' | lower", r#""éà""#),
            ("s | trim", r#""Straße""#),
            ("s | trim | upper", r#""STRASSE""#),
            ("s.trim().lower()", r#""straße""#),
            ("'x'|upper", r#""X""#),
            ("('a' + 'b')|upper", r#""AB""#),
            ("s | trim | length", "6"),
            ("'abc' | contains('b')", "true"),
            ("'abc' | contains('')", "true"),
            ("'abc'.contains('z')", "false"),
            ("'abc' | contains(1)", "false"),
            ("'abc' | startswith('ab')", "true"),
            ("'abc' | startswith('b')", "false"),
            ("'abc'.endswith('bc')", "true"),
            ("'abc' | endswith('b')", "false"),
            ("'a-b-c' | replace('-', '+')", r#""a+b+c""#),
            ("'aaa' | replace('aa', 'b')", r#""ba""#),
            ("'abc' | replace('b', '')", r#""ac""#),
            ("words | split(',')", r#"["a","b","","c"]"#),
            ("'' | split(',')", r#"[""]"#),
            ("'a, b' | split(', ') | last", r#""b""#),
            ("words.split(',')[1]", r#""b""#),
            ("words.split(',').length()", "4"),
        ],
    );
}

/// R-X5.
#[test]
fn of_lists_and_objects() {
    check(
        ENV,
        &[
            ("list | length", "6"),
            ("o | length", "2"),
            ("[] | length", "0"),
            ("'' | length", "0"),
            ("'é😀' | length", "2"),
            ("list | first", "3"),
            ("list | last", r#"{"k":1}"#),
            ("list.last().k", "1"),
            ("(list | last).k", "1"),
            ("(list | last)['k']", "1"),
            ("[] | first", "null"),
            ("[] | last", "null"),
            ("o | keys", r#"["a","b"]"#),
            ("{} | keys", "[]"),
            ("o.keys()[0]", r#""a""#),
            ("list | join('-')", r#""3-b--true-1.5-{\"k\":1}""#),
            ("[] | join(',')", r#""""#),
            ("['a'] | join(',')", r#""a""#),
            ("['a', 'b'] | join('')", r#""ab""#),
            ("list | contains('b')", "true"),
            ("list | contains(3.0)", "true"),
            ("list | contains({'k': 1.0})", "true"),
            ("list | contains(null)", "true"),
            ("o | contains('a')", "true"),
            ("o | contains('z')", "false"),
        ],
    );
}

/// R-X5.
#[test]
fn between_types() {
    check(
        ENV,
        &[
            ("'42' | int", "42"),
            ("' -42 ' | int", "-42"),
            ("'+5' | int", "5"),
            ("'3.9' | int", "3"),
            ("'1e3' | int", "1000"),
            ("3.9 | int", "3"),
            ("x | int", "-2"),
            ("i | int", "7"),
            ("'9223372036854775807' | int", "9223372036854775807"),
            ("'18446744073709551615' | int", "18446744073709551615"),
            ("'9007199254740993' | int", "9007199254740993"),
            ("'0.10000000000000001' | float", "0.1"),
            ("'2.5' | float", "2.5"),
            ("'2' | float", "2.0"),
            ("i | float", "7.0"),
            ("x | float", "-2.5"),
            ("i | string", r#""7""#),
            ("x | string", r#""-2.5""#),
            ("true | string", r#""true""#),
            ("'a' | string", r#""a""#),
            ("[1, 'a'] | string", r#""[1,\"a\"]""#),
            ("o | tojson", r#""{\"a\":2,\"b\":1}""#),
            ("'a' | tojson", r#""\"a\"""#),
            ("nested | fromjson", r#"[1,{"a":null}]"#),
            ("(nested | fromjson)[0]", "1"),
            ("'null' | fromjson", "null"),
            ("' 1 ' | fromjson", "1"),
            ("list | tojson | fromjson == list", "true"),
            ("2.5 | round", "3"),
            ("-2.5 | round", "-3"),
            ("x | round", "-3"),
            ("2.4 | round", "2"),
            ("0.49999999999999994 | round", "0"),
            ("i | round", "7"),
            ("2.345 | round(1)", "2.3"),
            ("2.25 | round(1)", "2.3"),
            ("x | round(0)", "-3.0"),
            ("i | round(2)", "7"),
            ("1e300 | round == 1e300", "true"),
            ("1e300 | round(15) == 1e300", "true"),
            ("(10 / 4) | round", "3"),
        ],
    );
}

/// Null stays null in all filters but `default`, whatever the arguments (R-X5).
#[test]
fn null_stays_null() {
    let env = Json::new(ENV);
    for filter in &filter::FILTERS {
        let arguments = vec!["'x'"; *filter.arguments.start()].join(", ");
        for text in
            [format!("n | {}({arguments})", filter.name), format!("missing.x.{}({arguments})", filter.name)]
        {
            assert_eq!(compiled(&text).eval(&env, &mut Doubts::default()), Ok(Value::Null), "{text}");
        }
    }
    check(
        ENV,
        &[
            ("n | default(1)", "1"),
            ("missing.x | default('d')", r#""d""#),
            ("missing | default(n) | default(3)", "3"),
            ("i | default(1)", "7"),
            ("false | default(true)", "false"),
            ("'' | default('d')", r#""""#),
            ("0 | default(1)", "0"),
            ("missing.default([]).length()", "0"),
            ("n | lower | default('x') | upper", r#""X""#),
            ("(n | length | default(0)) + 1", "1"),
            ("list[2] | default('third')", r#""third""#),
        ],
    );
}

#[test]
fn wrong_operands() {
    check_fails(
        ENV,
        &[
            ("i | lower", "`lower` works on a string, not on integer 7"),
            ("list | upper", "`upper` works on a string, not on an array of 6"),
            ("o | trim", "`trim` works on a string, not on an object of 2"),
            ("true | startswith('t')", "`startswith` works on a string, not on boolean true"),
            ("i | endswith('7')", "`endswith` works on a string"),
            ("i | replace('7', '8')", "`replace` works on a string"),
            ("list | split(',')", "`split` works on a string"),
            ("'a' | startswith(1)", "`startswith` takes a string as argument, not integer 1"),
            ("'a' | endswith(n)", "`endswith` takes a string as argument, not null"),
            ("'a' | replace('a', 1)", "`replace` takes a string as argument, not integer 1"),
            ("'a' | replace('', 'b')", "`replace` needs something to look for"),
            ("'a' | split('')", "`split` needs something to look for"),
            ("list | join(1)", "`join` takes a string as argument"),
            ("'abc' | join(',')", "`join` works on an array, not on string \"abc\""),
            ("i | length", "`length` works on a string, an array or an object, not on integer 7"),
            ("true | length", "`length` works on"),
            ("'abc' | first", "`first` works on an array"),
            ("o | last", "`last` works on an array"),
            ("list | keys", "`keys` works on an object, not on an array of 6"),
            ("i | contains(7)", "`contains` works on a string, an array or an object"),
            ("'abc' | int", "`int` is given string \"abc\", which is not a number"),
            ("'' | int", "which is not a number"),
            ("'1_000' | int", "which is not a number"),
            ("'nan' | float", "`float` is given string \"nan\", which is not a number"),
            ("'inf' | float", "which is not a number"),
            ("'1e999' | float", "which is not a number"),
            ("1e300 | int", "does not fit in 64 bits"),
            ("'18446744073709551616' | int", "does not fit in 64 bits"),
            ("'9007199254740993.5' | int", "which a double cannot keep exactly"),
            ("'9007199254740993' | float", "which a double cannot keep exactly"),
            ("9007199254740993 | float", "has more digits than a double"),
            ("'18446744073709551616' | fromjson", "number 18446744073709551616 cannot be kept exactly"),
            ("'{\"a\": [1e400]}' | fromjson", "number 1e400 cannot be kept exactly"),
            ("'9007199254740993.0' | fromjson", "number 9007199254740993.0 cannot be kept exactly"),
            ("true | int", "`int` works on a number or a string, not on boolean true"),
            ("list | float", "`float` works on a number or a string"),
            ("'2' | round", "`round` works on a number, not on string \"2\""),
            ("x | round(16)", "`round` takes 0 to 15 digits, not integer 16"),
            ("x | round(-1)", "`round` takes 0 to 15 digits, not integer -1"),
            ("x | round('1')", "`round` takes 0 to 15 digits, not string \"1\""),
            ("x | round(n)", "`round` takes 0 to 15 digits, not null"),
            ("'{' | fromjson", "`fromjson` is given string \"{\", which is not JSON: EOF"),
            ("'1 2' | fromjson", "which is not JSON"),
            ("i | fromjson", "`fromjson` works on a string"),
        ],
    );
}
