//! The one expression language. The only module that names rhai.
//!
//! An expression is parsed in our own dialect, which yields positions in the author's text and the paths it reads, and
//! is handed to Rhai as a program of our own making. Before an evaluation every path is asked from an [`Env`] once, so
//! that the cost does not depend on the size of the data.
//!
//! # Grammar
//!
//! Loosest first; `x,*` is a list separated by commas.
//!
//! ```text
//! expression = or [ "?" expression ":" expression ]
//! or         = and { ( "||" | "or" ) and }
//! and        = not { ( "&&" | "and" ) not }
//! not        = "not" not | comparison
//! comparison = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in" ) sum ]
//! sum        = product { ( "+" | "-" ) product }
//! product    = unary { ( "*" | "/" | "%" ) unary }
//! unary      = ( "!" | "-" ) unary | postfix
//! postfix    = primary { "." word | "[" expression "]" | filter }
//! call       = name "(" expression,* ")"
//! filter     = "|" word [ "(" expression,* ")" ] | "." word "(" expression,* ")"
//! primary    = name | call | number | text | "true" | "false" | "null" | "none" | "None"
//!            | "[" expression,* "]" | "{" ( text ":" expression ),* "}"
//!            | "(" expression ")" | "{{" expression "}}"
//! name       = letter or "_", then letters, digits, "_", and "-" between two of them
//! word       = a name that may begin with a digit; no word is reserved here
//! text       = "…" or '…' with the escapes of JSON and \'
//! number     = digits [ "." digits ] [ ( "e" | "E" ) [ "+" | "-" ] digits ]
//! ```
//!
//! A call is of one of the functions that the document defines ([`Functions`]). In a text `{{ expression }}` is filled in.
//! A name with the words and constant texts that follow it (`tasks['a'].phase`) is one path.

mod ast;
mod budget;
mod emit;
mod filter;
mod functions;
mod interpolate;
mod lookup;
mod machine;
mod marks;
mod number;
mod operation;
mod parse;
mod sketch;
#[cfg(test)]
mod tests;
mod token;
mod value_ref;

use std::{fmt, sync::Arc};

pub use self::functions::{Functions, MAX_FUNCTIONS};
pub use self::interpolate::{Piece, Placeholder, PlaceholderError, ValueTemplate};
pub use self::sketch::{OperandSketch, Operation, Operator, Types};
use self::{lookup::ReadResult, machine::Code, value_ref::ValueRef};
use crate::value::Value;

/// Bytes an expression's text may have.
pub const MAX_LENGTH: usize = 10_000;

/// Characters of an expression that a doubt about it repeats.
const MAX_SHOWN_CHARS: usize = 200;

/// The member of `inputs` and `outputs` that has their names.
const PARAMETERS: &str = "parameters";

/// The words that mean something by themselves.
pub const WORDS: [&str; 9] = ["true", "false", "null", "none", "None", "in", "not", "and", "or"];

/// A compiled expression; clones share it.
#[derive(Clone, Debug)]
pub struct Expr(Arc<CompiledExpr>);

#[derive(Debug)]
struct CompiledExpr {
    source: Arc<str>,
    reads: Vec<Read>,
    comparisons: Vec<Comparison>,
    operations: Vec<Operation>,
    /// Facts about its value.
    result: OperandSketch,
    action: Action,
}

/// How an expression is evaluated: most placeholders are a path and nothing more.
#[derive(Debug)]
enum Action {
    Constant(Value),
    /// Index into the reads.
    Path(usize),
    Run(Code),
}

/// A path an expression reads, as `["tasks", "a", "outputs", "parameters", "x"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The constant segments, root first; never empty.
    pub path: Vec<Arc<str>>,
    /// Byte offset of the path in the expression's text.
    pub offset: usize,
    /// Byte offset behind the path.
    pub end: usize,
    /// The segments written with a hyphen that may have been meant as a minus.
    pub(crate) hyphens: Vec<usize>,
    /// Position of the segment `parameters` that a short path such as `inputs.url` leaves out.
    pub(crate) implied: Option<usize>,
}

