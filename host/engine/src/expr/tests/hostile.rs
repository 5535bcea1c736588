//! Random text against the parser.

use proptest::prelude::*;

use super::*;

const ENV: &str = r#"{"a": 1, "tasks": {"x": [1]}}"#;

/// Fragments that make text look like expressions.
fn soup() -> impl Strategy<Value = String> {
    let fragments = prop::sample::select(vec![
        "a",
        "tasks.x",
        "loop.index-1",
        "1",
        "2.5",
        "1e5",
        "'s'",
        "\"t\"",
        "'",
        "\"",
        "\\",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "{{",
        "}}",
        ".",
        ",",
        ":",
        "?",
        "|",
        "!",
        "not",
        "in",
        "and",
        "or",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        "&&",
        "||",
        "+",
        "-",
        "*",
        "/",
        "%",
        "lower",
        "default(1)",
        "replace('a', 'b')",
        ".lower()",
        "null",
        "true",
        " ",
        "\n",
        "é",
        "=",
        "&",
        "{'k':",
    ]);
    prop::collection::vec(fragments, 0..25).prop_map(|parts| parts.concat())
}

fn holds_up(text: &str) {
    match Expr::compile(text) {
        Ok(expr) => {
            let _ = expr.eval(&Json::new(ENV), &mut Doubts::default());
            let _ = expr.test(&Json::new(ENV), &mut Doubts::default());
            assert!(
                expr.reads().iter().all(|r| text.is_char_boundary(r.offset) && !r.path.is_empty()),
                "{text}"
            );
        }
        Err(error) => {
            assert!(error.offset <= text.len() && text.is_char_boundary(error.offset), "{text}: {error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_text_upsets_the_parser(text in any::<String>()) {
        holds_up(&text);
    }

    #[test]
    fn no_soup_upsets_the_parser(text in soup()) {
        holds_up(&text);
        holds_up(&format!("{{{{{text}}}}}"));
    }

    #[test]
    fn no_soup_upsets_interpolation(text in soup()) {
        let tree = crate::tree::Tree::from(&Value::from(text.as_str()));
        match ValueTemplate::compile(&tree, false) {
            Ok(compiled) => {
                let _ = compiled.eval(&Json::new(ENV), &mut Doubts::default());
                let found = compiled.placeholders(&crate::path::Path::root());
                prop_assert!(found.iter().all(|(_, p)| text.is_char_boundary(p.offset)));
            }
            Err(errors) => prop_assert!(errors.iter().all(|e| text.is_char_boundary(e.error.offset))),
        }
    }

    /// Every text is a literal that means itself, in either quotes.
    #[test]
    fn texts_mean_themselves(text in any::<String>()) {
        // A text that would begin a placeholder means something else; three braces would leave two.
        let text = text.replace("{{", "{").replace("{{", "{-{");
        let json = Value::from(text.as_str());
        let single = json.to_json().replace('\'', "\\'");
        let single = format!("'{}'", &single[1..single.len() - 1]);
        for quoted in [json.to_json(), single] {
            prop_assert_eq!(compiled(&quoted).eval(&Json::new("null"), &mut Doubts::default()), Ok(json.clone()));
            prop_assert_eq!(compiled(&format!("{quoted} == {quoted}")).test(&Json::new("null"), &mut Doubts::default()), Ok(true));
        }
    }
}
