//! Faults of a document, found all at once.

use std::fmt;

use serde::Serialize;

use crate::{
    path::Path,
    plan::catalogue::Entry,
    tree::{Span, Tree},
    value::Value,
};

/// Characters of a value that a problem repeats.
const LONGEST_VALUE: usize = 80;

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

impl Problem {
    /// A problem of the catalogue's kind `entry` at one place of the document.
    #[must_use]
    pub fn new(entry: &Entry, path: &Path, span: Span, message: impl Into<String>) -> Self {
        Self {
            code: entry.code,
            path: path.to_string(),
            line: span.line,
            column: span.column,
            span,
            value: None,
            message: message.into(),
            hint: None,
        }
    }

    /// Adds the offending value, shortened.
    #[must_use]
    pub fn with_value(mut self, tree: &Tree) -> Self {
        self.value = Some(shortened(tree.to_value()));
        self
    }

    /// Adds how to mend it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds how to mend it, where somebody knows.
    #[must_use]
    pub(crate) fn with_hint_if(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, path, message, .. } = self;
        write!(f, "{code}: {path}: {message}")?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// The value itself if its text is short, else the beginning of that text.
pub(crate) fn shortened(value: Value) -> Value {
    let text = match &value {
        Value::String(text) => text.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_json()
        }
    };
    match text.char_indices().nth(LONGEST_VALUE) {
        None => value,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_at_a_character() {
        let short = Value::from("é".repeat(80));
        assert_eq!(shortened(short.clone()), short);
        assert_eq!(shortened("é".repeat(81).into()), format!("{}…", "é".repeat(80)).into());
        let list: Value = vec![Value::from("abcdefgh"); 20].into();
        assert_eq!(shortened(list).as_str().map(|text| text.chars().count()), Some(81));
    }
}
