//! The JSON Schema of a workflow, and what it finds.

use serde_json::Value as Json;

use crate::{
    form::{self, Report},
    problem::Problem,
    tree::Tree,
};

use super::workflow;

/// The JSON Schema (draft 2020-12) of a document.
///
/// It accepts what [`check_shape`] finds no problem in. Beyond what it says are duplicate keys (JSON has no opinion about
/// them), expressions, and a few sums and orders that JSON Schema cannot express: the length of a sequence from `start`
/// to `end`, that a schedule's ranges go upwards and its days come, that a month has a day, the bound of a duration's or size's text, that an `else` rule is the
/// last, that a value is one of its parameter's `enum`, that names are unique, and whether a text with `{{` is anything
/// but one placeholder (it may be more, or raw).
#[must_use]
pub fn schema() -> Json {
    form::schema(&workflow::WORKFLOW, "Phasm workflow")
}

/// The problems that show in single objects of a document: types, fields, words, numbers, names, and the fields' rules
/// about each other; and expressions that cannot be compiled.
///
/// What names refer to is not looked at, nor are duplicate keys.
#[must_use]
pub fn check_shape(tree: &Tree) -> Vec<Problem> {
    let report = Report::default();
    let _ = workflow::read(tree, &report);
    report.into_parts().0
}
