//! The one expression language (SPEC section 6). The only module that names rhai.
#![expect(dead_code, unused_variables, reason = "interface first; the implementation lands next")]

use std::sync::Arc;

use crate::{tree::Tree, value::Value};

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Expr {
    source: Arc<str>,
}

/// A path an expression reads, as `["tasks", "a", "outputs", "parameters", "x"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The constant segments, root first.
    pub path: Vec<Arc<str>>,
    /// Byte offset of the path in the expression's text.
    pub offset: usize,
}

/// What an expression can see.
pub trait Env {
    /// The value at `path`; missing members are null.
    fn get(&self, path: &[Arc<str>]) -> Value;
}

/// Text that is no expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset in the text.
    pub offset: usize,
    /// What is wrong and what was expected.
    pub message: String,
    /// How to mend it.
    pub hint: Option<String>,
}

/// An expression that failed while it ran; the text says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError(pub String);

/// A value in which strings may hold placeholders.
#[derive(Clone, Debug)]
pub enum Interpolated {
    /// No placeholder anywhere.
    Literal(Value),
}

impl std::fmt::Display for EvalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl Expr {
    pub fn test(&self, env: &dyn Env) -> Result<bool, EvalError> {
        Ok(true)
    }
    pub fn eval(&self, env: &dyn Env) -> Result<Value, EvalError> {
        Ok(Value::Null)
    }
}
pub struct Text {
    pub value: Value,
    pub nulls: usize,
}
impl Interpolated {
    pub fn eval(&self, env: &dyn Env) -> Result<Text, EvalError> {
        Ok(Text { value: Value::Null, nulls: 0 })
    }
}
