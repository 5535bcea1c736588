//! The JSON Schema of a document, made of the definitions that the reader goes by.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::{problem::Problem, tree::Tree};

use super::{
    Report,
    form::{Described, Rest, Table},
    rule::Rule,
    workflow,
};

/// The dialect that the schema is written in.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The definitions that a schema refers to, by name.
#[derive(Default)]
pub(super) struct Defs(BTreeMap<&'static str, Json>);

impl Defs {
    /// A reference to an object.
    pub(super) fn object(&mut self, table: &'static Table) -> Json {
        self.named(table.name, |defs| schema_of(table, defs))
    }

    /// A reference to the definition `name`, which `schema` makes when it is first referred to.
    pub(super) fn named(&mut self, name: &'static str, schema: impl FnOnce(&mut Self) -> Json) -> Json {
        if !self.0.contains_key(name) {
            let definition = schema(self);
            self.0.insert(name, definition);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }
}

/// The JSON Schema (draft 2020-12) of a document.
///
/// It accepts what [`check_shape`] finds no problem in. Beyond what it says are duplicate keys (JSON has no opinion about
/// them), expressions, and a few sums and orders that JSON Schema cannot express: the length of a sequence from `start`
/// to `end`, that a schedule's ranges go upwards, the bound of a duration's or size's text, that an `else` rule is the
/// last, that a value is one of its parameter's `enum`, that names are unique, and whether a text with `{{` is anything
/// but one placeholder (it may be more, or raw).
#[must_use]
pub fn schema() -> Json {
    let mut defs = Defs::default();
    let mut schema = schema_of(&workflow::WORKFLOW, &mut defs);
    if let Json::Object(members) = &mut schema {
        members.insert("$schema".to_owned(), DIALECT.into());
        members.insert("title".to_owned(), "Phasm workflow".into());
        members.insert("$defs".to_owned(), defs.0.into_iter().collect());
    }
    schema
}

/// The problems that show in single objects of a document: types, fields, words, numbers, names, and the fields' rules
/// about each other; and expressions that cannot be compiled.
///
/// What names refer to is not looked at, nor are duplicate keys.
#[must_use]
pub fn check_shape(tree: &Tree) -> Vec<Problem> {
    let report = Report::default();
    let _ = workflow::read(tree, &report);
    report.into_parts().0
}

fn schema_of(table: &Table, defs: &mut Defs) -> Json {
    let mut schema = Map::new();
    schema.insert("description".to_owned(), table.about.into());
    schema.insert("type".to_owned(), "object".into());
    let properties = table.fields.iter().map(|field| (field.name().to_owned(), property(*field, defs)));
    schema.insert("properties".to_owned(), properties.collect());
    let required: Vec<_> = required(table).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    match table.rest {
        Rest::Unknown => _ = schema.insert("additionalProperties".to_owned(), false.into()),
        Rest::Parameters => {
            schema.insert("propertyNames".to_owned(), super::name::PARAMETER_NAME.schema(defs));
        }
        Rest::Anything => {}
    }
    let rules: Vec<_> = table.rules.iter().filter(|rule| !is_implied(rule, table)).collect();
    if !rules.is_empty() {
        let rules = rules.into_iter().map(|rule| rule.schema(defs));
        schema.insert("allOf".to_owned(), rules.collect());
    }
    schema.into()
}

fn required(table: &Table) -> impl Iterator<Item = &'static str> {
    table.fields.iter().filter(|field| field.expected().is_some()).map(|field| field.name())
}

/// Where only known fields may be, what is always refused is refused anyway.
fn is_implied(rule: &Rule, table: &Table) -> bool {
    table.rest == Rest::Unknown && !rule.never().is_empty()
}

fn property(field: &dyn Described, defs: &mut Defs) -> Json {
    let schema = field.schema(defs);
    let Json::Object(mut members) = schema else { return schema };
    members.insert("description".to_owned(), field.about().into());
    if let Some(default) = field.default_value() {
        members.insert("default".to_owned(), (&default).into());
    }
    members.into()
}
