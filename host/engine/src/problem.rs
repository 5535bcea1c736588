//! Faults of a document, found all at once.

use std::fmt;

use serde::Serialize;

use crate::{tree::Span, value::Value};

/// One fault (or, in a plan's warnings, one doubt) about a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// The catalogue's code: `P…` for problems, `W…` for warnings.
    pub code: &'static str,
    /// Where in the document, as `spec.templates[1].dag.tasks[3].retry.limit`; empty for the document itself.
    pub path: String,
    /// Line in the source, from 1; 0 when there is no source text.
    pub line: u32,
    /// Column in the source in characters, from 1; 0 when there is no source text.
    pub column: u32,
    /// Byte range in the source.
    #[serde(skip)]
    pub span: Span,
    /// The offending value, shortened; absent where something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// What is wrong and what was expected, as `what; expected …`.
    pub message: String,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, path, message, .. } = self;
        write!(f, "{code}: {path}: {message}")?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}
