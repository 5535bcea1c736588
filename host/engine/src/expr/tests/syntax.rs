//! Texts that are no expression: position, message, and how to fix them.

use super::*;

/// Each row: text, offset, a part of the message with its hint.
#[track_caller]
fn refused(rows: &[(&str, usize, &str)]) {
    for (text, offset, expected) in rows {
        let error = Expr::compile(text).expect_err(text);
        assert!(error.to_string().contains(expected), "{text}: {error}");
        assert_eq!(error.offset, *offset, "{text}: {error}");
        assert!(error.offset <= text.len() && text.is_char_boundary(error.offset), "{text}");
    }
}

/// R-E1.
#[test]
fn incomplete() {
    refused(&[
        ("", 0, "there is no expression here"),
        (" \n ", 0, "there is no expression here"),
        ("{{ }}", 3, "`}` where a value was expected"),
        ("a ==", 4, "the end where a value was expected"),
        ("a &&", 4, "the end where a value was expected"),
        ("(a", 2, "the end where `)` to close the parenthesis was expected"),
        ("[1, 2", 5, "the end where `]` behind the list was expected"),
        ("[1,]", 3, "`]` where a value was expected"),
        ("[,]", 1, "`,` where a value was expected"),
        ("a[", 2, "the end where a value was expected"),
        ("a[]", 2, "`]` where a value was expected"),
        ("a[0", 3, "the end where `]` behind an index was expected"),
        ("a.", 2, "the end where a member's name was expected"),
        ("a. ['x']", 3, "`[` where a member's name was expected"),
        ("a |", 3, "the end where the name of a filter was expected"),
        ("a | 'x'", 4, "a text where the name of a filter was expected"),
        ("a.lower(", 8, "the end where a value was expected"),
        ("a | replace('x'", 15, "the end where `)` behind the arguments was expected"),
        ("a ? b", 5, "the end where `:` and the value otherwise was expected"),
        ("a ? : b", 4, "`:` where a value was expected"),
        ("{'a'}", 4, "`}` where `:` behind a key was expected"),
        ("{'a': }", 6, "`}` where a value was expected"),
        ("{'a': 1,}", 8, "`}` where a key was expected"),
        ("{a: 1}", 1, "keys go in quotes"),
        ("{1: 1}", 1, "keys go in quotes"),
        ("{'a': 1, 'a': 2}", 9, "the key \"a\" occurs twice"),
        ("{{ a }", 5, "`}` where `}}` to close the placeholder was expected"),
        ("{{ a } }", 5, "`}` where `}}` to close the placeholder was expected"),
        ("{{ a", 4, "the end where `}}`"),
        ("'abc", 0, "this text has no closing quote (end it with ')"),
        ("a == \"b", 5, "this text has no closing quote"),
        ("'a\\", 2, "the text ends in the middle of an escape"),
        ("not", 3, "the end where a value was expected"),
        ("!", 1, "the end where a value was expected"),
        ("-", 1, "the end where a value was expected"),
        ("in", 0, "`in` where a value was expected"),
        ("a not", 2, "`not` where an operator or the end was expected"),
        ("a and or b", 6, "`or` where a value was expected"),
    ]);
}

#[test]
fn one_thing_behind_another() {
    refused(&[
        ("a b", 2, "`b` where an operator or the end was expected"),
        ("a 1", 2, "`1` where an operator or the end was expected"),
        ("a 'b'", 2, "a text where an operator or the end was expected"),
        ("(a) (b)", 4, "functions are written as filters"),
        ("a)", 1, "`)` where an operator or the end was expected"),
        ("a }}", 2, "`}` where an operator or the end was expected"),
        ("a is defined", 2, "compare with null"),
        ("a if b else c", 2, "a choice is written `condition ? a : b`"),
        ("a AND b", 2, "write `and` or `&&`"),
        ("a OR b", 2, "write `or` or `||`"),
        ("1 == not a", 5, "put parentheses around it: `(not x)`"),
        ("-not a", 1, "put parentheses around it"),
    ]);
}

/// R-X3.
#[test]
fn chains_of_comparisons() {
    let hint = "comparisons cannot be chained (write `a < b && b < c`";
    refused(&[
        ("a < b < c", 6, hint),
        ("a == b == c", 7, hint),
        ("1 in [1] == true", 9, hint),
        ("a == b in c", 7, hint),
        ("a not in b not in c", 11, hint),
        ("a < b && c < d < e", 15, hint),
    ]);
    assert_eq!(compiled("(1 < 2) == true").eval(&Json::new("null"), &mut Doubts::default()), Ok(true.into()));
}

