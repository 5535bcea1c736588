//! Parameters: declared by templates, inline tasks and the workflow, or passed as arguments.

mod entry;
mod source;

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    expr::ValueTemplate,
    form::{AnyField as _, Cursor, Field, Form, IGNORED, Object, Report, Table},
    problem::{
        Problem,
        codes::{names, shape},
    },
    settings::{ParameterType, TypeMismatch},
    tree::{Key, Tree, TreeNode},
    value::Value,
};

use super::ValueDoc;

use self::entry::{ARGUMENT, INPUT, OUTPUT};

pub(super) use self::entry::labelled;

pub(crate) use self::{entry::ParameterDoc, source::SourceDoc};

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

/// `inputs`: what is declared.
pub(super) const INPUTS: Form<ParametersDoc> = Form::new(
    |cursor, report| ParametersDoc::read(cursor, report, &INPUTS_TABLE, &INPUT_LIST),
    |defs| defs.object(&INPUTS_TABLE),
);

/// `outputs`: what is passed on.
pub(super) const OUTPUTS: Form<ParametersDoc> = Form::new(
    |cursor, report| ParametersDoc::read(cursor, report, &OUTPUTS_TABLE, &OUTPUT_LIST),
    |defs| defs.object(&OUTPUTS_TABLE),
);

/// `arguments`: what a call gives.
pub(super) const ARGUMENTS: Form<ParametersDoc> = Form::new(
    |cursor, report| ParametersDoc::read(cursor, report, &ARGUMENTS_TABLE, &ARGUMENT_LIST),
    |defs| defs.object(&ARGUMENTS_TABLE),
);

static INPUTS_TABLE: Table = Table::closed("inputs", "Input parameters.", &[&INPUT_LIST, &ARTIFACTS], &[]);

static OUTPUTS_TABLE: Table =
    Table::closed("outputs", "Output parameters.", &[&OUTPUT_LIST, &ARTIFACTS], &[]);

static ARGUMENTS_TABLE: Table =
    Table::closed("arguments", "The parameters that a call gives.", &[&ARGUMENT_LIST, &ARTIFACTS], &[]);

type Entries = Vec<Option<ParameterDoc>>;

static INPUT_LIST: Field<Entries> = Field::optional(
    "parameters",
    Form::new(
        |cursor, report| entries(&INPUT, cursor, report),
        |defs| json!({ "type": "array", "items": INPUT.schema(defs) }),
    ),
    "The declared inputs, each name once.",
);

static OUTPUT_LIST: Field<Entries> = Field::optional(
    "parameters",
    Form::new(
        |cursor, report| entries(&OUTPUT, cursor, report),
        |defs| json!({ "type": "array", "items": OUTPUT.schema(defs) }),
    ),
    "The outputs that are passed on, each name once; others are not.",
);

static ARGUMENT_LIST: Field<Entries> = Field::optional(
    "parameters",
    Form::new(
        |cursor, report| entries(&ARGUMENT, cursor, report),
        |defs| json!({ "type": "array", "items": ARGUMENT.schema(defs) }),
    ),
    "The arguments, each name once.",
);

static ARTIFACTS: Field<()> = Field::optional("artifacts", IGNORED, "Ignored, with a warning.");

fn entries(form: &Form<ParameterDoc>, cursor: &Cursor<'_>, report: &Report) -> Option<Entries> {
    if let TreeNode::Object(members) = &cursor.tree.node {
        report.problem(not_a_map(cursor, members.first()));
        return None;
    }
    Some(cursor.items(report)?.map(|item| form.read(&item, report)).collect())
}

/// Names and values, as other engines write parameters.
fn not_a_map(cursor: &Cursor<'_>, first: Option<&(Key, Tree)>) -> Problem {
    let problem = cursor.problem(&shape::WRONG_TYPE, "found object; expected a list");
    let (name, value) = first.map_or(("url", "…".to_owned()), |(key, value)| {
        (&*key.name, if is_plain(value) { value.to_value().to_json() } else { "…".to_owned() })
    });
    problem.with_hint(format!("write each as an element of a list: `- {{name: {name}, value: {value}}}`"))
}

fn is_plain(value: &Tree) -> bool {
    matches!(value.node, TreeNode::Null | TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_))
}

impl ParametersDoc {
    pub(crate) fn find(&self, name: &str) -> Option<&ParameterDoc> {
        self.list.iter().find(|parameter| &*parameter.name.value == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|parameter| &*parameter.name.value)
    }

    /// The field of `object`; absent is an empty list.
    pub(super) fn field(object: &Object<'_, '_>, field: &Field<Self>) -> Self {
        let unreadable = || Self { list: Vec::new(), sound: !object.has(field.name()) };
        object.optional(field).unwrap_or_else(unreadable)
    }

    fn read(
        cursor: &Cursor<'_>,
        report: &Report,
        table: &'static Table,
        list: &Field<Entries>,
    ) -> Option<Self> {
        let object = cursor.object(table, report)?;
        object.warn_ignored(&ARTIFACTS, "parameters only", "");
        if !object.has(list.name()) {
            return Some(Self::default());
        }
        let entries = object.optional(list)?;
        let sound = entries.iter().all(Option::is_some);
        let mut list: Vec<_> = entries.into_iter().flatten().collect();
        list.shrink_to_fit();
        check_names(&list, report);
        Some(Self { list, sound })
    }
}

fn check_names(list: &[ParameterDoc], report: &Report) {
    let mut seen = BTreeSet::new();
    for parameter in list {
        if !seen.insert(&parameter.name.value) {
            let message =
                format!("parameter `{}` occurs twice; expected each name once", parameter.name.value);
            report.problem(parameter.name.problem(&names::DUPLICATE_NAME, message));
        }
    }
}

/// Reports a literal that does not fit `kind` or `allowed`; null fits always (R-B3).
pub(crate) fn check_literal(value: &ValueDoc, kind: ParameterType, allowed: &[Value], report: &Report) {
    if let Some((entry, message)) = type_mismatch(&value.value, kind, allowed) {
        let problem = value.site.problem(entry, message);
        report.problem(match value.value.as_literal() {
            Some(literal) => problem.with_value(&literal.into()),
            None => problem,
        });
    }
}

/// Why `value`, once bound, can never fit; `None` if it may.
pub(crate) fn type_mismatch(
    value: &ValueTemplate,
    kind: ParameterType,
    allowed: &[Value],
) -> Option<TypeMismatch> {
    let (found, fits) = match value {
        ValueTemplate::Placeholder(_) => return None,
        ValueTemplate::Literal(literal) => return kind.type_mismatch(literal, allowed),
        ValueTemplate::Text(_) => ("text with placeholders, which is always text", ParameterType::String),
        ValueTemplate::Array(_) => ("array", ParameterType::Array),
        ValueTemplate::Object(_) => ("object", ParameterType::Object),
    };
    let fits = kind == ParameterType::Any || kind == fits;
    (!fits).then(|| kind.wrong(found))
}
