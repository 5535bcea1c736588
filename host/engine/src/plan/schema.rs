//! The part of JSON Schema that is supported in manifests: type, enum, minimum, maximum, items, properties, required and
//! additionalProperties. Everything else is ignored.

use std::sync::Arc;

use crate::{expr::ValueTemplate, form::listed, value::Value};

/// Complaints about one value at most.
const MAX_COMPLAINTS: usize = 20;

/// A mismatch between a part of a value and its schema. The value itself is never repeated: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// The part, as `.size` or `[3]`; empty for the whole.
    pub(crate) path: String,
    /// The message, such as `found string; expected an integer`.
    pub(crate) message: String,
}

/// Returns the mismatches of a value that hold whatever its placeholders become; values of placeholders are not checked.
pub(crate) fn complaints(schema: &Value, value: &ValueTemplate) -> Vec<Complaint> {
    let mut found = Vec::new();
    check(schema, value, &mut String::new(), &mut found);
    found
}

/// The schema of the property of an object.
pub(crate) fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.member("properties").and_then(|properties| properties.member(name))
}

/// The properties that an object is said to have.
pub(crate) fn properties(schema: &Value) -> Vec<&str> {
    let properties = schema.member("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(|map| map.keys()).map(|name| &**name).collect()
}

/// The properties that an object must have.
pub(crate) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.member("required").and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str)
}

/// Whether an object may have no other properties than those named.
pub(crate) fn is_closed(schema: &Value) -> bool {
    matches!(schema.member("additionalProperties"), Some(Value::Bool(false)))
}

fn check(schema: &Value, value: &ValueTemplate, path: &mut String, found: &mut Vec<Complaint>) {
    if found.len() >= MAX_COMPLAINTS {
        return;
    }
    let types = types(schema);
    let actual = type_of(value);
    if let Some(actual) = actual
        && !types.is_empty()
        && !types.iter().any(|expected| fits(expected, value, actual))
    {
        let message = format!("found {actual}; expected {}", described(&types));
        return found.push(Complaint { path: path.clone(), message });
    }
    if let ValueTemplate::Literal(literal) = value
        && let Some(expected) = unmet(schema, literal)
    {
        found.push(Complaint { path: path.clone(), message: format!("expected {expected}") });
    }
    match value {
        ValueTemplate::Literal(Value::Array(items)) => {
            let items = items.iter().map(|item| ValueTemplate::Literal(item.clone()));
            check_items(schema, items, path, found);
        }
        ValueTemplate::Literal(Value::Object(map)) => {
            let members = map.iter().map(|(name, value)| (name, ValueTemplate::Literal(value.clone())));
            check_members(schema, members, path, found);
        }
        ValueTemplate::Array(items) => check_items(schema, items.iter().cloned(), path, found),
        ValueTemplate::Object(members) => {
            check_members(schema, members.iter().map(|(name, value)| (name, value.clone())), path, found);
        }
        ValueTemplate::Literal(_) | ValueTemplate::Placeholder(_) | ValueTemplate::Text(_) => {}
    }
}

fn check_items(
    schema: &Value,
    items: impl Iterator<Item = ValueTemplate>,
    path: &mut String,
    found: &mut Vec<Complaint>,
) {
    let Some(of_items) = schema.member("items") else { return };
    for (at, item) in items.enumerate() {
        within(path, &format!("[{at}]"), |path| check(of_items, &item, path, found));
    }
}

fn check_members<'m>(
    schema: &Value,
    members: impl Iterator<Item = (&'m Arc<str>, ValueTemplate)>,
    path: &mut String,
    found: &mut Vec<Complaint>,
) {
    let mut names = Vec::new();
    for (name, value) in members {
        names.push(name);
        let other = schema.member("additionalProperties");
        match property(schema, name).or(other.filter(|other| other.as_object().is_some())) {
            Some(of_member) => {
                within(path, &format!(".{name}"), |path| check(of_member, &value, path, found));
            }
            None if is_closed(schema) => {
                let message = format!("found `{name}`; expected {}", listed(&properties(schema)));
                found.push(Complaint { path: path.clone(), message });
            }
            None => {}
        }
    }
    for name in required(schema).filter(|name| !names.iter().any(|given| &***given == *name)) {
        found.push(Complaint {
            path: path.clone(),
            message: format!("nothing for `{name}`; expected a value"),
        });
    }
}

fn within(path: &mut String, part: &str, check: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push_str(part);
    check(path);
    path.truncate(length);
}

