//! Where the checks put what they find.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::BTreeSet,
    sync::Arc,
};

use crate::{
    path::Path,
    problem::{
        Problem,
        codes::{Entry, source::MORE_PROBLEMS, warnings::MORE_WARNINGS},
    },
    suggest,
    tree::Span,
    value::Value,
};

use super::Site;

/// Maximum number of problems reported for one document. Further ones are of no use to a reader, and a hostile document must not
/// fill the memory.
pub const MAX_PROBLEMS: usize = 1000;
/// Known words that are looked at in one document to find those that were meant.
const MAX_CANDIDATES: usize = 1_000_000;

/// All problems and warnings found so far.
#[derive(Default)]
pub struct Report {
    problems: RefCell<List>,
    warnings: RefCell<List>,
    /// Context for forms that are read later.
    context: RefCell<Vec<Arc<dyn Any + Send + Sync>>>,
    looked_at: Cell<usize>,
    lost: Cell<bool>,
    open: Cell<u32>,
}

#[derive(Default)]
struct List {
    found: Vec<Problem>,
    seen: BTreeSet<Identity>,
}

/// Identity of a problem that shows at every call of a template; it is reported once, and only the expected part may differ from
/// call to call.
type Identity = (&'static str, String, usize, String);

/// Texts of hints, each with the spelling of a language in place of it.
pub(crate) struct Spellings(pub(crate) &'static [(&'static str, &'static str)]);

impl Report {
    /// Keeps what forms read later need to know, one thing of each type at most.
    pub(crate) fn provide<T: Any + Send + Sync>(&self, context: Arc<T>) {
        if self.provided::<T>().is_none() {
            self.context.borrow_mut().push(context);
        }
    }

    /// Returns the provided context, if it has that type.
    pub(crate) fn provided<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.context.borrow().iter().find_map(|one| Arc::clone(one).downcast().ok())
    }

    /// Returns a hint with the spellings of the file's language, if it has some of its own.
    pub(super) fn spelled(&self, hint: String) -> String {
        let spellings = self.provided::<Spellings>();
        let spellings = spellings.iter().flat_map(|spellings| spellings.0);
        spellings.fold(hint, |hint, (usual, own)| hint.replace(usual, own))
    }

    /// Adds a problem. The same may be added again: a template is checked for every way it is reached.
    pub fn problem(&self, problem: Problem) {
        self.problems.borrow_mut().add(with_placeholder_hint(problem));
    }

    /// Adds a warning.
    pub fn warning(&self, warning: Problem) {
        self.warnings.borrow_mut().add(with_placeholder_hint(warning));
    }

    /// Adds a problem about a place, without a value or hint.
    pub fn at(&self, entry: &Entry, site: &Site, message: impl Into<String>) {
        self.problem(site.problem(entry, message));
    }

    /// Notes that something written could not be read, and is absent from what was read.
    pub(crate) fn lose(&self) {
        self.lost.set(true);
    }

    /// Whether anything written is absent from what was read.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost.get()
    }

    /// Notes a value that follows from what a run is started with.
    pub(crate) fn leave_open(&self) {
        self.open.update(|number| number.saturating_add(1));
    }

    /// Returns how many values follow from what a run is started with.
    pub(crate) fn open_values(&self) -> u32 {
        self.open.get()
    }

    /// Whether there are so many problems that no more are taken.
    pub fn is_full(&self) -> bool {
        self.problems.borrow().is_full()
    }

    /// Whether there are so many warnings that no more are taken.
    pub fn is_full_of_warnings(&self) -> bool {
        self.warnings.borrow().is_full()
    }

    /// Returns the hint "did you mean …?", if a known word is similar. The search has a budget, so in a document with very many
    /// faults the last ones get no hint.
    pub fn did_you_mean<'a>(&self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
        if self.is_full() {
            return None;
        }
        let left = MAX_CANDIDATES.saturating_sub(self.looked_at.get());
        let known = known.into_iter().take(left).inspect(|_| self.looked_at.update(|number| number + 1));
        suggest::did_you_mean(word, known)
    }

    /// Whether no problem has been found.
    pub fn is_sound(&self) -> bool {
        self.problems.borrow().found.is_empty()
    }

    /// Problems and warnings, each in the order of the document.
    pub fn into_parts(self) -> (Vec<Problem>, Vec<Problem>) {
        let hint = "fix these and validate again";
        let problems = self.problems.into_inner().sorted(&MORE_PROBLEMS, "errors", hint);
        (problems, self.warnings.into_inner().sorted(&MORE_WARNINGS, "warnings", hint))
    }
}

/// Adds to a problem about a text with placeholders, if it has no other hint, that the placeholders are not replaced here. Where
/// they are replaced, the problem is an expression (P04x) or a value that does not fit (P053).
fn with_placeholder_hint(problem: Problem) -> Problem {
    let found = problem.message.split("; expected").next().unwrap_or_default();
    let written = problem.value.as_ref().and_then(Value::as_str).unwrap_or(found);
    let replaced = problem.code.starts_with("P04") || problem.code == "P053";
    let is_meant = written.contains("{{") && problem.hint.is_none() && !replaced;
    if is_meant { problem.with_hint("no `{{ }}` is replaced here: write the value itself") } else { problem }
}

/// Returns the final entry of a list that was cut at [`MAX_PROBLEMS`] problems.
#[must_use]
pub fn more(entry: &Entry, things: &str, hint: &str) -> Problem {
    let message =
        format!("more than {MAX_PROBLEMS} {things}; expected fewer, and the rest was not looked for");
    Problem::new(entry, &Path::root(), Span::default(), message).with_hint(hint)
}

impl List {
    /// Whether one more was found than is kept.
    fn is_full(&self) -> bool {
        self.found.len() > MAX_PROBLEMS
    }

    fn add(&mut self, problem: Problem) {
        if self.is_full() {
            return;
        }
        let what = problem.message.split("; expected").next().unwrap_or_default().to_owned();
        let identity = (problem.code, problem.path.clone(), problem.span.start, what);
        if self.seen.insert(identity) {
            self.found.push(problem);
        }
    }

    /// Stable: without positions the order of discovery stays.
    fn sorted(mut self, entry: &Entry, things: &str, hint: &str) -> Vec<Problem> {
        let is_full = self.is_full();
        self.found.truncate(MAX_PROBLEMS);
        self.found.sort_by_key(|problem| (problem.line, problem.column));
        self.found.extend(is_full.then(|| more(entry, things, hint)));
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_end_when_a_document_has_had_enough() {
        let report = Report::default();
        let known: Vec<String> = (0..10_000).map(|n| format!("task-number-{n}")).collect();
        let hint = || report.did_you_mean("task-numbr-17", known.iter().map(String::as_str));
        let hints = (0..1000).filter_map(|_| hint()).count();
        assert_eq!(hints, MAX_CANDIDATES / known.len());
        assert_eq!(report.looked_at.get(), MAX_CANDIDATES);
    }
}
