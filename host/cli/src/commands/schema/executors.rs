//! Parts of the schema of documents that come from installed plugins: their names, and their inputs by name and value.

use phasm::engine::value::Value as Any;
use serde_json::{Map, Value, json};

/// The definition that what names an executor refers to.
const EXECUTORS: &str = "executors";
/// Fields that name an executor.
const CALLERS: [&str; 6] = [
    "dagTask",
    "pipelineTask",
    "taskTemplate",
    "dagTask-aether",
    "pipelineTask-aether",
    "taskTemplate-aether",
];

/// Adds `plugins`, each a name and the schema of its inputs, to the `schema` of documents.
///
/// Required inputs are left to `phasm validate`: an input may come from an item, a config, or an answer.
pub(super) fn add(schema: &mut Value, plugins: &[(String, Any)]) {
    let Some(defs) = schema.get_mut("$defs").and_then(Value::as_object_mut) else { return };
    let known = plugins.iter().filter_map(|(name, inputs)| rule(name, &serde_json::to_value(inputs).ok()?));
    let rules: Vec<Value> = known.collect();
    for caller in CALLERS.iter().filter(|_| !rules.is_empty()) {
        let Some(caller) = defs.get_mut(*caller).and_then(Value::as_object_mut) else { continue };
        let all = caller.entry("allOf").or_insert_with(|| json!([]));
        all.as_array_mut()
            .into_iter()
            .for_each(|all| all.push(json!({ "$ref": format!("#/$defs/{EXECUTORS}") })));
    }
    if !rules.is_empty() {
        defs.insert(EXECUTORS.to_owned(), json!({ "allOf": rules }));
    }
    let names: Vec<&str> = plugins.iter().map(|(name, _)| name.as_str()).collect();
    if let Some(types) = defs.get_mut("executorType").and_then(Value::as_object_mut) {
        types.insert("examples".to_owned(), json!(names));
    }
}

/// If it is this executor, then these are its inputs.
fn rule(name: &str, inputs: &Value) -> Option<Value> {
    let properties = inputs.get("properties")?.as_object()?;
    let closed = inputs.get("additionalProperties") == Some(&Value::Bool(false));
    let names: Vec<&String> = properties.keys().collect();
    let name_of_input = if closed {
        json!({ "enum": names })
    } else {
        json!({ "anyOf": [{ "enum": names }, { "type": "string" }] })
    };
    let values: Map<String, Value> =
        properties.iter().map(|(name, schema)| (name.clone(), written(schema))).collect();
    let by_name = values.iter().map(|(name, value)| {
        json!({
            "if": { "required": ["name"], "properties": { "name": { "const": name } } },
            "then": { "properties": { "value": value } },
        })
    });
    let parameter = json!({ "properties": { "name": name_of_input }, "allOf": by_name.collect::<Vec<_>>() });
    let is_it = json!({ "required": ["type"], "properties": { "type": { "pattern": pattern(name) } } });
    let list = json!({ "properties": { "parameters": { "items": parameter } } });
    let mut short = json!({ "properties": values });
    if let (Some(short), true) = (short.as_object_mut(), closed) {
        short.insert("propertyNames".to_owned(), json!({ "enum": names }));
    }
    let is_list = json!({ "anyOf": [{ "required": ["parameters"] }, { "required": ["artifacts"] }] });
    Some(json!({
        "if": { "required": ["executor"], "properties": { "executor": is_it } },
        "then": { "properties": {
            "executor": { "properties": { "config": { "properties": values } } },
            "inputs": { "if": is_list, "then": list, "else": short },
        } },
    }))
}

/// Returns a pattern for the name in any version. Signs of expressions in it stand for themselves.
fn pattern(name: &str) -> String {
    let escaped: String = name
        .chars()
        .flat_map(|c| (!c.is_alphanumeric() && c != '-' && c != '_').then_some('\\').into_iter().chain([c]))
        .collect();
    format!("^{escaped}(@.*)?$")
}

