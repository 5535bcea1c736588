//! The table of an object's fields, as a page shows it.

use std::collections::BTreeMap;

use serde_json::Value;

/// Number of alternatives that a cell spells out at most.
const MAX_KINDS: usize = 30;

/// Knows on which page each object is.
pub(crate) struct Renderer<'a> {
    pub(crate) pages: &'a BTreeMap<String, String>,
}

impl Renderer<'_> {
    /// Describes the object and its fields; required ones first, each group by name.
    pub(crate) fn table(&self, object: &Value) -> String {
        let required = |name: &str| list(&object["required"]).any(|one| one == name);
        let fields = object["properties"].as_object().unwrap();
        let (needed, other): (Vec<_>, Vec<_>) = fields.iter().partition(|(name, _)| required(name));
        let rows = needed.iter().map(|row| (row, "required")).chain(other.iter().map(|row| (row, "")));
        let rows = rows.map(|((name, field), needed)| {
            let default =
                field.get("default").map(|value| format!("`{}`", written(value))).unwrap_or_default();
            let kind = self.field_type(object, name, field);
            let about = text(field, "description");
            format!(
                "| `{name}` | {kind} | {} | {about} |\n",
                if needed.is_empty() { &default } else { needed }
            )
        });
        let rows: String = rows.collect();
        format!(
            "{}\n\n| field | type | default | meaning |\n|---|---|---|---|\n{rows}",
            text(object, "description")
        )
    }

    /// The type that the field has, or those that it has under some conditions.
    fn field_type(&self, object: &Value, name: &str, field: &Value) -> String {
        let rules = list(&object["allOf"])
            .flat_map(|rule| ["then", "else"].map(|branch| &rule[branch]["properties"][name]));
        let rules: Vec<_> = rules.filter(|rule| rule.is_object()).collect();
        if rules.is_empty() || field.get("$ref").is_some() {
            self.kind(field)
        } else {
            self.either(rules.into_iter())
        }
    }

    fn kind(&self, schema: &Value) -> String {
        if let Some(name) = schema["$ref"].as_str() {
            return self.reference(name.rsplit('/').next().unwrap());
        }
        for choice in ["anyOf", "enum"] {
            if schema[choice].is_array() {
                return self.either(list(&schema[choice]));
            }
        }
        if schema.get("if").is_some() {
            let then = &schema["then"];
            let has_kind = ["$ref", "type"].iter().any(|keyword| then.get(keyword).is_some());
            let then = if has_kind { then } else { &then["additionalProperties"] };
            return self.either([&schema["else"], then].into_iter());
        }
        if let Some(value) = schema.get("const") {
            return format!("`{}`", written(value));
        }
        match schema["type"].as_str() {
            Some("array") if schema["items"].is_object() => {
                format!("list of {}", self.kind(&schema["items"]))
            }
            Some("array") => "list".to_owned(),
            Some("string") => "text".to_owned(),
            Some("boolean") => "true or false".to_owned(),
            Some("null") => "null".to_owned(),
            Some("integer") => format!("whole number{}", range(schema)),
            Some("number") => format!("number{}", range(schema)),
            Some("object") if schema["additionalProperties"].is_object() => {
                format!("object of {}", self.kind(&schema["additionalProperties"]))
            }
            Some("object") => "object".to_owned(),
            _ if schema.is_string() => format!("`{}`", written(schema)),
            _ if schema.get("not").is_some() => "nothing".to_owned(),
            _ => "anything".to_owned(),
        }
    }

    fn either<'a>(&self, schemas: impl Iterator<Item = &'a Value>) -> String {
        let kinds: Vec<_> = schemas.map(|schema| self.kind(schema)).collect();
        match kinds.as_slice() {
            [_, ..] if kinds.len() > MAX_KINDS => format!("one of {} names", kinds.len()),
            [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
            _ => kinds.concat(),
        }
    }

    fn reference(&self, name: &str) -> String {
        match (self.pages.get(name), name) {
            (Some(page), _) => format!("[{name}]({page})"),
            (None, "duration" | "timeout") => "[duration](README.md#durations)".to_owned(),
            (None, "expression") => "[expression](README.md#expressions)".to_owned(),
            (None, "name" | "label" | "parameterName") => "[name](README.md#names)".to_owned(),
            (None, "settingExpression") => "[expression of parameters](README.md#settings)".to_owned(),
            (None, "executorType") => "text".to_owned(),
            (None, "size") => "size, as text or bytes".to_owned(),
            (None, _) => panic!("no page has the fields of `{name}`"),
        }
    }
}

fn range(schema: &Value) -> String {
    let unbounded =
        |bound: &Value| bound.as_i64().is_none_or(|bound| bound.unsigned_abs() >= u64::from(u32::MAX));
    match (&schema["minimum"], &schema["maximum"], &schema["exclusiveMinimum"]) {
        (Value::Null, _, Value::Null) => String::new(),
        (Value::Null, _, above) => format!(" above {above}"),
        (least, _, _) if unbounded(least) => String::new(),
        (least, most, _) if unbounded(most) => format!(", at least {least}"),
        (least, most, _) => format!(", {least} to {most}"),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text<'a>(schema: &'a Value, member: &str) -> &'a str {
    schema[member].as_str().unwrap_or_else(|| panic!("no {member} in {schema}"))
}

/// Returns the value in the notation of a document.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
