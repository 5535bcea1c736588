//! One parameter: an input, an output or an argument.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::{
    document::{
        ExprDoc, ValueDoc,
        expression::{EXPRESSION, VALUE},
        name::{PARAMETER_NAME, check_parameter_name},
    },
    form::{
        AnyField as _, BOOLEAN, Cursor, Defs, Field, Form, Name, Object, Refusal, Report, Rule, Site, TEXT,
        Table, When, Words, word,
    },
    problem::codes::shape,
    settings::ParameterType,
    tree::{Key, TreeNode},
    value::Value,
};

use super::{
    check_literal,
    source::{SOURCE, SOURCE_OF_OUTPUT, SourceDoc},
};

/// One parameter or argument.
#[derive(Clone, Debug)]
pub(crate) struct ParameterDoc {
    pub(crate) name: Name,
    /// Place of the whole.
    pub(crate) site: Site,
    pub(crate) kind: ParameterType,
    pub(crate) value: Option<ValueDoc>,
    pub(crate) value_from: Option<SourceDoc>,
    pub(crate) default: Option<ValueDoc>,
    pub(crate) allowed: Vec<Value>,
    /// `description`.
    pub(crate) description: Option<Arc<str>>,
    /// Whether any source is written, readable or not.
    pub(crate) has_source: bool,
}

/// The ways in which a parameter is written.
pub(super) struct Spellings {
    /// Form of an element of a list.
    pub(super) listed: Form<ParameterDoc>,
    /// Under its name, as an object with the other fields.
    table: &'static Table,
    value_from: &'static Field<SourceDoc>,
    /// The field that a value has that stands alone under the name.
    alone: Meaning,
}

/// Meaning of a value that stands alone under a parameter's name.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// The `value` of an argument, also null.
    Argument,
    /// The `value` of an input, and null declares the name only.
    Input,
    /// The `default`, and null declares the name only.
    Default,
    /// An expression, and null declares the name only.
    Expression,
}

pub(super) static INPUT: Spellings = Spellings {
    listed: Form::new(
        |cursor, report| ParameterDoc::listed(&cursor.object(&INPUT_TABLE, report)?, &VALUE_FROM),
        |defs| defs.object(&INPUT_TABLE),
    ),
    table: &NAMED_INPUT_TABLE,
    value_from: &VALUE_FROM,
    alone: Meaning::Default,
};

pub(super) static OUTPUT: Spellings = Spellings {
    listed: Form::new(
        |cursor, report| ParameterDoc::listed(&cursor.object(&OUTPUT_TABLE, report)?, &OUTPUT_FROM),
        |defs| defs.object(&OUTPUT_TABLE),
    ),
    table: &NAMED_OUTPUT_TABLE,
    value_from: &OUTPUT_FROM,
    alone: Meaning::Expression,
};

pub(super) static ARGUMENT: Spellings = Spellings {
    listed: Form::new(
        |cursor, report| ParameterDoc::listed(&cursor.object(&ARGUMENT_TABLE, report)?, &VALUE_FROM),
        |defs| defs.object(&ARGUMENT_TABLE),
    ),
    table: &NAMED_ARGUMENT_TABLE,
    value_from: &VALUE_FROM,
    alone: Meaning::Argument,
};

impl Spellings {
    /// Reads a parameter that stands under its name.
    pub(super) fn named(&self, key: &Key, cursor: &Cursor<'_>, report: &Report) -> Option<ParameterDoc> {
        if !cursor.is_object() {
            return self.alone.read(key, cursor, report);
        }
        let object = cursor.object(self.table, report)?;
        ParameterDoc::read(&object, self.value_from, Some(name_of(key, cursor, report)))
    }

    pub(super) fn schema_of_named(&self, defs: &mut Defs) -> Json {
        json!({
            "if": { "type": "object" },
            "then": defs.object(self.table),
            "else": self.alone.schema(defs),
        })
    }
}

impl Meaning {
    /// Reads a value that stands alone under the name of a parameter.
    pub(super) fn read(self, key: &Key, cursor: &Cursor<'_>, report: &Report) -> Option<ParameterDoc> {
        let bare = ParameterDoc::bare(name_of(key, cursor, report), cursor.site());
        if cursor.is_null() && !matches!(self, Self::Argument) {
            return Some(bare);
        }
        let bare = ParameterDoc { has_source: true, ..bare };
        Some(match self {
            Self::Argument | Self::Input if is_long_form(cursor) => {
                let message = "`raw` and `value` under the name of a parameter; expected its value alone";
                let hint = format!("write `parameters: {{{}: {{raw: …, value: …}}}}`", key.name);
                report.problem(cursor.problem(&shape::NOT_ALLOWED, message).with_hint(hint));
                bare
            }
            Self::Argument | Self::Input => ParameterDoc { value: VALUE.read(cursor, report), ..bare },
            Self::Default => ParameterDoc { default: VALUE.read(cursor, report), ..bare },
            Self::Expression if cursor.is_object() => {
                let problem = cursor.mismatch("an expression, as text");
                let hint = format!("declare a type or more as `parameters: {{{}: {{type: …}}}}`", key.name);
                report.problem(problem.with_hint(hint));
                return None;
            }
            Self::Expression => {
                let source: Option<ExprDoc> = EXPRESSION.read(cursor, report);
                ParameterDoc { value_from: source.map(SourceDoc::Expression), ..bare }
            }
        })
    }

