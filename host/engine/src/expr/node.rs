//! What the parser makes of an expression.

use std::sync::Arc;

use super::filter::Filter;
use crate::value::{Map, Value};

/// A part of an expression and how deeply it nests.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) depth: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Literal(Value),
    /// Index into the reads.
    Path(usize),
    List(Vec<Node>),
    Object(Vec<(Arc<str>, Node)>),
    /// A member of something that is no path.
    Member(Box<Node>, Arc<str>),
    Index(Box<[Node; 2]>),
    /// The value filtered, then the filter's arguments.
    Filter(&'static Filter, Vec<Node>),
    /// A call of one of the document's functions.
    Call(Arc<str>, Vec<Node>),
    /// A text of parts, each as a text would hold it.
    Text(Vec<Node>),
    /// The second where the first is null.
    Default(Box<[Node; 2]>),
    Not(Box<Node>),
    Negate(Box<Node>),
    /// `+` and `-`, or `*`, `/` and `%`, from left to right: one operator fewer than operands.
    Chain(String, Vec<Node>),
    Compare(Comparator, Box<[Node; 2]>),
    /// Whether the first is in the second.
    In(Box<[Node; 2]>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Choose(Box<[Node; 3]>),
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
}

impl Node {
    pub(super) fn literal(value: impl Into<Value>) -> Self {
        Self { kind: Kind::Literal(value.into()), depth: 1 }
    }

    pub(super) fn path(read: usize) -> Self {
        Self { kind: Kind::Path(read), depth: 1 }
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        match items.iter().map(|n| n.as_literal().cloned()).collect::<Option<Vec<_>>>() {
            Some(values) => Self::literal(values),
            None => Self { depth: deeper(&items), kind: Kind::List(items) },
        }
    }

    pub(super) fn object(members: Vec<(Arc<str>, Self)>) -> Self {
        let literal = |(key, node): &(Arc<str>, Self)| Some((key.clone(), node.as_literal()?.clone()));
        match members.iter().map(literal).collect::<Option<Map>>() {
            Some(map) => Self::literal(map),
            None => Self { depth: deeper(members.iter().map(|(_, n)| n)), kind: Kind::Object(members) },
        }
    }

    pub(super) fn member(self, name: Arc<str>) -> Self {
        Self { depth: self.depth + 1, kind: Kind::Member(Box::new(self), name) }
    }

    pub(super) fn index(self, at: Self) -> Self {
        let pair = [self, at];
        Self { depth: deeper(&pair), kind: Kind::Index(Box::new(pair)) }
    }

    pub(super) fn filter(filter: &'static Filter, operands: Vec<Self>) -> Self {
        Self { depth: deeper(&operands), kind: Kind::Filter(filter, operands) }
    }

    pub(super) fn call(name: Arc<str>, arguments: Vec<Self>) -> Self {
        Self { depth: deeper(&arguments), kind: Kind::Call(name, arguments) }
    }

    /// Parts that make one text; what is no literal is filled in.
    pub(super) fn text(parts: Vec<Self>) -> Self {
        Self { depth: deeper(&parts), kind: Kind::Text(parts) }
    }

    pub(super) fn default(self, other: Self) -> Self {
        let pair = [self, other];
        Self { depth: deeper(&pair), kind: Kind::Default(Box::new(pair)) }
    }

    pub(super) fn not(self) -> Self {
        Self { depth: self.depth + 1, kind: Kind::Not(Box::new(self)) }
    }

    pub(super) fn negate(self) -> Self {
        Self { depth: self.depth + 1, kind: Kind::Negate(Box::new(self)) }
    }

    /// One more link of a chain, or the first.
    pub(super) fn chain(mut self, operator: &str, right: Self) -> Self {
        let additive = |op: &str| op.starts_with(['+', '-']);
        if let Kind::Chain(operators, operands) = &mut self.kind
            && additive(operators) == additive(operator)
        {
            operators.push_str(operator);
            self.depth = self.depth.max(right.depth + 1);
            operands.push(right);
            return self;
        }
        let operands = vec![self, right];
        Self { depth: deeper(&operands), kind: Kind::Chain(operator.to_owned(), operands) }
    }

    pub(super) fn compare(self, by: Comparator, right: Self) -> Self {
        let pair = [self, right];
        Self { depth: deeper(&pair), kind: Kind::Compare(by, Box::new(pair)) }
    }

    pub(super) fn within(self, container: Self) -> Self {
        let pair = [self, container];
        Self { depth: deeper(&pair), kind: Kind::In(Box::new(pair)) }
    }

    pub(super) fn and(mut self, right: Self) -> Self {
        if let Kind::And(terms) = &mut self.kind {
            self.depth = self.depth.max(right.depth + 1);
            terms.push(right);
            return self;
        }
        let terms = vec![self, right];
        Self { depth: deeper(&terms), kind: Kind::And(terms) }
    }

    pub(super) fn or(mut self, right: Self) -> Self {
        if let Kind::Or(terms) = &mut self.kind {
            self.depth = self.depth.max(right.depth + 1);
            terms.push(right);
            return self;
        }
        let terms = vec![self, right];
        Self { depth: deeper(&terms), kind: Kind::Or(terms) }
    }

    pub(super) fn choose(self, yes: Self, no: Self) -> Self {
        let parts = [self, yes, no];
        Self { depth: deeper(&parts), kind: Kind::Choose(Box::new(parts)) }
    }

    pub(super) fn as_literal(&self) -> Option<&Value> {
        if let Kind::Literal(value) = &self.kind { Some(value) } else { None }
    }

    pub(super) fn as_path(&self) -> Option<usize> {
        if let Kind::Path(read) = self.kind { Some(read) } else { None }
    }

    /// Whether this may make a list or an object that is larger or deeper than any of its parts.
    pub(super) fn builds(&self) -> bool {
        match &self.kind {
            Kind::List(_) | Kind::Object(_) | Kind::Chain(..) | Kind::Call(..) => true,
            Kind::Filter(filter, _) => filter.builds,
            Kind::Literal(_)
            | Kind::Path(_)
            | Kind::Member(..)
            | Kind::Index(_)
            | Kind::Text(_)
            | Kind::Default(_)
            | Kind::Not(_)
            | Kind::Negate(_)
            | Kind::Compare(..)
            | Kind::In(_)
            | Kind::And(_)
            | Kind::Or(_)
            | Kind::Choose(_) => false,
        }
    }

    /// Whether this can only be true or false.
    pub(super) fn is_boolean(&self) -> bool {
        match &self.kind {
            Kind::Literal(value) => matches!(value, Value::Bool(_)),
            Kind::Not(_) | Kind::Compare(..) | Kind::In(_) | Kind::And(_) | Kind::Or(_) => true,
            Kind::Path(_)
            | Kind::List(_)
            | Kind::Object(_)
            | Kind::Member(..)
            | Kind::Index(_)
            | Kind::Filter(..)
            | Kind::Call(..)
            | Kind::Text(_)
            | Kind::Default(_)
            | Kind::Negate(_)
            | Kind::Chain(..)
            | Kind::Choose(_) => false,
        }
    }
}

fn deeper<'a>(parts: impl IntoIterator<Item = &'a Node>) -> usize {
    parts.into_iter().map(|n| n.depth).max().unwrap_or(0) + 1
}
