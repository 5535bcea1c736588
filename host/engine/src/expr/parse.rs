//! Tokens to nodes, by binding power.

mod cursor;
mod text;
mod value;

use super::{
    Comparison, Functions, Operation, Read, SyntaxError,
    ast::{Ast, Comparator},
    marks,
    sketch::{self, OperandSketch, Operator as Kind},
    token::{self, Token, tokens},
};
use crate::value::Value;

/// How deeply the operations of an expression may nest; parentheses and chains of one operator do not count. Rhai's
/// parser and the evaluation recurse this deep; a thread with 2 MiB of stack has room for twice as much.
const MAX_DEPTH: usize = 256;

/// How deeply this parser recurses: parentheses count, and every step to an operator that binds more tightly.
const MAX_RECURSION: usize = 2 * MAX_DEPTH;

/// A parsed expression.
pub(super) struct ParsedExpr {
    pub(super) root: Ast,
    pub(super) reads: Vec<Read>,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) operations: Vec<Operation>,
    /// Facts about the value of the whole.
    pub(super) result: OperandSketch,
}

/// Parses the whole of `text`.
pub(super) fn parse(text: &str, functions: &Functions) -> Result<ParsedExpr, SyntaxError> {
    marks::check_all(text)?;
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        reads: Vec::new(),
        comparisons: Vec::new(),
        operations: Vec::new(),
        functions,
    };
    if parser.peek() == &token::TokenKind::End {
        return Err(SyntaxError::new(0, "there is no expression here; expected one"));
    }
    let root = parser.expression(Precedence::Ternary)?;
    parser.expect_end()?;
    let Parser { reads, comparisons, operations, .. } = parser;
    let result = sketch::sketch(&root);
    Ok(ParsedExpr { root, reads, comparisons, operations, result })
}

