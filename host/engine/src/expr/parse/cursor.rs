//! Walking the tokens, and what to say about one that does not fit.

use super::Parser;
use crate::expr::{
    SyntaxError,
    token::{Token, TokenKind},
};

impl Parser<'_> {
    pub(super) fn token(&self, ahead: usize) -> &Token {
        static END: Token = Token { kind: TokenKind::End, start: 0, end: 0 };
        self.tokens.get(self.at + ahead).or(self.tokens.last()).unwrap_or(&END)
    }

    pub(super) fn peek(&self) -> &TokenKind {
        &self.token(0).kind
    }

    pub(super) fn offset(&self) -> usize {
        self.token(0).start
    }

    /// Offset behind the token consumed last.
    pub(super) fn consumed(&self) -> usize {
        self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| token.end)
    }

    pub(super) fn is_symbol(&self, ahead: usize, symbol: &str) -> bool {
        matches!(&self.token(ahead).kind, TokenKind::Symbol(s) if *s == symbol)
    }

    pub(super) fn is_word(&self, ahead: usize, word: &str) -> bool {
        matches!(&self.token(ahead).kind, TokenKind::Word(w) if w.as_ref() == word)
    }

    pub(super) fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(0, symbol);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, symbol: &str, after: &str) -> Result<(), SyntaxError> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}` {after}"))) }
    }

    pub(super) fn expect_end(&self) -> Result<(), SyntaxError> {
        if self.peek() == &TokenKind::End { Ok(()) } else { Err(self.stray()) }
    }

    pub(super) fn unexpected(&self, expected: &str) -> SyntaxError {
        SyntaxError::new(self.offset(), format!("{} where {expected} was expected", self.peek().describe()))
    }

    /// The error for a token behind a complete expression.
    fn stray(&self) -> SyntaxError {
        let error = self.unexpected("an operator or the end");
        match self.peek() {
            TokenKind::Word(word) => match word.as_ref() {
                "is" => error.hint("compare with null: `x == null`, `x != null`"),
                "if" | "else" => error.hint("a choice is written `condition ? a : b`"),
                "contains" => error.hint("write `part in whole`, or `whole.contains(part)`"),
                "startswith" | "endswith" => error.hint(format!("write `text.{word}(part)`")),
                "AND" => error.hint("write `and` or `&&`"),
                "OR" => error.hint("write `or` or `||`"),
                _ => error,
            },
            TokenKind::Symbol("(") => {
                error.hint("functions are written as filters: `x | length`, `x.length()`")
            }
            TokenKind::Symbol(_) | TokenKind::Number(_) | TokenKind::Text(_) | TokenKind::End => error,
        }
    }
}
