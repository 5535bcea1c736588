//! The short name of an item of a loop, which tells one iteration from another.

use phasm_engine::{
    run::{Run, TaskRun},
    value::Value,
};

use crate::markup::clipped;

/// Letters of an item in a label.
const MAX_ITEM_CELLS: usize = 40;
/// Members of an item that name it.
const NAMES: [&str; 4] = ["name", "id", "title", "key"];

/// Returns the short name of the item of an iteration; empty where there is none.
pub(crate) fn short_item(run: &Run, iteration: &TaskRun) -> String {
    let name = run.item(iteration).and_then(item_name).unwrap_or_default();
    clipped(&name, MAX_ITEM_CELLS)
}

/// Returns the name of an item: a text or a number, or the member that names an object.
fn item_name(item: &Value) -> Option<String> {
    match item {
        Value::String(text) => Some(text.to_string()),
        Value::Bool(_) | Value::Number(_) => Some(item.to_json()),
        Value::Object(_) => {
            let member = NAMES.into_iter().find_map(|name| item.member(name))?;
            if member.as_object().is_some() { None } else { item_name(member) }
        }
        Value::Null | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_named_by_what_it_says() {
        let rows = [
            (r#""Ada""#, Some("Ada")),
            ("7", Some("7")),
            (r#"{"id": 3, "name": "Bob"}"#, Some("Bob")),
            (r#"{"id": {"name": "x"}}"#, None),
            (r#"["a"]"#, None),
            ("null", None),
        ];
        for (json, expected) in rows {
            assert_eq!(item_name(&Value::from_json(json).unwrap()).as_deref(), expected, "{json}");
        }
    }
}
