//! Values with placeholders: `{{ … }}` in strings at any depth, never in keys.

mod compile;

use std::sync::Arc;

use self::compile::Compiler;
use super::{
    Doubts, Env, EvalError, Expr, Functions, SyntaxError,
    budget::{Budget, check_built},
    value_ref::text_of,
};
use crate::{
    path::Path,
    tree::{Span, Tree},
    value::{Map, Value},
};

/// A value in which strings may hold placeholders.
#[derive(Clone, Debug)]
pub enum ValueTemplate {
    /// No placeholder anywhere.
    Literal(Value),
    /// A string that is exactly one placeholder; the value keeps its type.
    Placeholder(Placeholder),
    /// A string with placeholders in it.
    Text(Vec<Piece>),
    /// A list with placeholders in it.
    Array(Vec<ValueTemplate>),
    /// An object with placeholders in its values.
    Object(Vec<(Arc<str>, ValueTemplate)>),
}

/// A part of a text.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Literal text.
    Literal(Arc<str>),
    /// A placeholder, to be replaced by a value.
    Placeholder(Placeholder),
}

/// An expression between braces, and where it stands.
#[derive(Clone, Debug)]
pub struct Placeholder {
    /// The expression.
    pub expr: Expr,
    /// Byte offset of the expression's text in the string.
    pub offset: usize,
    /// Where the string is written.
    pub span: Span,
}

/// A placeholder whose text is no expression.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceholderError {
    /// The string's place below the compiled value, as `[2].name`; empty for the value itself.
    pub path: String,
    /// Where the string is written.
    pub span: Span,
    /// The error; its offset is one in the string.
    pub error: SyntaxError,
}

impl ValueTemplate {
    /// Compiles the placeholders of all strings in `tree`; with `raw` there are none.
    ///
    /// # Errors
    /// Every placeholder that is no expression.
    pub fn compile(tree: &Tree, raw: bool) -> Result<Self, Vec<PlaceholderError>> {
        Self::compile_with(tree, raw, &Arc::default())
    }

    /// Compiles the placeholders of all strings in `tree`, which may call `functions`; with `raw` there are none.
    ///
    /// # Errors
    /// Every placeholder that is no expression.
    pub fn compile_with(
        tree: &Tree,
        raw: bool,
        functions: &Arc<Functions>,
    ) -> Result<Self, Vec<PlaceholderError>> {
        if raw {
            return Ok(Self::Literal(tree.to_value()));
        }
        let mut compiler = Compiler::new(functions);
        let compiled = compiler.tree(tree);
        if compiler.errors.is_empty() { Ok(compiled) } else { Err(compiler.errors) }
    }

    /// Whether there is nothing to fill in.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        matches!(self, Self::Literal(_))
    }

    /// The value itself when there is nothing to fill in.
    #[must_use]
    pub fn as_literal(&self) -> Option<&Value> {
        if let Self::Literal(value) = self { Some(value) } else { None }
    }

    /// The expression when this is exactly one placeholder.
    #[must_use]
    pub fn as_expr(&self) -> Option<&Expr> {
        if let Self::Placeholder(placeholder) = self { Some(&placeholder.expr) } else { None }
    }

    /// Every placeholder, in the order of the document, and the place of its string in this value, which stands at `path`.
    #[must_use]
    pub fn placeholders(&self, path: &Path) -> Vec<(Path, &Placeholder)> {
        let mut found = Vec::new();
        self.each_placeholder(path, &mut |path, placeholder| found.push((path.clone(), placeholder)));
        found
    }

    /// Calls `each` with every placeholder and the place of its string.
    fn each_placeholder<'a>(&'a self, path: &Path, each: &mut dyn FnMut(&Path, &'a Placeholder)) {
        match self {
            Self::Literal(_) => {}
            Self::Placeholder(placeholder) => each(path, placeholder),
            Self::Text(pieces) => {
                for piece in pieces {
                    if let Piece::Placeholder(placeholder) = piece {
                        each(path, placeholder);
                    }
                }
            }
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.each_placeholder(&path.index(index), each);
                }
            }
            Self::Object(members) => {
                for (key, member) in members {
                    member.each_placeholder(&path.key(key.clone()), each);
                }
            }
        }
    }

    /// The value with every placeholder filled in.
    ///
    /// # Errors
    /// The first placeholder that fails, or a text that would be too large.
    pub fn eval(&self, env: &dyn Env, doubts: &mut Doubts) -> Result<Value, EvalError> {
        let value = self.value(env, doubts)?;
        if matches!(self, Self::Array(_) | Self::Object(_)) {
            check_built(&value).map_err(EvalError)?;
        }
        Ok(value)
    }

    fn value(&self, env: &dyn Env, doubts: &mut Doubts) -> Result<Value, EvalError> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Placeholder(placeholder) => placeholder.eval(env, doubts),
            Self::Text(pieces) => text(pieces, env, doubts),
            Self::Array(items) => {
                let items = items.iter().map(|item| item.value(env, doubts)).collect::<Result<Vec<_>, _>>();
                items.map(Value::from)
            }
            Self::Object(members) => {
                let member = |(key, member): &(Arc<str>, Self)| Ok((key.clone(), member.value(env, doubts)?));
                members.iter().map(member).collect::<Result<Map, _>>().map(Value::from)
            }
        }
    }
}

impl Placeholder {
    fn eval(&self, env: &dyn Env, doubts: &mut Doubts) -> Result<Value, EvalError> {
        self.expr
            .eval(env, doubts)
            .map_err(|EvalError(why)| EvalError(format!("{{{{{}}}}}: {why}", self.expr.source())))
    }
}

fn text(pieces: &[Piece], env: &dyn Env, doubts: &mut Doubts) -> Result<Value, EvalError> {
    let mut budget = Budget::default();
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => budget.append(&mut text, literal),
            Piece::Placeholder(placeholder) => {
                let value = placeholder.eval(env, doubts)?;
                doubts.count_emptied(usize::from(value.is_null()), || {
                    format!("`{{{{ {} }}}}`", placeholder.expr.beginning())
                });
                text_of(&value).and_then(|filled| budget.append(&mut text, &filled))
            }
        }
        .map_err(EvalError)?;
    }
    Ok(text.into())
}
