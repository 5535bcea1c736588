//! Idioms of other languages, and spellings that used to mean something else without a message.

use super::*;

const ENV: &str = r#"{
    "x": "heads", "n": 5, "z": null, "list": [1, 2], "o": {"length": 7, "k": "v"}, "word": "höhe", "t": true,
    "outputs": {"n": 5, "m": 2, "total": 9, "a-b": 1, "gone": null, "deep": {"n": 3}}, "used": 4
}"#;

/// R-X8: Argo's idiom compares what a text becomes, as a parameter's text would.
#[test]
fn placeholders_in_quoted_texts_are_filled_in() {
    check(
        ENV,
        &[
            ("'{{ x }}' == 'heads'", "true"),
            ("'{{x}}' != \"heads\"", "false"),
            ("'{{ n }}' == '5'", "true"),
            ("'{{ n }}'", r#""5""#),
            ("'{{ z }}'", r#""""#),
            ("'is {{ x }}, {{ n + 1 }}!'", r#""is heads, 6!""#),
            ("\"{{ list['0'] }}\"", r#""1""#),
            ("'{{ \"{{ x }}\" }}'", r#""heads""#),
            ("'{{ {\"k\": {\"l\": 1}} }}'", r#""{\"k\":{\"l\":1}}""#),
            ("['{{ x }}'] | first", r#""heads""#),
            ("x in ['{{ x }}']", "true"),
            ("'\\n{{ x }}'", r#""\nheads""#),
            // Never in keys, and without both pairs of braces they are themselves.
            ("{'{{ x }}': 1}", r#"{"{{ x }}":1}"#),
            ("'{{'", r#""{{""#),
            ("'}} {{'", r#""}} {{""#),
            ("'{{ '", r#""{{ ""#),
            ("'{' + '{ x }}'", r#""{{ x }}""#),
        ],
    );
    let expr = compiled("a && '{{ tasks.x }}-{{ y }}' == \"\\t{{ z }}\"");
    let reads: Vec<_> = expr.reads().iter().map(|read| (read.path.join("."), read.offset)).collect();
    // Behind an escape the place inside is not known: the text's own is told.
    let expected = [("a", 0), ("tasks.x", 9), ("y", 23), ("z", 32)];
    assert_eq!(reads, expected.map(|(path, offset)| (path.to_owned(), offset)));
}

#[test]
fn what_is_no_expression_in_a_quoted_text_is_refused_where_it_stands() {
    for (text, offset, message) in [
        ("x == '{{ 1 + }}'", 13, "the end"),
        ("x == '{{ y'", 6, "no closing `}}`"),
        ("x == '{{ }}'", 9, "there is no expression here"),
        ("x == '{{ = }}'", 9, "no assignment"),
        ("x == '{{ it\"s }}'", 11, "no closing quote"),
        ("'{{ a b }}'", 6, "`b` where an operator or the end was expected"),
    ] {
        let error = Expr::compile(text).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(error.hint.is_some(), "{text}: {error}");
        assert_eq!(error.offset, offset, "{text}: {error}");
    }
}

/// R-X5: without parentheses it is the filter, unless an object has, or may have, a member of that name.
#[test]
fn length_needs_no_parentheses() {
    check(
        ENV,
        &[
            ("list.length > 1", "true"),
            ("list.length", "2"),
            ("word.length", "4"),
            ("(word + '!').length", "5"),
            ("[1, 2, 3].length", "3"),
            ("o.length", "7"),
            ("outputs.length", "null"),
            ("z.length", "null"),
            ("n.length", "null"),
            ("missing.length", "null"),
            ("{'length': 1}.length", "1"),
        ],
    );
}

/// R-X4: what is no name, and would be a difference with spaces, is not silently null.
#[test]
fn a_hyphen_that_must_be_a_minus_is_an_error() {
    check_fails(
        ENV,
        &[
            (
                "outputs.n-1",
                "`outputs.n-1` is one name, and there is none; for a minus write `outputs.n - 1`",
            ),
            ("outputs.n-1 > 3", "for a minus"),
            ("outputs.total-used", "for a minus write `outputs.total - used`"),
            ("outputs.deep.n-1", "`outputs.deep.n - 1`"),
            ("[outputs][0].n-1", "`n - 1`"),
            ("outputs.n-1.x", "`outputs.n - 1`"),
        ],
    );
    check(
        ENV,
        &[
            ("outputs.a-b", "1"),
            ("outputs.n - 1", "4"),
            ("outputs['n-1']", "null"),
            ("[outputs][0]['n-1']", "null"),
            // Neither reading means anything.
            ("outputs.missing-1", "null"),
            ("outputs.gone-1", "null"),
            ("outputs.n-missing", "null"),
            ("missing.n-1", "null"),
        ],
    );
}
