use phasm_engine::{tree::TreeNode, value::Value};
use proptest::prelude::*;

use super::super::*;

/// The tree as JSON-like text, every value and key with its line and column.
fn dump(tree: &Tree) -> String {
    let at = |span: Span| format!("{}:{}", span.line, span.column);
    let text = match &tree.node {
        TreeNode::Array(items) => format!("[{}]", items.iter().map(dump).collect::<Vec<_>>().join(" ")),
        TreeNode::Object(members) => {
            let member = |(key, value): &(_, Tree)| {
                let phasm_engine::tree::Key { name, span } = key;
                format!("{name}@{}={}", at(*span), dump(value))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(" "))
        }
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => {
            tree.to_value().to_json()
        }
    };
    format!("{text}@{}", at(tree.span))
}

/// Every problem as `code line:column path: message (hint)`.
fn complaints(name: &str, text: &str) -> Vec<String> {
    let line = |p: &Problem| {
        let hint = p.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{} {}:{} {}: {}{hint}", p.code, p.line, p.column, p.path, p.message)
    };
    read(name, text).map_or_else(|problems| problems.iter().map(line).collect(), |tree| vec![dump(&tree)])
}

/// The only complaint starts with `expected` and holds every one of `words`.
fn refuses(name: &str, text: &str, expected: &str, words: &str) {
    let found = complaints(name, text);
    let shown: String = text.chars().take(60).collect();
    assert_eq!(found.len(), 1, "{shown:?}: {found:#?}");
    assert!(found[0].starts_with(expected) && found[0].contains(words), "{shown:?}: {found:#?}");
}

