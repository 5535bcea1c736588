//! Prefix operators, and values with the members, indexes and filters behind them.

use std::{collections::BTreeSet, sync::Arc};

use super::{Parser, Precedence};
use crate::{
    expr::{Read, SyntaxError, ast::Ast, filter, sketch::Operator, token::TokenKind},
    value::{Number, Value},
};

/// The filter that is part of the grammar: its argument is evaluated only when needed.
const DEFAULT: &str = "default";

impl Parser<'_> {
    pub(super) fn prefix(&mut self, least: Precedence) -> Result<Ast, SyntaxError> {
        let offset = self.offset();
        let node = if self.eat("!") {
            let operand = self.expression(Precedence::Unary)?;
            self.note_one(Operator::Truth, "!", &operand, offset);
            operand.not()
        } else if self.is_symbol(0, "-") {
            self.at += 1;
            let operand = self.expression(Precedence::Unary)?;
            self.note_one(Operator::Negation, "-", &operand, offset);
            negated(operand)
        } else if self.is_word(0, "not") {
            if least > Precedence::Not {
                return Err(self.unexpected("a value").hint("put parentheses around it: `(not x)`"));
            }
            self.at += 1;
            let operand = self.expression(Precedence::Not)?;
            self.note_one(Operator::Truth, "not", &operand, offset);
            operand.not()
        } else {
            return self.postfix();
        };
        self.bounded(node)
    }

    /// A value and the members, indexes, filters and methods behind it.
    fn postfix(&mut self) -> Result<Ast, SyntaxError> {
        let mut node = self.primary()?;
        loop {
            node = if self.eat("|") {
                let (name, offset) = self.filter_name()?;
                let arguments = if self.eat("(") { self.arguments()? } else { Vec::new() };
                self.filtered(&name, offset, node, arguments)?
            } else if self.eat(".") {
                self.member_or_method(node)?
            } else if self.is_symbol(0, "[") {
                let offset = self.offset();
                self.at += 1;
                let at = self.expression(Precedence::Ternary)?;
                self.expect("]", "behind an index")?;
                self.indexed(node, at, offset)
            } else {
                return Ok(node);
            };
            node = self.bounded(node)?;
        }
    }

    /// A value behind which a filter stands.
    fn filtered(
        &mut self,
        name: &str,
        offset: usize,
        subject: Ast,
        arguments: Vec<Ast>,
    ) -> Result<Ast, SyntaxError> {
        if name == DEFAULT {
            let [other] = <[Ast; 1]>::try_from(arguments)
                .map_err(|given| filter::wrong_count(name, &(1..=1), given.len(), offset))?;
            return Ok(subject.default(other));
        }
        let filter = filter::find(name).ok_or_else(|| filter::unknown(name, offset))?;
        if !filter.arguments.contains(&arguments.len()) {
            return Err(filter::wrong_count(name, &filter.arguments, arguments.len(), offset));
        }
        self.note_one(Operator::Filter(filter.takes), filter.name, &subject, offset);
        for argument in &arguments {
            self.note_one(Operator::Argument(filter.with), filter.name, argument, offset);
        }
        let operands = std::iter::once(subject).chain(arguments).collect();
        Ok(Ast::filter(filter, operands))
    }

    fn filter_name(&mut self) -> Result<(Arc<str>, usize), SyntaxError> {
        let name = (self.name("the name of a filter")?, self.offset());
        self.at += 1;
        Ok(name)
    }

    fn name(&self, expected: &str) -> Result<Arc<str>, SyntaxError> {
        match self.peek() {
            TokenKind::Word(word) => Ok(word.clone()),
            TokenKind::Symbol(_) | TokenKind::Number(_) | TokenKind::Text(_) | TokenKind::End => {
                Err(self.unexpected(expected))
            }
        }
    }

    /// Behind a dot: a name directly followed by `(` is a filter called as a method.
    fn member_or_method(&mut self, node: Ast) -> Result<Ast, SyntaxError> {
        let name = self.name("a member's name")?;
        let offset = self.offset();
        self.at += 1;
        if self.eat("(") {
            let arguments = self.arguments()?;
            return match self.functions.get(&name) {
                Some(_) => Err(SyntaxError::new(offset, format!("`{name}` is a function, no method"))
                    .hint(format!("write `{name}(…)`"))),
                None => self.filtered(&name, offset, node, arguments),
            };
        }
        let hyphen = name.contains('-');
        Ok(self.with_segment(node, name, hyphen))
    }

    /// The arguments up to the closing parenthesis; the opening one is consumed.
    fn arguments(&mut self) -> Result<Vec<Ast>, SyntaxError> {
        self.list(")", "behind the arguments", |parser| parser.expression(Precedence::Ternary))
    }

    fn list<T>(
        &mut self,
        close: &str,
        place: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<Vec<T>, SyntaxError> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(",") {
                self.expect(close, place)?;
                return Ok(items);
            }
        }
    }

    /// A constant text as an index continues a path.
    fn indexed(&mut self, node: Ast, at: Ast, offset: usize) -> Ast {
        match at.as_literal() {
            Some(Value::String(name)) if node.as_path().is_some() => {
                self.with_segment(node, name.clone(), false)
            }
            Some(_) | None => {
                self.note_operation(Operator::Index, "[", [&node, &at], offset);
                node.index(at)
            }
        }
    }

    /// A path grows; of anything else the segment is a member. A hyphen in it may have been meant as a minus.
    fn with_segment(&mut self, node: Ast, name: Arc<str>, hyphen: bool) -> Ast {
        let end = self.consumed();
        match node.as_path().and_then(|read| self.reads.get_mut(read)) {
            Some(read) => {
                if hyphen {
                    read.hyphens.push(read.path.len());
                }
                read.path.push(name);
                read.end = end;
                node
            }
            None => node.member(name),
        }
    }

    fn primary(&mut self) -> Result<Ast, SyntaxError> {
        let token = self.token(0).clone();
        let offset = token.start;
        self.at += 1;
        match token.kind.clone() {
            TokenKind::Number(number) => Ok(Ast::literal(Value::Number(number))),
            TokenKind::Text(text) => self.text(&text, &token),
            TokenKind::Word(word) => self.word(word, offset),
            TokenKind::Symbol("(") => {
                let inner = self.expression(Precedence::Ternary)?;
                self.expect(")", "to close the parenthesis")?;
                Ok(inner)
            }
            TokenKind::Symbol("[") => self
                .list("]", "behind the list", |parser| parser.expression(Precedence::Ternary))
                .map(Ast::list),
            TokenKind::Symbol("{") if self.is_symbol(0, "{") && self.offset() == offset + 1 => {
                self.at += 1;
                self.placeholder()
            }
            TokenKind::Symbol("{") => self.object(),
            TokenKind::Symbol(_) | TokenKind::End => {
                self.at -= 1;
                Err(self.unexpected("a value"))
            }
        }
    }

    /// `{{ e }}` means `(e)`; the opening braces are consumed.
    fn placeholder(&mut self) -> Result<Ast, SyntaxError> {
        let inner = self.expression(Precedence::Ternary)?;
        let adjacent = self.token(1).start == self.token(0).end;
        if !(self.is_symbol(0, "}") && self.is_symbol(1, "}") && adjacent) {
            return Err(self.unexpected("`}}` to close the placeholder"));
        }
        self.at += 2;
        Ok(inner)
    }

    fn object(&mut self) -> Result<Ast, SyntaxError> {
        let mut keys = BTreeSet::new();
        let members = self.list("}", "behind the object", |parser| {
            let offset = parser.offset();
            let (key, value) = parser.object_member()?;
            if keys.insert(key.clone()) {
                return Ok((key, value));
            }
            Err(SyntaxError::new(offset, format!("the key {} occurs twice", Value::from(key))))
        });
        members.map(Ast::object)
    }

    fn object_member(&mut self) -> Result<(Arc<str>, Ast), SyntaxError> {
        let TokenKind::Text(key) = self.peek().clone() else {
            return Err(self.unexpected("a key").hint("keys go in quotes: `{\"key\": value}`"));
        };
        self.at += 1;
        self.expect(":", "behind a key")?;
        Ok((key, self.expression(Precedence::Ternary)?))
    }

    fn word(&mut self, word: Arc<str>, offset: usize) -> Result<Ast, SyntaxError> {
        match word.as_ref() {
            "true" => Ok(Ast::literal(true)),
            "false" => Ok(Ast::literal(false)),
            "null" | "none" | "None" => Ok(Ast::literal(Value::Null)),
            "and" | "or" | "in" | "not" => {
                self.at -= 1;
                Err(self.unexpected("a value"))
            }
            "True" | "False" => {
                let error = SyntaxError::new(offset, format!("`{word}` is not a word of expressions"));
                Err(error.hint(format!("write `{}`", word.to_lowercase())))
            }
            _ if self.eat("(") => {
                let arguments = self.arguments()?;
                self.functions.check_call(&word, arguments.len(), offset)?;
                self.bounded(Ast::call(word, arguments))
            }
            _ => {
                self.reads.push(Read {
                    path: vec![word],
                    offset,
                    end: self.consumed(),
                    hyphens: Vec::new(),
                    implied: None,
                });
                Ok(Ast::path(self.reads.len() - 1))
            }
        }
    }
}

/// A negative number is a literal, not an operation.
fn negated(node: Ast) -> Ast {
    let negative = node.as_literal().and_then(|value| match value {
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), ..) => i.checked_neg().map(Number::from),
            (None, Some(u), _) => 0_i64.checked_sub_unsigned(u).map(Number::from),
            (None, None, f) => Number::from_f64(-f?),
        },
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    });
    negative.map_or_else(|| node.negate(), |number| Ast::literal(Value::Number(number)))
}
