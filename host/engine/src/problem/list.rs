//! Several problems as one error.

use std::{error::Error, fmt, ops::Deref, sync::Arc, vec};

use serde::Serialize;

use super::Problem;

/// Every problem of one text: an error, with a line for each.
///
/// A line reads `file:line:column: code: path: what; expected … (how to mend it)`, without what is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Problems {
    found: Vec<Problem>,
    #[serde(skip)]
    file: Option<Arc<str>>,
}

impl Problems {
    /// The same problems, of a text that people know by the name `file`.
    #[must_use]
    pub fn of_file(self, file: impl Into<Arc<str>>) -> Self {
        Self { file: Some(file.into()), ..self }
    }

    /// Returns the name of the text, if known.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }
}

impl From<Vec<Problem>> for Problems {
    fn from(found: Vec<Problem>) -> Self {
        Self { found, file: None }
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        vec![problem].into()
    }
}

impl FromIterator<Problem> for Problems {
    fn from_iter<I: IntoIterator<Item = Problem>>(problems: I) -> Self {
        Vec::from_iter(problems).into()
    }
}

impl From<Problems> for Vec<Problem> {
    fn from(problems: Problems) -> Self {
        problems.found
    }
}

impl Deref for Problems {
    type Target = [Problem];

    fn deref(&self) -> &[Problem] {
        &self.found
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}

impl<'p> IntoIterator for &'p Problems {
    type Item = &'p Problem;
    type IntoIter = std::slice::Iter<'p, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.found.iter().enumerate() {
            let line = if at == 0 { "" } else { "\n" };
            let (file, colon) =
                self.file().map_or(("", ""), |file| (file, if problem.line == 0 { ": " } else { ":" }));
            write!(f, "{line}{file}{colon}{problem}")?;
        }
        Ok(())
    }
}

impl Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{path::Path, problem::codes::shape, tree::Span};

    fn found() -> Problems {
        let at = Span { line: 3, column: 7, start: 20, end: 24 };
        let limit = Path::root().key("spec").key("limit");
        let placed = Problem::new(&shape::WRONG_TYPE, &limit, at, "found string; expected an integer");
        let whole =
            Problem::new(&shape::EMPTY, &Path::root(), Span::default(), "nothing; expected a document");
        [placed.with_hint("write `3`"), whole].into_iter().collect()
    }

    #[test]
    fn a_line_says_where_and_what() {
        let error: Box<dyn Error> = found().of_file("greet.yaml").into();
        let lines = format!(
            "greet.yaml:3:7: {}: spec.limit: found string; expected an integer (write `3`)\n\
             greet.yaml: {}: nothing; expected a document",
            shape::WRONG_TYPE.code,
            shape::EMPTY.code
        );
        assert_eq!(error.to_string(), lines);
        let nameless = lines.replace("greet.yaml:3", "3").replace("greet.yaml: ", "");
        assert_eq!(found().to_string(), nameless);
    }

    #[test]
    fn they_are_a_list() {
        let problems = found();
        assert_eq!((problems.len(), problems.iter().filter(|problem| problem.line == 0).count()), (2, 1));
        assert_eq!((&problems).into_iter().map(|problem| problem.line).collect::<Vec<_>>(), [3, 0]);
        assert_eq!(Vec::from(problems.clone()), problems.clone().into_iter().collect::<Vec<_>>());
        assert!(serde_json::to_value(problems).unwrap().is_array());
    }
}
