//! Parameters: declared by templates, inline tasks and the workflow, or passed as arguments.

mod entry;
mod source;

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use crate::{
    expr::ValueTemplate,
    form::{AnyField as _, Cursor, Defs, Field, Form, IGNORED, Object, Report, Site, Table},
    problem::{Problem, codes::names},
    settings::{ParameterType, TypeMismatch},
    tree::{Key, Tree, TreeNode},
    value::Value,
};

use super::{Dialect, ValueDoc, name::PARAMETER_NAME};

use self::entry::{ARGUMENT, INPUT, Meaning, OUTPUT, Spellings};

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
    |cursor, report| ParametersDoc::read(cursor, report, &INPUTS_GROUP),
    |defs| INPUTS_GROUP.schema(defs),
);

/// `outputs`: what is passed on.
pub(super) const OUTPUTS: Form<ParametersDoc> = Form::new(
    |cursor, report| ParametersDoc::read(cursor, report, &OUTPUTS_GROUP),
    |defs| OUTPUTS_GROUP.schema(defs),
);

/// `arguments`: what a call gives.
pub(super) const ARGUMENTS: Form<ParametersDoc> = Form::new(
    |cursor, report| ParametersDoc::read(cursor, report, &ARGUMENTS_GROUP),
    |defs| ARGUMENTS_GROUP.schema(defs),
);

/// `spec.parameters`: parameters of the workflow by name.
pub(super) const PARAMETERS: Form<ParametersDoc> = Form::new(
    |cursor, report| {
        if !Dialect::of(report).short_forms {
            // The object around it refuses the field.
            return Some(ParametersDoc { list: Vec::new(), sound: false });
        }
        Some(ParametersDoc::of(INPUT_LIST.read(cursor, report)?, cursor.is_list(), report))
    },
    |defs| INPUT_LIST.schema(defs),
);

/// Parameters of one kind, and how they are written.
struct Group {
    table: &'static Table,
    list: &'static Field<Entries>,
    /// Meaning of the members of the short form.
    short: Meaning,
    name: &'static str,
    /// How `aether/v1` writes an entry of the short form, behind its name.
    long: &'static str,
}

static INPUTS_GROUP: Group = Group {
    table: &INPUTS_TABLE,
    list: &INPUT_LIST,
    short: Meaning::Input,
    name: "inputs",
    long: "value: …",
};

static OUTPUTS_GROUP: Group = Group {
    table: &OUTPUTS_TABLE,
    list: &OUTPUT_LIST,
    short: Meaning::Expression,
    name: "outputs",
    long: "valueFrom: {expression: …}",
};

static ARGUMENTS_GROUP: Group = Group {
    table: &ARGUMENTS_TABLE,
    list: &ARGUMENT_LIST,
    short: Meaning::Argument,
    name: "arguments",
    long: "value: …",
};

impl Group {
    fn schema(&self, defs: &mut Defs) -> Json {
        let long = defs.object(self.table);
        if !Dialect::of_schema(defs).short_forms {
            return long;
        }
        let fields = self.table.names().map(|field| json!({ "required": [field] }));
        json!({
            "if": { "anyOf": fields.collect::<Vec<_>>() },
            "then": long,
            "else": by_name(&self.short.schema(defs), defs),
        })
    }

    /// Whether the members that stand at `cursor` are parameters: none is a field of the long form.
    fn is_short(&self, cursor: &Cursor<'_>) -> bool {
        let TreeNode::Object(members) = &cursor.tree.node else { return false };
        !members.is_empty() && !self.table.names().any(|field| cursor.has(field))
    }

    /// Reads parameters by name, or reports that the dialect has none.
    fn read_short(&self, cursor: &Cursor<'_>, report: &Report) -> Option<ParametersDoc> {
        let dialect = Dialect::of(report);
        let mut members = cursor.each_member(report)?;
        if dialect.short_forms {
            let entries = members.map(|(key, value)| self.short.read(key, &value, report)).collect();
            return Some(ParametersDoc::of(entries, false, report));
        }
        let (key, value) = members.next()?;
        let site = Site { path: value.path.clone(), span: key.span };
        let expected = format!("`parameters: [{{name: {}, {}}}]`", key.name, self.long);
        report.problem(dialect.problem(&format!("`{}` by name", self.name), &expected, &site));
        None
    }
}

