//! JSON Schema, draft 2020-12: exactly the keywords that the document's schema uses. Any other keyword is a panic.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    ptr,
    rc::Rc,
};

use regex_lite::Regex;
use serde_json::{Map, Number, Value};

/// A schema to validate against.
pub(crate) struct Validator {
    root: Value,
    patterns: RefCell<BTreeMap<String, Rc<Regex>>>,
    /// The fields that have been met, by where their schemas are.
    met: RefCell<BTreeSet<*const Value>>,
}

impl Validator {
    pub(crate) fn new(root: Value) -> Self {
        Self { root, patterns: RefCell::default(), met: RefCell::default() }
    }

    /// Whether the schema accepts `value`.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.fits(&self.root, value)
    }

    /// The fields of objects that no value has had so far in any dialect, as `object.field`.
    pub(crate) fn not_met(&self) -> Vec<String> {
        let defs = self.root["$defs"].as_object().unwrap().iter();
        let fields = defs.flat_map(|(object, schema)| {
            let object = object.strip_suffix("-aether").unwrap_or(object);
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields.map(move |(field, schema)| (format!("{object}.{field}"), schema))
        });
        let met = self.met.borrow();
        let mut by_name = BTreeMap::new();
        for (name, schema) in fields {
            *by_name.entry(name).or_insert(false) |= met.contains(&ptr::from_ref(schema));
        }
        by_name.into_iter().filter(|(_, is_met)| !is_met).map(|(name, _)| name).collect()
    }

    pub(crate) fn fits(&self, schema: &Value, value: &Value) -> bool {
        match schema {
            Value::Bool(fits) => *fits,
            Value::Object(keywords) => {
                keywords.iter().all(|(keyword, schema)| self.keyword(keyword, schema, keywords, value))
            }
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                panic!("a schema is an object or a truth value, not {schema}")
            }
        }
    }

    fn keyword(&self, keyword: &str, schema: &Value, all: &Map<String, Value>, value: &Value) -> bool {
        match keyword {
            "$schema" | "$defs" | "title" | "description" | "default" | "then" | "else" | "components"
            | "contentEncoding" | "deprecated" | "examples" => true,
            "$ref" => self.fits(self.definition(schema.as_str().unwrap()), value),
            "anyOf" => self.each(schema).any(|schema| self.fits(schema, value)),
            "oneOf" => self.each(schema).filter(|schema| self.fits(schema, value)).count() == 1,
            "allOf" => self.each(schema).all(|schema| self.fits(schema, value)),
            "not" => !self.fits(schema, value),
            "if" => {
                let branch = if self.fits(schema, value) { "then" } else { "else" };
                all.get(branch).is_none_or(|branch| self.fits(branch, value))
            }
            "enum" => schema.as_array().unwrap().iter().any(|one| one == value),
            "const" => schema == value,
            "type" => match schema.as_array() {
                Some(types) => types.iter().any(|one| is_of_type(one, value)),
                None => is_of_type(schema, value),
            },
            _ => match value {
                Value::Object(members) => self.object(keyword, schema, all, members),
                Value::Array(items) => self.array(keyword, schema, items),
                Value::String(text) => self.string(keyword, schema, text),
                Value::Number(number) => fits_bound(keyword, schema, number),
                Value::Null | Value::Bool(_) => is_known(keyword),
            },
        }
    }

    fn each<'a>(&self, schemas: &'a Value) -> impl Iterator<Item = &'a Value> {
        schemas.as_array().unwrap().iter()
    }

    fn definition(&self, reference: &str) -> &Value {
        self.root.pointer(reference.strip_prefix('#').unwrap()).unwrap()
    }

    fn object(
        &self,
        keyword: &str,
        schema: &Value,
        all: &Map<String, Value>,
        found: &Map<String, Value>,
    ) -> bool {
        match keyword {
            "required" => self.each(schema).all(|name| found.contains_key(name.as_str().unwrap())),
            "properties" => {
                let fields = schema.as_object().unwrap().iter();
                fields.filter_map(|(name, schema)| Some((schema, found.get(name)?))).all(|(schema, value)| {
                    self.met.borrow_mut().insert(ptr::from_ref(schema));
                    self.fits(schema, value)
                })
            }
            "additionalProperties" => {
                let known = |name| all.get("properties").is_some_and(|fields| fields.get(name).is_some());
                found
                    .iter()
                    .filter(|(name, _)| !known(name.as_str()))
                    .all(|(_, value)| self.fits(schema, value))
            }
            "propertyNames" => found.keys().all(|name| self.fits(schema, &name.as_str().into())),
            "minProperties" => found.len() as u64 >= schema.as_u64().unwrap(),
            "maxProperties" => found.len() as u64 <= schema.as_u64().unwrap(),
            _ => is_known(keyword),
        }
    }

    fn array(&self, keyword: &str, schema: &Value, items: &[Value]) -> bool {
        match keyword {
            "items" => items.iter().all(|item| self.fits(schema, item)),
            "minItems" => items.len() as u64 >= schema.as_u64().unwrap(),
            "maxItems" => items.len() as u64 <= schema.as_u64().unwrap(),
            _ => is_known(keyword),
        }
    }

    fn string(&self, keyword: &str, schema: &Value, text: &str) -> bool {
        match keyword {
            "pattern" => self.pattern(schema.as_str().unwrap()).is_match(text),
            "format" => schema == "date-time" && is_instant(text),
            "minLength" => text.chars().count() as u64 >= schema.as_u64().unwrap(),
            "maxLength" => text.chars().count() as u64 <= schema.as_u64().unwrap(),
            _ => is_known(keyword),
        }
    }

    fn pattern(&self, pattern: &str) -> Rc<Regex> {
        let mut patterns = self.patterns.borrow_mut();
        let compile = || Rc::new(Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}")));
        patterns.entry(pattern.to_owned()).or_insert_with(compile).clone()
    }
}

