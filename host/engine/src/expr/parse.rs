//! Tokens to nodes, by binding power.

use std::sync::Arc;

use super::{
    Comparison, Read, SyntaxError, filter,
    node::{Comparator, Node},
    token::{self, Token, tokens},
};
use crate::value::{Number, Value};

/// How deeply an expression may nest; chains of one operator do not count. Parser, Rhai and evaluation recurse this
/// deep, and all of them fit in a small thread's stack.
const MAX_DEPTH: usize = 128;

/// Filters that are part of the grammar, because their argument is evaluated only when needed.
const DEFAULT: &str = "default";

/// A parsed expression.
pub(super) struct Parsed {
    pub(super) root: Node,
    pub(super) reads: Vec<Read>,
    pub(super) comparisons: Vec<Comparison>,
}

/// Parses the whole of `text`.
pub(super) fn parse(text: &str) -> Result<Parsed, SyntaxError> {
    let mut parser =
        Parser { tokens: tokens(text)?, at: 0, depth: 0, reads: Vec::new(), comparisons: Vec::new() };
    if parser.peek() == &token::Kind::End {
        return Err(SyntaxError::new(0, "there is no expression here; expected one"));
    }
    let root = parser.expression(Level::Ternary)?;
    parser.expect_end()?;
    Ok(Parsed { root, reads: parser.reads, comparisons: parser.comparisons })
}

/// How tightly an operator binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Ternary,
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Unary,
}

#[derive(Clone, Copy)]
enum Operator {
    Ternary,
    Or,
    And,
    Compare(Comparator),
    In { negated: bool },
    Arithmetic(&'static str, Level),
}

impl Operator {
    fn level(self) -> Level {
        match self {
            Self::Ternary => Level::Ternary,
            Self::Or => Level::Or,
            Self::And => Level::And,
            Self::Compare(_) | Self::In { .. } => Level::Comparison,
            Self::Arithmetic(_, level) => level,
        }
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    reads: Vec<Read>,
    comparisons: Vec<Comparison>,
}

impl Parser {
    fn token(&self, ahead: usize) -> &Token {
        static END: Token = Token { kind: token::Kind::End, start: 0, end: 0 };
        self.tokens.get(self.at + ahead).or(self.tokens.last()).unwrap_or(&END)
    }

    fn peek(&self) -> &token::Kind {
        &self.token(0).kind
    }

    fn offset(&self) -> usize {
        self.token(0).start
    }

    fn is_symbol(&self, ahead: usize, symbol: &str) -> bool {
        matches!(&self.token(ahead).kind, token::Kind::Symbol(s) if *s == symbol)
    }