    pub(super) fn schema(self, defs: &mut Defs) -> Json {
        match self {
            Self::Argument | Self::Input | Self::Default => VALUE.schema(defs),
            Self::Expression => json!({ "anyOf": [EXPRESSION.schema(defs), { "type": "null" }] }),
        }
    }
}

/// Whether a value has the members of an entry with a raw value, and no others: it is taken for one, and not for an object to pass.
fn is_long_form(cursor: &Cursor<'_>) -> bool {
    let count = if let TreeNode::Object(members) = &cursor.tree.node { members.len() } else { 0 };
    count == 2 && cursor.has("raw") && cursor.has("value")
}

fn name_of(key: &Key, cursor: &Cursor<'_>, report: &Report) -> Name {
    let site = Site { path: cursor.path.clone(), span: key.span };
    let name = Name { value: key.name.clone(), site };
    check_parameter_name(&name, report);
    name
}

static INPUT_TABLE: Table = Table::closed(
    "input",
    "An input parameter. Its value is the first of these that is not null: the argument's `value` and \
     `valueFrom`, then its own `value`, `valueFrom` and `default`.",
    &[&NAME, &TYPE, &VALUE_FIELD, &VALUE_FROM, &DEFAULT, &ENUM, &RAW, &DESCRIPTION],
    &[Rule::Stated(types)],
);

static NAMED_INPUT_TABLE: Table = Table::closed(
    "namedInput",
    "An input parameter under its name.",
    &[&TYPE, &VALUE_FIELD, &VALUE_FROM, &DEFAULT, &ENUM, &RAW, &DESCRIPTION],
    &[Rule::Stated(types)],
);

static OUTPUT_TABLE: Table = Table::closed(
    "output",
    "An output parameter: the result of this name, else `value`, `valueFrom` or `default`.",
    &[&NAME, &TYPE, &VALUE_FIELD, &OUTPUT_FROM, &DEFAULT, &ENUM, &RAW, &DESCRIPTION],
    &[Rule::Stated(types)],
);

static NAMED_OUTPUT_TABLE: Table = Table::closed(
    "namedOutput",
    "An output parameter under its name.",
    &[&TYPE, &VALUE_FIELD, &OUTPUT_FROM, &DEFAULT, &ENUM, &RAW, &DESCRIPTION],
    &[Rule::Stated(types)],
);

static ARGUMENT_TABLE: Table = Table::closed(
    "argument",
    "A value for an input of the called template; `value` takes precedence over `valueFrom`.",
    &[&NAME, &TYPE, &VALUE_FIELD, &VALUE_FROM, &ENUM, &RAW, &DESCRIPTION],
    &[VALUE_OF_ARGUMENT, NO_DEFAULT, Rule::Stated(types)],
);

static NAMED_ARGUMENT_TABLE: Table = Table::closed(
    "namedArgument",
    "A value for an input of the called template, under the input's name.",
    &[&TYPE, &VALUE_FIELD, &VALUE_FROM, &ENUM, &RAW, &DESCRIPTION],
    &[VALUE_OF_ARGUMENT, NO_DEFAULT, Rule::Stated(types)],
);

const VALUE_OF_ARGUMENT: Rule = Rule::Needed {
    field: "value",
    when: When::Without(&["valueFrom", "default"]),
    expected: "`value` or `valueFrom`",
};

const NO_DEFAULT: Rule = Rule::Refused(Refusal {
    fields: &["default"],
    when: When::Always,
    entry: &shape::NOT_ALLOWED,
    why: "in an argument; expected a value",
    hint: "write `value`, or declare the default where the template declares the input",
});

static NAME: Field<Name> = Field::required(
    "name",
    "the parameter's name",
    PARAMETER_NAME,
    "Name of the parameter: letters, digits, `_` and, not first, `-`.",
);

static TYPE: Field<ParameterType> = Field::optional(
    "type",
    word::<ParameterType>(),
    "Type of its values; checked here and when a value is bound. Nothing is converted, 1.0 is an integer, null always fits.",
)
.or("any");

static VALUE_FIELD: Field<ValueDoc> =
    Field::optional("value", VALUE, "The value; its strings may hold `{{ }}` at any depth.");

static VALUE_FROM: Field<SourceDoc> =
    Field::optional("valueFrom", SOURCE, "Where the value comes from when the task is ready.");

