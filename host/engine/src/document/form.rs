//! How values, fields and objects are written: the definitions that the reader goes by and that the JSON Schema is made
//! of. A field that is not defined here is unknown to both.

use serde_json::Value as Json;

use crate::{tree::Tree, value::Value};

use super::{Report, rule::Rule, schema::Defs, walk::Cursor};

/// How a value is written: what reads it, and the JSON Schema of what that takes.
pub(super) struct Form<T> {
    read: fn(&Cursor<'_>, &Report) -> Option<T>,
    schema: fn(&mut Defs) -> Json,
}

/// A field of an object.
pub(super) struct Field<T: 'static> {
    name: &'static str,
    form: Form<T>,
    /// What was expected where a required field is missing; absent for optional ones.
    expected: Option<&'static str>,
    /// As a document would say it: JSON, or else text.
    default: Option<&'static str>,
    about: &'static str,
}

/// An object with fields of its own.
pub(super) struct Table {
    /// What the schema calls it.
    pub(super) name: &'static str,
    /// What it is for, in one sentence.
    pub(super) about: &'static str,
    pub(super) fields: &'static [&'static dyn Described],
    /// What its fields say about each other.
    pub(super) rules: &'static [Rule],
    pub(super) rest: Rest,
}

/// Members of an object that are no fields of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// There are none.
    Unknown,
    /// They are named like parameters and hold anything.
    Parameters,
    /// They are anything.
    Anything,
}

/// What all fields have in common, whatever they hold.
pub(super) trait Described: Sync {
    fn name(&self) -> &'static str;
    fn expected(&self) -> Option<&'static str>;
    fn default_value(&self) -> Option<Value>;
    fn about(&self) -> &'static str;
    fn schema(&self, defs: &mut Defs) -> Json;
}

impl<T> Form<T> {
    pub(super) const fn new(
        read: fn(&Cursor<'_>, &Report) -> Option<T>,
        schema: fn(&mut Defs) -> Json,
    ) -> Self {
        Self { read, schema }
    }

    pub(super) fn read(&self, cursor: &Cursor<'_>, report: &Report) -> Option<T> {
        let read = (self.read)(cursor, report);
        if read.is_none() {
            report.lose();
        }
        read
    }

    pub(super) fn schema(&self, defs: &mut Defs) -> Json {
        (self.schema)(defs)
    }
}

impl<T> Field<T> {
    pub(super) const fn optional(name: &'static str, form: Form<T>, about: &'static str) -> Self {
        Self { name, form, expected: None, default: None, about }
    }

    /// That it is missing is a problem, which names what was `expected`.
    pub(super) const fn required(
        name: &'static str,
        expected: &'static str,
        form: Form<T>,
        about: &'static str,
    ) -> Self {
        Self { expected: Some(expected), ..Self::optional(name, form, about) }
    }

    /// Gives it a default.
    pub(super) const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    pub(super) fn read(&self, cursor: &Cursor<'_>, report: &Report) -> Option<T> {
        self.form.read(cursor, report)
    }

    /// What it means when it is not written.
    pub(super) fn read_default(&self) -> Option<T> {
        let tree = Tree::from(&self.default_value()?);
        self.form.read(&Cursor::root(&tree), &Report::default())
    }
}

impl<T> Described for Field<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn expected(&self) -> Option<&'static str> {
        self.expected
    }

    fn default_value(&self) -> Option<Value> {
        self.default.map(|text| Value::from_json(text).unwrap_or_else(|_| text.into()))
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
    pub(super) const fn closed(
        name: &'static str,
        about: &'static str,
        fields: &'static [&'static dyn Described],
        rules: &'static [Rule],
    ) -> Self {
        Self { name, about, fields, rules, rest: Rest::Unknown }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.name())
    }

    /// Whether it says something about a member of this name, be it that it is refused.
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.names().any(|known| known == name) || self.rules.iter().any(|rule| rule.never().contains(&name))
    }
}
