//! The JSON Schema of an object, made of the definitions that the reader goes by.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::{AnyField, Rest, Rule, Table};

/// The dialect that schemas are written in.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The definitions that a schema refers to, by name.
#[derive(Default)]
pub struct Defs(BTreeMap<&'static str, Json>);

impl Defs {
    /// A reference to an object.
    pub fn object(&mut self, table: &'static Table) -> Json {
        self.named(table.name, |defs| schema_of(table, defs))
    }

    /// A reference to the definition `name`, which `schema` makes when it is first referred to.
    pub fn named(&mut self, name: &'static str, schema: impl FnOnce(&mut Self) -> Json) -> Json {
        if !self.0.contains_key(name) {
            let definition = schema(self);
            self.0.insert(name, definition);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }
}

/// The JSON Schema (draft 2020-12) of a document that is an object of `table`; `title` names what it is.
#[must_use]
pub fn schema(table: &'static Table, title: &str) -> Json {
    let mut defs = Defs::default();
    let mut schema = schema_of(table, &mut defs);
    if let Json::Object(members) = &mut schema {
        members.insert("$schema".to_owned(), DIALECT.into());
        members.insert("title".to_owned(), title.into());
        members.insert("$defs".to_owned(), defs.0.into_iter().collect());
    }
    schema
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
        Rest::Named(name) => {
            schema.insert("propertyNames".to_owned(), name(defs));
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
    matches!(table.rest, Rest::Unknown) && !rule.never().is_empty()
}

fn property(field: &dyn AnyField, defs: &mut Defs) -> Json {
    let schema = field.schema(defs);
    let Json::Object(mut members) = schema else { return schema };
    members.insert("description".to_owned(), field.about().into());
    if let Some(default) = field.default_value() {
        members.insert("default".to_owned(), (&default).into());
    }
    members.into()
}