static OUTPUT_FROM: Field<SourceDoc> =
    Field::optional("valueFrom", SOURCE_OF_OUTPUT, "Where the value comes from when the work has ended.");

static DEFAULT: Field<ValueDoc> = Field::optional(
    "default",
    VALUE,
    "The value if nothing else gives one; its strings may hold `{{ }}` at any depth.",
);

static ENUM: Field<Vec<Value>> = Field::optional(
    "enum",
    Form::new(allowed, |_| json!({ "type": "array", "minItems": 1 })),
    "The only values it may have, each of its type.",
);

static RAW: Field<bool> =
    Field::optional("raw", BOOLEAN, "Whether `{{ }}` in its value and default is left as it is.").or("false");

static DESCRIPTION: Field<Name> = Field::optional("description", TEXT, "Description for people.");

impl Words for ParameterType {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("string", Self::String),
        ("number", Self::Number),
        ("integer", Self::Integer),
        ("boolean", Self::Boolean),
        ("object", Self::Object),
        ("array", Self::Array),
        ("any", Self::Any),
        ("int", Self::Integer),
        ("bool", Self::Boolean),
        ("float", Self::Number),
    ];
}

/// Literals fit the declared type; a text with a placeholder may become anything.
fn types(defs: &mut Defs) -> Json {
    defs.named("parameterTypes", |_| {
        let rule = |kind: ParameterType| {
            let words = ParameterType::WORDS.iter().filter(|(_, meaning)| *meaning == kind);
            let words: Vec<_> = words.map(|(word, _)| *word).collect();
            let literal = json!({ "type": [kind.as_str(), "null"] });
            let value = json!({ "anyOf": [literal, { "type": "string", "pattern": r"\{\{" }] });
            json!({
                "if": { "properties": { "type": { "enum": words } }, "required": ["type"] },
                "then": { "properties": { "value": value, "default": value, "enum": { "items": literal } } },
            })
        };
        use ParameterType::{Array, Boolean, Integer, Number, Object, String};
        let rules = [String, Number, Integer, Boolean, Object, Array].map(rule);
        json!({ "allOf": rules })
    })
}

impl ParameterDoc {
    /// A parameter of which nothing but the name is written.
    fn bare(name: Name, site: Site) -> Self {
        Self {
            name,
            site,
            kind: ParameterType::Any,
            value: None,
            value_from: None,
            default: None,
            allowed: Vec::new(),
            description: None,
            has_source: false,
        }
    }

    fn listed(object: &Object<'_, '_>, value_from: &Field<SourceDoc>) -> Option<Self> {
        let name = object.optional(&NAME);
        Self::read(object, value_from, name)
    }

    fn read(object: &Object<'_, '_>, value_from: &Field<SourceDoc>, name: Option<Name>) -> Option<Self> {
        let kind = object.or_default(&TYPE);
        let raw = object.or_default(&RAW);
        let description = object.optional(&DESCRIPTION).map(|text| text.value);
        let allowed = object.optional(&ENUM).unwrap_or_default();
        check_allowed(object, kind);
        let parameter = Self {
            name: name?,
            site: object.site.clone(),
            kind,
            value: value(object, &VALUE_FIELD, raw),
            value_from: object.optional(value_from),
            default: value(object, &DEFAULT, raw),
            allowed,
            description,
            has_source: ["value", "valueFrom", "default"].iter().any(|field| object.has(field)),
        };
        for value in [&parameter.value, &parameter.default].into_iter().flatten() {
            check_literal(value, kind, &parameter.allowed, object.report);
        }
        Some(parameter)
    }
}

fn value(object: &Object<'_, '_>, field: &Field<ValueDoc>, raw: bool) -> Option<ValueDoc> {
    if raw { ValueDoc::read(raw, &object.get(field.name())?, object.report) } else { object.optional(field) }
}

fn allowed(cursor: &Cursor<'_>, report: &Report) -> Option<Vec<Value>> {
    let items = cursor.items(report)?;
    if items.len() == 0 {
        report.problem(cursor.problem(&shape::EMPTY, "empty list; expected at least one value"));
    }
    Some(items.map(|item| item.tree.to_value()).collect())
}

fn check_allowed(object: &Object<'_, '_>, kind: ParameterType) {
    let items = object.get("enum").filter(Cursor::is_list).and_then(|list| list.items(object.report));
    for item in items.into_iter().flatten() {
        let value = item.tree.to_value();
        if !kind.accepts(&value) {
            let (entry, message) = kind.wrong(value.type_name());
            object.report.problem(item.problem(entry, message));
        }
    }
}

/// An input's declaration made of a member of seed 002's labelled form.
pub(in crate::document) fn labelled(name: Name, value: Option<ValueDoc>) -> ParameterDoc {
    let site = name.site.clone();
    ParameterDoc { value, has_source: true, ..ParameterDoc::bare(name, site) }
}
