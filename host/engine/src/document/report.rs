//! Where the checks put what they find.

use std::{cell::RefCell, collections::BTreeSet};

use crate::{plan::catalogue::Entry, problem::Problem};

use super::walk::Site;

/// All problems and warnings found so far.
#[derive(Default)]
pub(crate) struct Report {
    problems: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<Problem>>,
}

impl Report {
    /// Adds a problem. The same may be added again: a template is checked for every way it is reached.
    pub(crate) fn problem(&self, problem: Problem) {
        add(&self.problems, problem);
    }

    /// Adds a warning.
    pub(crate) fn warning(&self, warning: Problem) {
        add(&self.warnings, warning);
    }

    /// Adds a problem about a place, without a value or hint.
    pub(crate) fn at(&self, entry: &Entry, site: &Site, message: impl Into<String>) {
        self.problem(site.problem(entry, message));
    }

    /// Whether no problem has been found.
    pub(crate) fn is_sound(&self) -> bool {
        self.problems.borrow().is_empty()
    }

    /// Problems and warnings, each in the order of the document.
    pub(crate) fn into_parts(self) -> (Vec<Problem>, Vec<Problem>) {
        (sorted(self.problems), sorted(self.warnings))
    }
}

fn add(list: &RefCell<Vec<Problem>>, problem: Problem) {
    list.borrow_mut().push(problem);
}

fn sorted(list: RefCell<Vec<Problem>>) -> Vec<Problem> {
    let mut list = list.into_inner();
    // Stable: without positions the order of discovery stays.
    list.sort_by_key(|problem| (problem.line, problem.column));
    let mut seen = BTreeSet::new();
    list.retain(|problem| seen.insert(identity(problem)));
    list
}

/// What a template lacks it lacks at every call; only what is expected may differ from call to call.
fn identity(problem: &Problem) -> (&'static str, String, usize, String) {
    let what = problem.message.split("; expected").next().unwrap_or_default();
    (problem.code, problem.path.clone(), problem.span.start, what.to_owned())
}
