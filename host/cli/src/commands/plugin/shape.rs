//! The inputs and outputs of a plugin as a table.

use phasm::engine::value::Value;
use unicode_width::UnicodeWidthStr;

use crate::terminal::text;

/// The word in the third cell of what is required.
pub(super) const REQUIRED: &str = "required";
/// The name of the row that stands for values without a name of their own.
pub(super) const ANY_OTHER: &str = "any other";

/// Lines of name, type, whether it is required or what it is otherwise, and what it means; `title` stands before the first.
pub(super) fn table(title: &str, schema: &Value) -> String {
    let rows = rows(schema);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let widths = [0, 1, 2].map(|column| width(column).unwrap_or(0));
    let mut page = String::new();
    for (at, [name, shape, presence, meaning]) in rows.iter().enumerate() {
        let mut line = format!("{:<11}", if at == 0 { title } else { "" });
        for (cell, width) in [name, shape, presence].into_iter().zip(widths) {
            let gap = (width + 2).saturating_sub(cell.width());
            line += &format!("{cell}{:gap$}", "");
        }
        line += meaning;
        page += &format!("{}\n", line.trim_end());
    }
    page
}

/// Rows of name, type, whether it is required or what it is otherwise, and what it means.
pub(super) fn rows(schema: &Value) -> Vec<[String; 4]> {
    let required = |name: &str| {
        let names = schema.member("required").and_then(Value::as_array).unwrap_or_default();
        names.iter().any(|required| required.as_str() == Some(name))
    };
    let properties = schema.member("properties").and_then(Value::as_object).into_iter().flatten();
    let mut rows: Vec<_> = properties.map(|(name, property)| row(name, property, required(name))).collect();
    if !schema.is_null() && schema.member("additionalProperties") != Some(&Value::Bool(false)) {
        rows.push([ANY_OTHER, "any", "", ""].map(str::to_owned));
    }
    rows
}

fn row(name: &str, property: &Value, required: bool) -> [String; 4] {
    let default = property.member("default");
    let presence =
        if required { REQUIRED.to_owned() } else { default.map_or_else(String::new, Value::to_json) };
    let meaning = property.member("description").and_then(Value::as_str).unwrap_or_default();
    let first = meaning.lines().next().unwrap_or_default();
    [name, &shape(property), &presence, first].map(|cell| text::short(cell, 120).into_owned())
}

/// The type in a word or two; that it may be absent is told elsewhere.
fn shape(schema: &Value) -> String {
    if schema.member("format").and_then(Value::as_str) == Some("phasm-duration") {
        return "duration".to_owned();
    }
    if let Some(words) = schema.member("enum").and_then(Value::as_array) {
        return words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|");
    }
    let types = schema.member("type");
    let one = types.and_then(Value::as_str);
    let several = types.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str);
    let types: Vec<_> = one.into_iter().chain(several).filter(|name| *name != "null").collect();
    match (types.as_slice(), schema.member("items")) {
        ([], _) => "any".to_owned(),
        (["array"], Some(items)) => format!("list of {}", shape(items)),
        (types, _) => types.join("|"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_a_table() {
        let schema = Value::from_json(
            r#"{"properties": {
                "method": {"type": ["string", "null"], "enum": ["GET", "POST", null], "default": "GET"},
                "body": {},
                "urls": {"type": "array", "items": {"type": "string"}, "description": "Where.\nAll of them.\u001b[2J"},
                "wait": {"type": ["string", "integer"], "format": "phasm-duration"}
            }, "required": ["urls"]}"#,
        )
        .unwrap();
        let expected = "\
inputs     body       any
           method     GET|POST        \"GET\"
           urls       list of string  required  Where.
           wait       duration
           any other  any
";
        assert_eq!(table("inputs", &schema), expected);
        assert_eq!(table("inputs", &Value::Null), "");
    }
}
