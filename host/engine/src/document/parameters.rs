//! Parameters: declared by templates, inline tasks and the workflow, or passed as arguments.

use std::collections::BTreeSet;

use crate::{
    expr::Interpolated,
    plan::{
        ParameterType, SecretRef,
        catalogue::{expressions, names, shape, warnings},
        types::Misfit,
    },
    value::Value,
};

use super::{
    ExprDoc, Report, ValueDoc,
    field::{boolean, check_parameter_name, some_text, text, word},
    walk::{Cursor, Name, Object},
};

/// One parameter or argument.
#[derive(Clone, Debug)]
pub(crate) struct ParameterDoc {
    pub(crate) name: Name,
    pub(crate) kind: ParameterType,
    pub(crate) value: Option<ValueDoc>,
    pub(crate) value_from: Option<SourceDoc>,
    pub(crate) default: Option<ValueDoc>,
    pub(crate) allowed: Vec<Value>,
    /// Whether any source is written, readable or not.
    pub(crate) has_source: bool,
}

/// `valueFrom`.
#[derive(Clone, Debug)]
pub(crate) enum SourceDoc {
    /// `parameter`, `path` or `expression`.
    Expression(ExprDoc),
    /// `secretKeyRef`.
    Secret(SecretRef),
}

/// `inputs`, `outputs` or `arguments`.
#[derive(Clone, Debug)]
pub(crate) struct ParametersDoc {
    pub(crate) list: Vec<ParameterDoc>,
    /// Whether every entry could be read; if not, nothing follows from a missing name.
    pub(crate) sound: bool,
}

impl Default for ParametersDoc {
    fn default() -> Self {
        Self { list: Vec::new(), sound: true }
    }
}

/// What a list of parameters is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Inputs,
    Outputs,
    Arguments,
}

const TYPES: [(&str, ParameterType); 10] = [
    ("string", ParameterType::String),
    ("number", ParameterType::Number),
    ("integer", ParameterType::Integer),
    ("boolean", ParameterType::Boolean),
    ("object", ParameterType::Object),
    ("array", ParameterType::Array),
    ("any", ParameterType::Any),
    ("int", ParameterType::Integer),
    ("bool", ParameterType::Boolean),
    ("float", ParameterType::Number),
];

impl ParametersDoc {
    pub(crate) fn find(&self, name: &str) -> Option<&ParameterDoc> {
        self.list.iter().find(|parameter| &*parameter.name.value == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|parameter| &*parameter.name.value)
    }

    /// The field `field` of `object`; absent is an empty list.
    pub(super) fn field(object: &mut Object<'_, '_>, field: &'static str, purpose: Use) -> Self {
        let Some(cursor) = object.get(field) else { return Self::default() };
        Self::read(&cursor, object.report, purpose).unwrap_or(Self { list: Vec::new(), sound: false })
    }

    fn read(cursor: &Cursor<'_>, report: &Report, purpose: Use) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let mut list = Self::default();
        if let Some(cursor) = object.get("parameters") {
            list = Self::entries(&cursor, report, purpose)?;
        }
        let _ = object.get("artifacts");
        if let Some(site) = object.key_site("artifacts") {
            report.warning(
                site.problem(&warnings::IGNORED, "`artifacts` is ignored; expected parameters only"),
            );
        }
        object.finish();
        Some(list)
    }

    fn entries(cursor: &Cursor<'_>, report: &Report, purpose: Use) -> Option<Self> {
        let items = cursor.items(report)?;
        let count = items.len();
        let list: Vec<_> = items.filter_map(|item| ParameterDoc::read(&item, report, purpose)).collect();
        let mut seen = BTreeSet::new();
        for parameter in &list {
            if !seen.insert(&parameter.name.value) {
                let message =
                    format!("parameter `{}` occurs twice; expected each name once", parameter.name.value);
                report.problem(parameter.name.problem(&names::DUPLICATE_NAME, message));
            }
        }
        Some(Self { sound: list.len() == count, list })
    }
}

impl ParameterDoc {
    fn read(cursor: &Cursor<'_>, report: &Report, purpose: Use) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let name = object.required("name", "the parameter's name", text);
        if let Some(name) = &name {
            check_parameter_name(name, report);
        }
        let kind = object.optional("type", |cursor, report| word(&TYPES, cursor, report)).unwrap_or_default();
        let raw = object.optional("raw", boolean).unwrap_or(false);
        object.optional("description", text);
        let has_source = ["value", "valueFrom", "default"].iter().any(|field| object.has(field));
        let value = object.optional("value", ValueDoc::read(raw));
        let value_from =
            object.optional("valueFrom", |cursor, report| SourceDoc::read(cursor, report, purpose));
        let default = Self::default_of(&mut object, raw, purpose);
        let allowed = object.optional("enum", |cursor, report| Self::allowed(cursor, kind, report));
        if purpose == Use::Arguments && !has_source {
            let message = "missing field `value`; expected `value` or `valueFrom`";
            report.at(&shape::MISSING_FIELD, &object.site.missing("value"), message);
        }
        object.finish();
        let allowed = allowed.unwrap_or_default();
        let parameter = Self { name: name?, kind, value, value_from, default, allowed, has_source };
        for value in [&parameter.value, &parameter.default].into_iter().flatten() {
            check_literal(value, kind, &parameter.allowed, report);
        }
        Some(parameter)
    }