/// A comparison (`==`, `!=`, `in`) of a path with a literal: lets a check find literals the path can never equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Index into [`Expr::reads`].
    pub read: usize,
    /// The literal; `x in ['a', 'b']` is two comparisons.
    pub literal: Value,
    /// Byte offset of the operator in the expression's text.
    pub offset: usize,
}

/// The names and values that an expression can see.
pub trait Env {
    /// The value at `path`; missing members are null.
    ///
    /// A path can end anywhere: `tasks[inputs.parameters.name].phase` reads `tasks`.
    fn get(&self, path: &[Arc<str>]) -> Value;

    /// The value that the last segment of `path` is a member of: the one at the rest of the path, unless a name also has
    /// the members of a part of its value.
    fn owner(&self, path: &[Arc<str>]) -> Value {
        path.split_last().map_or(Value::Null, |(_, owner)| self.get(owner))
    }
}

/// Results that may not be meant: every operation has a defined result, also for types that it is not made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// How many nulls became empty text.
    pub emptied: usize,
    /// The first of these nulls.
    pub first_emptied: Option<EmptiedText>,
    /// Operations that were given types that they do not fit, with the expression that they are in.
    pub types: Vec<String>,
}

/// A null that became empty text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptiedText {
    /// The placeholder as written, or its beginning.
    pub placeholder: String,
    /// Its place, such as an input, where it is known.
    pub place: Option<String>,
}

impl Doubts {
    /// Counts nulls that became empty text.
    fn count_emptied(&mut self, count: usize, placeholder: impl FnOnce() -> String) {
        if count > 0 && self.first_emptied.is_none() {
            self.first_emptied = Some(EmptiedText { placeholder: placeholder(), place: None });
        }
        self.emptied += count;
    }

    /// Says where that is which was met and has no place yet.
    pub(crate) fn place(&mut self, place: impl FnOnce() -> String) {
        if let Some(EmptiedText { place: unknown @ None, .. }) = &mut self.first_emptied {
            *unknown = Some(place());
        }
    }

    /// Says in which larger part all places are.
    pub(crate) fn place_within(&mut self, whole: &str) {
        if let Some(EmptiedText { place, .. }) = &mut self.first_emptied {
            *place = Some(place.take().map_or_else(|| whole.to_owned(), |place| format!("{whole}, {place}")));
        }
    }
}

/// Invalid expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset in the text.
    pub offset: usize,
    /// The fault, and the syntax that was expected.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

/// An expression that failed while it ran; the text says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError(pub String);

impl Expr {
    /// Compiles the whole of `text`, which may also be wrapped in `{{ … }}`.
    ///
    /// # Errors
    /// The first thing that is no expression of this language.
    pub fn compile(text: &str) -> Result<Self, SyntaxError> {
        Self::compile_with(text, &Arc::default())
    }

    /// Compiles the whole of `text`, which may call `functions`.
    ///
    /// # Errors
    /// Fails like [`Expr::compile`].
    pub fn compile_with(text: &str, functions: &Arc<Functions>) -> Result<Self, SyntaxError> {
        if text.len() > MAX_LENGTH {
            let message = format!("the expression has {} bytes; expected at most {MAX_LENGTH}", text.len());
            return Err(SyntaxError::new(MAX_LENGTH, message).hint("split it over several parameters"));
        }
        let parse::ParsedExpr { root, mut reads, comparisons, operations, result } =
            parse::parse(text, functions)?;
        reads.iter_mut().for_each(Read::complete);
        let action = match (root.as_literal(), root.as_path()) {
            (Some(literal), _) => Action::Constant(literal.clone()),
            (None, Some(read)) => Action::Path(read),
            (None, None) => {
                let code = Code::compile(emit::emit(&root, &reads), functions);
                Action::Run(code.map_err(|why| SyntaxError::new(0, why))?)
            }
        };
        Ok(Self(Arc::new(CompiledExpr {
            source: text.into(),
            reads,
            comparisons,
            operations,
            result,
            action,
        })))
    }

    /// The text as written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Every path the expression reads, in the order of the text; the same path may occur again.
    #[must_use]
    pub fn reads(&self) -> &[Read] {
        &self.0.reads
    }

