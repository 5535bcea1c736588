//! The syntax tree that the parser makes of an expression.

use std::sync::Arc;

use super::filter::Filter;
use crate::value::{Map, Value};

/// A part of an expression and how deeply it nests.
#[derive(Clone, Debug)]
pub(super) struct Ast {
    pub(super) kind: AstKind,
    pub(super) depth: usize,
}

#[derive(Clone, Debug)]
pub(super) enum AstKind {
    Literal(Value),
    /// Index into the reads.
    Path(usize),
    List(Vec<Ast>),
    Object(Vec<(Arc<str>, Ast)>),
    /// A member of something that is no path.
    Member(Box<Ast>, Arc<str>),
    Index(Box<[Ast; 2]>),
    /// The value filtered, then the filter's arguments.
    Filter(&'static Filter, Vec<Ast>),
    /// A call of one of the document's functions.
    Call(Arc<str>, Vec<Ast>),
    /// A text of parts, each as a text would hold it.
    Text(Vec<Ast>),
    /// The second where the first is null.
    Default(Box<[Ast; 2]>),
    Not(Box<Ast>),
    Negate(Box<Ast>),
    /// `+` and `-`, or `*`, `/` and `%`, from left to right: one operator fewer than operands.
    Chain(String, Vec<Ast>),
    Compare(Comparator, Box<[Ast; 2]>),
    /// Whether the first is in the second.
    In(Box<[Ast; 2]>),
    And(Vec<Ast>),
    Or(Vec<Ast>),
    Choose(Box<[Ast; 3]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparator {
    pub(super) fn of(symbol: &str) -> Option<Self> {
        Some(match symbol {
            "==" => Self::Equal,
            "!=" => Self::Unequal,
            "<" => Self::Less,
            "<=" => Self::AtMost,
            ">" => Self::Greater,
            ">=" => Self::AtLeast,
            _ => return None,
        })
    }

    pub(super) const fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }
}

impl Ast {
    pub(super) fn literal(value: impl Into<Value>) -> Self {
        Self { kind: AstKind::Literal(value.into()), depth: 1 }
    }

    pub(super) fn path(read: usize) -> Self {
        Self { kind: AstKind::Path(read), depth: 1 }
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        match items.iter().map(|n| n.as_literal().cloned()).collect::<Option<Vec<_>>>() {
            Some(values) => Self::literal(values),
            None => Self { depth: deeper(&items), kind: AstKind::List(items) },
        }
    }

    pub(super) fn object(members: Vec<(Arc<str>, Self)>) -> Self {
        let literal = |(key, node): &(Arc<str>, Self)| Some((key.clone(), node.as_literal()?.clone()));
        match members.iter().map(literal).collect::<Option<Map>>() {
            Some(map) => Self::literal(map),
            None => Self { depth: deeper(members.iter().map(|(_, n)| n)), kind: AstKind::Object(members) },
        }
    }

    pub(super) fn member(self, name: Arc<str>) -> Self {
        Self { depth: self.depth + 1, kind: AstKind::Member(Box::new(self), name) }
    }

    pub(super) fn index(self, at: Self) -> Self {
        let pair = [self, at];
        Self { depth: deeper(&pair), kind: AstKind::Index(Box::new(pair)) }
    }

    pub(super) fn filter(filter: &'static Filter, operands: Vec<Self>) -> Self {
        Self { depth: deeper(&operands), kind: AstKind::Filter(filter, operands) }
    }

    pub(super) fn call(name: Arc<str>, arguments: Vec<Self>) -> Self {
        Self { depth: deeper(&arguments), kind: AstKind::Call(name, arguments) }
    }

    /// Parts that make one text; what is no literal is filled in.
    pub(super) fn text(parts: Vec<Self>) -> Self {
        Self { depth: deeper(&parts), kind: AstKind::Text(parts) }
    }

    pub(super) fn default(self, other: Self) -> Self {
        let pair = [self, other];
        Self { depth: deeper(&pair), kind: AstKind::Default(Box::new(pair)) }
    }

    pub(super) fn not(self) -> Self {
        Self { depth: self.depth + 1, kind: AstKind::Not(Box::new(self)) }
    }

    pub(super) fn negate(self) -> Self {
        Self { depth: self.depth + 1, kind: AstKind::Negate(Box::new(self)) }
    }

    /// One more link of a chain, or the first.
    pub(super) fn chain(mut self, operator: &str, right: Self) -> Self {
        let additive = |op: &str| op.starts_with(['+', '-']);
        if let AstKind::Chain(operators, operands) = &mut self.kind
            && additive(operators) == additive(operator)
        {
            operators.push_str(operator);
            self.depth = self.depth.max(right.depth + 1);
            operands.push(right);
            return self;
        }
        let operands = vec![self, right];
        Self { depth: deeper(&operands), kind: AstKind::Chain(operator.to_owned(), operands) }
    }

    pub(super) fn compare(self, by: Comparator, right: Self) -> Self {
        let pair = [self, right];
        Self { depth: deeper(&pair), kind: AstKind::Compare(by, Box::new(pair)) }
    }

    pub(super) fn within(self, container: Self) -> Self {
        let pair = [self, container];
        Self { depth: deeper(&pair), kind: AstKind::In(Box::new(pair)) }
    }

    pub(super) fn and(mut self, right: Self) -> Self {
        if let AstKind::And(terms) = &mut self.kind {
            self.depth = self.depth.max(right.depth + 1);
            terms.push(right);
            return self;
        }
        let terms = vec![self, right];
        Self { depth: deeper(&terms), kind: AstKind::And(terms) }
    }

    pub(super) fn or(mut self, right: Self) -> Self {
        if let AstKind::Or(terms) = &mut self.kind {
            self.depth = self.depth.max(right.depth + 1);
            terms.push(right);
            return self;
        }
        let terms = vec![self, right];
        Self { depth: deeper(&terms), kind: AstKind::Or(terms) }
    }

    pub(super) fn choose(self, yes: Self, no: Self) -> Self {
        let parts = [self, yes, no];
        Self { depth: deeper(&parts), kind: AstKind::Choose(Box::new(parts)) }
    }

    pub(super) fn as_literal(&self) -> Option<&Value> {
        if let AstKind::Literal(value) = &self.kind { Some(value) } else { None }
    }

    pub(super) fn as_path(&self) -> Option<usize> {
        if let AstKind::Path(read) = self.kind { Some(read) } else { None }
    }

    /// Whether this may make a list or an object that is larger or deeper than any of its parts.
    pub(super) fn builds(&self) -> bool {
        match &self.kind {
            AstKind::List(_) | AstKind::Object(_) | AstKind::Chain(..) | AstKind::Call(..) => true,
            AstKind::Filter(filter, _) => filter.builds,
            AstKind::Literal(_)
            | AstKind::Path(_)
            | AstKind::Member(..)
            | AstKind::Index(_)
            | AstKind::Text(_)
            | AstKind::Default(_)
            | AstKind::Not(_)
            | AstKind::Negate(_)
            | AstKind::Compare(..)
            | AstKind::In(_)
            | AstKind::And(_)
            | AstKind::Or(_)
            | AstKind::Choose(_) => false,
        }
    }

    /// Whether this can only be true or false.
    pub(super) fn is_boolean(&self) -> bool {
        match &self.kind {
            AstKind::Literal(value) => matches!(value, Value::Bool(_)),
            AstKind::Not(_) | AstKind::Compare(..) | AstKind::In(_) | AstKind::And(_) | AstKind::Or(_) => {
                true
            }
            AstKind::Path(_)
            | AstKind::List(_)
            | AstKind::Object(_)
            | AstKind::Member(..)
            | AstKind::Index(_)
            | AstKind::Filter(..)
            | AstKind::Call(..)
            | AstKind::Text(_)
            | AstKind::Default(_)
            | AstKind::Negate(_)
            | AstKind::Chain(..)
            | AstKind::Choose(_) => false,
        }
    }
}

fn deeper<'a>(parts: impl IntoIterator<Item = &'a Ast>) -> usize {
    parts.into_iter().map(|n| n.depth).max().unwrap_or(0) + 1
}
