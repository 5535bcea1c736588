//! The JSON Schema of an object, made of the definitions that the reader goes by.

use std::{any::Any, collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value as Json, json};

use super::{AnyField, Rest, Rule, Table};

/// The dialect that schemas are written in.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The definitions that a schema refers to, by name.
#[derive(Default)]
pub struct Defs {
    definitions: BTreeMap<&'static str, Json>,
    /// Context for forms whose schema depends on it.
    context: Option<Arc<dyn Any + Send + Sync>>,
    setting_expressions: bool,
}

impl Defs {
    /// Creates an empty set for forms whose schema depends on `context`.
    pub(crate) fn within<T: Any + Send + Sync>(context: T) -> Self {
        Self { context: Some(Arc::new(context)), ..Self::default() }
    }

    /// Says whether settings may be expressions.
    pub(crate) fn setting_expressions(self, allowed: bool) -> Self {
        Self { setting_expressions: allowed, ..self }
    }

    /// Whether settings may be expressions.
    pub(super) fn has_setting_expressions(&self) -> bool {
        self.setting_expressions
    }

    /// Returns the context, if it has that type.
    pub(crate) fn context<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(self.context.as_ref()?).downcast().ok()
    }

    /// A reference to an object.
    pub fn object(&mut self, table: &'static Table) -> Json {
        self.named(table.name, |defs| schema_of(table, defs))
    }

    /// A reference to the definition `name`, which `schema` makes when it is first referred to.
    pub fn named(&mut self, name: &'static str, schema: impl FnOnce(&mut Self) -> Json) -> Json {
        if !self.definitions.contains_key(name) {
            let definition = schema(self);
            self.definitions.insert(name, definition);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }
}

/// The JSON Schema (draft 2020-12) of a document that is an object of `table`; `title` names what it is.
#[must_use]
pub fn schema(table: &'static Table, title: &str) -> Json {
    let mut defs = Defs::default();
    let schema = schema_of(table, &mut defs);
    entitled(schema, title, defs.definitions.into_iter())
}

fn entitled<N: Into<String>>(
    mut schema: Json,
    title: &str,
    definitions: impl Iterator<Item = (N, Json)>,
) -> Json {
    if let Json::Object(members) = &mut schema {
        members.insert("$schema".to_owned(), DIALECT.into());
        members.insert("title".to_owned(), title.into());
        let definitions = definitions.map(|(name, definition)| (name.into(), definition));
        members.insert("$defs".to_owned(), Json::Object(definitions.collect()));
    }
    schema
}

/// A JSON Schema of which some documents are written in a variant.
pub(crate) struct Variant {
    /// The condition under which a document is written in it, as JSON Schema.
    pub(crate) condition: Json,
    /// Its name, which definitions end with that differ from the common ones.
    pub(crate) name: &'static str,
    /// Its definitions.
    pub(crate) defs: Defs,
}

/// The JSON Schema of a document that is an object of `table`, written in `variant` or with `common` definitions. Definitions
/// that are the same in both occur once.
#[must_use]
pub(crate) fn schema_with_variant(
    table: &'static Table,
    title: &str,
    mut common: Defs,
    variant: Variant,
) -> Json {
    let Variant { condition, name, mut defs } = variant;
    let (root, own_root) = (common.object(table), defs.object(table));
    let mut different: Vec<&'static str> = Vec::new();
    loop {
        let is_new = |(own, definition): &(&&'static str, &Json)| {
            !different.contains(*own)
                && (common.definitions.get(**own) != Some(*definition) || refers(definition, &different))
        };
        let found: Vec<_> = defs.definitions.iter().filter(is_new).map(|(own, _)| *own).collect();
        if found.is_empty() {
            break;
        }
        different.extend(found);
    }
    let own_name = |own: &str| format!("{own}-{name}");
    let own = defs.definitions.into_iter().filter(|(own, _)| different.contains(own));
    let own = own.map(|(own, definition)| (own_name(own), renamed(definition, &different, &own_name)));
    let own: Vec<_> = own.collect();
    let definitions = common.definitions.into_iter().map(|(name, definition)| (name.to_owned(), definition));
    let choice = json!({ "if": condition, "then": renamed(own_root, &different, &own_name), "else": root });
    entitled(choice, title, definitions.chain(own))
}

const REFERENCE: &str = "#/$defs/";

/// Whether `schema` has a reference to one of `names`.
fn refers(schema: &Json, names: &[&'static str]) -> bool {
    match schema {
        Json::Object(members) => {
            let reference = members.get("$ref").and_then(Json::as_str);
            let name = reference.and_then(|reference| reference.strip_prefix(REFERENCE));
            name.is_some_and(|name| names.contains(&name))
                || members.values().any(|member| refers(member, names))
        }
        Json::Array(items) => items.iter().any(|item| refers(item, names)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// `schema` with the new names of `names` in its references.
fn renamed(schema: Json, names: &[&'static str], new: &impl Fn(&str) -> String) -> Json {
    match schema {
        Json::Object(members) => {
            let member = |(key, value): (String, Json)| {
                let name = value.as_str().and_then(|reference| reference.strip_prefix(REFERENCE));
                match name.filter(|name| key == "$ref" && names.contains(name)) {
                    Some(name) => (key, Json::String(format!("{REFERENCE}{}", new(name)))),
                    None => (key, renamed(value, names, new)),
                }
            };
            members.into_iter().map(member).collect()
        }
        Json::Array(items) => items.into_iter().map(|item| renamed(item, names, new)).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => schema,
    }
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
    let examples = field.examples();
    if !examples.is_empty() {
        members.insert("examples".to_owned(), examples.iter().map(Json::from).collect());
    }
    members.into()
}