/// An object with parameters under their names, each a value of this schema.
fn by_name(value: &Json, defs: &mut Defs) -> Json {
    json!({ "type": "object", "propertyNames": PARAMETER_NAME.schema(defs), "additionalProperties": value })
}

static INPUTS_TABLE: Table = Table::closed("inputs", "Input parameters.", &[&INPUT_LIST, &ARTIFACTS], &[]);

static OUTPUTS_TABLE: Table =
    Table::closed("outputs", "Output parameters.", &[&OUTPUT_LIST, &ARTIFACTS], &[]);

static ARGUMENTS_TABLE: Table =
    Table::closed("arguments", "The parameters that a call gives.", &[&ARGUMENT_LIST, &ARTIFACTS], &[]);

type Entries = Vec<Option<ParameterDoc>>;

static INPUT_LIST: Field<Entries> = Field::optional(
    "parameters",
    Form::new(|cursor, report| entries(&INPUT, cursor, report), |defs| schema_of_entries(&INPUT, defs)),
    "The declared inputs, each name once: a list, or in `phasm/v1` also an object with each under its name, where a value alone is \
     the default.",
);

static OUTPUT_LIST: Field<Entries> = Field::optional(
    "parameters",
    Form::new(|cursor, report| entries(&OUTPUT, cursor, report), |defs| schema_of_entries(&OUTPUT, defs)),
    "The outputs that are passed on, each name once; others are not. A list, or in `phasm/v1` also an object with each under its \
     name, where a text alone is an expression.",
);

static ARGUMENT_LIST: Field<Entries> = Field::optional(
    "parameters",
    Form::new(|cursor, report| entries(&ARGUMENT, cursor, report), |defs| schema_of_entries(&ARGUMENT, defs)),
    "The arguments, each name once: a list, or in `phasm/v1` also an object with each under its name.",
);

static ARTIFACTS: Field<()> = Field::optional("artifacts", IGNORED, "Ignored, with a warning.");

fn schema_of_entries(spellings: &Spellings, defs: &mut Defs) -> Json {
    let list = json!({ "type": "array", "items": spellings.listed.schema(defs) });
    if !Dialect::of_schema(defs).short_forms {
        return list;
    }
    let entry = spellings.schema_of_named(defs);
    json!({ "if": { "type": "object" }, "then": by_name(&entry, defs), "else": list })
}

fn entries(spellings: &Spellings, cursor: &Cursor<'_>, report: &Report) -> Option<Entries> {
    if let TreeNode::Object(members) = &cursor.tree.node {
        if !Dialect::of(report).short_forms {
            report.problem(not_a_map(cursor, members.first()));
            return None;
        }
        let named = |(key, value): (&Key, Cursor<'_>)| spellings.named(key, &value, report);
        return Some(cursor.each_member(report)?.map(named).collect());
    }
    Some(cursor.items(report)?.map(|item| spellings.listed.read(&item, report)).collect())
}

/// Names and values, as other engines write parameters.
fn not_a_map(cursor: &Cursor<'_>, first: Option<&(Key, Tree)>) -> Problem {
    let problem = cursor.mismatch("a list");
    let (name, value) = first.map_or(("url", "…".to_owned()), |(key, value)| {
        (&*key.name, if is_plain(value) { value.to_value().to_json() } else { "…".to_owned() })
    });
    problem.with_hint(format!(
        "write each as an element of a list: `- {{name: {name}, value: {value}}}`; files of `phasm/v1` may have objects"
    ))
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

    fn read(cursor: &Cursor<'_>, report: &Report, group: &Group) -> Option<Self> {
        if group.is_short(cursor) {
            return group.read_short(cursor, report);
        }
        let object = cursor.object(group.table, report)?;
        object.warn_ignored(&ARTIFACTS, "parameters only", "");
        let Some(parameters) = object.get(group.list.name()) else { return Some(Self::default()) };
        Some(Self::of(object.optional(group.list)?, parameters.is_list(), report))
    }

    /// Parameters of a list, whose names may occur twice, or of an object, whose keys are checked elsewhere.
    fn of(entries: Entries, is_list: bool, report: &Report) -> Self {
        let sound = entries.iter().all(Option::is_some);
        let mut list: Vec<_> = entries.into_iter().flatten().collect();
        list.shrink_to_fit();
        if is_list {
            check_names(&list, report);
        }
        Self { list, sound }
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
