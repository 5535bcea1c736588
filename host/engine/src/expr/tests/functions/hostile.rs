//! Functions that never end, nest without end, or make something that grows without end (R-X1).

use proptest::prelude::*;

use super::*;

/// On the smallest stack that a thread is likely to have.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn what_does_not_end_is_ended() {
    on_a_small_stack(|| {
        fails(&[
            ("loop { }", "f(0, 0)", "more than 100000 operations"),
            ("while true { a += 1; }", "f(0, 0)", "more than 100000 operations"),
            ("for i in 0..9223372036854775807 { }", "f(0, 0)", "more than 100000 operations"),
            (
                "let x = 0; for i in -9223372036854775807..=9223372036854775807 { x = i; } x",
                "f(0, 0)",
                "operations",
            ),
            ("f(a, b)", "f(0, 0)", "`f` calls functions within functions; at most 24 at once are allowed"),
            (
                "let s = \"xxxxxxxx\"; loop { s += s; }",
                "f(0, 0)",
                "the text made would have 33554432 bytes; at most",
            ),
            ("let s = \"x\"; loop { s = `${s}${s}`; }", "f(0, 0)", "the text made would have"),
            ("let s = [1]; loop { s += s; }", "f(0, 0)", "the list made would have"),
            ("let s = []; loop { s.push(s); }", "f(0, 0)", "the value made nests too deeply"),
            ("let s = []; loop { s = [s]; }", "f(0, 0)", "the value made nests too deeply"),
            ("let s = #{}; loop { s = #{a: s, b: s}; }", "f(0, 0)", "the value made nests too deeply"),
            ("let s = #{}; loop { s.x = s; }", "f(0, 0)", "the value made nests too deeply"),
            ("let s = 1; loop { s = [s, s][0]; }", "f(0, 0)", "more than 100000 operations"),
            ("let s = [1]; for i in 0..60 { s = [s, s]; } s", "f(0, 0)", "the value made is too large"),
            ("let s = a; loop { let t = s; t.push(1); s = t; }", "f(list, 0)", "too much work"),
            (
                "let s = #{}; let i = 0; loop { i += 1; let t = s; s[`${i}`] = i; }",
                "f(0, 0)",
                "too much work",
            ),
        ]);
    });
}

/// A call at the bottom of the deepest expression, into the deepest functions there are.
#[test]
fn the_stack_suffices_for_the_deepest_calls() {
    on_a_small_stack(|| {
        let deepest = (1..200).rev().find_map(|levels| {
            let body = format!("{}f(a, b){}", "(1 + ".repeat(levels), ")".repeat(levels));
            let (functions, errors) = Functions::read(&format!("fn f(a, b) {{ {body} }}"));
            errors.is_empty().then_some((levels, functions))
        });
        let (levels, functions) = deepest.unwrap();
        assert!(levels >= 10, "{levels}");
        let functions = Arc::new(functions);
        let text = format!("{}f(1, 2){}", "(1 + ".repeat(200), ")".repeat(200));
        let error = Expr::compile_with(&text, &functions)
            .unwrap()
            .eval(&Json::new(ENV), &mut Doubts::default())
            .unwrap_err();
        assert!(error.0.contains("at most 24 at once"), "{error}");
        for body in [
            "if a { if a { if a { f(a, b) } } }",
            "let x = [[[[#{k: [[f(a, b)]]}]]]]; x",
            "switch a { 1 => { for x in [1] { for y in [2] { while true { return f(a, b); } } } } _ => 0 }",
            "`${`${`${f(a, b)}`}`}`",
            "f(f(f(a, b), b), f(a, b))",
            "a.x[b.y[f(a, b)]].z",
        ] {
            let functions = defined(&format!("fn f(a, b) {{ {body} }}"));
            let error = Expr::compile_with("f(1 == 1, 1)", &functions)
                .unwrap()
                .eval(&Json::new(ENV), &mut Doubts::default());
            assert!(error.is_err() || body.starts_with("switch"), "{body}: {error:?}");
        }
    });
}

/// However deeply it is nested, reading it is bounded.
#[test]
fn what_nests_too_deeply_is_refused() {
    on_a_small_stack(|| {
        for (open, close) in [
            ("(", ")"),
            ("[", "]"),
            ("-", ""),
            ("!", ""),
            ("{", "}"),
            ("if a {", "}"),
            ("a[", "]"),
            ("f(", ")"),
            ("#{k: ", "}"),
            ("loop {", "}"),
            ("a.f(", ")"),
            ("`${", "}`"),
            ("switch a { _ => ", "}"),
            ("a ?? (", ")"),
        ] {
            for levels in [20, 100, 3000] {
                let text = format!("fn f(a) {{ {}a{} }}", open.repeat(levels), close.repeat(levels));
                let (_, errors) = Functions::read(&text);
                assert!(levels <= 20 || !errors.is_empty(), "{levels} times {open}");
            }
        }
        for text in [
            "a + ".repeat(2000) + "a",
            format!("a.x{}", ".x".repeat(2000)),
            "a;".repeat(5000),
            "a && ".repeat(3000) + "a",
        ] {
            let (functions, errors) = Functions::read(&format!("fn f(a) {{ {text} }}"));
            if errors.is_empty() {
                let expr = Expr::compile_with("f(1)", &Arc::new(functions)).unwrap();
                let _ = expr.eval(&Json::new(ENV), &mut Doubts::default());
            }
        }
    });
}

fn soup() -> impl Strategy<Value = String> {
    let fragments = prop::sample::select(vec![
        "fn f(a) { ",
        "fn ",
        "f(",
        "a",
        "b",
        "1",
        "2.5",
        "\"s\"",
        "'c'",
        "`t${",
        "}`",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "#{",
        ".",
        ",",
        ":",
        ";",
        "=",
        "==",
        "+=",
        "+",
        "-",
        "!",
        "&&",
        "||",
        "??",
        "in",
        "let ",
        "const ",
        "if ",
        "else ",
        "for ",
        "x ",
        "while ",
        "loop ",
        "switch ",
        "=>",
        "_",
        "..",
        "return ",
        "throw ",
        "break",
        "|x|",
        "push",
        "lower",
        "k",
        "\n",
        "//",
        "/*",
        "*/",
        "é",
        "this",
    ]);
    prop::collection::vec(fragments, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_soup_upsets_the_reader(text in soup()) {
        for text in [text.clone(), format!("fn f(a) {{ {text} }}")] {
            let (functions, errors) = Functions::read(&text);
            prop_assert!(errors.iter().all(|error| text.is_char_boundary(error.offset)), "{}", text);
            if errors.is_empty() {
                let functions = Arc::new(functions);
                if let Ok(expr) = Expr::compile_with("f(list)", &functions) {
                    let _ = expr.eval(&Json::new(ENV), &mut Doubts::default());
                }
            }
        }
    }
}
