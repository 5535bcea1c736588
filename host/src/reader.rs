//! Reads documents, JSON or YAML 1.2, into [`Tree`]s that keep every position.
//!
//! Text comes from strangers: its size, depth and number of values are bounded, and whatever it holds ends as a tree or
//! as [`Problem`]s, never as a panic. Duplicate keys are kept; [`Draft::plan`](phasm_engine::plan::Draft::plan) reports
//! them.

mod file;
mod json;
pub mod nul;
mod number;
pub(crate) mod source;
mod yaml;

use phasm_engine::{
    form::{MAX_PROBLEMS, more},
    path::Path,
    problem::Problem,
    problem::codes::{Entry, source as entries},
    tree::{Span, Tree},
};

pub use file::{text_from, text_of};
use source::SourceText;

/// Bytes of text in a document, and of the texts and keys in it, those that YAML aliases repeat included.
const MAX_DOCUMENT_BYTES: usize = 16 << 20;
/// Lists and objects around a value.
const MAX_DEPTH: usize = 128;
/// Values in a document, those that YAML aliases repeat included.
const MAX_NODES: usize = 2_000_000;

/// Reads the document `text`; `name` is its file's, and decides the language where it ends in `.json`.
///
/// Without that ending, text that starts with `{` is JSON if it can be read so; everything else is YAML.
///
/// # Errors
/// All problems found. A syntax error hides what stands behind it, so it comes last.
pub fn read(name: &str, text: &str) -> Result<Tree, Vec<Problem>> {
    if text.len() > MAX_DOCUMENT_BYTES {
        return Err(vec![file::too_long()]);
    }
    let bare = nul::in_text(text);
    if !bare.is_empty() {
        return Err(bare);
    }
    let tree = read_any(name, text)?;
    let found = nul::in_document(text, &tree);
    if found.is_empty() { Ok(tree) } else { Err(found) }
}

fn read_any(name: &str, text: &str) -> Result<Tree, Vec<Problem>> {
    let source = SourceText::new(text);
    if has_ending(name, &["json"]) {
        return json::read(&source);
    }
    if !source.text().trim_start().starts_with('{') {
        return yaml::read(&source);
    }
    json::read(&source).or_else(|problems| {
        if problems.iter().all(|problem| problem.code != entries::SYNTAX.code) {
            return Err(problems);
        }
        yaml::read(&source).map_err(|found| if has_ending(name, &["yaml", "yml"]) { found } else { problems })
    })
}

fn has_ending(name: &str, endings: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, found)| endings.iter().any(|e| found.eq_ignore_ascii_case(e)))
}

/// A problem after which reading cannot go on.
type Fatal = Box<Problem>;

/// The problems and warnings found so far.
#[derive(Default)]
struct Reading {
    problems: Vec<Problem>,
    size: Size,
}

/// How much a document holds, what aliases repeat counted each time.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    nodes: usize,
    /// Bytes of texts and keys.
    bytes: usize,
}

impl Size {
    /// One value, and the text that it may be.
    fn one(text: &str) -> Self {
        Self { nodes: 1, bytes: text.len() }
    }

    /// The findings since `before`.
    fn since(self, before: Self) -> Self {
        Self { nodes: self.nodes - before.nodes, bytes: self.bytes - before.bytes }
    }
}

impl Reading {
    fn report(&mut self, entry: &Entry, path: &Path, span: Span, message: impl Into<String>, hint: &str) {
        if self.problems.len() > MAX_PROBLEMS {
            return;
        }
        self.problems.push(Problem::new(entry, path, span, message).with_hint(hint));
    }

    /// Counts what is `more`, before it is kept.
    fn count(&mut self, more: Size, span: impl FnOnce() -> Span) -> Result<(), Fatal> {
        let Size { nodes, bytes } = &mut self.size;
        *nodes = nodes.saturating_add(more.nodes);
        *bytes = bytes.saturating_add(more.bytes);
        let what = match (*nodes > MAX_NODES, *bytes > MAX_DOCUMENT_BYTES) {
            (true, _) => format!("more than {MAX_NODES} values"),
            (_, true) => {
                format!("more than {MAX_DOCUMENT_BYTES} bytes of text, what aliases repeat included")
            }
            (false, false) => return Ok(()),
        };
        Err(too_large(span(), what))
    }

    /// Says that there are more than are kept, if there are.
    fn cut(&mut self) {
        if self.problems.len() > MAX_PROBLEMS {
            self.problems.truncate(MAX_PROBLEMS);
            self.problems.push(more(&entries::MORE_PROBLEMS, "errors", "fix these and validate again"));
        }
    }

    fn finish(mut self, tree: Result<Tree, Fatal>) -> Result<Tree, Vec<Problem>> {
        match tree {
            Ok(tree) if self.problems.is_empty() => return Ok(tree),
            Ok(_) => self.cut(),
            Err(problem) => {
                self.cut();
                self.problems.push(*problem);
            }
        }
        Err(self.problems)
    }
}

fn check_depth(depth: usize, span: Span) -> Result<(), Fatal> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    Err(too_deep(span))
}

fn too_deep(span: Span) -> Fatal {
    too_large(span, format!("more than {MAX_DEPTH} levels of lists and objects"))
}

fn too_large(span: Span, message: String) -> Fatal {
    Box::new(Problem::new(&entries::TOO_LARGE, &Path::root(), span, message))
}

fn syntax(span: Span, message: impl Into<String>) -> Problem {
    Problem::new(&entries::SYNTAX, &Path::root(), span, message)
}

#[cfg(test)]
mod tests;
