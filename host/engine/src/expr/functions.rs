//! The functions of a document: Rhai's `fn` definitions, which its expressions call.
//!
//! Rhai parses them; what may not be there is refused, and everything else is rewritten to the operations of
//! expressions ([`narrow`]), so that a value means in a function what it means in an expression. A function sees its
//! parameters and nothing else.

mod faults;
mod narrow;
mod pieces;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rhai::{AST, ASTNode, Engine, Expr, OptimizationLevel, Position, Stmt, StmtBlock};

use self::{narrow::Narrower, pieces::Definition};
use super::{MAX_LENGTH, SyntaxError, WORDS, filter};

/// Bytes that the text of all functions may have.
pub const MAX_FUNCTIONS: usize = 65_536;

/// How deeply statements and operations may nest in a function; calls of functions multiply what it costs.
const MAX_DEPTH: usize = 32;

/// The functions that the expressions of a document may call.
#[derive(Debug, Default)]
pub struct Functions {
    by_name: BTreeMap<Arc<str>, Function>,
    /// The names of those that could not be read: nothing is concluded from their absence.
    broken: BTreeSet<String>,
}

/// One function.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: Arc<str>,
    pub(super) parameters: Vec<String>,
    /// The body, in the machine's operations.
    pub(super) body: Expr,
    /// The functions it calls.
    calls: BTreeSet<String>,
    /// Lines of the text before the one it begins in.
    pub(super) line: usize,
    /// Byte offset of its definition in the text.
    offset: usize,
    /// Whether an expression calls it.
    used: AtomicBool,
}

impl Functions {
    /// Reads every definition in `text`, and says what is wrong with the others; offsets are those in `text`.
    #[must_use]
    pub fn read(text: &str) -> (Self, Vec<SyntaxError>) {
        if text.len() > MAX_FUNCTIONS {
            let message =
                format!("the functions have {} bytes; expected at most {MAX_FUNCTIONS}", text.len());
            let broken = pieces::names(text).collect();
            return (Self { broken, ..Self::default() }, vec![SyntaxError::new(0, message)]);
        }
        let parser = parser();
        let (mut heads, mut errors) = (BTreeMap::<Arc<str>, Head<'_>>::new(), Vec::new());
        let mut broken = BTreeSet::new();
        for piece in pieces::pieces(text) {
            match head(&parser, &piece) {
                Ok(head) if heads.contains_key(&head.name) => {
                    errors.push(SyntaxError::new(
                        piece.offset,
                        format!("the function `{}` is defined twice", head.name),
                    ));
                }
                Ok(head) => {
                    heads.insert(head.name.clone(), head);
                }
                Err(error) => {
                    broken.extend(pieces::names(piece.text));
                    errors.push(error);
                }
            }
        }
        let known: BTreeMap<Arc<str>, usize> =
            heads.iter().map(|(name, head)| (name.clone(), head.parameters.len())).collect();
        let mut by_name = BTreeMap::new();
        for (name, head) in heads {
            let mut narrower = Narrower::new(&known, &broken, &head.piece);
            let body = narrower.body(head.statements);
            let calls = narrower.calls;
            errors.extend(narrower.errors);
            let Definition { offset, line, .. } = head.piece;
            let used = AtomicBool::new(false);
            by_name.insert(
                name.clone(),
                Function { name, parameters: head.parameters, body, calls, line, offset, used },
            );
        }
        errors.sort_by_key(|error| error.offset);
        (Self { by_name, broken }, errors)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Function> {
        self.by_name.get(name)
    }

    /// Whether an expression may call `name` with so many arguments.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check_call(&self, name: &str, given: usize, offset: usize) -> Result<(), SyntaxError> {
        match self.by_name.get(name) {
            Some(function) => {
                function.used.store(true, Ordering::Relaxed);
                let expected = function.parameters.len();
                if given == expected {
                    Ok(())
                } else {
                    Err(filter::wrong_count(name, &(expected..=expected), given, offset))
                }
            }
            None if self.broken.contains(name) => Ok(()),
            None => Err(filter::no_function(name, self.by_name.keys().map(|name| &**name), offset)),
        }
    }

    /// The functions that no expression calls, directly or through others, and where they are defined.
    #[must_use]
    pub fn unused(&self) -> Vec<(&str, usize)> {
        let mut reached = BTreeSet::new();
        let used = self.by_name.values().filter(|function| function.used.load(Ordering::Relaxed));
        let mut open: Vec<&Function> = used.collect();
        while let Some(function) = open.pop() {
            if reached.insert(&*function.name) {
                open.extend(function.calls.iter().filter_map(|name| self.get(name)));
            }
        }
        let unused = self.by_name.values().filter(|function| !reached.contains(&*function.name));
        unused.map(|function| (&*function.name, function.offset)).collect()
    }
}

/// A definition whose body has not been looked at yet.
struct Head<'t> {
    name: Arc<str>,
    parameters: Vec<String>,
    statements: Vec<Stmt>,
    piece: Definition<'t>,
}

/// Rhai's parser, without what no function can do.
fn parser() -> Engine {
    let mut parser = Engine::new_raw();
    parser.set_optimization_level(OptimizationLevel::None);
    parser.set_max_expr_depths(MAX_DEPTH, MAX_DEPTH);
    parser.set_max_string_size(MAX_LENGTH);
    parser
}

fn head<'t>(parser: &Engine, piece: &Definition<'t>) -> Result<Head<'t>, SyntaxError> {
    if !piece.is_function() {
        return Err(SyntaxError::new(
            piece.offset,
            "this is not a function; expected `fn name(parameter, …) { … }`",
        )
        .hint("only definitions stand here; calls stand in expressions"));
    }
    let ast = parser.compile(piece.text).map_err(|error| faults::syntax(&error, piece))?;
    let mut functions = ast.iter_functions();
    let (Some(function), None) = (functions.next(), functions.next()) else {
        return Err(SyntaxError::new(piece.offset, "there is a function within this function")
            .hint("define it next to this one, and pass values as parameters"));
    };
    if function.this_type.is_some() {
        return Err(SyntaxError::new(
            piece.offset,
            "a function of a type; expected `fn name(parameter, …) { … }`",
        ));
    }
    check_name(function.name, piece)?;
    Ok(Head {
        name: function.name.into(),
        parameters: function.params.iter().map(|name| (*name).to_owned()).collect(),
        statements: statements(&ast),
        piece: piece.clone(),
    })
}

fn check_name(name: &str, piece: &Definition<'_>) -> Result<(), SyntaxError> {
    let at = || piece.offset + piece.text.find(name).unwrap_or(0);
    if filter::is_known(name) || narrow::BUILT_IN.contains(&name) {
        return Err(SyntaxError::new(at(), format!("`{name}` is a filter already; expected another name"))
            .hint(format!("such as `my_{name}`")));
    }
    if WORDS.contains(&name) {
        return Err(SyntaxError::new(
            at(),
            format!("`{name}` is a word of expressions; expected another name"),
        ));
    }
    Ok(())
}

/// Returns the statements of the one function.
fn statements(ast: &AST) -> Vec<Stmt> {
    let mut statements = Vec::new();
    ast.walk(&mut |path: &[ASTNode<'_>]| {
        if let [ASTNode::Stmt(statement)] = path {
            statements.push((*statement).clone());
        }
        true
    });
    statements
}

fn block(statements: Vec<Stmt>) -> StmtBlock {
    StmtBlock::new(statements, Position::NONE, Position::NONE)
}
