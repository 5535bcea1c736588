//! A function's body, node by node: what may not be there is reported, everything else becomes an operation of the
//! machine.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "Rhai has more than functions may use, and will have more yet"
)]

mod call;
mod chain;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rhai::{ASTFlags, CustomExpr, Dynamic, Expr, FlowControl, Position, Stmt, StmtBlock};

use super::{block, faults, pieces::Definition};
use crate::{
    expr::{SyntaxError, emit::FUNCTIONS},
    number,
};

pub(super) use self::call::BUILT_IN;

/// Rewrites the body of one function.
pub(super) struct Narrower<'f> {
    /// Every function of the document, and how many parameters it has.
    known: &'f BTreeMap<Arc<str>, usize>,
    /// The names of those that could not be read.
    broken: &'f BTreeSet<String>,
    piece: &'f Definition<'f>,
    pub(super) errors: Vec<SyntaxError>,
    pub(super) calls: BTreeSet<String>,
}

impl<'f> Narrower<'f> {
    pub(super) fn new(
        known: &'f BTreeMap<Arc<str>, usize>,
        broken: &'f BTreeSet<String>,
        piece: &'f Definition<'f>,
    ) -> Self {
        Self { known, broken, piece, errors: Vec::new(), calls: BTreeSet::new() }
    }

    pub(super) fn body(&mut self, statements: Vec<Stmt>) -> Expr {
        let mut body = block(statements);
        self.block(&mut body);
        Expr::Stmt(Box::new(body))
    }

    fn refuse(&mut self, at: Position, message: impl Into<String>, hint: &str) {
        let error = SyntaxError::new(self.offset(at), message);
        self.errors.push(if hint.is_empty() { error } else { error.hint(hint) });
    }

    fn offset(&self, at: Position) -> usize {
        at.line().map_or(self.piece.offset, |line| self.piece.at(line, at.position().unwrap_or(1)))
    }

    /// The text from there on.
    fn source(&self, at: Position) -> &str {
        self.piece.text.get(self.offset(at) - self.piece.offset..).unwrap_or_default()
    }

    fn block(&mut self, block: &mut StmtBlock) {
        for statement in block.statements_mut() {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &mut Stmt) {
        match statement {
            Stmt::If(flow, _) => {
                self.condition(&mut flow.expr);
                self.branches(flow);
            }
            Stmt::While(flow, _) | Stmt::Do(flow, ..) => {
                // Without a condition it is `loop`.
                if !matches!(flow.expr, Expr::Unit(_)) {
                    self.condition(&mut flow.expr);
                }
                self.branches(flow);
            }
            Stmt::For(each, _) => {
                self.iterable(&mut each.2.expr);
                self.branches(&mut each.2);
            }
            Stmt::Switch(switch, _) => {
                let (selector, cases) = &mut **switch;
                self.expression(selector);
                wrap("case", selector);
                for case in &mut cases.expressions {
                    self.condition(&mut case.lhs);
                    self.expression(&mut case.rhs);
                }
            }
            Stmt::Var(variable, ..) => self.expression(&mut variable.1),
            Stmt::Assignment(_) => self.assignment(statement),
            Stmt::FnCall(call, at) => {
                let mut expression = Expr::FnCall(call.clone(), *at);
                self.expression(&mut expression);
                *statement = Stmt::Expr(Box::new(expression));
            }
            Stmt::Block(inner) => self.block(inner),
            Stmt::Expr(expression) => self.expression(expression),
            Stmt::BreakLoop(value, ..) | Stmt::Return(value, ..) => {
                if let Some(value) = value {
                    self.expression(value);
                }
            }
            Stmt::Noop(_) => {}
            Stmt::TryCatch(_, at) => {
                self.refuse(*at, "there is no `try`", "an error ends the expression, and says why");
            }
            other => {
                let at = other.position();
                self.refuse(at, "this statement means nothing in a function", "");
            }
        }
    }

    fn branches(&mut self, flow: &mut FlowControl) {
        self.block(&mut flow.body);
        self.block(&mut flow.branch);
    }

    /// An expression where a truth value is needed, with the language's own notion of that.
    fn condition(&mut self, expression: &mut Expr) {
        self.expression(expression);
        wrap("truth", expression);
    }

    /// Checks a number that Rhai reads as a double, also where it is a whole one of more than 64 bits.
    fn number(&mut self, at: Position) {
        let source = self.source(at).trim_start_matches(['-', ' ']);
        let is_exponent = |before: &str| before.ends_with(['e', 'E']);
        let ends = source.char_indices().find(|(at, c)| match c {
            '0'..='9' | '_' | 'e' | 'E' => false,
            '.' => !source.get(at + 1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())),
            '+' | '-' => !source.get(..*at).is_some_and(is_exponent),
            _ => true,
        });
        let literal =
            source.get(..ends.map_or(source.len(), |(at, _)| at)).unwrap_or_default().replace('_', "");
        if number::double(&literal).is_none() {
            self.refuse(at, number::complaint(&literal), number::HINT);
        }
    }

