//! Warnings as a journal keeps them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Problem, codes};
use crate::{path::Path, tree::Span};

/// A warning about the document, as a journal records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentWarning {
    /// The catalogue's code.
    pub code: Arc<str>,
    /// Path in the workflow file.
    pub path: Arc<str>,
    /// The doubtful fact and the expected one.
    pub message: Arc<str>,
}

impl DocumentWarning {
    /// The warning; nothing if this catalogue no longer has its code.
    pub(crate) fn problem(&self) -> Option<Problem> {
        let entry = codes::find(&self.code)?;
        let problem = Problem::new(entry, &Path::root(), Span::default(), &*self.message);
        Some(Problem { path: self.path.to_string(), ..problem })
    }
}

impl From<&Problem> for DocumentWarning {
    fn from(problem: &Problem) -> Self {
        let Problem { code, path, message, .. } = problem;
        Self { code: (*code).into(), path: path.as_str().into(), message: message.as_str().into() }
    }
}
