//! Functions of a document (R-X10 to R-X13).

mod faults;
mod hostile;

use super::*;

const ENV: &str = r#"{
    "code": 503, "n": 7, "f": 2.5, "z": null, "s": "text", "t": true, "yes": "true", "list": [3, 1, 2], "names": ["ann", "bob"],
    "big": 18446744073709551615,
    "long": "0123456789012345678901234567890123456789012345678901234567890123456789",
    "o": {"kind": "server", "deep": {"x": [10, 20]}, "k": null}
}"#;

fn defined(text: &str) -> Arc<Functions> {
    let (functions, errors) = Functions::read(text);
    assert_eq!(errors, [], "{text}");
    Arc::new(functions)
}

fn calling(functions: &str, text: &str) -> Expr {
    let functions = defined(functions);
    Expr::compile_with(text, &functions)
        .unwrap_or_else(|error| panic!("{error} at {} in {text}", error.offset))
}

/// Each row: the body of `f(a, b)`, what is called, the value as JSON text.
#[track_caller]
fn yields(rows: &[(&str, &str, &str)]) {
    let env = Json::new(ENV);
    for (body, call, expected) in rows {
        let expr = calling(&format!("fn f(a, b) {{ {body} }}"), call);
        let value = expr
            .eval(&env, &mut Doubts::default())
            .unwrap_or_else(|error| panic!("{error} in {body} of {call}"));
        assert_eq!(value.to_json(), *expected, "{body} of {call}");
    }
}

/// Each row: the body of `f(a, b)`, what is called, a part of the error.
#[track_caller]
fn fails(rows: &[(&str, &str, &str)]) {
    let env = Json::new(ENV);
    for (body, call, expected) in rows {
        match calling(&format!("fn f(a, b) {{ {body} }}"), call).eval(&env, &mut Doubts::default()) {
            Ok(value) => panic!("{body} of {call} is {value}, not an error"),
            Err(EvalError(why)) => {
                assert!(why.contains(expected), "{body} of {call}: {why:?} lacks {expected:?}");
            }
        }
    }
}

/// R-X11: an operator means what it means in an expression.
#[test]
fn operators_mean_what_they_mean_in_expressions() {
    for operation in [
        "a + b",
        "a - b",
        "a * b",
        "a / b",
        "a % b",
        "a == b",
        "a != b",
        "a < b",
        "a <= b",
        "a > b",
        "a >= b",
        "-a",
        "a.length",
        "a.x",
        "a[0]",
        "a[-1]",
        "a[b]",
        "a.lower()",
        "a.contains(b)",
    ] {
        for (a, b) in [
            ("n", "f"),
            ("n", "2"),
            ("7", "2"),
            ("6", "3"),
            ("1", "1.0"),
            ("s", "s"),
            ("s", "'x'"),
            ("z", "1"),
            ("z", "z"),
            ("list", "list"),
            ("list", "1"),
            ("o", "'kind'"),
            ("big", "1"),
            ("long", "long"),
            ("n", "0"),
            ("t", "yes"),
            ("list", "names"),
            ("0.1", "0.2"),
            ("9223372036854775807", "1"),
        ] {
            let env = Json::new(ENV);
            let spliced = operation
                .replace('a', "\u{1}")
                .replace('b', &format!("({b})"))
                .replace('\u{1}', &format!("({a})"));
            // Letters of names are no operands.
            let spliced = match operation {
                "a.contains(b)" => format!("({a}).contains({b})"),
                _ => spliced,
            };
            let expected = compiled(&spliced).eval(&env, &mut Doubts::default()).ok();
            let called = calling(&format!("fn f(a, b) {{ {operation} }}"), &format!("f({a}, {b})"))
                .eval(&env, &mut Doubts::default())
                .ok();
            assert_eq!(called, expected, "{operation} of {a} and {b}");
        }
    }
}