    /// Checks the value that a `for` goes through.
    fn iterable(&mut self, expression: &mut Expr) {
        if let Expr::FnCall(call, at) = expression
            && let operation @ ("until" | "through") = range(&call.name)
        {
            let mut ends: Vec<Expr> = call.args.iter().cloned().collect();
            ends.iter_mut().for_each(|end| self.expression(end));
            *expression = custom(operation, ends, *at);
            return;
        }
        self.expression(expression);
        wrap("each", expression);
    }

    fn expression(&mut self, expression: &mut Expr) {
        match expression {
            Expr::DynamicConstant(..)
            | Expr::BoolConstant(..)
            | Expr::IntegerConstant(..)
            | Expr::StringConstant(..)
            | Expr::Unit(_)
            | Expr::Property(..)
            | Expr::Custom(..) => {}
            Expr::FloatConstant(_, at) => {
                let at = *at;
                self.number(at);
            }
            // Where Rhai has found a variable, it knows its place.
            Expr::Variable(variable, None, at) if variable.0.is_none() => {
                let at = *at;
                let (message, hint) =
                    (format!("there is no variable `{}` here", variable.1), faults::undefined(&variable.1));
                self.refuse(at, message, hint);
            }
            Expr::Variable(..) => {}
            Expr::CharConstant(character, at) => {
                *expression = Expr::StringConstant(character.to_string().into(), *at);
            }
            Expr::InterpolatedString(parts, at) => {
                let parts = self.each(parts.iter().cloned());
                *expression = custom("text", parts, *at);
            }
            Expr::Array(items, at) => {
                let items = self.each(items.iter().cloned());
                *expression = custom("list", items, *at);
            }
            Expr::Map(map, at) => {
                let mut members = Vec::new();
                for (key, value) in &map.0 {
                    members.push(Expr::StringConstant(key.name.clone(), key.pos));
                    members.push(value.clone());
                }
                let members = self.each(members.into_iter());
                *expression = custom("object", members, *at);
            }
            Expr::And(parts, _) | Expr::Or(parts, _) => {
                parts.iter_mut().for_each(|part| self.condition(part));
            }
            Expr::Coalesce(parts, _) => parts.iter_mut().for_each(|part| self.expression(part)),
            Expr::Stmt(inner) => self.block(inner),
            Expr::FnCall(..) => self.call(expression),
            Expr::Dot(..) | Expr::Index(..) => self.chain(expression),
            Expr::ThisPtr(at) => {
                let at = *at;
                self.refuse(
                    at,
                    "there is no `this`",
                    "a function sees its parameters; pass the value as a parameter",
                );
            }
            other => {
                let at = other.start_position();
                self.refuse(at, "this means nothing in a function", "");
            }
        }
    }

    fn each(&mut self, parts: impl Iterator<Item = Expr>) -> Vec<Expr> {
        let mut parts: Vec<Expr> = parts.collect();
        parts.iter_mut().for_each(|part| self.expression(part));
        parts
    }
}

/// The machine's operation of that name.
fn custom(operation: &str, operands: Vec<Expr>, at: Position) -> Expr {
    let tokens = std::iter::once(operation.into()).collect();
    let custom = CustomExpr {
        inputs: operands.into_iter().collect(),
        tokens,
        state: Dynamic::UNIT,
        scope_may_be_changed: false,
        self_terminated: false,
    };
    Expr::Custom(Box::new(custom), at)
}

fn wrap(operation: &str, expression: &mut Expr) {
    let at = expression.start_position();
    let inner = std::mem::take(expression);
    *expression = custom(operation, vec![inner], at);
}

fn text(text: &str, at: Position) -> Expr {
    Expr::StringConstant(text.into(), at)
}

/// The operation that a range in a `for` is.
fn range(operator: &str) -> &'static str {
    match operator {
        ".." => "until",
        "..=" => "through",
        _ => "",
    }
}

/// The variable in which the machine keeps the functions.
fn functions(at: Position) -> Expr {
    Expr::Variable(Box::new((None, FUNCTIONS.into())), None, at)
}

/// Whether the chain goes on behind the right side of a node with these flags.
fn ends(flags: ASTFlags) -> bool {
    flags.contains(ASTFlags::BREAK)
}
