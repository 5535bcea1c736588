//! Parameters, and the arguments that calls pass for them.

use std::sync::Arc;

use crate::{
    expr::{Expr, ValueTemplate},
    settings::{ParameterType, SecretRef},
    value::Value,
};

/// A declared parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// Checked when bound (inputs) or warned about (outputs).
    pub kind: ParameterType,
    /// `value`.
    pub value: Option<ValueTemplate>,
    /// `valueFrom`.
    pub value_from: Option<ValueFrom>,
    /// `default`.
    pub default: Option<ValueTemplate>,
    /// `enum`; empty is unrestricted.
    pub allowed: Vec<Value>,
    /// `description`, for people.
    pub description: Option<Arc<str>>,
}

/// A value passed by a call.
#[derive(Debug)]
pub struct Argument {
    /// The input's name.
    pub name: Arc<str>,
    /// `value`.
    pub value: Option<ValueTemplate>,
    /// `valueFrom`.
    pub value_from: Option<ValueFrom>,
}

/// Where a value comes from.
#[derive(Debug)]
pub enum ValueFrom {
    /// `parameter`, `path` or `expression`.
    Expression(Expr),
    /// `secretKeyRef`: the journal keeps the reference, the host reads the value at each dispatch.
    Secret(SecretRef),
}
