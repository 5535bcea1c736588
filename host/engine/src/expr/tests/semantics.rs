//! The meaning of the operators.

use super::*;

const ENV: &str = r#"{
    "a": 1, "b": 2.5, "s": "text", "t": true, "f": false, "n": null, "list": [1, "two", [3], {"four": 4}], "empty": [],
    "o": {"k": "v", "in": 1, "9lives": 9, "a-b": "hyphen", "deep": {"x": [10, 20, 30]}, "é": "accent", "not": "n"},
    "big": 18446744073709551615, "yes": "true", "no": "false", "i": 1, "key": "k", "wait-external": "w", "a-1": "name",
    "code": 4, "phase": "Failed", "_prev": {"rows": 2}, "tasks": {"in": {"phase": "Ready"}, "wait-external": {"phase": "Suspended"}},
    "loop": {"index": 2, "item": {"name": "x"}}, "long": "0123456789012345678901234567890123456789012345678901234567890123456789"
}"#;

/// R-X2.
#[test]
fn literals() {
    check(
        ENV,
        &[
            ("1", "1"),
            ("-1", "-1"),
            ("1.5", "1.5"),
            ("1e3", "1000.0"),
            ("2.5E-1", "0.25"),
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("18446744073709551615", "18446744073709551615"),
            ("true", "true"),
            ("false", "false"),
            ("null", "null"),
            ("none", "null"),
            ("None", "null"),
            ("'it\\'s'", r#""it's""#),
            (r#""say \"hi\"""#, r#""say \"hi\"""#),
            (r#"'a\tb\n\\\/\u00e9\ud83d\ude00'"#, r#""a\tb\n\\/é😀""#),
            ("'é😀'", r#""é😀""#),
            ("''", r#""""#),
            ("[]", "[]"),
            ("[1, 'a', [null]]", r#"[1,"a",[null]]"#),
            ("[a, s, n]", r#"[1,"text",null]"#),
            ("{}", "{}"),
            (r#"{"k": 1, 'l': [2]}"#, r#"{"k":1,"l":[2]}"#),
            (r#"{"k": a, "l": {"m": s}}"#, r#"{"k":1,"l":{"m":"text"}}"#),
            (r#"{ "a": {"b": {"c": a}}}"#, r#"{"a":{"b":{"c":1}}}"#),
        ],
    );
}

/// R-X4.
#[test]
fn paths() {
    check(
        ENV,
        &[
            ("a", "1"),
            ("o.k", r#""v""#),
            ("o['k']", r#""v""#),
            ("o[key]", r#""v""#),
            ("o['é']", r#""accent""#),
            ("o.a-b", r#""hyphen""#),
            ("o.in", "1"),
            ("o.not", r#""n""#),
            ("o.9lives", "9"),
            ("wait-external", r#""w""#),
            ("a-1", r#""name""#),
            ("a -1", "0"),
            ("a - 1", "0"),
            ("a- 1", "0"),
            ("3-1", "2"),
            ("list[0]-1", "0"),
            ("(a)-1", "0"),
        ],
    );
}

/// R-X6.
#[test]
fn indexes_and_what_is_missing() {
    check(
        ENV,
        &[
            ("o.deep.x[0]", "10"),
            ("o.deep.x.1", "20"),
            ("o.deep.x[i]", "20"),
            ("o.deep.x[i + 1]", "30"),
            ("o.deep.x[-1]", "30"),
            ("o.deep.x[-3]", "10"),
            ("o.deep.x[-4]", "null"),
            ("o.deep.x[3]", "null"),
            ("o.deep.x[1.0]", "20"),
            ("o.deep.x['1']", "20"),
            ("o.deep['x'][2]", "30"),
            ("(o.deep).x[2]", "30"),
            ("{{ o.deep }}.x[2]", "30"),
            ("list[3].four", "4"),
            ("list[3]['four']", "4"),
            ("list[2][0]", "3"),
            ("[1, 2, 3][1]", "2"),
            (r#"{"x": 7}.x"#, "7"),
            (r#"{"x": a}["x"]"#, "1"),
            ("'text'[0]", r#""t""#),
            ("s[-1]", r#""t""#),
            ("s[9]", "null"),
            ("missing", "null"),
            ("missing.more[0].still", "null"),
            ("o.missing", "null"),
            ("a.b.c", "null"),
            ("n.x", "null"),
            ("o[0]", "null"),
            ("o[n]", "null"),
            ("list['x']", "null"),
            ("tasks['wait-external'].phase", r#""Suspended""#),
            ("tasks.wait-external.phase", r#""Suspended""#),
            ("tasks.in.phase", r#""Ready""#),
            ("loop.item.name", r#""x""#),
            ("o.deep.x[loop.index]", "30"),
            ("_prev.rows", "2"),
            ("phase", r#""Failed""#),
            ("big", "18446744073709551615"),
            ("long", r#""0123456789012345678901234567890123456789012345678901234567890123456789""#),
        ],
    );
}

/// R-X6.
#[test]
fn equality() {
    check(
        ENV,
        &[
            ("1 == 1", "true"),
            ("1 == 1.0", "true"),
            ("1 != 1.0", "false"),
            ("[1, {'a': 2.0}] == [1.0, {'a': 2}]", "true"),
            ("[1, 2] == [2, 1]", "false"),
            ("[1] == [1, 2]", "false"),
            ("{'a': 1} == {'b': 1}", "false"),
            ("{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", "true"),
            ("'1' == 1", "false"),
            ("'1' != 1", "true"),
            ("true == 1", "false"),
            ("true == 'true'", "false"),
            ("null == null", "true"),
            ("null != null", "false"),
            ("null == false", "false"),
            ("null == 0", "false"),
            ("null == ''", "false"),
            ("n == missing", "true"),
            ("[] == []", "true"),
            ("[] == {}", "false"),
            ("0.1 + 0.2 == 0.3", "false"),
            ("0.0 == 1e-300", "false"),
            ("0 == -0.0", "true"),
            ("9007199254740993 == 9007199254740992.0", "false"),
            ("9007199254740992 == 9007199254740992.0", "true"),
            ("big == 18446744073709551615", "true"),
            ("big == 18446744073709551616.0", "false"),
            ("big != 1", "true"),
            ("long == '0123456789012345678901234567890123456789012345678901234567890123456789'", "true"),
            ("long == 'x'", "false"),
            ("'x' == long", "false"),
            ("s == 'text'", "true"),
            ("list == [1, 'two', [3], {'four': 4}]", "true"),
            ("'a' == \"a\"", "true"),
            ("'é' == '\\u00e9'", "true"),
        ],
    );
}

/// R-X6.
#[test]
fn order() {
    check(
        ENV,
        &[
            ("1 < 2", "true"),
            ("2 < 1", "false"),
            ("1 <= 1.0", "true"),
            ("1 < 1.0", "false"),
            ("1.5 > 1", "true"),
            ("-1.5 < -1", "true"),
            ("-1 > -1.5", "true"),
            ("2 >= 2", "true"),
            ("'a' < 'b'", "true"),
            ("'a' < 'B'", "false"),
            ("'10' < '9'", "true"),
            ("1 < '2'", "false"),
            ("1 > '2'", "false"),
            ("null < 1", "false"),
            ("null >= 1", "false"),
            ("null <= null", "false"),
            ("true > false", "false"),
            ("[1] < [2]", "false"),
            ("missing >= 500", "false"),
            ("not (missing >= 500)", "true"),
            ("big > 9223372036854775807", "true"),
            ("big < 1e300", "true"),
            ("big > -1e300", "true"),
            ("9223372036854775807 < 9223372036854775808.0", "true"),
            ("9007199254740993 > 9007199254740992.0", "true"),
        ],
    );
}

/// R-X6.
#[test]
fn membership() {
    check(
        ENV,
        &[
            ("1 in [1, 2]", "true"),
            ("1.0 in [1, 2]", "true"),
            ("3 in [1, 2]", "false"),
            ("'1' in [1, 2]", "false"),
            ("null in [1, null]", "true"),
            ("[3] in list", "true"),
            ("{'four': 4.0} in list", "true"),
            ("'two' in list", "true"),
            ("a in [s, a]", "true"),
            ("'k' in o", "true"),
            ("'z' in o", "false"),
            ("1 in o", "false"),
            ("'ex' in s", "true"),
            ("'' in s", "true"),
            ("'x' in ''", "false"),
            ("1 in '123'", "false"),
            ("'a' in 5", "false"),
            ("'a' in null", "false"),
            ("'a' in missing.x", "false"),
            ("'a' not in missing.x", "true"),
            ("3 not in [1, 2]", "true"),
            ("1 not in [1, 2]", "false"),
            ("1 in []", "false"),
            ("not 1 in [1]", "false"),
            ("phase in ['Failed', 'Error']", "true"),
            ("phase in {'Failed': 1}", "true"),
            ("[1, 2] in [[1.0, 2]]", "true"),
            ("long in [long]", "true"),
        ],
    );
}

#[test]
fn logic() {
    check(
        ENV,
        &[
            ("true && true", "true"),
            ("true and false", "false"),
            ("false or true", "true"),
            ("false || false", "false"),
            ("!true", "false"),
            ("not true", "false"),
            ("not not true", "true"),
            ("!!true", "true"),
            ("!null", "true"),
            ("not missing", "true"),
            ("missing && true", "false"),
            ("missing || true", "true"),
            ("yes && true", "true"),
            ("no || false", "false"),
            ("!'false'", "true"),
            ("'true' and 'true'", "true"),
            ("t && yes", "true"),
            ("t ? 'y' : 'n'", r#""y""#),
            ("n ? 'y' : 'n'", r#""n""#),
            ("'false' ? 1 : 2", "2"),
            ("f ? 1 : t ? 2 : 3", "2"),
            ("f ? 1 : f ? 2 : 3", "3"),
            ("t ? f ? 1 : 2 : 3", "2"),
            ("(t ? [1] : [2])[0]", "1"),
            ("a == 1 ? list : null", r#"[1,"two",[3],{"four":4}]"#),
        ],
    );
}

/// R-X3.
#[test]
fn what_is_not_needed_is_not_evaluated() {
    check(
        ENV,
        &[
            ("false && (1 / 0 == 1)", "false"),
            ("false && 1 / 0", "false"),
            ("f and s", "false"),
            ("true || (1 / 0 == 1)", "true"),
            ("t or 5", "true"),
            ("true || false || 1 / 0", "true"),
            ("true ? 1 : 1 / 0", "1"),
            ("false ? 1 / 0 : 2", "2"),
            ("1 | default(1 / 0)", "1"),
            ("missing | default(s | default(1 / 0))", r#""text""#),
        ],
    );
}

/// R-X3.
#[test]
fn precedence() {
    check(
        ENV,
        &[
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("10 - 2 - 3", "5"),
            ("10 - (2 - 3)", "11"),
            ("100 / 10 / 2", "5"),
            ("100 / (10 / 2)", "20"),
            ("2 * 7 % 4", "2"),
            ("-2 * -3", "6"),
            ("- a + 2", "1"),
            ("-b", "-2.5"),
            ("--1", "1"),
            ("1 - -1", "2"),
            ("1--1", "2"),
            ("!f == t", "true"),
            ("not f == t", "true"),
            ("not a == 2", "true"),
            ("not t or t", "true"),
            ("not (t or t)", "false"),
            ("true or false and false", "true"),
            ("(true or false) and false", "false"),
            ("1 + 1 == 2 and 2 < 3", "true"),
            ("(1 in [1]) == true", "true"),
            ("'A' + 'b' | upper", r#""AB""#),
            ("'a' + 'b' | upper", r#""aB""#),
            ("('A' + 'b') | lower", r#""ab""#),
            ("-'5' | int", "-5"),
            ("!s | contains('z')", "true"),
            ("a == 1 ? 'x' : 'y' | upper", r#""x""#),
            ("t or f ? 1 : 2", "1"),
        ],
    );
}

/// R-X7.
#[test]
fn booleans_are_demanded() {
    check_fails(
        ENV,
        &[
            ("s && true", "expected true or false, not string \"text\""),
            ("true && 1", "expected true or false, not integer 1"),
            ("false || b", "expected true or false, not number 2.5"),
            ("!list", "expected true or false, not an array of 4"),
            ("not o", "expected true or false, not an object of 7"),
            ("0 ? 1 : 2", "expected true or false, not integer 0"),
            ("'True' ? 1 : 2", "expected true or false, not string \"True\""),
        ],
    );
    let env = Json::new(ENV);
    for (text, expected) in [
        ("true", Some(true)),
        ("f", Some(false)),
        ("n", Some(false)),
        ("missing", Some(false)),
        ("yes", Some(true)),
        ("'false'", Some(false)),
        ("'TRUE'", None),
        ("''", None),
        ("1", None),
        ("0", None),
        ("[]", None),
        ("{}", None),
    ] {
        assert_eq!(compiled(text).test(&env, &mut Doubts::default()).ok(), expected, "{text}");
    }
}

/// The doubts that each expression leaves, without the expression itself.
#[track_caller]
fn doubts_of(text: &str, functions: &str) -> Vec<String> {
    let env =
        Json::new(r#"{"s": "50000", "n": 5, "x": 1.5, "b": true, "l": [1, 2], "o": {"1": 1}, "none": null}"#);
    let (functions, errors) = Functions::read(functions);
    assert!(errors.is_empty() || functions.unused().is_empty(), "{errors:?}");
    let mut doubts = Doubts::default();
    Expr::compile_with(text, &Arc::new(functions)).unwrap().eval(&env, &mut doubts).unwrap();
    let behind = |doubt: &String| doubt.strip_prefix(&format!("`{text}`: ")).unwrap().to_owned();
    doubts.types.iter().map(behind).collect()
}

/// R-X6: an operation that is given types that it is not made for has a result, and leaves a doubt.
#[test]
fn types_that_do_not_fit_leave_a_doubt() {
    for (text, expected) in [
        ("s > 40000", "a string and a number have no order: false"),
        ("n <= s", "a number and a string have no order: false"),
        ("b < b", "a boolean and a boolean have no order: false"),
        ("l >= o", "an array and an object have no order: false"),
        ("s == 50000", "a string never equals a number"),
        ("n != s", "a number never equals a string"),
        ("'1' in l", "a string equals none, as there is a number instead: false"),
        ("s in [50000, true]", "a string equals none, as there is a number instead: false"),
        ("n in s", "a number cannot be in a string: false"),
        ("1 in o", "a number cannot be in an object: false"),
        ("s not in n", "a string cannot be in a number: false"),
        ("l[s + 'x']", "an array has nothing at a string: null"),
        ("l[x]", "an array has nothing at a number: null"),
        ("o[n]", "an object has nothing at a number: null"),
        ("s[b]", "a string has nothing at a boolean: null"),
        ("n[n]", "a number has nothing at a number: null"),
        ("l['+1']", "`l` is an array, which has no `+1`: null"),
        ("l['']", "`l` is an array, which has no ``: null"),
        ("l[s + '+1']", "an array has nothing at a string: null"),
        ("s.x", "`s` is a string, which has no `x`: null"),
        ("{{ s.x.y }}", "`s` is a string, which has no `x`: null"),
        ("n.x", "`n` is a number, which has no `x`: null"),
        ("b['x']", "`b` is a boolean, which has no `x`: null"),
        ("l.x", "`l` is an array, which has no `x`: null"),
        ("n.length", "`n` is a number, which has no `length`: null"),
        ("s.lower", "`s` is a string, which has no `lower`: null"),
        ("[s.x]", "`s` is a string, which has no `x`: null"),
        ("{'a': s.x}", "`s` is a string, which has no `x`: null"),
        ("s.x | default(1)", "`s` is a string, which has no `x`: null"),
        ("none | default(s.x)", "`s` is a string, which has no `x`: null"),
        ("s.x == none", "`s` is a string, which has no `x`: null"),
        ("s.x in l", "`s` is a string, which has no `x`: null"),
        ("1 in s.x", "`s` is a string, which has no `x`: null"),
        ("s.x in [1, 2]", "`s` is a string, which has no `x`: null"),
        ("s.x ? 1 : 2", "`s` is a string, which has no `x`: null"),
        ("b ? s.x : 1", "`s` is a string, which has no `x`: null"),
        ("b && s.x", "`s` is a string, which has no `x`: null"),
        ("false || s.x", "`s` is a string, which has no `x`: null"),
        ("not s.x", "`s` is a string, which has no `x`: null"),
        ("s.x[0]", "`s` is a string, which has no `x`: null"),
        ("l[s.x]", "`s` is a string, which has no `x`: null"),
        ("s.x | lower", "`s` is a string, which has no `x`: null"),
        ("'a {{ s.x }} b'", "`s` is a string, which has no `x`: null"),
    ] {
        assert_eq!(doubts_of(text, ""), [expected], "{text}");
    }
    assert_eq!(doubts_of("s > 1 || s > 2 || n in s", "").len(), 2, "each kind once");
    assert_eq!(doubts_of("s.x == s.x || s.y == 1", "").len(), 1, "what is not evaluated leaves none");
    for text in ["true || n.x-1", "b ? 1 : o.y-1", "false && n.x-1", "s | default(o.y-1)"] {
        let met = doubts_of(text, "");
        assert!(met.is_empty(), "{text}: {met:?}");
    }
    let of_a_call = doubts_of("f(s.x)", "fn f(a) { a }");
    assert_eq!(of_a_call, ["`s` is a string, which has no `x`: null"]);
    assert_eq!(doubts_of("f(s)", "fn f(a) { if a > 4 { 1 } else { let b = [1]; b[\"y\"] } }").len(), 2);
}

#[test]
fn types_that_fit_null_and_what_is_not_evaluated_leave_no_doubt() {
    for text in [
        "n > 4.5",
        "s < 'a'",
        "none > 4",
        "none == 4",
        "4 in none",
        "none in l",
        "none[4]",
        "l[none]",
        "l[7]",
        "l['7']",
        "l[1.0]",
        "s[0]",
        "o['2']",
        "s == none",
        "n == 5.0",
        "3 in l",
        "'7' in o",
        "'x' in s",
        "n in []",
        "false && s > 4",
        "b ? 1 : s > 4",
        "n in [5, 'a']",
        "'b' in [5, 'a']",
        "l == [1]",
        "s.length > 3",
        "false && s.x",
        "b || s.x",
        "b ? 1 : s.x",
        "s | default(s.x)",
        "none ? s.x : 1",
        "o.x",
        "o.x.y",
        "none.x",
        "missing.x.y",
        "l.7",
        "'a' in [none]",
        "none in [1]",
        "l.0",
    ] {
        assert_eq!(doubts_of(text, ""), [] as [&str; 0], "{text}");
    }
}

/// R-B8: 1.0 is an integer, also as an index.
#[test]
fn a_whole_number_is_an_index() {
    check(
        r#"{"l": [10, 20, 30], "i": 1.0, "back": -1.0}"#,
        &[
            ("l[1.0]", "20"),
            ("l[i]", "20"),
            ("l[back]", "30"),
            ("'abc'[i]", "\"b\""),
            ("l[1.5]", "null"),
            ("2.345 | round(i)", "2.3"),
        ],
    );
}
