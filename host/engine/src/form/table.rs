//! How values, fields and objects are written: the definitions that the reader goes by and that the JSON Schema is made
//! of. A field that is not defined here is unknown to both.

use serde_json::Value as Json;

use crate::{tree::Tree, value::Value};

use super::{Cursor, Defs, Report, Rule, setting};

/// How a value is written: what reads it, and the JSON Schema of what that takes.
pub struct Form<T> {
    read: fn(&Cursor<'_>, &Report) -> Option<T>,
    schema: fn(&mut Defs) -> Json,
    /// Whether an expression may stand for it, where the document has such.
    or_expression: bool,
}

/// A field of an object.
pub struct Field<T: 'static> {
    name: &'static str,
    form: Form<T>,
    /// Expected value for the message about a missing required field; absent for optional ones.
    expected: Option<&'static str>,
    /// The default as a document would write it: JSON, or else text.
    default: Option<&'static str>,
    /// Values that people write often, in the same way. Editors offer them.
    examples: &'static [&'static str],
    about: &'static str,
}

/// An object with fields of its own.
pub struct Table {
    /// Name of the type in the schema.
    pub name: &'static str,
    /// Purpose of the object, in one sentence.
    pub about: &'static str,
    /// Its fields, in the order of the documentation.
    pub fields: &'static [&'static dyn AnyField],
    /// Rules among its fields.
    pub rules: &'static [Rule],
    /// Further fields that are allowed in it.
    pub rest: Rest,
    /// Names from other engines, each with the name to use here.
    pub foreign: &'static [(&'static str, &'static str)],
    /// Hint for a text or number that is written in place of the object; empty if there is none.
    pub alone: &'static str,
}

/// Members of an object that are no fields of it.
#[derive(Clone, Copy, Debug)]
pub enum Rest {
    /// There are none.
    Unknown,
    /// They have names of this form and hold anything.
    Named(fn(&mut Defs) -> Json),
    /// They are anything.
    Anything,
}

/// The common interface of all fields, whatever their type.
pub trait AnyField: Sync {
    /// How it is written.
    fn name(&self) -> &'static str;
    /// Returns the expected value for the message about a missing field; `None` where the field is optional.
    fn expected(&self) -> Option<&'static str>;
    /// Returns the value that applies when the field is not written.
    fn default_value(&self) -> Option<Value>;
    /// Returns values that people write often.
    fn examples(&self) -> Vec<Value>;
    /// Returns the field's purpose, in one sentence.
    fn about(&self) -> &'static str;
    /// The JSON Schema of its value.
    fn schema(&self, defs: &mut Defs) -> Json;
}

impl<T> Form<T> {
    /// Creates a form from the function that reads a value and the JSON Schema of the values it accepts. `read` reports the
    /// problems.
    pub const fn new(read: fn(&Cursor<'_>, &Report) -> Option<T>, schema: fn(&mut Defs) -> Json) -> Self {
        Self { read, schema, or_expression: false }
    }

    /// Lets an expression stand for the value, in documents whose settings may be expressions.
    pub const fn or_expression(self) -> Self {
        Self { or_expression: true, ..self }
    }

    /// The value that stands at `cursor`, or a problem.
    pub fn read(&self, cursor: &Cursor<'_>, report: &Report) -> Option<T> {
        let read = if self.or_expression {
            setting::read(self.read, cursor, report)
        } else {
            (self.read)(cursor, report)
        };
        if read.is_none() {
            report.lose();
        }
        read
    }

    /// The JSON Schema of the values that are taken.
    pub fn schema(&self, defs: &mut Defs) -> Json {
        let plain = (self.schema)(defs);
        if self.or_expression { setting::schema(plain, defs) } else { plain }
    }
}

impl<T> Field<T> {
    /// A field that may be left out.
    pub const fn optional(name: &'static str, form: Form<T>, about: &'static str) -> Self {
        Self { name, form, expected: None, default: None, examples: &[], about }
    }

    /// That it is missing is a problem, which names what was `expected`.
    pub const fn required(
        name: &'static str,
        expected: &'static str,
        form: Form<T>,
        about: &'static str,
    ) -> Self {
        Self { expected: Some(expected), ..Self::optional(name, form, about) }
    }

    /// Gives it a default.
    pub const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// Gives it values that editors offer.
    pub const fn such_as(self, examples: &'static [&'static str]) -> Self {
        Self { examples, ..self }
    }

    /// The value that stands at `cursor`, or a problem.
    pub fn read(&self, cursor: &Cursor<'_>, report: &Report) -> Option<T> {
        self.form.read(cursor, report)
    }

    /// Returns the value that applies when the field is not written.
    pub fn read_default(&self) -> Option<T> {
        let tree = Tree::from(&self.default_value()?);
        self.form.read(&Cursor::root(&tree), &Report::default())
    }
}

impl<T> AnyField for Field<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn expected(&self) -> Option<&'static str> {
        self.expected
    }

    fn default_value(&self) -> Option<Value> {
        self.default.map(written)
    }

    fn examples(&self) -> Vec<Value> {
        self.examples.iter().map(|text| written(text)).collect()
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn schema(&self, defs: &mut Defs) -> Json {
        self.form.schema(defs)
    }
}

impl Table {
    /// An object that has these fields and no other.
    pub const fn closed(
        name: &'static str,
        about: &'static str,
        fields: &'static [&'static dyn AnyField],
        rules: &'static [Rule],
    ) -> Self {
        Self { name, about, fields, rules, rest: Rest::Unknown, foreign: &[], alone: "" }
    }

    /// Gives hints for fields that other engines have: their names, and what to write here.
    pub const fn knowing(self, foreign: &'static [(&'static str, &'static str)]) -> Self {
        Self { foreign, ..self }
    }

    /// Gives a hint for a text or number that is written in place of the object.
    pub const fn not_alone(self, alone: &'static str) -> Self {
        Self { alone, ..self }
    }

    /// Returns the text to write in place of an unknown field.
    pub fn counterpart(&self, name: &str) -> Option<String> {
        let foreign =
            self.foreign.iter().find(|(known, _)| *known == name).map(|(_, hint)| (*hint).to_owned());
        foreign.or_else(|| {
            // `{ name:main }` is a key without a value to YAML.
            let (key, value) = name.split_once(':')?;
            self.names()
                .any(|known| known == key)
                .then(|| format!("write `{key}: {value}`, with a space behind the colon"))
        })
    }

    /// The names of its fields.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.name())
    }

    /// Whether it says something about a member of this name, be it that it is refused.
    pub fn mentions(&self, name: &str) -> bool {
        self.names().any(|known| known == name) || self.rules.iter().any(|rule| rule.never().contains(&name))
    }
}

/// Returns the value of a text as a document has it: JSON, or else text.
fn written(text: &str) -> Value {
    Value::from_json(text).unwrap_or_else(|_| text.into())
}
