//! One parameter: an input, an output or an argument.

use serde_json::{Value as Json, json};

use crate::{
    document::{ValueDoc, expression::VALUE, name::PARAMETER_NAME},
    form::{
        AnyField as _, BOOLEAN, Cursor, Defs, Field, Form, Name, Object, Refusal, Report, Rule, TEXT, Table,
        When, Words, word,
    },
    problem::codes::shape,
    settings::ParameterType,
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
    pub(crate) kind: ParameterType,
    pub(crate) value: Option<ValueDoc>,
    pub(crate) value_from: Option<SourceDoc>,
    pub(crate) default: Option<ValueDoc>,
    pub(crate) allowed: Vec<Value>,
    /// Whether any source is written, readable or not.
    pub(crate) has_source: bool,
}

pub(super) const INPUT: Form<ParameterDoc> = Form::new(
    |cursor, report| ParameterDoc::read(&cursor.object(&INPUT_TABLE, report)?, &VALUE_FROM),
    |defs| defs.object(&INPUT_TABLE),
);

pub(super) const OUTPUT: Form<ParameterDoc> = Form::new(
    |cursor, report| ParameterDoc::read(&cursor.object(&OUTPUT_TABLE, report)?, &OUTPUT_FROM),
    |defs| defs.object(&OUTPUT_TABLE),
);

pub(super) const ARGUMENT: Form<ParameterDoc> = Form::new(
    |cursor, report| ParameterDoc::read(&cursor.object(&ARGUMENT_TABLE, report)?, &VALUE_FROM),
    |defs| defs.object(&ARGUMENT_TABLE),
);

static INPUT_TABLE: Table = Table::closed(
    "input",
    "An input parameter. Its value is the first of these that is not null: the argument's `value` and \
     `valueFrom`, then its own `value`, `valueFrom` and `default`.",
    &[&NAME, &TYPE, &VALUE_FIELD, &VALUE_FROM, &DEFAULT, &ENUM, &RAW, &DESCRIPTION],
    &[Rule::Stated(types)],
);

static OUTPUT_TABLE: Table = Table::closed(
    "output",
    "An output parameter: the result of this name, else `value`, `valueFrom` or `default`.",
    &[&NAME, &TYPE, &VALUE_FIELD, &OUTPUT_FROM, &DEFAULT, &ENUM, &RAW, &DESCRIPTION],
    &[Rule::Stated(types)],
);

static ARGUMENT_TABLE: Table = Table::closed(
    "argument",
    "A value for an input of the called template; `value` takes precedence over `valueFrom`.",
    &[&NAME, &TYPE, &VALUE_FIELD, &VALUE_FROM, &ENUM, &RAW, &DESCRIPTION],
    &[
        Rule::Needed {
            field: "value",
            when: When::Without(&["valueFrom", "default"]),
            expected: "`value` or `valueFrom`",
        },
        Rule::Refused(Refusal {
            fields: &["default"],
            when: When::Always,
            entry: &shape::NOT_ALLOWED,
            why: "in an argument; expected a value",
            hint: "write `value`, or declare the default where the template declares the input",
        }),
        Rule::Stated(types),
    ],
);

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
    fn read(object: &Object<'_, '_>, value_from: &Field<SourceDoc>) -> Option<Self> {
        let name = object.optional(&NAME);
        let kind = object.or_default(&TYPE);
        let raw = object.or_default(&RAW);
        object.optional(&DESCRIPTION);
        let allowed = object.optional(&ENUM).unwrap_or_default();
        check_allowed(object, kind);
        let parameter = Self {
            name: name?,
            kind,
            value: value(object, &VALUE_FIELD, raw),
            value_from: object.optional(value_from),
            default: value(object, &DEFAULT, raw),
            allowed,
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
