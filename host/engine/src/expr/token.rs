//! Text to tokens.

use std::sync::Arc;

use super::SyntaxError;
use crate::{number, value::Number};

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Offset of the first byte.
    pub(super) start: usize,
    /// Offset behind the last byte.
    pub(super) end: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A name or a keyword: which one depends on where it stands.
    Word(Arc<str>),
    Number(Number),
    Text(Arc<str>),
    Symbol(&'static str),
    End,
}

impl TokenKind {
    /// The token as an error names it.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Number(number) => format!("`{number}`"),
            Self::Text(_) => "a text".to_owned(),
            Self::Symbol(symbol) => format!("`{symbol}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// The symbols of the language, longest first.
const SYMBOLS: [&str; 26] = [
    "==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "|", "!", "<", ">",
    "+", "-", "*", "/", "%", "=",
];

/// Operators of other languages, and the operator to use instead; longest first.
const FOREIGN: [(&str, &str); 15] = [
    ("===", "write `==`"),
    ("!==", "write `!=`"),
    ("<>", "write `!=`"),
    ("=>", "for `at least` write `>=`"),
    ("=<", "for `at most` write `<=`"),
    ("=~", "there are no patterns; use `contains`, `startswith` or `endswith`"),
    ("??", "write `x | default(y)`"),
    ("?.", "write `.`; a missing member is null"),
    ("**", "there is no power operator"),
    ("//", "there are no comments; for a whole quotient write `(a / b) | int`"),
    ("/*", "there are no comments"),
    ("..", "there are no ranges"),
    ("::", "names are written with dots"),
    ("&", "write `&&` or `and`"),
    ("~", "write `+` to join texts"),
];

/// Splits `text`; the last token is [`TokenKind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens: Vec<Token> = Vec::new();
    loop {
        lexer.skip_space();
        let member = tokens.last().is_some_and(|t| t.kind == TokenKind::Symbol("."));
        let start = lexer.at;
        let kind = lexer.next(member)?;
        let done = kind == TokenKind::End;
        tokens.push(Token { kind, start, end: lexer.at });
        if done {
            return Ok(tokens);
        }
    }
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    /// The next token; directly behind a dot (`member`) a word may begin with a digit.
    fn next(&mut self, member: bool) -> Result<TokenKind, SyntaxError> {
        let Some(first) = self.byte(0) else { return Ok(TokenKind::End) };
        match first {
            b'0'..=b'9' if !member => self.number(),
            b'"' | b'\'' => self.string(first),
            _ if is_name_byte(first) => Ok(TokenKind::Word(self.word().into())),
            _ => self.symbol(),
        }
    }

    /// A hyphen directly between two name characters belongs to the name.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let name = |at: usize| bytes.get(at).copied().is_some_and(is_name_byte);
        let mut end = 0;
        while name(end) || (bytes.get(end) == Some(&b'-') && name(end + 1)) {
            end += 1;
        }
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn digits(&mut self) {
        while self.byte(0).is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn digit_ahead(&self, ahead: usize) -> bool {
        self.byte(ahead).is_some_and(|b| b.is_ascii_digit())
    }

    fn number(&mut self) -> Result<TokenKind, SyntaxError> {
        let start = self.at;
        self.digits();
        if self.byte(0) == Some(b'.') && self.digit_ahead(1) {
            self.at += 1;
            self.digits();
        }
        let sign = usize::from(matches!(self.byte(1), Some(b'+' | b'-')));
        if matches!(self.byte(0), Some(b'e' | b'E')) && self.digit_ahead(1 + sign) {
            self.at += 1 + sign;
            self.digits();
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if self.byte(0).is_some_and(is_name_byte) {
            let word = self.word();
            return Err(SyntaxError::new(start, format!("`{text}{word}` is neither a number nor a name"))
                .hint("a name begins with a letter or `_`; text goes in quotes"));
        }
        parse_number(text).map(TokenKind::Number).map_err(|message| SyntaxError::new(start, message))
    }

    fn string(&mut self, quote: u8) -> Result<TokenKind, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(['\\', char::from(quote)]).unwrap_or(rest.len());
            text.push_str(rest.get(..plain).unwrap_or_default());
            self.at += plain;
            match self.byte(0) {
                None => {
                    return Err(SyntaxError::new(start, "this text has no closing quote")
                        .hint(format!("end it with {}", char::from(quote))));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => {
                    self.at += 1;
                    return Ok(TokenKind::Text(text.into()));
                }
            }
        }
    }

    /// One escape, from its backslash on.
    fn escape(&mut self) -> Result<char, SyntaxError> {
        let start = self.at;
        let Some(letter) = self.rest().chars().nth(1) else {
            return Err(SyntaxError::new(start, "the text ends in the middle of an escape"));
        };
        self.at += 1 + letter.len_utf8();
        match letter {
            '"' | '\'' | '\\' | '/' => Ok(letter),
            'b' => Ok('\u{8}'),
            'f' => Ok('\u{c}'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'u' => self.unicode(start),
            _ => Err(SyntaxError::new(start, format!("unknown escape `\\{letter}`"))
                .hint("a backslash itself is written `\\\\`")),
        }
    }

    /// The digits of `\uXXXX`, and a second one when the first is half of a surrogate pair.
    fn unicode(&mut self, start: usize) -> Result<char, SyntaxError> {
        let bad =
            || SyntaxError::new(start, "bad `\\u` escape; expected four hexadecimal digits of a character");
        let mut units = vec![self.unit().ok_or_else(bad)?];
        if units.first().is_some_and(|u| (0xD800..0xDC00).contains(u)) && self.rest().starts_with("\\u") {
            self.at += 2;
            units.push(self.unit().ok_or_else(bad)?);
        }
        char::decode_utf16(units).next().and_then(Result::ok).ok_or_else(bad)
    }

    fn unit(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.at += 4;
        u16::from_str_radix(digits, 16).ok()
    }

    fn symbol(&mut self) -> Result<TokenKind, SyntaxError> {
        let rest = self.rest();
        let known = SYMBOLS.into_iter().find(|s| rest.starts_with(s));
        // `&&` and `==` are ours although `&` and `===` are not: the longer of the two decides.
        if let Some((symbol, hint)) = FOREIGN.into_iter().find(|(s, _)| rest.starts_with(s))
            && known.is_none_or(|k| k.len() < symbol.len())
        {
            return Err(SyntaxError::new(self.at, format!("there is no operator `{symbol}`")).hint(hint));
        }
        let Some(symbol) = known else {
            let c = rest.chars().next().unwrap_or_default();
            let error = SyntaxError::new(self.at, format!("unexpected character {c:?}"));
            return Err(if c.is_alphabetic() {
                error.hint("a name with characters other than a to z is written in brackets: `x['…']`")
            } else {
                error
            });
        };
        if symbol == "=" {
            return Err(SyntaxError::new(self.at, "there is no assignment").hint("to compare write `==`"));
        }
        self.at += symbol.len();
        Ok(TokenKind::Symbol(symbol))
    }
}

fn parse_number(text: &str) -> Result<Number, String> {
    number::json(text).ok_or_else(|| number::complaint(text))
}
