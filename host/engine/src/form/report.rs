//! Where the checks put what they find.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
};

use crate::{
    problem::{Problem, codes::Entry},
    value::Value,
};

use super::Site;

/// Problems that one document can have; nobody reads more, and a hostile one shall not fill the memory.
const MOST: usize = 1000;

/// All problems and warnings found so far.
#[derive(Default)]
pub struct Report {
    problems: RefCell<List>,
    warnings: RefCell<List>,
    lost: Cell<bool>,
}

#[derive(Default)]
struct List {
    found: Vec<Problem>,
    seen: BTreeSet<Identity>,
}

/// What a template lacks it lacks at every call; only what is expected may differ from call to call.
type Identity = (&'static str, String, usize, String);

impl Report {
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

    /// Whether there are so many problems that no more are taken.
    pub fn is_full(&self) -> bool {
        self.problems.borrow().found.len() >= MOST
    }

    /// Whether no problem has been found.
    pub fn is_sound(&self) -> bool {
        self.problems.borrow().found.is_empty()
    }

    /// Problems and warnings, each in the order of the document.
    pub fn into_parts(self) -> (Vec<Problem>, Vec<Problem>) {
        (self.problems.into_inner().sorted(), self.warnings.into_inner().sorted())
    }
}

/// Says of a text with placeholders, where nobody has more to say, that they are not replaced. Where they are, what is
/// wrong is an expression (P04x).
fn with_placeholder_hint(problem: Problem) -> Problem {
    let found = problem.message.split("; expected").next().unwrap_or_default();
    let written = problem.value.as_ref().and_then(Value::as_str).unwrap_or(found);
    let is_meant = written.contains("{{") && problem.hint.is_none() && !problem.code.starts_with("P04");
    if is_meant { problem.with_hint("no `{{ }}` is replaced here: write the value itself") } else { problem }
}

impl List {
    fn add(&mut self, problem: Problem) {
        let what = problem.message.split("; expected").next().unwrap_or_default().to_owned();
        let identity = (problem.code, problem.path.clone(), problem.span.start, what);
        if self.found.len() < MOST && self.seen.insert(identity) {
            self.found.push(problem);
        }
    }

    /// Stable: without positions the order of discovery stays.
    fn sorted(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|problem| (problem.line, problem.column));
        self.found
    }
}
