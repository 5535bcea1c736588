//! Limits of views: values that are too large for them are left out.

use schemars::JsonSchema;
use serde::Serialize;

use crate::value::Value;

/// Kind of a named value of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A parameter of the run.
    Parameter,
    /// A bound input of a task run.
    Input,
    /// An output of a task run.
    Output,
}

/// A named value of a view.
#[derive(Clone, Copy, Debug)]
pub struct ShownValue<'v> {
    /// Its kind.
    pub kind: ValueKind,
    /// The id of its task run, or of the run whose parameter it is.
    pub owner: &'v str,
    /// Its name.
    pub name: &'v str,
    /// Itself.
    pub value: &'v Value,
}

/// Reference to a value that a view leaves out because of its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "LeftOut")]
pub struct LeftOutValue {
    /// Size of its JSON text, in bytes.
    pub bytes: u64,
    /// Path of the value.
    pub href: String,
}

/// Limit of a view.
pub trait ViewLimit {
    /// Returns the reference to show instead of a value; none for a value that is shown.
    fn left_out(&self, shown: ShownValue<'_>) -> Option<LeftOutValue>;

    /// Whether no task run is added any more.
    fn is_full(&self) -> bool;
}

/// No limit: all values are shown.
#[derive(Clone, Copy, Debug)]
pub struct NoLimit;

impl ViewLimit for NoLimit {
    fn left_out(&self, _shown: ShownValue<'_>) -> Option<LeftOutValue> {
        None
    }

    fn is_full(&self) -> bool {
        false
    }
}