#[test]
fn other_languages() {
    refused(&[
        ("a = b", 2, "there is no assignment (to compare write `==`)"),
        ("a === b", 2, "there is no operator `===` (write `==`)"),
        ("a !== b", 2, "there is no operator `!==` (write `!=`)"),
        ("a <> b", 2, "write `!=`"),
        ("a => b", 2, "write `>=`"),
        ("a =< b", 2, "write `<=`"),
        ("a =~ 'x'", 2, "there are no patterns"),
        ("a & b", 2, "write `&&` or `and`"),
        ("a ?? b", 2, "write `x | default(y)`"),
        ("a?.b", 1, "a missing member is null"),
        ("a ** 2", 2, "there is no power operator"),
        ("a // b", 2, "there are no comments"),
        ("a /* b */", 2, "there are no comments"),
        ("1..2", 1, "there are no ranges"),
        ("a ~ b", 2, "write `+` to join texts"),
        ("a; b", 1, "unexpected character ';'"),
        ("a # b", 2, "unexpected character '#'"),
        ("$a", 0, "unexpected character '$'"),
        ("`a`", 0, "unexpected character '`'"),
        ("été", 0, "a name with characters other than a to z is written in brackets"),
        ("a ^ b", 2, "unexpected character '^'"),
        ("a \\ b", 2, "unexpected character '\\\\'"),
        ("|x| x", 0, "`|` where a value was expected"),
        ("a == True", 5, "`True` is not a word of expressions (write `true`)"),
        ("False", 0, "(write `false`)"),
        ("a.get('k')", 2, "(write `x['key']`; a missing member is null"),
        ("a contains 'x'", 2, "(write `part in whole`, or `whole.contains(part)`)"),
        ("a startswith 'x'", 2, "(write `text.startswith(part)`)"),
        ("len(a) > 1", 0, "(write it as a filter: `x | length` or `x.length()`)"),
        ("a ? 'x' else 'y'", 8, "(a choice is written `condition ? a : b`)"),
        ("'x' if a else 'y'", 4, "(a choice is written `condition ? a : b`)"),
    ]);
}

#[test]
fn numbers_and_escapes() {
    refused(&[
        ("12abc", 0, "`12abc` is neither a number nor a name"),
        ("1 + 5s", 4, "`5s` is neither a number nor a name"),
        ("1_000", 0, "`1_000` is neither a number nor a name"),
        ("0x10", 0, "`0x10` is neither"),
        ("1e", 0, "`1e` is neither"),
        (".5", 0, "`.` where a value was expected"),
        ("5.", 2, "the end where a member's name was expected"),
        ("18446744073709551616", 0, "number 18446744073709551616 cannot be kept exactly"),
        ("1e999", 0, "number 1e999 cannot be kept exactly"),
        ("x + 9007199254740993.0", 4, "number 9007199254740993.0 cannot be kept exactly"),
        (r"'\x41'", 1, "unknown escape `\\x`"),
        (r"'a\é'", 2, "unknown escape `\\é`"),
        (r"'\u12'", 1, "bad `\\u` escape"),
        (r"'\u12é4'", 1, "bad `\\u` escape"),
        (r"'\ud800'", 1, "bad `\\u` escape"),
        (r"'\udc00'", 1, "bad `\\u` escape"),
        (r"'\ud800\u0041'", 1, "bad `\\u` escape"),
    ]);
}

#[test]
fn filters_and_functions() {
    refused(&[
        ("a | lowr", 4, "there is no filter `lowr`; expected one of default, contains, endswith"),
        ("a | lowr", 4, "did you mean `lower`?"),
        ("a | LOWER", 4, "did you mean `lower`?"),
        ("a.startsWith('x')", 2, "did you mean `startswith`?"),
        ("a | xyzzy(1)", 4, "there is no filter `xyzzy`"),
        ("a | uppercase", 4, "trim, upper (did you mean `upper`?)"),
        ("a | upperwords", 4, "trim, upper (did you mean `upper`?)"),
        ("a | count", 4, "trim, upper (did you mean `length`?)"),
        ("a.b.size()", 4, "there is no filter `size`"),
        (
            "length(a)",
            0,
            "there is no function `length` (write it as a filter: `x | length` or `x.length()`)",
        ),
        ("now()", 0, "there is no function `now`"),
        ("eval('1')", 0, "there is no function `eval`"),
        ("a | join", 4, "`join` is given 0 arguments; expected 1"),
        ("a.replace('x')", 2, "`replace` is given 1 argument; expected 2"),
        ("a | lower(1)", 4, "`lower` is given 1 argument; expected none"),
        ("a | round(1, 2)", 4, "`round` is given 2 arguments; expected 0 to 1"),
        ("a | default", 4, "`default` is given 0 arguments; expected 1"),
        ("a | default(1, 2)", 4, "`default` is given 2 arguments; expected 1"),
    ]);
}

/// Nothing of Rhai shows through (R-X1).
#[test]
fn rhai_is_out_of_reach() {
    for text in [
        "let x = 1",
        "if true { 1 } else { 2 }",
        "while true {}",
        "loop {}",
        "|x| x + 1",
        "fn f() {}",
        "return 1",
        "throw 1",
        "import 'x'",
        "print('x')",
        "debug(1)",
        "eval(\"1\")",
        "timestamp()",
        "a.type_of()",
        "1 << 2",
        "1 | 2",
        "1 ^ 2",
        "#{}",
        "`${a}`",
        "a += 1",
        "this",
        "Fn('f')",
        "switch a {}",
        "a::b",
        "'x' as y",
        "do {} while true",
    ] {
        let result = Expr::compile(text);
        assert!(result.is_err() || text == "this", "{text} compiles");
    }
    // Names that mean something to Rhai, or to the program we make, are ordinary paths.
    for name in [
        "this",
        "let",
        "fn",
        "if_",
        "v0",
        "c0",
        "chain",
        "at",
        "choose",
        "eval",
        "type_of",
        "is_shared",
        "global",
        "Fn",
    ] {
        let env = Json::new(&format!(r#"{{"{name}": 5}}"#));
        assert_eq!(
            compiled(&format!("{name} + 1")).eval(&env, &mut Doubts::default()),
            Ok(6.into()),
            "{name}"
        );
    }
}
