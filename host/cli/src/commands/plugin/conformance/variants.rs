//! Unusual values for the inputs of a plugin, made from its schema: empty, large and foreign ones.

use phasm::engine::{
    plan::PinnedExecutor,
    value::{Map, Value},
};

/// Length of a large text, in bytes.
const LARGE_TEXT_BYTES: usize = 1 << 20;
/// Items of a large list.
const LARGE_LIST_ITEMS: usize = 10_000;
/// Text of several scripts, directions and lengths of UTF-8, with a NUL.
const FOREIGN_TEXT: &str = "Zoë 漢字 🦀 \u{202e}abc\u{202c} e\u{301} \u{feff}\0 \u{10ffff}";

/// Inputs that a call may have, one of them unusual.
pub(super) struct InputVariant {
    /// The input and its value, in words.
    pub(super) name: String,
    pub(super) inputs: Map,
}

/// Returns variants of inputs that the manifest allows: each has one value that differs from `base`.
pub(super) fn variants(executor: &PinnedExecutor, settings: &Map, base: &Map) -> Vec<InputVariant> {
    let properties = executor.inputs.member("properties").and_then(Value::as_object);
    let mut all = Vec::new();
    for (name, schema) in properties.into_iter().flatten() {
        for (words, value) in values(schema, base.get(name)) {
            let mut inputs = base.clone();
            inputs.insert(name.clone(), value);
            // Other values are refused before an attempt begins.
            if executor.check_inputs(&Value::from(settings.clone()), inputs.iter()).is_none() {
                all.push(InputVariant { name: format!("{name}: {words}"), inputs });
            }
        }
    }
    all
}

/// Returns unusual values of the types that a schema names, each in words.
fn values(schema: &Value, usual: Option<&Value>) -> Vec<(&'static str, Value)> {
    let mut values = Vec::new();
    if takes(schema, "string") {
        values.push(("empty text", Value::from("")));
        values.push(("text of many scripts", Value::from(FOREIGN_TEXT)));
        values.push(("1 MiB of text", Value::from("x".repeat(LARGE_TEXT_BYTES))));
    }
    if takes(schema, "integer") || takes(schema, "number") {
        values.push(("zero", Value::from(0)));
        values.push(("least number", bound(schema, "minimum").unwrap_or_else(|| Value::from(i64::MIN))));
        values.push(("largest number", bound(schema, "maximum").unwrap_or_else(|| Value::from(i64::MAX))));
    }
    if takes(schema, "array") {
        let item = usual.and_then(Value::as_array).and_then(|items| items.first()).cloned();
        values.push(("empty list", Value::from(Vec::<Value>::new())));
        values.extend(item.map(|item| ("list of 10 000", Value::from(vec![item; LARGE_LIST_ITEMS]))));
    }
    if takes(schema, "object") {
        values.push(("empty object", Value::from(Map::new())));
    }
    values
}

fn takes(schema: &Value, kind: &str) -> bool {
    match schema.member("type") {
        Some(Value::String(one)) => &**one == kind,
        Some(Value::Array(several)) => several.iter().any(|one| one.as_str() == Some(kind)),
        // Without a type everything fits.
        _ => schema.member("enum").is_none(),
    }
}

fn bound(schema: &Value, name: &str) -> Option<Value> {
    schema.member(name).filter(|bound| matches!(bound, Value::Number(_))).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_the_schema_refuses_are_left_out() {
        let json = |text: &str| Value::from_json(text).unwrap();
        let inputs = json(
            r#"{"type": "object", "properties": {"who": {"type": "string"}, "mode": {"type": "string", "enum": ["a", "b"]},
                "count": {"type": ["integer", "null"], "minimum": 1, "maximum": 9}, "parts": {"type": "array"}}}"#,
        );
        let executor = PinnedExecutor { inputs, ..PinnedExecutor::default() };
        let base = json(r#"{"who": "Ada", "mode": "a", "parts": [1]}"#).as_object().unwrap().clone();
        let names: Vec<_> =
            variants(&executor, &Map::new(), &base).into_iter().map(|variant| variant.name).collect();
        assert_eq!(
            names,
            [
                "count: least number",
                "count: largest number",
                "parts: empty list",
                "parts: list of 10 000",
                "who: empty text",
                "who: text of many scripts",
                "who: 1 MiB of text",
            ]
        );
    }
}
