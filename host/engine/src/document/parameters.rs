//! Parameters: declared by templates, inline tasks and the workflow, or passed as arguments.

mod entry;
mod source;

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use crate::{
    expr::ValueTemplate,
    form::{AnyField as _, Cursor, Defs, Field, Form, IGNORED, Object, Report, Table},
    problem::{
        Problem,
        codes::{names, shape},
    },
    settings::{ParameterType, TypeMismatch},
    suggest::did_you_mean,
    tree::{Key, Tree, TreeNode},
    value::Value,
};

use super::{Dialect, ValueDoc};

use self::entry::{ARGUMENT, Entries, INPUT, OUTPUT};

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

/// `inputs`: the parameters that are declared.
pub(super) const INPUTS: Form<ParametersDoc> = Form::new(
    |cursor, report| ParametersDoc::read(cursor, report, &INPUTS_TABLE, &INPUT_LIST, &INPUT),
    |defs| either(&INPUTS_TABLE, &INPUT, defs),
);

/// `outputs`: the parameters that are passed on.
pub(super) const OUTPUTS: Form<ParametersDoc> = Form::new(
    |cursor, report| ParametersDoc::read(cursor, report, &OUTPUTS_TABLE, &OUTPUT_LIST, &OUTPUT),
    |defs| either(&OUTPUTS_TABLE, &OUTPUT, defs),
);

/// `arguments`: the values that a call gives.
pub(super) const ARGUMENTS: Form<ParametersDoc> = Form::new(
    |cursor, report| ParametersDoc::read(cursor, report, &ARGUMENTS_TABLE, &ARGUMENT_LIST, &ARGUMENT),
    |defs| either(&ARGUMENTS_TABLE, &ARGUMENT, defs),
);

/// `spec.parameters`: the parameters that are declared, without an object around them.
pub(super) const PARAMETERS: Form<ParametersDoc> = Form::new(
    |cursor, report| Some(ParametersDoc::new(entries(&INPUT, cursor, report)?, report)),
    |defs| list_or_map(&INPUT, defs),
);

static INPUTS_TABLE: Table = Table::closed("inputs", "Input parameters.", &[&INPUT_LIST, &ARTIFACTS], &[]);

static OUTPUTS_TABLE: Table =
    Table::closed("outputs", "Output parameters.", &[&OUTPUT_LIST, &ARTIFACTS], &[]);

static ARGUMENTS_TABLE: Table =
    Table::closed("arguments", "The parameters that a call gives.", &[&ARGUMENT_LIST, &ARTIFACTS], &[]);

type List = Vec<Option<ParameterDoc>>;

static INPUT_LIST: Field<List> = Field::optional(
    "parameters",
    Form::new(|cursor, report| entries(&INPUT, cursor, report), |defs| list_or_map(&INPUT, defs)),
    "The declared inputs, each name once; in `phasm/v1` also a map of names.",
);

static OUTPUT_LIST: Field<List> = Field::optional(
    "parameters",
    Form::new(|cursor, report| entries(&OUTPUT, cursor, report), |defs| list_or_map(&OUTPUT, defs)),
    "The outputs that are passed on, each name once; others are not. In `phasm/v1` also a map of names.",
);

static ARGUMENT_LIST: Field<List> = Field::optional(
    "parameters",
    Form::new(|cursor, report| entries(&ARGUMENT, cursor, report), |defs| list_or_map(&ARGUMENT, defs)),
    "The arguments, each name once; in `phasm/v1` also a map of names.",
);

static ARTIFACTS: Field<()> = Field::optional("artifacts", IGNORED, "Ignored, with a warning.");

fn list_or_map(kind: &'static Entries, defs: &mut Defs) -> Json {
    let list = json!({ "type": "array", "items": kind.item_schema(defs) });
    json!({ "anyOf": [list, kind.map_schema(defs)] })
}

/// Returns the schema of the object with `parameters`, and of the map of names and values.
fn either(table: &'static Table, kind: &'static Entries, defs: &mut Defs) -> Json {
    json!({ "anyOf": [defs.object(table), kind.plain_schema(defs)] })
}

fn entries(kind: &'static Entries, cursor: &Cursor<'_>, report: &Report) -> Option<List> {
    if let TreeNode::Object(members) = &cursor.tree.node {
        if !Dialect::of(report).short_forms {
            report.problem(not_a_map(cursor, members.first()));
            return None;
        }
        return Some(cursor.each_member(report)?.map(|(key, member)| kind.member(key, &member, report)).collect());
    }
    Some(cursor.items(report)?.map(|item| kind.item(&item, report)).collect())
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

    /// Reads members that are the values of inputs, as a labelled task has them.
    pub(super) fn of_members<'t>(
        members: impl Iterator<Item = (&'t Key, Cursor<'t>)>,
        report: &Report,
    ) -> Self {
        Self::new(members.map(|(key, value)| INPUT.plain(key, &value, report)).collect(), report)
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
        list: &Field<List>,
        kind: &'static Entries,
    ) -> Option<Self> {
        if is_plain_map(cursor, list, report) {
            let members = cursor.each_member(report)?;
            return Some(Self::new(members.map(|(key, value)| kind.plain(key, &value, report)).collect(), report));
        }
        let object = cursor.object(table, report)?;
        object.warn_ignored(&ARTIFACTS, "parameters only", "");
        if !object.has(list.name()) {
            return Some(Self::default());
        }
        Some(Self::new(object.optional(list)?, report))
    }

    fn new(entries: List, report: &Report) -> Self {
        let sound = entries.iter().all(Option::is_some);
        let mut list: Vec<_> = entries.into_iter().flatten().collect();
        list.shrink_to_fit();
        check_names(&list, report);
        Self { list, sound }
    }
}

/// Whether a map of names and values stands here, which only `phasm/v1` has. A list of parameters under a misspelt
/// `parameters` is none.
fn is_plain_map(cursor: &Cursor<'_>, list: &Field<List>, report: &Report) -> bool {
    let TreeNode::Object(members) = &cursor.tree.node else { return false };
    let is_long = |(key, value): &(Key, Tree)| {
        [list.name(), ARTIFACTS.name()].contains(&&*key.name)
            || (matches!(value.node, TreeNode::Array(_)) && did_you_mean(&key.name, [list.name()]).is_some())
    };
    Dialect::of(report).short_forms && !members.iter().any(is_long)
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
