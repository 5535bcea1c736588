//! Faults of a document, found all at once, and the catalogue of their [`codes`].

pub mod codes;

mod list;
mod warning;

use std::fmt;

use serde::Serialize;

use self::codes::Entry;
pub use self::{list::Problems, warning::DocumentWarning};
use crate::{
    path::Path,
    tree::{Span, Tree},
    value::Value,
};

/// Characters of a value that a problem repeats.
const MAX_VALUE_CHARS: usize = 80;
/// Characters of a message or a hint: what they name may be of any length.
const MAX_SENTENCE_CHARS: usize = 2000;

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
    /// The fault and the expected value, as `fault; expected …`.
    pub message: String,
    /// How to fix it.
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
            message: cut(message.into(), MAX_SENTENCE_CHARS),
            hint: None,
        }
    }

    /// Adds the offending value, shortened.
    #[must_use]
    pub fn with_value(mut self, tree: &Tree) -> Self {
        self.value = Some(shortened(tree.to_value()));
        self
    }

    /// Adds a hint about the fix.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(cut(hint.into(), MAX_SENTENCE_CHARS));
        self
    }

    /// Adds a hint about the fix, if there is one.
    #[must_use]
    pub fn with_hint_if(self, hint: Option<String>) -> Self {
        match hint {
            Some(hint) => self.with_hint(hint),
            None => self,
        }
    }

    /// Returns the message, and the hint in parentheses if there is one.
    #[must_use]
    pub fn sentence(&self) -> String {
        let hint = self.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
        format!("{}{hint}", self.message)
    }
}

/// `line:column: code: path: what; expected … (how to mend it)`, without what is not known.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, path, line, column, .. } = self;
        if *line > 0 {
            write!(f, "{line}:{column}: ")?;
        }
        write!(f, "{code}: ")?;
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        f.write_str(&self.sentence())
    }
}

/// The value itself if its text is short, else the beginning of that text.
pub(crate) fn shortened(value: Value) -> Value {
    let beginning = match &value {
        Value::String(text) => beginning(text, MAX_VALUE_CHARS),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            beginning(&value.to_json(), MAX_VALUE_CHARS)
        }
    };
    beginning.map_or(value, Value::from)
}

fn cut(text: String, most: usize) -> String {
    beginning(&text, most).unwrap_or(text)
}

/// The first `most` characters and a sign that there are more, if there are.
fn beginning(text: &str, most: usize) -> Option<String> {
    let (end, _) = text.char_indices().nth(most)?;
    Some(format!("{}…", text.get(..end).unwrap_or_default()))
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

    #[test]
    fn a_problem_stays_short_whatever_it_names() {
        let long = "x".repeat(1 << 20);
        let entry = &codes::names::UNKNOWN_TEMPLATE;
        let problem = Problem::new(entry, &Path::root().key(long.as_str()), Span::default(), long.as_str());
        let problem = problem.with_hint(long.as_str()).with_value(&Tree::from(&Value::from(long.as_str())));
        let lengths = [problem.path.len(), problem.message.len(), problem.to_string().len()];
        assert_eq!(lengths, [83, 2003, 4100]);
        assert_eq!(problem.value.map(|value| value.to_json().len()), Some(85));
    }
}
