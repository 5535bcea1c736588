//! The JSON Schema of a workflow, and what it finds.

use serde_json::{Value as Json, json};

use crate::{
    form::{Defs, Report, Variant, schema_with_variant},
    problem::Problem,
    tree::Tree,
};

use super::{
    dialect::{AETHER, Dialect, PHASM},
    workflow,
};

/// Returns the JSON Schema (draft 2020-12) of a document.
///
/// The schema accepts every document in which [`check_shape`] finds no problem. Some rules go beyond JSON Schema: duplicate keys
/// (JSON leaves them undefined), expressions, and a few sums and orders. The latter are the length of a sequence from `start` to
/// `end`, that a schedule's ranges go upwards and its days exist, that a month has a day, the bound of a duration's or size's
/// text, that an `else` rule is the last, that a value is one of its parameter's `enum`, that names are unique, and whether a
/// text with `{{` consists of exactly one placeholder (other text may surround the placeholder, or the text may be raw).
///
/// Definitions of `aether/v1` that differ from those of `phasm/v1` end with `-aether`. A file without either word is judged as one
/// of `phasm/v1`.
#[must_use]
pub fn schema() -> Json {
    let version =
        json!({ "properties": { "apiVersion": { "const": AETHER.name } }, "required": ["apiVersion"] });
    let variant = Variant { condition: version, name: "aether", defs: of_dialect(&AETHER) };
    schema_with_variant(&workflow::WORKFLOW, "Phasm workflow", of_dialect(&PHASM), variant)
}

fn of_dialect(dialect: &'static Dialect) -> Defs {
    Defs::within(dialect).setting_expressions(dialect.setting_expressions)
}

/// Finds the problems that show in single objects of a document: types, fields, words, numbers, names, and the rules among the
/// fields of one object; also expressions that do not compile.
///
/// References between names and duplicate keys are not checked.
#[must_use]
pub fn check_shape(tree: &Tree) -> Vec<Problem> {
    let report = Report::default();
    let _ = workflow::read(tree, &report);
    report.into_parts().0
}
