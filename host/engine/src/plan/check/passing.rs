//! Whether what is passed by reference can fit what it is passed to: the types of both are known before any run.

use crate::{
    document::{ParameterDoc, ParametersDoc, ReadAt, SourceDoc, ValueDoc},
    plan::{ParameterType, resolve::index::Index},
    value::Value,
};

use super::{kinds::ValueDomain, visible::Visible};

/// Reports the arguments that are a path whose values never fit the input of their name; they see `scope`.
pub(super) fn check_arguments(
    index: &Index<'_>,
    scope: &Visible<'_>,
    arguments: &ParametersDoc,
    inputs: &ParametersDoc,
) {
    for argument in &arguments.list {
        if let Some(input) = inputs.find(&argument.name.value) {
            check(index, scope, argument, input.kind, &input.allowed);
        }
    }
}

/// Reports the parameters that take their value from a path whose values never fit their own type.
pub(super) fn check_declared(index: &Index<'_>, scope: &Visible<'_>, parameters: &ParametersDoc) {
    for parameter in &parameters.list {
        check(index, scope, parameter, parameter.kind, &parameter.allowed);
    }
}

fn check(
    index: &Index<'_>,
    scope: &Visible<'_>,
    source: &ParameterDoc,
    kind: ParameterType,
    allowed: &[Value],
) {
    for found in paths(source) {
        let path: Vec<&str> = found.read.path.iter().map(|segment| &**segment).collect();
        let Some(known) = scope.known(&path) else { continue };
        if let Some((entry, expected)) = known.never_fits(kind, allowed) {
            let message = format!("`{}` is {}; expected {expected}", path.join("."), described(&known));
            index.report.at(entry, &found.site(), message);
        }
    }
}

/// Reports the workflow's parameters that never fit the entrypoint's input of their name.
pub(super) fn check_root(index: &Index<'_>, inputs: &ParametersDoc) {
    for parameter in &index.doc.spec.arguments.list {
        let name = &parameter.name;
        let Some(input) = inputs.find(&name.value) else { continue };
        let known = ValueDomain::declared(parameter);
        if let Some((entry, expected)) = known.never_fits(input.kind, &input.allowed) {
            let message = format!(
                "parameter `{}` is {}; expected {expected}, as the entrypoint's input of this name",
                name.value,
                described(&known)
            );
            index.report.at(entry, &name.site, message);
        }
    }
}

/// The sources that are a path and nothing more.
fn paths(source: &ParameterDoc) -> impl Iterator<Item = ReadAt<'_>> {
    let is_path = |value: &&ValueDoc| value.value.as_expr().is_some_and(|expr| expr.as_path().is_some());
    let written = source.value.iter().chain(&source.default).filter(is_path).flat_map(ValueDoc::reads);
    let from = source.value_from.iter().filter_map(|source| match source {
        SourceDoc::Expression(expr) if expr.expr.as_path().is_some() => Some(expr.reads()),
        SourceDoc::Expression(_) | SourceDoc::Secret(_) => None,
    });
    written.chain(from.flatten())
}

fn described(known: &ValueDomain<'_>) -> String {
    if known.allowed.is_empty() { known.kind.described() } else { ParameterType::one_of(&known.allowed) }
}