    /// Every comparison of a path with a literal.
    #[must_use]
    pub fn comparisons(&self) -> &[Comparison] {
        &self.0.comparisons
    }

    /// Every other operation that not all types fit.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.0.operations
    }

    /// The operation that the whole is where a condition is expected.
    #[must_use]
    pub fn as_condition(&self) -> Operation {
        let result = || self.0.result.clone();
        Operation { operator: Operator::Truth, symbol: "", operands: [result(), result()], offset: 0 }
    }

    /// The path, where the expression is one and nothing more.
    #[must_use]
    pub fn as_path(&self) -> Option<&Read> {
        match &self.0.action {
            Action::Path(read) => self.0.reads.get(*read),
            Action::Constant(_) | Action::Run(_) => None,
        }
    }

    /// Returns the result of [`Expr::test`] where it is the same in every environment.
    #[must_use]
    pub fn constant_truth(&self) -> Option<bool> {
        match &self.0.action {
            Action::Constant(value) => operation::condition(ValueRef::from(value)).ok(),
            Action::Path(_) | Action::Run(_) => None,
        }
    }

    /// Returns the value in `env`.
    ///
    /// # Errors
    /// Fails when an operation does not accept its operands; the error names the operation, the operands' types and short values.
    pub fn eval(&self, env: &dyn Env, doubts: &mut Doubts) -> Result<Value, EvalError> {
        match &self.0.action {
            Action::Constant(value) => Ok(value.clone()),
            Action::Path(read) => match self.read(*read, env) {
                ReadResult::Value(value) => Ok(value),
                ReadResult::Misfit(doubt) => {
                    doubts.types.push(format!("{}: {doubt}", self.brief()));
                    Ok(Value::Null)
                }
                ReadResult::Fault(why) => Err(EvalError(why)),
            },
            Action::Run(code) => {
                let (result, met) = code.run(|read| self.read(read, env));
                doubts.count_emptied(met.emptied, || format!("a placeholder of {}", self.brief()));
                doubts.types.extend(met.types.into_iter().map(|doubt| format!("{}: {doubt}", self.brief())));
                result
            }
        }
    }

    /// The text, or its beginning, in backquotes.
    fn brief(&self) -> String {
        format!("`{}`", self.beginning())
    }

    /// The text, or its beginning.
    fn beginning(&self) -> String {
        let text = self.source().trim();
        match text.char_indices().nth(MAX_SHOWN_CHARS) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text.to_owned(),
        }
    }

    /// Returns the value where a boolean is needed: null is false, the texts `true` and `false` count.
    ///
    /// # Errors
    /// Fails like [`Expr::eval`], and when the value is anything else.
    pub fn test(&self, env: &dyn Env, doubts: &mut Doubts) -> Result<bool, EvalError> {
        operation::condition(ValueRef::from(&self.eval(env, doubts)?)).map_err(EvalError)
    }

    fn read(&self, index: usize, env: &dyn Env) -> ReadResult {
        self.0.reads.get(index).map_or(ReadResult::Value(Value::Null), |read| lookup::value(read, env))
    }
}

impl Read {
    /// Inserts the segment `parameters` that a short path leaves out.
    fn complete(&mut self) {
        let position = match self.path.iter().map(|segment| &**segment).collect::<Vec<_>>().as_slice() {
            ["inputs", name, ..] if *name != PARAMETERS => 1,
            ["tasks", _, "outputs", name, ..] if *name != PARAMETERS => 3,
            _ => return,
        };
        self.path.insert(position, PARAMETERS.into());
        self.hyphens.iter_mut().filter(|hyphen| **hyphen >= position).for_each(|hyphen| *hyphen += 1);
        self.implied = Some(position);
    }

    /// The segments as they are written.
    pub(crate) fn written(&self) -> impl Iterator<Item = &str> {
        let implied = |(at, _): &(usize, &Arc<str>)| Some(*at) != self.implied;
        self.path.iter().enumerate().filter(implied).map(|(_, segment)| &**segment)
    }
}

impl SyntaxError {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The hint, where nothing better is known.
    pub(crate) fn or_hint(self, hint: &str) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SyntaxError {}
impl std::error::Error for EvalError {}
