//! One parameter: an input, an output or an argument.

use serde_json::{Value as Json, json};

use crate::{
    document::{
        ValueDoc,
        expression::{EXPRESSION, VALUE},
        name::{PARAMETER_NAME, check_parameter_name},
    },
    form::{
        AnyField as _, BOOLEAN, Cursor, Defs, Field, Form, Name, Object, Refusal, Report, Rule, Site, TEXT,
        Table, When, Words, word,
    },
    path::Path,
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
    /// Where it is declared.
    pub(crate) path: Path,
    pub(crate) kind: ParameterType,
    pub(crate) value: Option<ValueDoc>,
    pub(crate) value_from: Option<SourceDoc>,
    pub(crate) default: Option<ValueDoc>,
    pub(crate) allowed: Vec<Value>,
    /// Whether any source is written, readable or not.
    pub(crate) has_source: bool,
}

/// How the parameters of `inputs`, `outputs` or `arguments` are written.
pub(super) struct Entries {
    /// An element of a list.
    item: &'static Table,
    /// A member of a map, under its name.
    member: &'static Table,
    value_from: &'static Field<SourceDoc>,
    /// Whether the plain value of a member is an expression.
    calculated: bool,
}

pub(super) static INPUT: Entries =
    Entries { item: &INPUT_TABLE, member: &NAMED_INPUT, value_from: &VALUE_FROM, calculated: false };

pub(super) static OUTPUT: Entries =
    Entries { item: &OUTPUT_TABLE, member: &NAMED_OUTPUT, value_from: &OUTPUT_FROM, calculated: true };

pub(super) static ARGUMENT: Entries =
    Entries { item: &ARGUMENT_TABLE, member: &NAMED_ARGUMENT, value_from: &VALUE_FROM, calculated: false };

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
    ARGUMENT_RULES,
);

static NAMED_INPUT: Table = Table::closed(
    "namedInput",
    "An input parameter in a map of `phasm/v1`: an `input` whose name is its key.",
    &[&TYPE, &VALUE_FIELD, &VALUE_FROM, &DEFAULT, &ENUM, &RAW, &DESCRIPTION],
    &[NAMED_BY_ITS_KEY, Rule::Stated(types)],
);

static NAMED_OUTPUT: Table = Table::closed(
    "namedOutput",
    "An output parameter in a map of `phasm/v1`: an `output` whose name is its key.",
    &[&TYPE, &VALUE_FIELD, &OUTPUT_FROM, &DEFAULT, &ENUM, &RAW, &DESCRIPTION],
    &[NAMED_BY_ITS_KEY, Rule::Stated(types)],
);

static NAMED_ARGUMENT: Table = Table::closed(
    "namedArgument",
    "An argument in a map of `phasm/v1`: an `argument` whose name is its key.",
    &[&TYPE, &VALUE_FIELD, &VALUE_FROM, &ENUM, &RAW, &DESCRIPTION],
    &[NAMED_BY_ITS_KEY, NEEDS_A_VALUE, NO_DEFAULT, Rule::Stated(types)],
);

const ARGUMENT_RULES: &[Rule] = &[NEEDS_A_VALUE, NO_DEFAULT, Rule::Stated(types)];

