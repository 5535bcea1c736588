//! Texts that are no function, and where the error is reported.

use super::*;

/// The part of the text that it points at, a part of the message, a part of the hint.
type Fault<'t> = (&'t str, &'t str, &'t str);

/// Each row: the text, and its faults.
#[track_caller]
fn refused(rows: &[(&str, &[Fault<'_>])]) {
    let mut wrong = Vec::new();
    for (text, expected) in rows {
        let (_, errors) = Functions::read(text);
        let fits = |(error, (at, message, hint)): (&SyntaxError, &Fault<'_>)| {
            text.get(error.offset..).is_some_and(|rest| rest.starts_with(at))
                && error.message.contains(message)
                && error.hint.as_deref().unwrap_or_default().contains(hint)
        };
        if errors.len() != expected.len() || !errors.iter().zip(*expected).all(fits) {
            let told = errors.iter().map(|error| format!("at {:?}: {error}", text.get(error.offset..)));
            wrong.push(format!("{text}: {}", told.collect::<Vec<_>>().join(" | ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// R-X10: at submit, every one of them, with its place.
#[test]
fn every_fault_is_found_where_it_stands() {
    refused(&[
        ("fn f(a) {\n  let x = ;\n}", &[(";", "", "")]),
        ("fn f(a) { b }", &[("b }", "there is no variable `b` here", "pass the value as a parameter")]),
        (
            "fn f(a) { b = c; b += 1; b.x = d[e]; b.push(1); let b = b; b }",
            &[
                ("b = c", "`b`", ""),
                ("c;", "`c`", ""),
                ("b += 1", "`b`", ""),
                ("b += 1", "`b`", ""),
                ("b.x", "`b`", ""),
                ("d[e]", "`d`", ""),
                ("e]", "`e`", ""),
                ("b.push", "`b`", ""),
                ("b; b", "`b`", ""),
            ],
        ),
        (
            "fn f(a) { for x in y { let z = x; } z; if a { let w = 1; } w }",
            &[("y {", "`y`", ""), ("z; if", "`z`", ""), ("w }", "`w`", "")],
        ),
        ("fn f(a) {\n  é + b\n}", &[("é", "Unexpected 'é'", "")]),
        ("fn f(a) { \"é\" + b }", &[("b }", "no variable `b`", "")]),
        ("fn f(a) { g(a) }", &[("g(a)", "there is no function `g`", "")]),
        ("fn f(a) { lenght(a) }", &[("lenght", "there is no function `lenght`", "did you mean `length`?")]),
        (
            "fn f(a) { len(a) + a.to_upper() }",
            &[("len", "`len`", "`x.length()`"), ("to_upper", "`to_upper`", "`x.upper()`")],
        ),
        ("fn f(a) { f(a, 1) }", &[("f(a, 1)", "`f` is given 2 arguments; expected 1", "")]),
        (
            "fn f(a) { lower() }",
            &[("lower()", "`lower` is given 0 arguments; expected 1", "`f(x)` is `x.f()`")],
        ),
        ("fn f(a) { a.f() }", &[("f() }", "`f` is a function, no method", "write `f(…)`")]),
        ("fn lower(a) { a }", &[("lower", "`lower` is a filter already", "`my_lower`")]),
        ("fn push(a) { a }", &[("push", "`push` is a filter already", "")]),
        ("fn f(a) { a } fn f(b) { b }", &[("fn f(b)", "the function `f` is defined twice", "")]),
        ("fn f(a) { b } fn g(c) { d }", &[("b }", "`b`", ""), ("d }", "`d`", "")]),
        ("let x = 1;", &[("let x", "this is not a function", "only definitions stand here")]),
        ("fn f(a) { a } x", &[("x", "this is not a function", "")]),
        ("fn f(a) { a }\nfn g(a) { a", &[("", "", "")]),
        ("fn f(a) { 'heads' }", &[("'heads'", "several characters in single quotes", "double quotes")]),
    ]);
}

/// R-X10: words and signs of other languages, and what functions may not do.
#[test]
fn what_is_written_elsewhere_is_told() {
    refused(&[
        ("fn f(a) { null }", &[("null", "`null`", "null is written `()`")]),
        ("fn f(a) { None }", &[("None", "`None`", "null is written `()`")]),
        ("fn f(a) { a and a }", &[("and", "", "")]),
        ("fn f(a) { a === 1 }", &[("===", "`===`", "write `==`")]),
        ("fn f(a) { a ** 2 }", &[("**", "there is no operator `**`", "")]),
        ("fn f(a) { a << 2 }", &[("<<", "there is no operator `<<`", "")]),
        ("fn f(a) { let r = 1..2; r }", &[("..", "a range stands in `for` only", "")]),
        ("fn f(a) { try { a } catch { 1 } }", &[("try", "there is no `try`", "")]),
        ("fn f(a) { this }", &[("this", "there is no `this`", "")]),
        ("fn f(a) { let g = |x| x + 1; 2 }", &[("fn f", "there is a function within this function", "")]),
        ("fn f(a) { eval(\"1\") }", &[("eval", "", "")]),
        ("fn f(a) { print(a) }", &[("print", "there is no function `print`", "")]),
        ("fn f(a) { a.x().y = 1 }", &[("x().y", "cannot be assigned to", "")]),
        ("fn f(a) { [1].push(a) }", &[("push", "only the value of a variable can be changed", "")]),
        ("fn f(a) { import \"x\" as y; 1 }", &[("import", "", "")]),
        ("fn f(a, a) { a }", &[("a) {", "", "")]),
        ("fn f(a) { timestamp() }", &[("timestamp", "there is no function `timestamp`", "")]),
        ("fn int.f(a) { a }", &[("", "", "")]),
    ]);
}

/// R-X10.
#[test]
fn so_many_functions_are_too_many() {
    let (_, errors) = Functions::read(&"fn f(a) { a }\n".repeat(6000));
    assert!(errors[0].message.contains("84000 bytes; expected at most 65536"), "{errors:?}");
}

/// A function that cannot be read is not reported as unknown as well; every other unknown function is.
#[test]
fn one_fault_is_no_other() {
    let (functions, errors) =
        Functions::read("fn f(a) { a + } fn g(a) { f(a) + h(a) } fn late(x) { f(x, 1) ");
    assert_eq!(errors.len(), 3, "{errors:?}");
    let functions = Arc::new(functions);
    for (text, is_known) in
        [("f(1)", true), ("g(1)", true), ("late(1)", true), ("h(1)", false), ("g()", false)]
    {
        assert_eq!(Expr::compile_with(text, &functions).is_ok(), is_known, "{text}");
    }
}

/// R-X10: what expressions call is there, and takes what it is given.
#[test]
fn calls_are_checked() {
    let functions = defined("fn worth_it(outcome, n) { true }");
    for (text, offset, message, hint) in [
        ("1 == 1 && worth_itt(outcome)", 10, "there is no function `worth_itt`", "did you mean `worth_it`?"),
        ("worth_it(outcome)", 0, "`worth_it` is given 1 argument; expected 2", ""),
        ("outcome.worth_it(1)", 8, "`worth_it` is a function, no method", "write `worth_it(…)`"),
        ("len(x)", 0, "there is no function `len`", "`x | length`"),
        ("lowr(x)", 0, "there is no function `lowr`", "`x | lower`"),
    ] {
        let error = Expr::compile_with(text, &functions).unwrap_err();
        assert_eq!(error.offset, offset, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{text}: {error}");
    }
}

/// R-W20: Rhai would read these as the nearest double.
#[test]
fn a_number_that_would_become_another_one_is_a_fault_at_its_place() {
    for (number, is_kept) in [
        ("18446744073709551617", false),
        ("9223372036854775809", false),
        ("9007199254740993.0", false),
        ("3.14159265358979323846", false),
        ("-9223372036854775810", false),
        ("1_000.25", true),
        ("9223372036854775807", true),
        ("1.5e-3 - 1", true),
        ("-0.1", true),
    ] {
        let text = format!("fn f(a) {{\n  a +\n  {number}\n}}");
        let (_, errors) = Functions::read(&text);
        assert_eq!(errors.is_empty(), is_kept, "{number}: {errors:?}");
        if let Some(error) = errors.first() {
            assert!(error.message.contains("cannot be kept exactly"), "{error}");
            assert_eq!(text.get(..error.offset).unwrap().matches('\n').count(), 2, "{number}");
        }
    }
}