/// R-X10.
#[test]
fn statements() {
    yields(&[
        ("a", "f(n, 0)", "7"),
        ("let x = a; x += b; x", "f(1, 2)", "3"),
        ("let x = a; x -= 1; x *= 4; x /= b; x", "f(3, 16)", "0.5"),
        ("const LIMIT = 3; a > LIMIT", "f(n, 0)", "true"),
        ("if a > b { \"more\" } else if a == b { \"same\" } else { \"less\" }", "f(1, 2)", r#""less""#),
        ("if a { 1 } else { 2 }", "[f(z, 0), f(t, 0), f(yes, 0)]", "[2,1,1]"),
        ("if !a && b { 1 } else { 2 }", "f(z, yes)", "1"),
        ("a ?? b", "f(z, 5)", "5"),
        ("return a; b", "f(1, 2)", "1"),
        ("if a > 1 { return \"early\"; } \"late\"", "[f(1, 0), f(2, 0)]", r#"["late","early"]"#),
        ("let sum = 0; for x in a { sum += x; } sum", "f(list, 0)", "6"),
        ("let sum = 0; for (x, i) in a { sum += x * i; } sum", "f(list, 0)", "5"),
        ("let sum = 0; for x in a { sum += 1; } sum", "f(z, 0)", "0"),
        ("let out = []; for i in a..b { out.push(i); } out", "f(2, 5)", "[2,3,4]"),
        ("let out = []; for i in a..=b { out.push(i); } out", "f(2, 5)", "[2,3,4,5]"),
        ("let x = 0; while x < a { x += 2; } x", "f(5, 0)", "6"),
        ("let x = 0; loop { x += 1; if x == a { break; } if x > 9 { continue; } } x", "f(5, 0)", "5"),
        ("let x = 0; do { x += 1; } until x >= a; x", "f(5, 0)", "5"),
        ("let x = loop { break a; }; x", "f(5, 0)", "5"),
        (
            "switch a { 200 => \"ok\", 500..600 => \"server\", \"x\" | \"y\" => 1, () => 0, _ => a }",
            "f(code, 0)",
            r#""server""#,
        ),
        (
            "switch a { 1 => \"one\", () => \"none\", true => \"yes\", _ => a }",
            "[f(1.0, 0), f(z, 0), f(t, 0), f('q', 0)]",
            r#"["one","none","yes","q"]"#,
        ),
        (
            "switch a { 1 if b => \"and b\", 1 => \"not b\", _ => 0 }",
            "[f(1, yes), f(1, z)]",
            r#"["and b","not b"]"#,
        ),
        ("{ let a = 1; } a", "f(5, 0)", "5"),
        ("let g = a; { g = b; } g", "f(5, 6)", "6"),
        ("", "f(1, 2)", "null"),
        ("let x;", "f(1, 2)", "null"),
        ("// why\n a /* not b */", "f(1, 2)", "1"),
    ]);
}

/// R-X11: texts, lists and objects.
#[test]
fn values_inside() {
    yields(&[
        ("\"a\" + 'b' + `c`", "f(0, 0)", r#""abc""#),
        ("`${a} of ${b}: ${a + 1}`", "f(1, list)", r#""1 of [3,1,2]: 2""#),
        ("[a, [b], #{k: a, \"x y\": [b]}]", "f(1, s)", r#"[1,["text"],{"k":1,"x y":["text"]}]"#),
        ("a.deep.x[1]", "f(o, 0)", "20"),
        ("a.deep[b][0]", "f(o, 'x')", "10"),
        ("a[\"deep\"].x[-1]", "f(o, 0)", "20"),
        ("a.missing.more[3].still", "f(o, 0)", "null"),
        ("a?.missing?.more", "f(o, 0)", "null"),
        ("a.x[7]", "f({'x': [1]}, 0)", "null"),
        ("a[0]", "[f(s, 0), f(long, 0)]", r#"["t","0"]"#),
        ("a.upper() + upper(a)", "f(s, 0)", r#""TEXTTEXT""#),
        ("a.split(\"e\").join(\"-\")", "f(s, 0)", r#""t-xt""#),
        ("a.keys()", "f(o, 0)", r#"["deep","k","kind"]"#),
        ("a.length() + b.length", "f(list, long)", "73"),
        (
            "a in b",
            "[f(1, list), f(9, list), f('kind', o), f('ex', s), f(1, z)]",
            "[true,false,true,true,false]",
        ),
        ("a !in b", "f(9, list)", "true"),
        ("a ?? b", "f(z, 2)", "2"),
        (
            "[type_of(a), type_of(b)]",
            "[f(z, t), f(1, 1.5), f(s, long), f(list, o), f(big, 1.0)]",
            r#"[["null","boolean"],["integer","number"],["string","string"],["array","object"],["integer","number"]]"#,
        ),
        ("a", "f(big, 0)", "18446744073709551615"),
        ("a == 1", "f(1.0, 0)", "true"),
    ]);
}

/// R-X12: what a variable holds can be changed; what it was given stays as it is for everybody else.
#[test]
fn changes_stay_inside() {
    yields(&[
        ("let x = a; x.push(4); [a, x]", "f(list, 0)", "[[3,1,2],[3,1,2,4]]"),
        ("a.push(4); a", "[f(list, 0), list]", "[[3,1,2,4],[3,1,2]]"),
        (
            "let x = #{}; x.k = 1; x[\"l\"] = [2]; x.l.push(a); x.l[0] += 5; x",
            "f(3, 0)",
            r#"{"k":1,"l":[7,3]}"#,
        ),
        ("let x = a; x.deep.x[1] = b; [x.deep.x, a.deep.x]", "f(o, 5)", "[[10,5],[10,20]]"),
        ("let x = a; x[-1] = b; x", "f(list, 9)", "[3,1,9]"),
        ("let x = [[1]]; x[0].push(2); x[0][1] *= 10; x", "f(0, 0)", "[[1,20]]"),
        ("let x = 1; let y = x; y += 1; [x, y]", "f(0, 0)", "[1,2]"),
    ]);
    fails(&[
        ("const X = [1]; X.push(2); X", "f(0, 0)", "`X` is a constant"),
        (
            "let x = a; x.push(1)",
            "f(s, 0)",
            "`push` works on an array, not on string \"text\" (in `f`, line 1)",
        ),
        ("let x = a; x[3] = 1", "f(list, 0)", "the array has 3 elements, and none at 3; `push` adds one"),
        ("let x = a; x.y.z = 1", "f(o, 0)", "null has no place for string \"z\""),
        ("let x = a; x[0] = 1", "f(s, 0)", "has no place"),
        (
            "for x in a { }",
            "f(o, 0)",
            "`for` goes through an array or a range, not an object of 3; an object's keys are",
        ),
        (
            "for x in a..b { }",
            "f(1, 2.5)",
            "a range goes from a whole number to another, not from integer 1 to number 2.5",
        ),
        ("a + 1", "f(z, 0)", "`+` cannot combine null + integer 1 (in `f`, line 1)"),
        ("\n\n a / b", "f(1, 0)", "division by zero in integer 1 / integer 0 (in `f`, line 3)"),
        ("if a { 1 }", "f(5, 0)", "expected true or false, not integer 5"),
        ("throw `no ${a}`", "f(5, 0)", "no 5 (in `f`"),
        ("9223372036854775807 + a", "f(1, 0)", "out of range"),
    ]);
}

#[test]
fn functions_call_each_other() {
    let functions = "
        fn twice(x) { x * 2 }
        fn is_odd(n) { if n == 0 { false } else { is_even(n - 1) } }
        fn is_even(n) { if n == 0 { true } else { is_odd(n - 1) } }
        fn nothing() { }
        fn shadow(x) { let y = x; twice(y) + y }
        private fn hidden() { 1 }";
    for (text, expected) in [
        ("twice(twice(3))", "12"),
        ("is_even(10) && is_odd(7)", "true"),
        ("nothing()", "null"),
        ("nothing() | default(4)", "4"),
        ("shadow(n) + twice(1)", "23"),
        ("[twice(1), {'k': twice(f)}]", r#"[2,{"k":5.0}]"#),
        ("twice('{{ n }}'.int())", "14"),
        ("hidden() ? twice(n) : 0", "expected true or false"),
        ("z == 1 && twice(s)", "false"),
        ("'{{ twice(n) }}'", r#""14""#),
    ] {
        let value = match calling(functions, text).eval(&Json::new(ENV), &mut Doubts::default()) {
            Ok(value) => value.to_json(),
            Err(EvalError(why)) => why,
        };
        assert!(value == expected || value.starts_with(expected), "{text}: {value}");
    }
    let deep = calling("fn down(n) { if n == 0 { 0 } else { 1 + down(n - 1) } }", "down(20)");
    assert_eq!(deep.eval(&Json::new(ENV), &mut Doubts::default()), Ok(20.into()));
}

#[test]
fn reads_and_use_are_known() {
    let functions =
        defined("fn f(a) { g(a) } fn g(a) { a } fn unused(a) { other(a) } fn other(a) { unused(a) }");
    let expr = Expr::compile_with("f(tasks.x.code) || f(n)", &functions).unwrap();
    let paths: Vec<_> = expr.reads().iter().map(|read| read.path.join(".")).collect();
    assert_eq!(paths, ["tasks.x.code", "n"]);
    assert_eq!(functions.unused(), [("other", 57), ("unused", 31)]);
}

/// R-X13: a large value is passed and looked into, never copied.
#[test]
fn large_values_pass_as_they_are() {
    struct Large(Value);
    impl Env for Large {
        fn get(&self, _: &[Arc<str>]) -> Value {
            self.0.clone()
        }
    }
    let rows: Vec<Value> = (0..200_000).map(Value::from).collect();
    let members = [("rows", Value::from(rows)), ("text", "x".repeat(20 << 20).into()), ("code", 5.into())];
    let body: Value =
        members.into_iter().map(|(key, value)| (Arc::from(key), value)).collect::<crate::value::Map>().into();
    let env = Large(body.clone());
    let functions = "fn code(body) { let b = body; b.code } fn rows(body) { body.rows } fn whole(body) { body } \
                     fn text(b) { let t = b.text; t }";
    assert_eq!(calling(functions, "code(x)").eval(&env, &mut Doubts::default()), Ok(5.into()));
    for (text, part) in [("rows(x)", "rows"), ("text(x)", "text")] {
        let value = calling(functions, text).eval(&env, &mut Doubts::default()).unwrap();
        let shared = match (&value, body.member(part)) {
            (Value::Array(a), Some(Value::Array(b))) => Arc::ptr_eq(a, b),
            (Value::String(a), Some(Value::String(b))) => Arc::ptr_eq(a, b),
            _ => false,
        };
        assert!(shared, "{text} is a copy");
    }
    let Ok(Value::Object(whole)) =
        calling(functions, "whole(x).code == 5 ? x : 0").eval(&env, &mut Doubts::default())
    else {
        panic!("an object")
    };
    assert!(matches!(&body, Value::Object(map) if Arc::ptr_eq(map, &whole)));
}