    fn is_word(&self, ahead: usize, word: &str) -> bool {
        matches!(&self.token(ahead).kind, token::Kind::Word(w) if w.as_ref() == word)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(0, symbol);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str, after: &str) -> Result<(), SyntaxError> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}` {after}"))) }
    }

    fn expect_end(&self) -> Result<(), SyntaxError> {
        if self.peek() == &token::Kind::End { Ok(()) } else { Err(self.stray()) }
    }

    fn unexpected(&self, expected: &str) -> SyntaxError {
        SyntaxError::new(self.offset(), format!("{} where {expected} was expected", self.peek().describe()))
    }

    /// The error for a token behind a complete expression.
    fn stray(&self) -> SyntaxError {
        let error = self.unexpected("an operator or the end");
        match self.peek() {
            token::Kind::Word(word) => match word.as_ref() {
                "is" => error.hint("compare with null: `x == null`, `x != null`"),
                "if" | "else" => error.hint("a choice is written `condition ? a : b`"),
                "AND" => error.hint("write `and` or `&&`"),
                "OR" => error.hint("write `or` or `||`"),
                _ => error,
            },
            token::Kind::Symbol("(") => {
                error.hint("functions are written as filters: `x | length`, `x.length()`")
            }
            token::Kind::Symbol(_) | token::Kind::Number(_) | token::Kind::Text(_) | token::Kind::End => {
                error
            }
        }
    }

    /// Runs `part` one level deeper.
    fn nested<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep(self.offset()));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn bounded(&self, node: Node) -> Result<Node, SyntaxError> {
        if node.depth > MAX_DEPTH { Err(too_deep(self.offset())) } else { Ok(node) }
    }

    /// An expression whose operators bind at least as tightly as `least`.
    fn expression(&mut self, least: Level) -> Result<Node, SyntaxError> {
        self.nested(|parser| {
            let mut left = parser.prefix(least)?;
            while let Some(operator) = parser.operator().filter(|op| op.level() >= least) {
                left = parser.infix(left, operator)?;
                left = parser.bounded(left)?;
            }
            Ok(left)
        })
    }

    /// The operator at hand, not yet consumed.
    fn operator(&self) -> Option<Operator> {
        match self.peek() {
            token::Kind::Word(word) => match word.as_ref() {
                "and" => Some(Operator::And),
                "or" => Some(Operator::Or),
                "in" => Some(Operator::In { negated: false }),
                "not" if self.is_word(1, "in") => Some(Operator::In { negated: true }),
                _ => None,
            },
            token::Kind::Symbol(symbol) => match *symbol {
                "?" => Some(Operator::Ternary),
                "||" => Some(Operator::Or),
                "&&" => Some(Operator::And),
                "+" | "-" => Some(Operator::Arithmetic(symbol, Level::Sum)),
                "*" | "/" | "%" => Some(Operator::Arithmetic(symbol, Level::Product)),
                _ => Comparator::of(symbol).map(Operator::Compare),
            },
            token::Kind::Number(_) | token::Kind::Text(_) | token::Kind::End => None,
        }
    }

    fn infix(&mut self, left: Node, operator: Operator) -> Result<Node, SyntaxError> {
        let offset = self.offset();
        self.at += 1;
        match operator {
            Operator::Ternary => {
                let yes = self.expression(Level::Ternary)?;
                self.expect(":", "and the value otherwise")?;
                Ok(left.choose(yes, self.expression(Level::Ternary)?))
            }
            Operator::Or => Ok(left.or(self.expression(Level::And)?)),
            Operator::And => Ok(left.and(self.expression(Level::Not)?)),
            Operator::Arithmetic(symbol, Level::Sum) => {
                Ok(left.chain(symbol, self.expression(Level::Product)?))
            }
            Operator::Arithmetic(symbol, _) => Ok(left.chain(symbol, self.expression(Level::Unary)?)),
            Operator::Compare(by) => {
                let right = self.right_of_comparison()?;
                self.note_comparison(by, &left, &right, offset);
                Ok(left.compare(by, right))
            }
            Operator::In { negated } => {
                self.at += usize::from(negated);
                let right = self.right_of_comparison()?;
                self.note_membership(&left, &right, offset);
                let within = left.within(right);
                Ok(if negated { within.not() } else { within })
            }
        }
    }

    fn right_of_comparison(&mut self) -> Result<Node, SyntaxError> {
        let right = self.expression(Level::Sum)?;
        if self.operator().is_some_and(|op| op.level() == Level::Comparison) {
            return Err(SyntaxError::new(self.offset(), "comparisons cannot be chained")
                .hint("write `a < b && b < c`, or put one comparison in parentheses"));
        }
        Ok(right)
    }

    fn note_comparison(&mut self, by: Comparator, left: &Node, right: &Node, offset: usize) {
        if !matches!(by, Comparator::Equal | Comparator::Unequal) {
            return;
        }
        let pair = match (left.as_path(), right.as_path()) {
            (Some(read), None) => right.as_literal().map(|literal| (read, literal)),
            (None, Some(read)) => left.as_literal().map(|literal| (read, literal)),
            (None, None) | (Some(_), Some(_)) => None,
        };
        self.comparisons.extend(pair.map(|(read, literal)| Comparison {
            read,
            literal: literal.clone(),
            offset,
        }));
    }

    fn note_membership(&mut self, left: &Node, right: &Node, offset: usize) {
        let (Some(read), Some(Value::Array(literals))) = (left.as_path(), right.as_literal()) else { return };
        let comparison = |literal: &Value| Comparison { read, literal: literal.clone(), offset };
        self.comparisons.extend(literals.iter().map(comparison));
    }

    fn prefix(&mut self, least: Level) -> Result<Node, SyntaxError> {
        let node = if self.eat("!") {
            self.expression(Level::Unary)?.not()
        } else if self.eat("-") {
            negated(self.expression(Level::Unary)?)
        } else if self.is_word(0, "not") {
            if least > Level::Not {
                return Err(self.unexpected("a value").hint("put parentheses around it: `(not x)`"));
            }
            self.at += 1;
            self.expression(Level::Not)?.not()
        } else {
            return self.postfix();
        };
        self.bounded(node)
    }

    /// A value and the members, indexes, filters and methods behind it.
    fn postfix(&mut self) -> Result<Node, SyntaxError> {
        let mut node = self.primary()?;
        loop {
            node = if self.eat("|") {
                let name = self.filter_name()?;
                let arguments = if self.eat("(") { self.arguments()? } else { Vec::new() };
                apply_filter(name, node, arguments)?
            } else if self.eat(".") {
                self.member_or_method(node)?
            } else if self.eat("[") {
                let at = self.expression(Level::Ternary)?;
                self.expect("]", "behind an index")?;
                self.indexed(node, at)
            } else {
                return Ok(node);
            };
            node = self.bounded(node)?;
        }
    }

    fn filter_name(&mut self) -> Result<(Arc<str>, usize), SyntaxError> {
        let name = (self.name("the name of a filter")?, self.offset());
        self.at += 1;
        Ok(name)
    }

    fn name(&self, expected: &str) -> Result<Arc<str>, SyntaxError> {
        match self.peek() {
            token::Kind::Word(word) => Ok(word.clone()),
            token::Kind::Symbol(_) | token::Kind::Number(_) | token::Kind::Text(_) | token::Kind::End => {
                Err(self.unexpected(expected))
            }
        }
    }

    /// Behind a dot: a name directly followed by `(` is a filter called as a method.
    fn member_or_method(&mut self, node: Node) -> Result<Node, SyntaxError> {
        let name = self.name("a member's name")?;
        let offset = self.offset();
        self.at += 1;
        if self.eat("(") {
            let arguments = self.arguments()?;
            return apply_filter((name, offset), node, arguments);
        }
        Ok(self.with_segment(node, name))
    }

    /// The arguments up to the closing parenthesis; the opening one is consumed.
    fn arguments(&mut self) -> Result<Vec<Node>, SyntaxError> {
        self.list(")", "behind the arguments", |parser| parser.expression(Level::Ternary))
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
    fn indexed(&mut self, node: Node, at: Node) -> Node {
        match at.as_literal() {
            Some(Value::String(name)) => self.with_segment(node, name.clone()),
            Some(_) | None => node.index(at),
        }
    }

    /// A path grows; of anything else the segment is a member.
    fn with_segment(&mut self, node: Node, name: Arc<str>) -> Node {
        match node.as_path().and_then(|read| self.reads.get_mut(read)) {
            Some(read) => {
                read.path.push(name);
                node
            }
            None => node.member(name),
        }
    }

    fn primary(&mut self) -> Result<Node, SyntaxError> {
        let offset = self.offset();
        let kind = self.peek().clone();
        self.at += 1;
        match kind {
            token::Kind::Number(number) => Ok(Node::literal(Value::Number(number))),
            token::Kind::Text(text) => Ok(Node::literal(text)),
            token::Kind::Word(word) => self.word(word, offset),
            token::Kind::Symbol("(") => {
                let inner = self.expression(Level::Ternary)?;
                self.expect(")", "to close the parenthesis")?;
                Ok(inner)
            }
            token::Kind::Symbol("[") => {
                self.list("]", "behind the list", |parser| parser.expression(Level::Ternary)).map(Node::list)
            }
            token::Kind::Symbol("{") if self.is_symbol(0, "{") && self.offset() == offset + 1 => {
                self.at += 1;
                self.placeholder()
            }
            token::Kind::Symbol("{") => self.object(),
            token::Kind::Symbol(_) | token::Kind::End => {
                self.at -= 1;
                Err(self.unexpected("a value"))
            }
        }
    }

    /// `{{ e }}` means `(e)`; the opening braces are consumed.
    fn placeholder(&mut self) -> Result<Node, SyntaxError> {
        let inner = self.expression(Level::Ternary)?;
        let adjacent = self.token(1).start == self.token(0).end;
        if !(self.is_symbol(0, "}") && self.is_symbol(1, "}") && adjacent) {
            return Err(self.unexpected("`}}` to close the placeholder"));
        }
        self.at += 2;
        Ok(inner)
    }

    fn object(&mut self) -> Result<Node, SyntaxError> {
        let members: Vec<(Arc<str>, Node)> = self.list("}", "behind the object", Self::object_member)?;
        Ok(Node::object(members))
    }

    fn object_member(&mut self) -> Result<(Arc<str>, Node), SyntaxError> {
        let token::Kind::Text(key) = self.peek().clone() else {
            return Err(self.unexpected("a key").hint("keys go in quotes: `{\"key\": value}`"));
        };
        self.at += 1;
        self.expect(":", "behind a key")?;
        Ok((key, self.expression(Level::Ternary)?))
    }

    fn word(&mut self, word: Arc<str>, offset: usize) -> Result<Node, SyntaxError> {
        match word.as_ref() {
            "true" => Ok(Node::literal(true)),
            "false" => Ok(Node::literal(false)),
            "null" | "none" | "None" => Ok(Node::literal(Value::Null)),
            "and" | "or" | "in" | "not" => {
                self.at -= 1;
                Err(self.unexpected("a value"))
            }
            _ if self.is_symbol(0, "(") => Err(filter::no_function(&word, offset)),
            _ => {
                self.reads.push(Read { path: vec![word], offset });
                Ok(Node::path(self.reads.len() - 1))
            }
        }
    }
}

