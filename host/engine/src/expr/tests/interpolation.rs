//! Placeholders in values.

use super::*;
use crate::{
    tree::{Span, Tree, TreeNode},
    value::Map,
};

const ENV: &str =
    r#"{"a": 1, "s": "text", "n": null, "list": [1, "x"], "o": {"k": [true]}, "x": 1.5, "t": true}"#;

fn tree(json: &str) -> Tree {
    Tree::from(&Value::from_json(json).unwrap_or_else(|error| panic!("{error} in {json}")))
}

/// Each row: value with placeholders, value filled in, nulls that became empty.
#[track_caller]
fn filled(rows: &[(&str, &str, usize)]) {
    let env = Json::new(ENV);
    for (template, expected, emptied) in rows {
        let compiled =
            ValueTemplate::compile(&tree(template), false).unwrap_or_else(|e| panic!("{e:?} in {template}"));
        let mut doubts = Doubts::default();
        let bound = compiled.eval(&env, &mut doubts).unwrap_or_else(|error| panic!("{error} in {template}"));
        assert_eq!(bound.to_json(), *expected, "{template}");
        assert_eq!(doubts.emptied, *emptied, "{template}");
    }
}

/// R-X8.
#[test]
fn a_string_that_is_one_placeholder_keeps_the_type() {
    filled(&[
        (r#""{{ a }}""#, "1", 0),
        (r#""{{a}}""#, "1", 0),
        (r#""{{ s }}""#, r#""text""#, 0),
        (r#""{{ n }}""#, "null", 0),
        (r#""{{ missing.x }}""#, "null", 0),
        (r#""{{ list }}""#, r#"[1,"x"]"#, 0),
        (r#""{{ o }}""#, r#"{"k":[true]}"#, 0),
        (r#""{{ a + 1 }}""#, "2", 0),
        (r#""{{ {\"k\": {\"l\": a}} }}""#, r#"{"k":{"l":1}}"#, 0),
        (r#""{{ {'k': {'l': a}}}}""#, r#"{"k":{"l":1}}"#, 0),
        (r#""{{ {{ a }} }}""#, "1", 0),
        (r#""{{ '}}' }}""#, r#""}}""#, 0),
        (r#""{{ \"}}\" }}""#, r#""}}""#, 0),
        (r#""{{ 'it\\'s }}' }}""#, r#""it's }}""#, 0),
        (r#""{{ '{{' }}""#, r#""{{""#, 0),
    ]);
}

/// R-X8: a text of an expression is filled in as any other; what is not evaluated leaves no doubt.
#[test]
fn nulls_in_texts_of_expressions_are_counted() {
    filled(&[
        (r#""{{ 'a {{ n }}' == 'a ' }}""#, "true", 1),
        (r#""{{ '{{ n }}{{ missing.x }}' }}""#, r#""""#, 2),
        (r#""{{ ['{{ n }}'] | length }}""#, "1", 1),
        (r#""{{ '{{ n }}' | default('{{ s }}') }}""#, r#""""#, 1),
        (r#""x {{ '{{ n }}' }} {{ n }}""#, r#""x  ""#, 2),
        (r#""{{ t ? 1 : '{{ n }}' }}""#, "1", 0),
        (r#""{{ false && '{{ n }}' == '' }}""#, "false", 0),
        (r#""{{ '{{ a }}' == '1' }}""#, "true", 0),
    ]);
}

/// R-X8.
#[test]
fn anything_else_is_text() {
    filled(&[
        (r#""""#, r#""""#, 0),
        (r#""plain""#, r#""plain""#, 0),
        (r#""a } b }} { c""#, r#""a } b }} { c""#, 0),
        (r#""a{{ a }}""#, r#""a1""#, 0),
        (r#"" {{ a }}""#, r#"" 1""#, 0),
        (r#""{{ a }}\n""#, r#""1\n""#, 0),
        (r#""{{ a }}{{ s }}""#, r#""1text""#, 0),
        (r#""{{ n }}{{ n }}""#, r#""""#, 2),
        (r#""<{{ n }}>""#, r#""<>""#, 1),
        (r#""{{ list }}!""#, r#""[1,\"x\"]!""#, 0),
        (r#""{{ o }}, {{ t }}, {{ x }}""#, r#""{\"k\":[true]}, true, 1.5""#, 0),
        (r#""é{{ s }}é{{ a }}😀""#, r#""étexté1😀""#, 0),
        (r#""write {{ '{{' }} x }}""#, r#""write {{ x }}""#, 0),
        (r#""{{ '{{' }}{{ '}}' }}""#, r#""{{}}""#, 0),
        (r#""{ {a} }""#, r#""{ {a} }""#, 0),
    ]);
}

/// R-X8.
#[test]
fn at_any_depth_but_not_in_keys() {
    filled(&[
        ("null", "null", 0),
        ("[1, true, null, 1.5]", "[1,true,null,1.5]", 0),
        (r#"["{{ a }}", ["{{ s }}!", {"k": "{{ n }}"}]]"#, r#"[1,["text!",{"k":null}]]"#, 0),
        (r#"{"{{ a }}": "{{ a }}", "b": {"c": ["<{{ n }}>"]}}"#, r#"{"b":{"c":["<>"]},"{{ a }}":1}"#, 1),
        (r#"["{{ n }} ", " {{ n }}"]"#, r#"[" "," "]"#, 2),
    ]);
}

#[test]
fn without_placeholders_it_is_literal() {
    for (json, raw, literal) in [
        ("1", false, true),
        (r#""text""#, false, true),
        (r#"{"a": ["b", {"c": "}} {"}]}"#, false, true),
        (r#"{"{{ a }}": 1}"#, false, true),
        (r#""{{ a }}""#, false, false),
        (r#"["x", "{{ 1 }}"]"#, false, false),
        (r#""{{ a }}""#, true, true),
        (r#"["{{ this is ! no expression", {"k": "{{"}]"#, true, true),
    ] {
        let compiled = ValueTemplate::compile(&tree(json), raw).unwrap();
        assert_eq!(compiled.is_literal(), literal, "{json}");
        assert_eq!(compiled.as_literal().cloned(), literal.then(|| tree(json).to_value()), "{json}");
    }
    assert_eq!(
        ValueTemplate::compile(&tree(r#""{{ a.b }}""#), false).unwrap().as_expr().map(Expr::source),
        Some(" a.b ")
    );
}

#[test]
fn every_bad_placeholder_is_reported_with_its_place() {
    let json = r#"{"a": "{{ 1 + }} and {{ b ! }}", "l": ["ok {{ a }}", "no {{ end", {"n": "it's {{ = }} {{ it's }} {{ = }}"}], "e": "{{ }}"}"#;
    let errors = ValueTemplate::compile(&tree(json), false).unwrap_err();
    let shown: Vec<_> =
        errors.iter().map(|e| (e.path.as_str(), e.error.offset, e.error.message.as_str())).collect();
    assert_eq!(
        shown,
        [
            (".a", 7, "the end where a value was expected"),
            (".a", 19, "`!` where an operator or the end was expected"),
            (".e", 2, "there is no expression here; expected one"),
            (".l[1]", 3, "this placeholder has no closing `}}`"),
            (".l[2].n", 8, "there is no assignment"),
            (".l[2].n", 18, "this text has no closing quote"),
        ]
    );
    let hint =
        errors.iter().find_map(|e| e.error.message.contains("closing `}}`").then(|| e.error.hint.clone()));
    assert_eq!(
        hint.flatten().unwrap(),
        "a literal `{{` is written `{{ '{{' }}`; `raw: true` switches placeholders off"
    );
}

#[test]
fn placeholders_carry_path_span_and_offset() {
    let span = Span { line: 7, column: 3, start: 100, end: 130 };
    let text = Tree::new(TreeNode::String("x {{ a.b }} {{ c }}".into()), span);
    let list = Tree::new(TreeNode::Array(vec![tree("1"), text]), Span::default());
    let compiled = ValueTemplate::compile(&list, false).unwrap();
    let found = compiled.placeholders(&crate::path::Path::root());
    let shown: Vec<_> =
        found.iter().map(|(path, p)| (path.to_string(), p.span, p.offset, p.expr.source())).collect();
    assert_eq!(shown, [("[1]".to_owned(), span, 4, " a.b "), ("[1]".to_owned(), span, 14, " c ")]);
}

#[test]
fn failures_name_the_placeholder() {
    let env = Json::new(ENV);
    let compiled = ValueTemplate::compile(&tree(r#"["x{{ s + 1 }}"]"#), false).unwrap();
    assert_eq!(
        compiled.eval(&env, &mut Doubts::default()),
        Err(EvalError("{{ s + 1 }}: `+` cannot combine string \"text\" + integer 1".to_owned()))
    );
}

/// A state that wraps itself is bounded here, too, and so is text.
#[test]
fn what_is_made_is_bounded() {
    let compiled = ValueTemplate::compile(&tree(r#"{"x": "{{ x }}"}"#), false).unwrap();
    let mut value = Value::Null;
    let error = loop {
        match compiled.eval(&Json(value.clone()), &mut Doubts::default()) {
            Ok(bound) => value = [(Arc::from("x"), bound)].into_iter().collect::<Map>().into(),
            Err(EvalError(why)) => break why,
        }
    };
    assert!(error.contains("nests too deeply"), "{error}");
    let text = ValueTemplate::compile(&tree(r#""{{ s }}{{ s }}""#), false).unwrap();
    let large: Map = [(Arc::from("s"), "x".repeat(9 << 20).into())].into_iter().collect();
    assert!(
        text.eval(&Json(large.into()), &mut Doubts::default())
            .unwrap_err()
            .0
            .contains("would have 18874368 bytes")
    );
}

/// R-X8: a sign of another template language is never read as an operator.
#[test]
fn signs_of_other_template_languages_are_errors_that_name_them() {
    for (text, offset, sign) in [
        ("scale to {{- a }} now", 11, "`{{-` is a trim mark"),
        ("{{-a}}", 2, "`{{-` is a trim mark"),
        ("{{- 3 }}", 2, "`{{-` is a trim mark"),
        ("{{ a -}} b", 5, "`-}}` is a trim mark"),
        ("{{ a }}{{ a~}}", 11, "`~}}` is a trim mark"),
        ("{{~ a }}", 2, "`{{~` is a trim mark"),
        ("{{=a}}", 2, "`{{=` is the expression tag of Argo"),
        ("{{#if a}}x{{/if}}", 2, "tags of Mustache"),
        ("{{ .Values.a }}", 2, "begins a path of Go's templates"),
    ] {
        let json = Value::from(text).to_json();
        let errors = ValueTemplate::compile(&tree(&json), false).unwrap_err();
        let first = &errors.first().unwrap().error;
        assert!(first.message.contains(sign), "{text}: {first}");
        assert_eq!((first.offset, first.hint.is_some()), (offset, true), "{text}");
        // The same within an expression, and within a text of one.
        for (whole, before) in [(text.to_owned(), 0), (format!("'{text}' == 'x'"), 1)] {
            if whole.starts_with("{{") || before > 0 {
                let error = Expr::compile(&whole).unwrap_err();
                assert!(error.message.contains(sign), "{whole}: {error}");
                assert_eq!(error.offset, offset + before, "{whole}");
            }
        }
    }
    filled(&[
        (r#""{{ -a }} {{ 3 - a }} {{a}}-{{a}}-""#, r#""-1 2 1-1-""#, 0),
        (r#""{{ '{{' }}- {{ '-' }}}}""#, r#""{{- -}}""#, 0),
    ]);
}
