//! Labels: tasks of a pipeline by their name alone stand for their outputs; null before the task has ended.

use std::sync::Arc;

use super::{Members, RunContext, tasks::named, walk};
use crate::value::Value;

/// The value behind `label`; `None` if it is none.
pub(super) fn value(run: &dyn RunContext, label: &Arc<str>, path: Members<'_>) -> Option<Value> {
    let outputs = run.label(label)?;
    Some(outputs.map_or(Value::Null, |outputs| walk(&named(&outputs), path)))
}