const NEEDS_A_VALUE: Rule = Rule::Needed {
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

const NAMED_BY_ITS_KEY: Rule = Rule::Refused(Refusal {
    fields: &["name"],
    when: When::Always,
    entry: &shape::NOT_ALLOWED,
    why: "in a map of parameters; expected the name as the key",
    hint: "write `NAME: {type: …}`, or a list: `- {name: NAME, type: …}`",
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

impl Entries {
    /// Reads an element of a list.
    pub(super) fn item(&self, cursor: &Cursor<'_>, report: &Report) -> Option<ParameterDoc> {
        let object = cursor.object(self.item, report)?;
        ParameterDoc::read(&object, object.optional(&NAME), self.value_from)
    }

    /// Reads a member of `parameters`: an object has its fields, null declares it, anything else is its value.
    pub(super) fn member(&self, key: &Key, cursor: &Cursor<'_>, report: &Report) -> Option<ParameterDoc> {
        match &cursor.tree.node {
            TreeNode::Object(_) => {
                let name = named(key, cursor, report);
                ParameterDoc::read(&cursor.object(self.member, report)?, Some(name), self.value_from)
            }
            TreeNode::Null => Some(ParameterDoc::plain(named(key, cursor, report), cursor)),
            TreeNode::Bool(_) | TreeNode::Number(_) | TreeNode::String(_) | TreeNode::Array(_) => {
                self.plain(key, cursor, report)
            }
        }
    }

    /// Reads a member that is the value of the parameter, whatever it is; that of an output is an expression.
    pub(super) fn plain(&self, key: &Key, cursor: &Cursor<'_>, report: &Report) -> Option<ParameterDoc> {
        let declared = ParameterDoc::plain(named(key, cursor, report), cursor);
        if !self.calculated {
            return Some(ParameterDoc {
                value: Some(VALUE.read(cursor, report)?),
                has_source: true,
                ..declared
            });
        }
        let text = matches!(cursor.tree.node, TreeNode::String(_));
        if !text {
            let problem = cursor.problem(
                &shape::WRONG_TYPE,
                format!("found {}; expected an expression, as text", cursor.tree.to_value().type_name()),
            );
            let hint = format!("for a constant write `parameters: {{{}: {{value: …}}}}`", key.name);
            report.problem(problem.with_hint(hint));
            return None;
        }
        let source = SourceDoc::Expression(EXPRESSION.read(cursor, report)?);
        Some(ParameterDoc { value_from: Some(source), has_source: true, ..declared })
    }

    pub(super) fn item_schema(&self, defs: &mut Defs) -> Json {
        defs.object(self.item)
    }

    /// Returns the schema of the map of `parameters`.
    pub(super) fn map_schema(&self, defs: &mut Defs) -> Json {
        let member = defs.object(self.member);
        let plain = json!({ "type": if self.calculated { json!(["string", "null"]) } else {
            json!(["null", "boolean", "number", "string", "array"])
        } });
        json!({
            "type": "object",
            "propertyNames": PARAMETER_NAME.schema(defs),
            "additionalProperties": { "anyOf": [member, plain] },
        })
    }

    /// Returns the schema of a map of names and values.
    pub(super) fn plain_schema(&self, defs: &mut Defs) -> Json {
        let value = if self.calculated { json!({ "type": "string" }) } else { json!({}) };
        json!({
            "type": "object",
            "not": { "anyOf": [{ "required": ["parameters"] }, { "required": ["artifacts"] }] },
            "propertyNames": PARAMETER_NAME.schema(defs),
            "additionalProperties": value,
        })
    }
}

/// Returns the name that a key is.
fn named(key: &Key, cursor: &Cursor<'_>, report: &Report) -> Name {
    let name = Name { value: key.name.clone(), site: Site { path: cursor.path.clone(), span: key.span } };
    check_parameter_name(&name, report);
    name
}

impl ParameterDoc {
    fn read(object: &Object<'_, '_>, name: Option<Name>, value_from: &Field<SourceDoc>) -> Option<Self> {
        let kind = object.or_default(&TYPE);
        let raw = object.or_default(&RAW);
        object.optional(&DESCRIPTION);
        let allowed = object.optional(&ENUM).unwrap_or_default();
        check_allowed(object, kind);
        let parameter = Self {
            name: name?,
            path: object.site.path.clone(),
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

    /// Declares a parameter of any type, without a value.
    fn plain(name: Name, cursor: &Cursor<'_>) -> Self {
        Self {
            name,
            path: cursor.path.clone(),
            kind: ParameterType::Any,
            value: None,
            value_from: None,
            default: None,
            allowed: Vec::new(),
            has_source: false,
        }
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