fn too_deep(offset: usize) -> SyntaxError {
    SyntaxError::new(offset, format!("this nests too deeply; expected at most {MAX_DEPTH} levels"))
        .hint("split the expression over several parameters")
}

/// A negative number is a literal, not an operation.
fn negated(node: Node) -> Node {
    let negative = node.as_literal().and_then(|value| match value {
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), ..) => i.checked_neg().map(Number::from),
            (None, Some(u), _) => 0_i64.checked_sub_unsigned(u).map(Number::from),
            (None, None, f) => Number::from_f64(-f?),
        },
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    });
    negative.map_or_else(|| node.negate(), |number| Node::literal(Value::Number(number)))
}

fn apply_filter(
    (name, offset): (Arc<str>, usize),
    subject: Node,
    arguments: Vec<Node>,
) -> Result<Node, SyntaxError> {
    if name.as_ref() == DEFAULT {
        let [other] = <[Node; 1]>::try_from(arguments)
            .map_err(|given| filter::wrong_count(&name, &(1..=1), given.len(), offset))?;
        return Ok(subject.default(other));
    }
    let filter = filter::find(&name).ok_or_else(|| filter::unknown(&name, offset))?;
    if !filter.arguments.contains(&arguments.len()) {
        return Err(filter::wrong_count(&name, &filter.arguments, arguments.len(), offset));
    }
    let operands = std::iter::once(subject).chain(arguments).collect();
    Ok(Node::filter(filter, operands))
}
