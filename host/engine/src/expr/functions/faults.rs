//! Rhai's faults in our words, and where they stand.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "Rhai has more than functions may use, and will have more yet"
)]

use rhai::{LexError, ParseError, ParseErrorType};

use super::{super::SyntaxError, MAX_DEPTH, pieces::Definition};

/// Translates Rhai's parse error in `piece`.
pub(super) fn syntax(error: &ParseError, piece: &Definition<'_>) -> SyntaxError {
    let position = error.position();
    let end = piece.offset + piece.text.trim_end().len();
    let offset = position.line().map_or(end, |line| piece.at(line, position.position().unwrap_or(1)));
    let (message, hint) = words(error.err_type());
    let error = SyntaxError::new(offset, message);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn words(kind: &ParseErrorType) -> (String, Option<&'static str>) {
    match kind {
        ParseErrorType::Reserved(word) => {
            (format!("`{word}` is a word of Rhai that has no meaning here"), reserved(word))
        }
        ParseErrorType::ExprTooDeep => {
            let message = format!("this nests too deeply; expected at most {MAX_DEPTH} levels in a function");
            (message, Some("split it over several functions"))
        }
        ParseErrorType::BadInput(LexError::MalformedChar(_)) => (
            "a text of several characters in single quotes".to_owned(),
            Some("in functions texts go in double quotes"),
        ),
        ParseErrorType::BadInput(LexError::ImproperSymbol(symbol, _)) => {
            (format!("`{symbol}` means nothing here"), reserved(symbol))
        }
        ParseErrorType::UnexpectedEOF => ("the function ends too early; expected `}`".to_owned(), None),
        // The others are said well enough by Rhai, and what is added in a later one is no reason to fail.
        other => (other.to_string(), None),
    }
}

/// A variable that is neither a parameter nor defined: what was meant.
pub(super) fn undefined(name: &str) -> &'static str {
    match name {
        "None" | "none" => "null is written `()`",
        "True" => "write `true`",
        "False" => "write `false`",
        _ => "a function sees its parameters and its own variables (`let`); pass the value as a parameter",
    }
}

fn reserved(word: &str) -> Option<&'static str> {
    Some(match word {
        "null" | "nil" => "null is written `()`",
        "and" => "in functions write `&&`",
        "or" => "in functions write `||`",
        "not" => "in functions write `!`",
        "===" => "write `==`",
        "!==" => "write `!=`",
        "?" => "a choice is written `if condition { a } else { b }`",
        "eval" | "import" | "export" | "print" | "debug" | "Fn" | "call" | "curry" => {
            "functions compute a value and do nothing else"
        }
        "default" => "write `a ?? b`",
        "var" => "write `let`",
        _ => return None,
    })
}