#[test]
fn positions_in_json() {
    let text = "{\n  \"a\": [1, {\"é\": null}],\r\n\t\"b\": \"x\" }\n";
    assert_eq!(
        complaints("x.json", text),
        [r#"{a@2:3=[1@2:9 {é@2:13=null@2:18}@2:12]@2:8 b@3:2="x"@3:7}@1:1"#]
    );
    let tree = read("x.json", "\u{feff}{\"ä\": [10]}").unwrap();
    let TreeNode::Object(members) = &tree.node else { panic!("no object") };
    assert_eq!(tree.span, Span { line: 1, column: 1, start: 3, end: 15 });
    assert_eq!(members[0].0.span, Span { line: 1, column: 2, start: 4, end: 8 });
    assert_eq!(members[0].1.span, Span { line: 1, column: 7, start: 10, end: 14 });
}

#[test]
fn positions_in_yaml() {
    let rows = [
        ("a: 1\nb: [x, 'y']\n", r#"{a@1:1=1@1:4 b@2:1=["x"@2:5 "y"@2:8]@2:4}@1:1"#),
        ("# ü\nc:\n- d: é # ü\n  e:\n- f", r#"{c@2:1=[{d@3:3="é"@3:6 e@4:3=null@4:3}@3:3 "f"@5:3]@3:3}@2:1"#),
        ("a:\r\n  b: |\r\n    x\r\n    y\r\nd: 2", r#"{a@1:1={b@2:3="x\ny\n"@3:5}@2:3 d@5:1=2@5:4}@1:1"#),
        ("\u{feff}---\na: >-\n  x\n  y\n...\n", r#"{a@2:1="x y"@3:3}@2:1"#),
        (
            "a: &x {b: [1]}\nc: *x\n",
            r#"{a@1:1={b@1:8=[1@1:12]@1:11}@1:4 c@2:1={b@1:8=[1@1:12]@1:11}@1:4}@1:1"#,
        ),
        ("a: 1\na: 2", "{a@1:1=1@1:4 a@2:1=2@2:4}@1:1"),
        ("\"<<\": 1", "{<<@1:1=1@1:7}@1:1"),
        ("a: <<", r#"{a@1:1="<<"@1:4}@1:1"#),
        ("a: !!str 1\nb: ! 2\nc: !!seq []", r#"{a@1:1="1"@1:4 b@2:1="2"@2:4 c@3:1=[]@3:4}@1:1"#),
        ("{a: [b, c,], d}", r#"{a@1:2=["b"@1:6 "c"@1:9]@1:5 d@1:14=null@1:14}@1:1"#),
    ];
    for (text, expected) in rows {
        assert_eq!(complaints("x.yaml", text), [expected], "{text:?}");
    }
}

#[test]
fn spans_end_behind_the_value() {
    let ends = |text: &str| read("x", text).unwrap().span.end;
    assert_eq!(ends("a:\n  b: xy\n\n# end\n"), 10);
    assert_eq!(ends("a: [1, 2 ] # c"), 10);
    assert_eq!(ends("{\"a\": 1 } "), 9);
}

#[test]
fn strict_json() {
    let rows = [
        ("", "P001 1:1", "found the end of the text; expected a value"),
        ("{\"a\": 1", "P001 1:8", "found the end of the text; expected `,` or `}`"),
        ("{\"a\": 1,}", "P001 1:9", "JSON allows no comma behind the last member"),
        ("[1,\n 2,]", "P001 2:4", "JSON allows no comma without a value behind it"),
        ("{a: 1}", "P001 1:2", "JSON keys stand in double quotes"),
        ("{\"a\" 1}", "P001 1:6", "expected `:` after the key"),
        ("{\"a\": 'x'}", "P001 1:7", "JSON texts stand in double quotes"),
        ("{\"a\": 1} // end", "P001 1:10", "found '/'; expected the end of the text"),
        ("{\"a\": 1 \"b\": 2}", "P001 1:9", "expected `,` or `}`"),
        ("{/* c */}", "P001 1:2", "JSON has no comments"),
        ("[01]", "P001 1:2", "leading zero"),
        ("[-]", "P001 1:3", "expected a digit"),
        ("[1.]", "P001 1:4", "expected a digit"),
        ("[1e+]", "P001 1:5", "expected a digit"),
        ("[+1]", "P001 1:2", "JSON numbers start with a digit"),
        ("[.5]", "P001 1:2", "JSON numbers start with a digit"),
        ("[NaN]", "P001 1:2", "`NaN` where a value belongs"),
        ("[nul]", "P001 1:2", "`nul` where a value belongs"),
        ("[True]", "P001 1:2", "write `true`"),
        ("[\"a\tb\"]", "P001 1:4", "no control character"),
        ("[\"a\nb\"]", "P001 1:4", "no control character"),
        ("[\"abc", "P001 1:2", "text without an end"),
        ("[\"a\\x\"]", "P001 1:4", "unknown escape"),
        ("[\"\\u12G4\"]", "P001 1:3", "unfinished escape"),
        ("[\"\\ud800\"]", "P001 1:3", "half of a surrogate pair"),
        ("[\"\\ud800\\u0041\"]", "P001 1:3", "half of a surrogate pair"),
        ("[\"\\udc00\\ud800\"]", "P001 1:3", "half of a surrogate pair"),
        ("[1]\u{a0}", "P001 1:4", "expected the end of the text"),
        ("[\u{0}]", "P008 1:2", "U+0000"),
        ("[1e400]", "P005 1:2 [0]", "quote it"),
        ("{\"a\": [18446744073709551616]}", "P005 1:8 a[0]", "number 18446744073709551616 cannot be kept"),
    ];
    for (text, expected, words) in rows {
        refuses("x.json", text, expected, words);
    }
}

#[test]
fn json_values() {
    let rows = [
        (r#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0001""#, "\"\\\"\\\\/\\b\\f\\n\\r\\té😀\\u0001\""),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("1E2", "100.0"),
        ("18446744073709551615", "18446744073709551615"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("[]", "[]"),
        (" {\"a\":{}} ", "{\"a\":{}}"),
    ];
    for (text, expected) in rows {
        assert_eq!(read("x.json", text).unwrap().to_value().to_json(), expected, "{text}");
    }
}

/// R-W1.
#[test]
fn yaml_that_is_refused() {
    let rows = [
        ("", "P001 1:1", "no content"),
        ("# nothing\n", "P001 1:1", "no content"),
        ("a: [b", "P001 1:4", "not valid YAML"),
        ("a: b: c", "P001 1:5", "put the text in quotes: `a: \"b: c\"`"),
        ("a:\n    b: 1\n  c: 2", "P001 3:3", "same column"),
        ("a:\n- b: 1\n  c: 2\n d: 3", "P001 4:2", "same column"),
        ("a: \"b\" c\nd: 1", "P001 1:6", "not valid YAML"),
        ("a:\n\tb: 1", "P001 2:1", "begin the line with 2 spaces"),
        ("a: *x", "P001 1:4", "not valid YAML"),
        ("a: \u{0}b", "P008 1:4", "U+0000"),
        ("a: \u{7f}b", "P001 1:4", "control character"),
        ("1: x", "P004 1:1", "key of type integer; expected text (quote the key)"),
        ("a: {{ b }}", "P004 1:5 a", "put it in quotes: `\"{{ … }}\"`"),
        ("a: {true: x}", "P004 1:5 a", "key of type boolean"),
        ("~: x", "P004 1:1", "key of type null"),
        ("? [a]\n: x", "P004 1:3", "key of type array"),
        ("a:\n  <<: {b: 1}", "P003 2:3 a", "merge key"),
        ("a: !env X", "P003 1:4 a", "tag `!env`"),
        ("a: !!int x", "P003 1:4 a", "tag `tag:yaml.org,2002:int`"),
        ("a: !!set {b}", "P003 1:4 a", "tag `tag:yaml.org,2002:set`"),
        ("a: &x [*x]", "P003 1:8 a[0]", "alias to something that contains it"),
        ("a: 1\n---\nb: 2", "P003 2:1", "a second document"),
        ("a: .inf", "P005 1:4 a", "number .inf cannot be kept exactly"),
        ("a:\n- 18446744073709551616", "P005 2:3 a[0]", "quote it"),
    ];
    for (text, expected, words) in rows {
        refuses("x.yaml", text, expected, words);
    }
}

/// R-W2.
#[test]
fn all_problems_but_syntax_come_at_once() {
    let text = "1: .nan\na: !x 1\n<<: {}\nb: [1e999]\n";
    let codes: Vec<_> = read("x", text).unwrap_err().iter().map(|p| (p.code, p.line)).collect();
    assert_eq!(codes, [("P004", 1), ("P005", 1), ("P003", 2), ("P003", 3), ("P005", 4)]);
    let codes: Vec<_> = read("x.json", "[1e999, 1e999, x]").unwrap_err().iter().map(|p| p.code).collect();
    assert_eq!(codes, ["P005", "P005", "P001"]);
}

#[test]
fn the_language_follows_name_and_text() {
    // Only YAML knows comments, single quotes and trailing commas.
    let flow = "{a: 'x', # c\n}";
    assert!(read("x.yaml", flow).is_ok());
    assert!(read("-", flow).is_ok());
    assert!(read("x.JSON", flow).is_err());
    // Only JSON knows these escapes, and keys of any length.
    let json = format!("{{\"{}\": \"\\ud83d\\ude00\"}}", "k".repeat(2000));
    assert!(read("x.yaml", &json).is_ok());
    // A file of neither kind is judged by its name, without a problem about JSON.
    assert!(complaints("-", "{\"a\": ]").join("").contains("found ']'"));
    assert!(complaints("x.yml", "{\"a\": ]").join("").contains("not valid YAML"));
    // Numbers that JSON cannot keep are no reason to try YAML.
    assert!(complaints("-", "{\"a\": 1e999}").join("").contains("P005"));
}

/// R-W1.
#[test]
fn depth_is_bounded() {
    for name in ["x.json", "x.yaml"] {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(name, &nested(128)).is_ok());
        refuses(name, &nested(129), "P002 1:129", "more than 128 levels");
        refuses(name, &"[".repeat(100_000), "P002 1:", "more than 128 levels");
    }
    let alias =
        format!("a: &a {}{}\nb: {}*a{}", "[".repeat(100), "]".repeat(100), "[".repeat(27), "]".repeat(27));
    assert!(read("x", &alias).is_ok());
    let alias =
        format!("a: &a {}{}\nb: {}*a{}", "[".repeat(100), "]".repeat(100), "[".repeat(28), "]".repeat(28));
    refuses("x", &alias, "P002 2:32", "more than 128 levels");
}

/// R-W1.
#[test]
fn size_is_bounded() {
    refuses("x", &" ".repeat(MAX_DOCUMENT_BYTES + 1), "P002 0:0", "more than 16777216 bytes of text");
    let many = format!("[{}1]", "1,".repeat(MAX_NODES));
    refuses("x.json", &many, "P002 1:4000000", "more than 2000000 values");
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let refs = vec![format!("*a{}", n - 1); 10].join(", ");
        laughs += &format!("a{n}: &a{n} [{refs}]\n");
    }
    refuses("x", &laughs, "P002 6:", "more than 2000000 values");
    // Nested anchors are copied at every level; the copies count as well.
    let nested = format!("{}{}1{}", "&a [".repeat(100), "1, ".repeat(30_000), "]".repeat(100));
    refuses("x.yaml", &nested, "P002", "more than 2000000 values");
}

/// R-W1: a text that aliases repeat counts each time, as a value, as a key and within what is repeated.
#[test]
fn repeated_text_is_bounded() {
    let long = "x".repeat(1 << 20);
    let document = |repeated: &str, times: usize| {
        let refs = format!("{repeated}, ");
        format!("a: &a {long}\nb: [{}]\n", refs.repeat(times))
    };
    assert!(read("x.yaml", &document("*a", 14)).is_ok());
    for repeated in ["*a", "{*a : 1}", "[1, {x: *a}]"] {
        refuses("x.yaml", &document(repeated, 16), "P002 2:", "more than 16777216 bytes of text");
    }
    let nested = format!("a: &a [{long}, {long}]\nb: &b [*a, *a]\nc: [*b, *b, *b]\n");
    refuses("x.yaml", &nested, "P002 3:", "more than 16777216 bytes of text");
}

/// A mistake at the very end of a text lies in it.
#[test]
fn what_is_wrong_at_the_end_lies_in_the_text() {
    let text = "---: \r\n{,: \\u12";
    for problem in read("x.yaml", text).unwrap_err() {
        assert!(problem.span.end <= text.len(), "{problem:?}");
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_reads_as_it_was_written(value in any_json()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let tree = read("x.json", &text).map_err(|p| TestCaseError::fail(format!("{p:?}")))?;
            prop_assert_eq!(tree.to_value(), Value::from(value.clone()));
        }
    }

    #[test]
    fn spans_of_json_are_exact(value in any_json()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        check_spans(&read("x.json", &text).unwrap(), &text)?;
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        let _ = (read("x.json", &text), read("x.yaml", &text));
    }

    #[test]
    fn nearly_yaml_is_read_or_refused(text in "([-?:,#&*!|>'\"%@`{}\\[\\] \n\tab1.é~<]|---|: |- |\r\n|\\\\u12|&a |\\*a |!!int ){0,40}") {
        if let Err(problems) = read("x.yaml", &text) {
            for problem in problems {
                prop_assert!(problem.line >= 1 && problem.column >= 1, "{problem:?}");
                prop_assert!(problem.span.end <= text.len(), "{problem:?}");
            }
        }
    }

    #[test]
    fn nearly_json_is_read_or_refused(text in "([-+eE.,:{}\\[\\]\"\\\\ \n01a]|true|null|\\\\u[dD][89cC]00|\"a\":){0,30}") {
        if let Ok(expected) = serde_json::from_str::<serde_json::Value>(&text) {
            let found = read("x.json", &text);
            let too_large = text.len() > 18 && found.is_err();
            prop_assert!(too_large || found.is_ok_and(|tree| close(&tree.to_value(), &expected.into())), "{}", text);
        } else {
            prop_assert!(read("x.json", &text).is_err(), "{}", text);
        }
    }
}

/// Every span's text reads as the value it belongs to.
fn check_spans(tree: &Tree, text: &str) -> Result<(), TestCaseError> {
    let written: serde_json::Value = serde_json::from_str(&text[tree.span.start..tree.span.end]).unwrap();
    prop_assert_eq!(Value::from(written), tree.to_value());
    match &tree.node {
        TreeNode::Array(items) => items.iter().try_for_each(|item| check_spans(item, text)),
        TreeNode::Object(members) => members.iter().try_for_each(|(key, value)| {
            let written: String = serde_json::from_str(&text[key.span.start..key.span.end]).unwrap();
            prop_assert_eq!(&*written, &*key.name);
            check_spans(value, text)
        }),
        TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) => Ok(()),
    }
}

/// Equal, except that `-0` may be an integer or a double.
fn close(one: &Value, other: &Value) -> bool {
    one.to_json().replace("-0.0", "0") == other.to_json().replace("-0.0", "0")
}

/// R-W2: a text with U+0000 is refused with its place, in either language, however it is written.
#[test]
fn texts_without_nul() {
    for (name, text, places) in [
        ("x.json", "{\"a\": \"b\\u0000\"}", vec!["P008 1:7 a"]),
        (
            "x.json",
            "{\"a\\u0000\": [1, {\"c\": \"\\u0000\"}]}",
            vec!["P008 1:2 [\"a\\0\"]", "P008 1:23 [\"a\\0\"][1].c"],
        ),
        (
            "x.yaml",
            "a: \"\\0\"\nb: [\"\\x00\", \"\\u0000\", \"\\U00000000\"]",
            vec!["P008 1:4 a", "P008 2:5 b[0]", "P008 2:13 b[1]", "P008 2:23 b[2]"],
        ),
        ("x.yaml", "a: b\nc: \0d", vec!["P008 2:4 "]),
    ] {
        let found = read(name, text).unwrap_err();
        let found: Vec<_> = found
            .iter()
            .map(|one| format!("{} {}:{} {}", one.code, one.line, one.column, one.path))
            .collect();
        assert_eq!(found, places, "{text:?}");
    }
    for text in ["{\"a\": \"\\\\u0000\"}", "{\"a\": \"\\\\0\"}"] {
        assert!(read("x.json", text).is_ok(), "{text}");
    }
}