/// The value as it may stand in a document: such a one, or a text with a placeholder.
fn written(schema: &Value) -> Value {
    let mut value = translated(schema);
    let mut about = Map::new();
    for key in ["description", "default"] {
        let said = value.as_object_mut().and_then(|value| value.remove(key));
        about.extend(said.map(|said| (key.to_owned(), said)));
    }
    about.insert("anyOf".to_owned(), json!([value, { "type": "string", "pattern": "\\{\\{" }]));
    Value::Object(about)
}

/// Durations by the document's own definition, at any depth.
fn translated(schema: &Value) -> Value {
    match schema {
        Value::Object(members) if members.get("format") == Some(&json!("phasm-duration")) => {
            let nullable = members
                .get("type")
                .and_then(Value::as_array)
                .is_some_and(|types| types.contains(&json!("null")));
            let mut kept: Map<String, Value> = members
                .iter()
                .filter(|(key, _)| matches!(key.as_str(), "description" | "default"))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            let mut kinds = vec![json!({ "$ref": "#/$defs/duration" })];
            kinds.extend(nullable.then(|| json!({ "type": "null" })));
            kept.insert("anyOf".to_owned(), json!(kinds));
            Value::Object(kept)
        }
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), translated(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(translated).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

#[cfg(test)]
mod tests {
    use phasm::engine::document;

    use super::*;

    #[test]
    fn inputs_are_checked_by_name_where_the_executor_is_named() {
        let inputs = r#"{"type": "object", "properties": {
            "top": {"type": ["integer", "null"], "minimum": 1, "default": 10, "description": "How many."},
            "wait": {"type": ["string", "integer"], "format": "phasm-duration"}
        }, "required": ["wait"], "additionalProperties": false}"#;
        let mut schema = document::schema();
        add(
            &mut schema,
            &[("count.words".to_owned(), Any::from_json(inputs).unwrap()), ("bare".to_owned(), Any::Null)],
        );
        assert_eq!(schema["$defs"]["executorType"]["examples"], json!(["count.words", "bare"]));
        let rules = schema["$defs"]["executors"]["allOf"].as_array().unwrap();
        assert_eq!(rules.len(), 1);
        let rule = &rules[0];
        assert_eq!(
            rule["if"]["properties"]["executor"]["properties"]["type"]["pattern"],
            "^count\\.words(@.*)?$"
        );
        let inputs = &rule["then"]["properties"]["inputs"];
        let parameter = &inputs["then"]["properties"]["parameters"]["items"];
        assert_eq!(inputs["else"]["propertyNames"], json!({ "enum": ["top", "wait"] }));
        assert_eq!(parameter["properties"]["name"], json!({ "enum": ["top", "wait"] }));
        let placeholder = json!({ "type": "string", "pattern": "\\{\\{" });
        let top = json!({
            "description": "How many.", "default": 10,
            "anyOf": [{ "type": ["integer", "null"], "minimum": 1 }, placeholder],
        });
        assert_eq!(parameter["allOf"][0]["then"]["properties"]["value"], top);
        assert_eq!(rule["then"]["properties"]["executor"]["properties"]["config"]["properties"]["top"], top);
        assert_eq!(inputs["else"]["properties"]["top"], top);
        let wait = &parameter["allOf"][1]["then"]["properties"]["value"];
        assert_eq!(wait["anyOf"][0], json!({ "anyOf": [{ "$ref": "#/$defs/duration" }] }));
        for caller in CALLERS {
            let all = schema["$defs"][caller]["allOf"].as_array().unwrap();
            assert!(all.contains(&json!({ "$ref": "#/$defs/executors" })), "{caller}");
        }
    }

    #[test]
    fn without_inputs_the_schema_only_knows_the_names() {
        let mut schema = document::schema();
        add(&mut schema, &[("bare".to_owned(), Any::Null)]);
        assert!(schema["$defs"].get("executors").is_none());
    }
}
