//! Types of operands, as far as the text of an expression tells them: lets a check find operations that no value fits.

use super::ast::{Ast, AstKind, Comparator};
use crate::value::Value;

/// A set of types. Null is in every set: whatever may be missing may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    /// Truth values.
    pub const BOOLEAN: Self = Self(1);
    /// Integers and doubles.
    pub const NUMBER: Self = Self(2);
    /// Texts.
    pub const STRING: Self = Self(4);
    /// Lists.
    pub const ARRAY: Self = Self(8);
    /// Named members.
    pub const OBJECT: Self = Self(16);
    /// Null alone.
    pub const NONE: Self = Self(0);
    /// All types.
    pub const ANY: Self = Self(31);

    /// The type of a value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NONE,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Types in either set.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Types in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether there is a type in both sets.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The types in words, as `a string or a number`.
    #[must_use]
    pub fn words(self) -> String {
        let names = ["a boolean", "a number", "a string", "an array", "an object"];
        let own: Vec<&str> = names
            .into_iter()
            .enumerate()
            .filter(|(bit, _)| self.0 & (1 << bit) != 0)
            .map(|(_, name)| name)
            .collect();
        if own.is_empty() { "null".to_owned() } else { own.join(" or ") }
    }
}

/// Facts about an operand before any run.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandSketch {
    /// A path: the index into the expression's reads.
    Read(usize),
    /// A literal.
    Literal(Value),
    /// The result of an operation.
    Types(Types),
    /// One of these two.
    Either(Box<[OperandSketch; 2]>),
    /// The sum of these, which are all of one type.
    Sum(Vec<OperandSketch>),
}

/// Kinds of operations that not every type fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `==`, `!=`.
    Equality,
    /// `<`, `<=`, `>`, `>=`.
    Order,
    /// `in`, `not in`.
    Membership,
    /// `+`.
    Sum,
    /// `-`, `*`, `/`, `%`.
    Arithmetic,
    /// The minus before a value, which stands for both operands.
    Negation,
    /// The brackets behind a value.
    Index,
    /// A condition, or an operand of `not`, `and`, `or` and `? :`, which stands for both operands.
    Truth,
    /// The value before a filter that takes these types, which stands for both operands.
    Filter(Types),
    /// An argument of a filter that takes these types, which stands for both operands.
    Argument(Types),
}

/// An operation, with the facts about its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its kind.
    pub operator: Operator,
    /// Its sign, as written.
    pub symbol: &'static str,
    /// The operands.
    pub operands: [OperandSketch; 2],
    /// Byte offset of the operator in the expression's text.
    pub offset: usize,
}

impl Operator {
    pub(super) const fn of(comparator: Comparator) -> Self {
        match comparator {
            Comparator::Equal | Comparator::Unequal => Self::Equality,
            Comparator::Less | Comparator::AtMost | Comparator::Greater | Comparator::AtLeast => Self::Order,
        }
    }
}

/// Returns the facts about the value of `node`.
pub(super) fn sketch(node: &Ast) -> OperandSketch {
    OperandSketch::Types(match &node.kind {
        AstKind::Literal(value) => return OperandSketch::Literal(value.clone()),
        AstKind::Path(read) => return OperandSketch::Read(*read),
        AstKind::Default(pair) => {
            let [value, other] = &**pair;
            return OperandSketch::Either(Box::new([sketch(value), sketch(other)]));
        }
        AstKind::Choose(parts) => {
            let [_, yes, no] = &**parts;
            return OperandSketch::Either(Box::new([sketch(yes), sketch(no)]));
        }
        AstKind::Chain(operators, operands) if operators.bytes().all(|operator| operator == b'+') => {
            return OperandSketch::Sum(operands.iter().map(sketch).collect());
        }
        AstKind::List(_) => Types::ARRAY,
        AstKind::Object(_) => Types::OBJECT,
        AstKind::Text(_) => Types::STRING,
        AstKind::Negate(_) | AstKind::Chain(..) => Types::NUMBER,
        AstKind::Not(_) | AstKind::Compare(..) | AstKind::In(_) | AstKind::And(_) | AstKind::Or(_) => {
            Types::BOOLEAN
        }
        AstKind::Filter(filter, _) => filter.result(),
        AstKind::Member(..) | AstKind::Index(_) | AstKind::Call(..) => Types::ANY,
    })
}
