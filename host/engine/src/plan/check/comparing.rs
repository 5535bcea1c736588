//! Comparisons that can never be true: of a path whose values are known with a literal that is none of them.

use crate::{
    document::ComparisonAt,
    plan::{ParameterType, resolve::index::Index},
    problem::{
        codes::{expressions::IMPOSSIBLE_VALUE, warnings::NEVER_EQUAL},
        shortened,
    },
    suggest::did_you_mean,
    value::Value,
};

use super::visible::Visible;

/// Reports `found` if its literal is a value that its path never has: of a parameter it is a problem, as the document
/// itself says so; of what the engine supplies a warning.
pub(super) fn check(index: &Index<'_>, scope: &Visible<'_>, found: &ComparisonAt<'_>) {
    let path: Vec<&str> = found.subject.read.path.iter().map(|segment| &**segment).collect();
    let literal = &found.comparison.literal;
    let Some(known) = scope.known(&path) else { return };
    let Some((_, expected)) = known.kind.demand(literal, &known.allowed) else { return };
    let is_full =
        if known.is_parameter { index.report.is_full() } else { index.report.is_full_of_warnings() };
    if is_full {
        return;
    }
    let message = format!("`{}` is never {}; expected {expected}", path.join("."), quoted(literal));
    let hint = mended(literal, known.kind, &known.allowed);
    if known.is_parameter {
        index.report.problem(found.subject.site().problem(&IMPOSSIBLE_VALUE, message).with_hint_if(hint));
    } else {
        index.report.warning(found.subject.site().problem(&NEVER_EQUAL, message).with_hint_if(hint));
    }
}

fn quoted(literal: &Value) -> String {
    shortened(literal.clone()).to_json()
}

/// The literal that was probably meant.
fn mended(literal: &Value, kind: ParameterType, allowed: &[Value]) -> Option<String> {
    let fits = |value: &Value| kind.demand(value, allowed).is_none();
    let Some(text) = literal.as_str() else {
        return fits(&literal.to_json().into()).then(|| format!("write `'{literal}'`, in quotes"));
    };
    match Value::from_json(text).ok().filter(|value| !value.is_null() && fits(value)) {
        Some(value) => Some(format!("write `{value}`, without quotes")),
        None => did_you_mean(text, allowed.iter().filter_map(Value::as_str)),
    }
}
