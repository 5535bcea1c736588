//! Quoted texts, in which placeholders are filled in as in the texts of a document.

use std::sync::Arc;

use super::{Parser, Precedence};
use crate::expr::{
    SyntaxError,
    ast::Ast,
    marks::{self, end_of_placeholder},
    token::{Token, TokenKind, tokens},
};

const BRACES: &str = "to have the braces themselves, join two texts: `'{' + '{'`";

impl Parser<'_> {
    /// A quoted text, whose token has been consumed.
    pub(super) fn text(&mut self, text: &Arc<str>, token: &Token) -> Result<Ast, SyntaxError> {
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(open) = find(text, "{{", at).filter(|open| begins_placeholder(text, *open)) {
            push(&mut parts, text.get(at..open));
            let place = TextPlace::of(text, token);
            let inside = open + "{{".len();
            let end = end_of_placeholder(text, inside).map_err(|error| place.error(error).or_hint(BRACES))?;
            let place = place.behind(inside);
            marks::check(text.get(inside..end).unwrap_or_default()).map_err(|error| place.error(error))?;
            let expression = self.nested(|parser| parser.within(text.get(inside..end), &place))?;
            parts.push(expression);
            at = end + "}}".len();
        }
        if parts.is_empty() && at == 0 {
            return Ok(Ast::literal(text.clone()));
        }
        push(&mut parts, text.get(at..));
        self.bounded(Ast::text(parts))
    }

    /// The expression that is the whole of `text`, which stands at `place`.
    fn within(&mut self, text: Option<&str>, place: &TextPlace) -> Result<Ast, SyntaxError> {
        let mut inner =
            tokens(text.unwrap_or_default()).map_err(|error| place.error(error).or_hint(BRACES))?;
        for token in &mut inner {
            (token.start, token.end) = (place.offset(token.start), place.offset(token.end));
        }
        let outer = std::mem::replace(&mut self.tokens, inner);
        let at = std::mem::take(&mut self.at);
        let node = if self.peek() == &TokenKind::End {
            Err(SyntaxError::new(self.offset(), "there is no expression here; expected one"))
        } else {
            self.expression(Precedence::Ternary).and_then(|node| self.expect_end().map(|()| node))
        };
        self.tokens = outer;
        self.at = at;
        node.map_err(|error| error.or_hint(BRACES))
    }
}

/// Where in the expression a part of a quoted text stands; with escapes before it only the text's own place is known.
struct TextPlace {
    base: usize,
    exact: bool,
}

impl TextPlace {
    fn of(text: &str, token: &Token) -> Self {
        let exact = token.end - token.start == text.len() + 2;
        Self { base: token.start + usize::from(exact), exact }
    }

    fn behind(&self, bytes: usize) -> Self {
        Self { base: self.offset(bytes), exact: self.exact }
    }

    fn offset(&self, inside: usize) -> usize {
        if self.exact { self.base + inside } else { self.base }
    }

    fn error(&self, error: SyntaxError) -> SyntaxError {
        SyntaxError { offset: self.offset(error.offset), ..error }
    }
}

/// Two braces at the end of a text are themselves: `{{ '{{' }}` writes them.
fn begins_placeholder(text: &str, open: usize) -> bool {
    text.get(open + "{{".len()..).is_some_and(|rest| !rest.trim().is_empty())
}

fn push(parts: &mut Vec<Ast>, literal: Option<&str>) {
    parts.extend(literal.filter(|literal| !literal.is_empty()).map(Ast::literal));
}

fn find(text: &str, what: &str, from: usize) -> Option<usize> {
    Some(text.get(from..)?.find(what)? + from)
}