/// Returns the requirement that a literal does not meet, if any.
fn unmet(schema: &Value, literal: &Value) -> Option<String> {
    let allowed = schema.member("enum").and_then(Value::as_array);
    if let Some(allowed) = allowed.filter(|allowed| !allowed.contains(literal)) {
        let list: Vec<_> = allowed.iter().filter(|one| !one.is_null()).map(Value::to_json).collect();
        return Some(format!("one of {}", list.join(", ")));
    }
    let found = number(literal)?;
    let bound = |name| schema.member(name).and_then(number).map(|bound| (name, bound));
    match (bound("minimum"), bound("maximum")) {
        (Some((_, least)), _) if found < least => Some(format!("at least {least}")),
        (_, Some((_, most))) if found > most => Some(format!("at most {most}")),
        (_, _) => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    if let Value::Number(number) = value { number.as_f64() } else { None }
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.member("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    }
}

/// Nothing for what only the run can say.
fn type_of(value: &ValueTemplate) -> Option<&'static str> {
    match value {
        ValueTemplate::Literal(literal) => Some(literal.type_name()),
        ValueTemplate::Placeholder(_) => None,
        ValueTemplate::Text(_) => Some("string"),
        ValueTemplate::Array(_) => Some("array"),
        ValueTemplate::Object(_) => Some("object"),
    }
}

fn fits(expected: &str, value: &ValueTemplate, actual: &str) -> bool {
    match expected {
        "integer" => matches!(value, ValueTemplate::Literal(number) if is_whole(number)),
        "number" => matches!(value, ValueTemplate::Literal(Value::Number(_))),
        other => other == actual,
    }
}

fn is_whole(value: &Value) -> bool {
    number(value).is_some_and(|number| number.fract() == 0.0)
}

fn described(types: &[&str]) -> String {
    let words: Vec<_> = types
        .iter()
        .filter(|name| **name != "null")
        .map(|name| match *name {
            "integer" | "array" | "object" => format!("an {name}"),
            other => format!("a {other}"),
        })
        .collect();
    if words.is_empty() { "null".to_owned() } else { words.join(" or ") }
}

/// Returns the first mismatch between the bound inputs of a call and the schema of all of them. Inputs unknown to the schema are
/// ignored: loops and resumptions pass on whatever fields their values have.
///
/// A required input may be in `config` instead.
pub(crate) fn check_inputs<'v>(
    schema: &Value,
    config: &Value,
    mut inputs: impl Iterator<Item = (&'v Arc<str>, &'v Value)> + Clone,
) -> Option<String> {
    let is_given = |name: &str| inputs.clone().any(|(given, value)| &**given == name && !value.is_null());
    for name in required(schema).filter(|name| config.member(name).is_none()) {
        if !is_given(name) {
            return Some(format!("input {name}: nothing is given; expected a value"));
        }
    }
    let nothing = |name: &str, value: &Value| value.is_null() && config.member(name).is_some();
    inputs.find_map(|(name, value)| {
        if nothing(name, value) {
            return None;
        }
        let complaints = complaints(property(schema, name)?, &ValueTemplate::Literal(value.clone()));
        complaints.first().map(|Complaint { path, message }| format!("input {name}{path}: {message}"))
    })
}

/// Returns the first mismatch between the outputs of an attempt, as an object, and the schema of all of them.
pub(crate) fn check_outputs(schema: &Value, outputs: &Value) -> Option<String> {
    let complaints = complaints(schema, &ValueTemplate::Literal(outputs.clone()));
    complaints.first().map(|Complaint { path, message }| format!("output{path}: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        Value::from_json(text).unwrap()
    }

    const SCHEMA: &str = r#"{"type": "object", "additionalProperties": false, "required": ["dir"], "properties": {
        "dir": {"type": "string"}, "top": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
        "mode": {"type": "string", "enum": ["ro", "rw"]}, "sizes": {"type": "array", "items": {"type": "number"}},
        "labels": {"type": "object", "additionalProperties": {"type": "boolean"}}, "any": {"format": "unknown"}}}"#;

    #[test]
    fn values_are_checked_part_by_part() {
        let rows: [(&str, &[&str]); 14] = [
            (r#"{"dir": "a"}"#, &[]),
            (r#"{"dir": "a", "top": null, "sizes": [1, 2.5], "any": {"x": []}}"#, &[]),
            (r#"{"dir": "a", "top": 3.0, "mode": "rw", "labels": {"x": true}}"#, &[]),
            ("[]", &[": found array; expected an object"]),
            ("{}", &[": nothing for `dir`; expected a value"]),
            (r#"{"dir": 1}"#, &[".dir: found integer; expected a string"]),
            (r#"{"dir": "a", "top": "lots"}"#, &[".top: found string; expected an integer"]),
            (r#"{"dir": "a", "top": 1.5}"#, &[".top: found number; expected an integer"]),
            (r#"{"dir": "a", "top": 0}"#, &[".top: expected at least 1"]),
            (r#"{"dir": "a", "top": 10}"#, &[".top: expected at most 9"]),
            (r#"{"dir": "a", "mode": "wr"}"#, &[r#".mode: expected one of "ro", "rw""#]),
            (r#"{"dir": "a", "sizes": [1, "2"]}"#, &[".sizes[1]: found string; expected a number"]),
            (r#"{"dir": "a", "labels": {"x": 1}}"#, &[".labels.x: found integer; expected a boolean"]),
            (
                r#"{"dir": "a", "tpo": 1}"#,
                &[": found `tpo`; expected `any`, `dir`, `labels`, `mode`, `sizes` or `top`"],
            ),
        ];
        for (value, expected) in rows {
            let found = complaints(&json(SCHEMA), &ValueTemplate::Literal(json(value)));
            let found: Vec<_> = found.iter().map(|one| format!("{}: {}", one.path, one.message)).collect();
            assert_eq!(found, expected, "{value}");
        }
    }

    /// R-I5: nothing of a value is repeated, and undeclared properties are accepted.
    #[test]
    fn bound_inputs_are_checked_before_the_call() {
        let rows = [
            (r#"{"dir": "a", "more": 1}"#, None),
            (r#"{"dir": null}"#, Some("input dir: nothing is given; expected a value")),
            (r#"{"dir": "a", "top": "hunter2"}"#, Some("input top: found string; expected an integer")),
            (r#"{"dir": "a", "sizes": ["x"]}"#, Some("input sizes[0]: found string; expected a number")),
        ];
        for (inputs, expected) in rows {
            let inputs = json(inputs);
            let check =
                |config: &str| check_inputs(&json(SCHEMA), &json(config), inputs.as_object().unwrap().iter());
            assert_eq!(check("{}").as_deref(), expected);
            let needed = expected.filter(|complaint| !complaint.contains("nothing is given"));
            assert_eq!(check(r#"{"dir": "b"}"#).as_deref(), needed);
        }
    }
}