/// How tightly an operator binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
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
    Or(&'static str),
    And(&'static str),
    Compare(Comparator),
    In { negated: bool },
    Arithmetic(&'static str, Precedence),
}

impl Operator {
    fn level(self) -> Precedence {
        match self {
            Self::Ternary => Precedence::Ternary,
            Self::Or(_) => Precedence::Or,
            Self::And(_) => Precedence::And,
            Self::Compare(_) | Self::In { .. } => Precedence::Comparison,
            Self::Arithmetic(_, level) => level,
        }
    }
}

struct Parser<'f> {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    reads: Vec<Read>,
    comparisons: Vec<Comparison>,
    operations: Vec<Operation>,
    functions: &'f Functions,
}

impl Parser<'_> {
    /// Runs `part` one level deeper.
    fn nested<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.depth >= MAX_RECURSION {
            return Err(too_deep(self.offset()));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn bounded(&self, node: Ast) -> Result<Ast, SyntaxError> {
        if node.depth > MAX_DEPTH { Err(too_deep(self.offset())) } else { Ok(node) }
    }

    /// An expression whose operators bind at least as tightly as `least`.
    fn expression(&mut self, least: Precedence) -> Result<Ast, SyntaxError> {
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
            token::TokenKind::Word(word) => match word.as_ref() {
                "and" => Some(Operator::And("and")),
                "or" => Some(Operator::Or("or")),
                "in" => Some(Operator::In { negated: false }),
                "not" if self.is_word(1, "in") => Some(Operator::In { negated: true }),
                _ => None,
            },
            token::TokenKind::Symbol(symbol) => match *symbol {
                "?" => Some(Operator::Ternary),
                "||" => Some(Operator::Or(symbol)),
                "&&" => Some(Operator::And(symbol)),
                "+" | "-" => Some(Operator::Arithmetic(symbol, Precedence::Sum)),
                "*" | "/" | "%" => Some(Operator::Arithmetic(symbol, Precedence::Product)),
                _ => Comparator::of(symbol).map(Operator::Compare),
            },
            token::TokenKind::Number(_) | token::TokenKind::Text(_) | token::TokenKind::End => None,
        }
    }

    fn infix(&mut self, left: Ast, operator: Operator) -> Result<Ast, SyntaxError> {
        let offset = self.offset();
        self.at += 1;
        match operator {
            Operator::Ternary => {
                self.note_one(Kind::Truth, "?", &left, offset);
                let yes = self.expression(Precedence::Ternary)?;
                self.expect(":", "and the value otherwise")
                    .map_err(|error| error.or_hint("a choice is written `condition ? a : b`"))?;
                Ok(left.choose(yes, self.expression(Precedence::Ternary)?))
            }
            Operator::Or(symbol) => {
                let right = self.expression(Precedence::And)?;
                [&left, &right].into_iter().for_each(|side| self.note_one(Kind::Truth, symbol, side, offset));
                Ok(left.or(right))
            }
            Operator::And(symbol) => {
                let right = self.expression(Precedence::Not)?;
                [&left, &right].into_iter().for_each(|side| self.note_one(Kind::Truth, symbol, side, offset));
                Ok(left.and(right))
            }
            Operator::Arithmetic(symbol, level) => {
                let tighter = if level == Precedence::Sum { Precedence::Product } else { Precedence::Unary };
                let right = self.expression(tighter)?;
                let kind = if symbol == "+" { Kind::Sum } else { Kind::Arithmetic };
                self.note_operation(kind, symbol, [&left, &right], offset);
                Ok(left.chain(symbol, right))
            }
            Operator::Compare(by) => {
                let right = self.right_of_comparison()?;
                if !self.note_comparison(by, &left, &right, offset) {
                    self.note_operation(Kind::of(by), by.symbol(), [&left, &right], offset);
                }
                Ok(left.compare(by, right))
            }
            Operator::In { negated } => {
                self.at += usize::from(negated);
                let right = self.right_of_comparison()?;
                if !self.note_membership(&left, &right, offset) {
                    let symbol = if negated { "not in" } else { "in" };
                    self.note_operation(Kind::Membership, symbol, [&left, &right], offset);
                }
                let within = left.within(right);
                Ok(if negated { within.not() } else { within })
            }
        }
    }

    fn right_of_comparison(&mut self) -> Result<Ast, SyntaxError> {
        let right = self.expression(Precedence::Sum)?;
        if self.operator().is_some_and(|op| op.level() == Precedence::Comparison) {
            return Err(SyntaxError::new(self.offset(), "comparisons cannot be chained")
                .hint("write `a < b && b < c`, or put one comparison in parentheses"));
        }
        Ok(right)
    }

    fn note_operation(&mut self, operator: Kind, symbol: &'static str, operands: [&Ast; 2], offset: usize) {
        self.operations.push(Operation { operator, symbol, operands: operands.map(sketch::sketch), offset });
    }

    /// Notes an operation of one operand.
    fn note_one(&mut self, operator: Kind, symbol: &'static str, operand: &Ast, offset: usize) {
        self.note_operation(operator, symbol, [operand, operand], offset);
    }

    /// Notes the comparison of a path with a literal; false if it is none.
    fn note_comparison(&mut self, by: Comparator, left: &Ast, right: &Ast, offset: usize) -> bool {
        if !matches!(by, Comparator::Equal | Comparator::Unequal) {
            return false;
        }
        let pair = match (left.as_path(), right.as_path()) {
            (Some(read), None) => right.as_literal().map(|literal| (read, literal)),
            (None, Some(read)) => left.as_literal().map(|literal| (read, literal)),
            (None, None) | (Some(_), Some(_)) => None,
        };
        let is_noted = pair.is_some();
        self.comparisons.extend(pair.map(|(read, literal)| Comparison {
            read,
            literal: literal.clone(),
            offset,
        }));
        is_noted
    }

    /// Notes the comparisons of a path with the literals of a list; false if there are none.
    fn note_membership(&mut self, left: &Ast, right: &Ast, offset: usize) -> bool {
        let (Some(read), Some(Value::Array(literals))) = (left.as_path(), right.as_literal()) else {
            return false;
        };
        let comparison = |literal: &Value| Comparison { read, literal: literal.clone(), offset };
        self.comparisons.extend(literals.iter().map(comparison));
        true
    }
}

fn too_deep(offset: usize) -> SyntaxError {
    SyntaxError::new(offset, format!("this nests too deeply; expected at most {MAX_DEPTH} levels"))
        .hint("split the expression over several parameters")
}
