//! The part of JSON Schema that answers are checked against.

use phasm_sdk::{Value, json};

/// Keywords that responses are checked against.
const CHECKED: [&str; 11] = [
    "type",
    "enum",
    "const",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
];

/// Keywords for the people and programs that respond.
const ANNOTATIONS: [&str; 8] =
    ["title", "description", "default", "examples", "format", "$schema", "$id", "$comment"];

pub(crate) const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Returns the schema of a workflow that sets none.
pub(crate) fn default_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "approved": { "type": "boolean", "description": "whether the run continues" },
            "by": { "type": "string", "description": "a name to show, which is not checked" },
            "comment": { "type": "string", "description": "why" },
        },
        "required": ["approved"],
    })
}

/// Lists the parts of a schema that cannot be checked: unknown keywords and values of a wrong type.
pub(crate) fn problems(schema: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    look(schema, "", &mut problems);
    problems
}

fn look(schema: &Value, path: &str, problems: &mut Vec<String>) {
    let Some(members) = schema.as_object() else {
        problems.push(format!("{}: expected an object, got {schema}", at(path)));
        return;
    };
    for (key, value) in members {
        let path = format!("{path}.{key}");
        match key.as_str() {
            "properties" => look_into(value, &path, problems),
            "items" => look(value, &path, problems),
            _ if ANNOTATIONS.contains(&key.as_str()) || fits(key, value) => {}
            _ if CHECKED.contains(&key.as_str()) => {
                problems.push(format!("{}: not {value}; expected {}", at(&path), expected(key)));
            }
            _ => problems.push(format!("{} is not known; expected one of {}", at(&path), CHECKED.join(", "))),
        }
    }
}

fn look_into(properties: &Value, path: &str, problems: &mut Vec<String>) {
    match properties.as_object() {
        Some(members) => {
            members.iter().for_each(|(name, schema)| look(schema, &format!("{path}.{name}"), problems));
        }
        None => problems.push(format!("{}: expected an object, got {properties}", at(path))),
    }
}

fn fits(key: &str, value: &Value) -> bool {
    let is_type = |value: &Value| value.as_str().is_some_and(|word| TYPES.contains(&word));
    let each = |test: &dyn Fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(test));
    match key {
        "const" => true,
        "type" => is_type(value) || each(&is_type),
        "enum" => value.is_array(),
        "required" => each(&Value::is_string),
        "additionalProperties" => value.is_boolean(),
        "minimum" | "maximum" => value.is_number(),
        "minLength" | "maxLength" => value.is_u64(),
        _ => false,
    }
}

fn expected(key: &str) -> String {
    match key {
        "type" => format!("one or several of {}", TYPES.join(", ")),
        "enum" => "a list".to_owned(),
        "required" => "a list of names".to_owned(),
        "additionalProperties" => "true or false".to_owned(),
        _ => "a number".to_owned(),
    }
}

fn at(path: &str) -> &str {
    path.strip_prefix('.').unwrap_or("the schema")
}
