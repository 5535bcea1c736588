//! Settings whose values follow from the parameters of a run.

use std::sync::Arc;

use crate::{expr::ValueTemplate, path::Path, value::Value};

use super::TemplateId;

/// A timeout, delay or count that the workflow file writes as an expression of its parameters.
#[derive(Clone, Debug)]
pub struct SettingExpression {
    /// Path of the field in the workflow file.
    pub path: Path,
    /// The text of the field, with its braces.
    pub source: Arc<str>,
    /// The expression.
    pub template: ValueTemplate,
    /// The template that has the field; absent for fields of `spec`.
    pub within: Option<TemplateId>,
    /// The value that the plan was made with; absent where it is known only when a run is submitted, and 1 is in its place.
    pub value: Option<Value>,
}
