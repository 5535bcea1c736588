//! An answer against its schema.

use phasm_sdk::{Map, Value};

/// Everything about the answer that does not fit, each in a sentence that names the member.
pub(crate) fn problems(schema: &Value, answer: &Map<String, Value>) -> Vec<String> {
    let mut problems = Vec::new();
    check(schema, &Value::Object(answer.clone()), "", &mut problems);
    problems
}

fn check(schema: &Value, value: &Value, path: &str, problems: &mut Vec<String>) {
    let own = [wrong_type(schema, value), wrong_choice(schema, value), wrong_size(schema, value)];
    match own.into_iter().flatten().next() {
        Some(expected) => problems.push(format!("{}: expected {expected}, got {}", at(path), shown(value))),
        None => within(schema, value, path, problems),
    }
}

fn within(schema: &Value, value: &Value, path: &str, problems: &mut Vec<String>) {
    match value {
        Value::Object(members) => members_of(schema, members, path, problems),
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            let each = items.iter().enumerate();
            each.for_each(|(index, item)| check(schema, item, &format!("{path}[{index}]"), problems));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn members_of(schema: &Value, members: &Map<String, Value>, path: &str, problems: &mut Vec<String>) {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str).filter(|name| !members.contains_key(*name)) {
        problems.push(format!("{} is missing", at(&format!("{path}.{name}"))));
    }
    let known: Vec<&str> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect();
    // A misspelt name must not go unnoticed: a schema that lists names takes no others, unless it says so.
    let closed = match schema.get("additionalProperties").and_then(Value::as_bool) {
        Some(open) => !open,
        None => !known.is_empty(),
    };
    for (name, value) in members {
        let path = format!("{path}.{name}");
        match schema.get("properties").and_then(|properties| properties.get(name)) {
            Some(schema) => check(schema, value, &path, problems),
            None if closed && known.is_empty() => problems.push(format!("{} is not asked for", at(&path))),
            None if closed => {
                problems.push(format!(
                    "{} is not asked for; expected one of {}",
                    at(&path),
                    known.join(", ")
                ));
            }
            None => {}
        }
    }
}

fn wrong_type(schema: &Value, value: &Value) -> Option<String> {
    let types = schema.get("type")?;
    let list = types.as_array().map_or_else(|| std::slice::from_ref(types), Vec::as_slice);
    let words: Vec<_> = list.iter().filter_map(Value::as_str).collect();
    if words.iter().any(|word| is(word, value)) {
        return None;
    }
    let words: Vec<_> = words.into_iter().map(in_words).collect();
    Some(words.join(" or "))
}

fn is(word: &str, value: &Value) -> bool {
    match word {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}

fn in_words(word: &str) -> &str {
    match word {
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

fn wrong_choice(schema: &Value, value: &Value) -> Option<String> {
    if let Some(one) = schema.get("const") {
        return (one != value).then(|| one.to_string());
    }
    let choices = schema.get("enum")?.as_array()?;
    let words: Vec<_> = choices.iter().map(Value::to_string).collect();
    (!choices.contains(value)).then(|| format!("one of {}", words.join(", ")))
}

fn wrong_size(schema: &Value, value: &Value) -> Option<String> {
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    let (size, least, most, of) = match value {
        Value::Number(number) => (number.as_f64()?, limit("minimum"), limit("maximum"), ""),
        Value::String(text) => {
            let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            (f64::from(length), limit("minLength"), limit("maxLength"), " characters")
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let too_small = least.filter(|least| size < *least).map(|least| format!("at least {least}{of}"));
    too_small.or_else(|| most.filter(|most| size > *most).map(|most| format!("at most {most}{of}")))
}

/// Enough to recognise a value by.
fn shown(value: &Value) -> String {
    const MAX_CHARS: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MAX_CHARS).and_then(|(end, _)| text.get(..end)) {
        Some(start) => format!("{start}…"),
        None => text,
    }
}

fn at(path: &str) -> &str {
    path.strip_prefix('.').unwrap_or("the response")
}