    fn default_of(object: &mut Object<'_, '_>, raw: bool, purpose: Use) -> Option<ValueDoc> {
        if purpose == Use::Arguments {
            let hint = "write `value`, or declare the default where the template declares the input";
            object.refuse(&["default"], &shape::NOT_ALLOWED, "in an argument; expected a value", hint);
            return None;
        }
        object.optional("default", ValueDoc::read(raw))
    }

    fn allowed(cursor: &Cursor<'_>, kind: ParameterType, report: &Report) -> Option<Vec<Value>> {
        let items = cursor.items(report)?;
        if items.len() == 0 {
            report.problem(cursor.problem(&shape::EMPTY, "empty list; expected at least one value"));
        }
        let mut allowed = Vec::with_capacity(items.len());
        for item in items {
            let value = item.tree.to_value();
            if !kind.accepts(&value) {
                let (entry, message) = kind.wrong(value.type_name());
                report.problem(item.problem(entry, message));
            }
            allowed.push(value);
        }
        Some(allowed)
    }
}

/// Reports a literal that does not fit `kind` or `allowed`; null fits always (SPEC section 7).
pub(crate) fn check_literal(value: &ValueDoc, kind: ParameterType, allowed: &[Value], report: &Report) {
    if let Some((entry, message)) = misfit_of(&value.value, kind, allowed) {
        let problem = value.site.problem(entry, message);
        report.problem(match value.value.as_literal() {
            Some(literal) => problem.with_value(&literal.into()),
            None => problem,
        });
    }
}

/// Why `value`, once bound, can never fit; `None` if it may.
pub(crate) fn misfit_of(value: &Interpolated, kind: ParameterType, allowed: &[Value]) -> Option<Misfit> {
    let (found, fits) = match value {
        Interpolated::Placeholder(_) => return None,
        Interpolated::Literal(literal) => return kind.misfit(literal, allowed),
        Interpolated::Text(_) => ("text with placeholders, which is always text", ParameterType::String),
        Interpolated::Array(_) => ("array", ParameterType::Array),
        Interpolated::Object(_) => ("object", ParameterType::Object),
    };
    let fits = kind == ParameterType::Any || kind == fits;
    (!fits).then(|| kind.wrong(found))
}

impl SourceDoc {
    fn read(cursor: &Cursor<'_>, report: &Report, purpose: Use) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let field = object.exactly_one(&["parameter", "path", "expression", "secretKeyRef"]);
        let source = match field {
            Some("secretKeyRef") if purpose == Use::Outputs => {
                let hint = "secrets reach executors as inputs only";
                object.refuse(
                    &["secretKeyRef"],
                    &shape::NOT_ALLOWED,
                    "in an output; expected another source",
                    hint,
                );
                None
            }
            Some("secretKeyRef") => object.optional("secretKeyRef", secret).map(Self::Secret),
            Some("expression") => object.optional("expression", ExprDoc::read).map(Self::Expression),
            Some(field) => object.optional(field, reference).map(Self::Expression),
            None => None,
        };
        object.finish();
        source
    }
}

fn secret(cursor: &Cursor<'_>, report: &Report) -> Option<SecretRef> {
    let mut object = cursor.object(report)?;
    let name = object.required("name", "the secret's name", some_text);
    let key = object.required("key", "the key within the secret", some_text);
    object.finish();
    Some(SecretRef { name: name?.value, key: key?.value })
}

/// `valueFrom.parameter`: one path and nothing else.
fn reference(cursor: &Cursor<'_>, report: &Report) -> Option<ExprDoc> {
    let text = cursor.text(report)?;
    let path = text.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
    if is_reference(path) {
        return ExprDoc::read(cursor, report);
    }
    let message = "no reference; expected a path such as `inputs.parameters.url` or `tasks.fetch.outputs.parameters.body`";
    let problem = cursor.problem(&expressions::REFERENCE, message);
    report.problem(problem.with_hint("write calculations as `expression`"));
    None
}

/// Words with dots between them, or in brackets and quotes.
fn is_reference(path: &str) -> bool {
    let starts_well = path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let brackets = path.contains('[');
    let allowed = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') || (brackets && "[]'\"".contains(c))
    };
    starts_well && path.contains('.') && path.chars().all(allowed)
}

/// An input's declaration made of a member of seed 002's labelled form.
pub(super) fn labelled(name: Name, value: Option<ValueDoc>) -> ParameterDoc {
    ParameterDoc {
        name,
        kind: ParameterType::Any,
        value,
        value_from: None,
        default: None,
        allowed: Vec::new(),
        has_source: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_paths() {
        for path in [
            "inputs.parameters.x",
            "tasks.a-b.outputs.parameters.y",
            "inputs.parameters['x-']",
            "loop.item.id",
        ] {
            assert!(is_reference(path), "{path}");
        }
        for path in ["", "x", "1.5", "a.b + 1", "a.b(c)", "a.b | lower", "'a'.b"] {
            assert!(!is_reference(path), "{path}");
        }
    }
}
