//! Items of loops.

use crate::{expression::condition, fields::Field, yaml::Output};

use super::{Place, timing};

/// Converts the items of a loop: the field and its value.
pub(super) fn items(key: &str, items: &Field<'_>, place: &mut Place) -> (&'static str, Output) {
    match key {
        "withItems" => {
            let mut text = |field: &Field<'_>, text: &str| place.text(field, text);
            match items.value(&mut text) {
                Output::List(list) => ("items", Output::List(list)),
                Output::Text(text) => ("itemsFrom", Output::Text(text)),
                other @ (Output::Null | Output::Bool(_) | Output::Number(_) | Output::Map(_)) => {
                    ("items", Output::List(vec![other]))
                }
            }
        }
        "withParam" => {
            let text = items.peek().unwrap_or_default();
            let list = serde_json::from_str::<Vec<serde_json::Value>>(&text).ok();
            if let Some(list) = list {
                items.used();
                return ("items", Output::List(list.into_iter().map(Output::from).collect()));
            }
            match condition(&text, &mut |path| place.path(path)) {
                Some(converted) => {
                    items.used();
                    ("itemsFrom", Output::Text(converted))
                }
                None => {
                    items.leave("write `itemsFrom`, an expression of Phasm; until then there are no items");
                    ("items", Output::List(Vec::new()))
                }
            }
        }
        _ => match sequence(items) {
            Some(sequence) => ("sequence", sequence),
            None => {
                items.leave("write `sequence` with numbers, or `itemsFrom`; until then there are no items");
                ("items", Output::List(Vec::new()))
            }
        },
    }
}

/// A whole number, or the number in a parameter of the workflow.
fn number(field: &Field<'_>) -> Option<Output> {
    let whole = || field.peek()?.trim().parse::<i64>().ok();
    timing::as_count(field).or_else(|| whole().map(Output::from))
}

fn sequence(items: &Field<'_>) -> Option<Output> {
    const KEYS: [&str; 3] = ["start", "end", "count"];
    let numbers = KEYS.map(|key| items.get(key));
    let mut out = Output::Map(Vec::new());
    for (key, field) in KEYS.into_iter().zip(&numbers) {
        if let Some(field) = field {
            out.put(key, number(field)?);
        }
    }
    numbers.iter().flatten().for_each(Field::used);
    if let Some(format) = items.get("format")
        && let Some(text) = format.text()
    {
        out.put("format", text);
    }
    Some(out)
}
