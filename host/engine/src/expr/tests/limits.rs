//! Bounds on length, depth, work and size.

use super::*;
use crate::value::Map;

fn null() -> Json {
    Json::new("null")
}

/// R-X1.
#[test]
fn length() {
    let longest = format!("'{}'", "x".repeat(MAX_LENGTH - 2));
    assert!(Expr::compile(&longest).is_ok());
    let error = Expr::compile(&format!("{longest} ")).unwrap_err();
    assert!(error.message.contains("has 10001 bytes; expected at most 10000"), "{error}");
}

#[test]
fn chains_may_be_long() {
    for (operator, term, expected) in [
        (" || ", "false", "false"),
        (" or ", "a.b > 1", "false"),
        (" && ", "true", "true"),
        (" and ", "a == n", "true"),
        ("+", "1", "700"),
        ("*", "1", "1"),
        ("+", "'ab'", &format!("\"{}\"", "ab".repeat(700))),
        ("+", "[0]", &format!("[{}0]", "0,".repeat(699))),
    ] {
        let text = vec![term; 700].join(operator);
        assert_eq!(
            compiled(&text).eval(&null(), &mut Doubts::default()).unwrap().to_json(),
            expected,
            "{operator}"
        );
    }
    let mixed = format!("0{}", "+1-1".repeat(900));
    assert_eq!(compiled(&mixed).eval(&null(), &mut Doubts::default()), Ok(0.into()));
    let elements = vec!["1"; 3000].join(",");
    assert_eq!(
        compiled(&format!("[{elements}] | length")).eval(&null(), &mut Doubts::default()),
        Ok(3000.into())
    );
    assert_eq!(
        compiled(&format!("x in [{elements}]")).eval(&null(), &mut Doubts::default()),
        Ok(false.into())
    );
}

/// Nested `levels` times, in every way there is.
fn nested(levels: usize) -> Vec<String> {
    let around = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    vec![
        around("(", "x", ")"),
        around("{{", "x", "}}"),
        around("[", "x", "]"),
        around("{'k':", "x", "}"),
        around("!", "x", ""),
        around("not ", "x", ""),
        around("-", "x", ""),
        around("x[", "x", "]"),
        around("x | default(", "x", ")"),
        around("x | contains(", "x", ")"),
        around("x ? ", "x", " : x"),
        around("x ? x : ", "x", ""),
        around("(x ? x : ", "x", ")"),
        around("(1 + ", "x", ")"),
        around("(x == ", "x", ")"),
        around("(x && ", "x", ")"),
        around("(x || x && (not ", "x", "))"),
        around("", "x", " | lower"),
        around("", "x", "[y]"),
        around("(", "x", ".lower().k)"),
    ]
}

#[test]
fn sixty_levels_are_enough_for_anybody() {
    for text in nested(60) {
        let expr = compiled(&text);
        // Whether it has a value is beside the point.
        let _ = expr.eval(&null(), &mut Doubts::default());
    }
}

/// On the smallest stack a thread is likely to have (R-X1).
#[test]
fn depth_is_refused_before_the_stack_is_exhausted() {
    let deepest = || {
        for levels in (61..300).step_by(7).chain([900]) {
            for text in nested(levels) {
                match Expr::compile(&text) {
                    Ok(expr) => drop(expr.eval(&null(), &mut Doubts::default())),
                    Err(error) if text.len() > MAX_LENGTH => {
                        assert!(error.message.contains("bytes"), "{error}");
                    }
                    Err(error) => {
                        assert!(error.message.contains("nests too deeply; expected at most 256"), "{error}");
                    }
                }
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(deepest).unwrap().join().unwrap();
    for text in nested(700) {
        assert!(Expr::compile(&text).is_err(), "{text}");
    }
}

/// An environment of one large value for every path.
struct Large(Value);

impl Env for Large {
    fn get(&self, _: &[Arc<str>]) -> Value {
        self.0.clone()
    }
}

/// R-X1.
#[test]
fn results_do_not_grow_without_bounds() {
    let text = Large("x".repeat(1 << 20).into());
    let list = Large(vec![Value::from(0); 1 << 18].into());
    let twenty = |part: &str, operator: &str| vec![part; 20].join(operator);
    for (env, source, expected) in [
        (&text, twenty("x", "+"), "too much work"),
        (
            &text,
            "x.replace('x', '01234567') + x.replace('x', '01234567') + x".to_owned(),
            "the text made would have 17825792 bytes; at most 16777216 are allowed",
        ),
        (&text, "x | replace('x', '01234567890123456789')".to_owned(), "would have 20971520 bytes"),
        (&text, "x | split('x')".to_owned(), "the list made would have 1048577 elements; at most 1048576"),
        (&text, format!("[{}] | join('')", twenty("x", ",")), "would have 17825792 bytes"),
        (&text, format!("[{}] | tojson", twenty("x", ",")), "more than the 16777216 bytes allowed"),
        (&text, format!("[{}] | string", twenty("x", ",")), "more than the 16777216 bytes allowed"),
        (&text, format!("[{}]", twenty("x", ",")), "the value made is too large"),
        (&text, format!("{{'a': [{}]}}", twenty("x", ",")), "the value made is too large"),
        (&text, format!("{} || false", vec!["(x | lower) == x"; 100].join(" && ")), "too much work"),
        (&text, vec!["x != x"; 200].join(" || "), "too much work"),
        (&text, vec!["'y' in x"; 200].join(" || "), "too much work"),
        (&text, vec!["x < x"; 200].join(" || "), "too much work"),
        (&list, twenty("x", "+"), "the list made would have 1310720 elements"),
        (&list, vec!["x != x"; 400].join(" || "), "too much work"),
        (&list, vec!["1 in x"; 400].join(" || "), "too much work"),
    ] {
        let shown: String = source.chars().take(60).collect();
        match compiled(&source).eval(env, &mut Doubts::default()) {
            Ok(_) => panic!("{shown} has a value"),
            Err(EvalError(why)) => assert!(why.contains(expected), "{shown}: {why}"),
        }
    }
    // A large value that is only passed on, or tested, costs nothing.
    for source in ["x", "x == null", "true ? x : 1", "x | length", "x[0]", "x | default(1)"] {
        assert!(compiled(source).eval(&text, &mut Doubts::default()).is_ok(), "{source}");
    }
}

/// State that wraps itself once per step must fail while it can still be read back from a journal.
#[test]
fn depth_of_results_is_bounded() {
    for source in ["[x]", "{'k': x}", "[[x]]", "[x] + []", "y | default([x])"] {
        let expr = compiled(source);
        let mut value = Value::Null;
        let error = loop {
            let wrapped: Map = [(Arc::from("x"), value.clone())].into_iter().collect();
            match expr.eval(&Json(wrapped.into()), &mut Doubts::default()) {
                Ok(next) => value = next,
                Err(EvalError(why)) => break why,
            }
        };
        assert!(error.contains("nests too deeply"), "{source}: {error}");
        assert!(Value::from_json(&value.to_json()).is_ok(), "{source}");
    }
    let json = format!("'{}{}' | fromjson", "[".repeat(110), "]".repeat(110));
    assert!(
        compiled(&json).eval(&null(), &mut Doubts::default()).unwrap_err().0.contains("nests too deeply")
    );
}