/// Keywords that say nothing of some types of values.
fn is_known(keyword: &str) -> bool {
    let known = [
        "required",
        "properties",
        "additionalProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "items",
        "minItems",
        "maxItems",
        "format",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
    ];
    assert!(known.contains(&keyword), "keyword `{keyword}` is not tested; teach it to the validator");
    true
}

/// Whether it is an instant as this project writes them: RFC 3339, in UTC, with milliseconds.
fn is_instant(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000Z"
}

fn fits_bound(keyword: &str, bound: &Value, number: &Number) -> bool {
    let bound = bound.as_number();
    let compare = |bound: &Number| match (number.as_i128(), bound.as_i128()) {
        (Some(number), Some(bound)) => number.partial_cmp(&bound),
        _ => number.as_f64().partial_cmp(&bound.as_f64()),
    };
    match keyword {
        "minimum" => compare(bound.unwrap()).unwrap().is_ge(),
        "maximum" => compare(bound.unwrap()).unwrap().is_le(),
        "exclusiveMinimum" => compare(bound.unwrap()).unwrap().is_gt(),
        _ => is_known(keyword),
    }
}

fn is_of_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_number().is_some_and(|number| {
            number.as_i128().is_some() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }),
        _ => panic!("there is no type {name}"),
    }
}

#[test]
fn keywords_do_what_the_standard_says() {
    use serde_json::json;
    let rows = [
        (json!({ "type": "integer" }), json!(1.0), json!(1.5)),
        (json!({ "type": ["string", "null"] }), json!(null), json!(1)),
        (json!({ "minimum": 1, "maximum": 3 }), json!(3.0), json!(3.5)),
        (json!({ "maximum": u64::MAX }), json!(u64::MAX), json!(1e300)),
        (json!({ "exclusiveMinimum": 0 }), json!(0.1), json!(0)),
        (json!({ "properties": { "a": { "type": "null" } } }), json!({ "b": 1 }), json!({ "a": 1 })),
        (
            json!({ "properties": { "a": true }, "additionalProperties": false }),
            json!({ "a": 1 }),
            json!({ "b": 1 }),
        ),
        (json!({ "required": ["a"] }), json!(3), json!({})),
        (json!({ "propertyNames": { "pattern": "^a" } }), json!({ "ab": 1 }), json!({ "ba": 1 })),
        (
            json!({ "oneOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
            json!({ "a": 1 }),
            json!({ "a": 1, "b": 1 }),
        ),
        (json!({ "if": { "const": 1 }, "then": false, "else": { "type": "string" } }), json!("x"), json!(1)),
        (json!({ "not": { "enum": [1, "a"] } }), json!(2), json!("a")),
        (
            json!({ "items": { "$ref": "#/$defs/x" }, "$defs": { "x": { "maxLength": 2 } } }),
            json!(["éé", 5]),
            json!(["ééé"]),
        ),
        (json!({ "minProperties": 1, "maxProperties": 1 }), json!({ "a": 1 }), json!({})),
    ];
    for (schema, good, bad) in rows {
        let validator = Validator::new(schema.clone());
        assert!(validator.accepts(&good) && !validator.accepts(&bad), "{schema}");
    }
}
