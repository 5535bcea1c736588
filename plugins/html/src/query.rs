//! Selectors and fields, read from the inputs.

use phasm_sdk::{inputs::Object, prelude::*};
use scraper::Selector;

use crate::{
    Task,
    limits::{MAX_FIELDS, MAX_SELECTOR_BYTES},
};

inputs! {
    /// Part of an element.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub enum Part {
        /// Its text, with blanks and line ends as one blank; without scripts and styles.
        Text = "text",
        /// One of its attributes.
        Attribute = "attribute",
        /// The HTML within it.
        Inner = "inner",
        /// The HTML of the element itself.
        Outer = "outer",
    }
}

inputs! {
    /// A field of a result.
    pub struct Field {
        /// Selector within the element; absent for the element itself.
        selector: Option<String>,
        /// Part that is returned.
        get: Part = Part::Text,
        /// Name of the attribute, for `attribute`.
        attribute: Option<String>,
        /// A list of all matches instead of the first one.
        all: bool = false,
    }
}

/// Part of an element, with the name of its attribute.
pub(crate) enum Want {
    Text,
    Attribute(String),
    Inner,
    Outer,
}

/// A field of a result, ready to be used.
pub(crate) struct FieldQuery {
    pub(crate) name: String,
    pub(crate) selector: Option<Selector>,
    pub(crate) want: Want,
    pub(crate) all: bool,
}

/// Elements to find, and the parts of them to return.
pub(crate) struct Query {
    pub(crate) selector: Selector,
    pub(crate) want: Want,
    pub(crate) fields: Vec<FieldQuery>,
}

/// Code 3 with all that is wrong.
pub(crate) fn read(task: &Task) -> Result<Query> {
    let mut problems = Vec::new();
    let selector_of = selector("selector", &task.selector, &mut problems);
    let wanted = want("", task.get, task.attribute.as_ref(), &mut problems);
    if task.fields.len() > MAX_FIELDS {
        problems
            .push(format!("input `fields`: expected at most {MAX_FIELDS} fields, got {}", task.fields.len()));
    }
    let mut fields = Vec::new();
    for (name, json) in task.fields.iter().take(MAX_FIELDS) {
        let place = format!("fields.{name}");
        match json.parse::<Object<Field>>() {
            Err(why) => {
                let why = why.to_string();
                let why = why.split(" at line ").next().unwrap_or_default();
                problems.push(format!("input `{place}`: {why}"));
            }
            Ok(Object(field)) => {
                let within = match &field.selector {
                    Some(text) => selector(&format!("{place}.selector"), text, &mut problems),
                    None => None,
                };
                let wanted = want(&format!("{place}."), field.get, field.attribute.as_ref(), &mut problems);
                fields.extend(wanted.map(|want| FieldQuery {
                    name: name.to_owned(),
                    selector: within,
                    want,
                    all: field.all,
                }));
            }
        }
    }
    if !task.fields.is_empty() && (task.get != Part::Text || task.attribute.is_some()) {
        problems.push(
            "inputs `get` and `attribute`: each of the `fields` has its own; leave these out".to_owned(),
        );
    }
    match (selector_of, wanted) {
        (Some(selector), Some(want)) if problems.is_empty() => Ok(Query { selector, want, fields }),
        _ => Err(Outcome::error(problems.join("; ")).kind("input").retryable(false)),
    }
}

fn selector(place: &str, text: &str, problems: &mut Vec<String>) -> Option<Selector> {
    if text.len() > MAX_SELECTOR_BYTES {
        problems.push(format!(
            "input `{place}`: expected at most {MAX_SELECTOR_BYTES} bytes, got {}",
            text.len()
        ));
        return None;
    }
    match Selector::parse(text) {
        Ok(selector) => Some(selector),
        Err(why) => {
            let shown: String = text.chars().take(80).collect();
            problems.push(format!("input `{place}`: `{shown}` is no CSS selector: {why}"));
            None
        }
    }
}

fn want(place: &str, get: Part, attribute: Option<&String>, problems: &mut Vec<String>) -> Option<Want> {
    match (get, attribute) {
        (Part::Attribute, Some(name)) => Some(Want::Attribute(name.to_ascii_lowercase())),
        (Part::Attribute, None) => {
            problems.push(format!("input `{place}attribute` is missing; expected the name of the attribute"));
            None
        }
        (Part::Text | Part::Inner | Part::Outer, Some(_)) => {
            problems
                .push(format!("input `{place}attribute`: only `attribute` reads it; write `get: attribute`"));
            None
        }
        (Part::Text, None) => Some(Want::Text),
        (Part::Inner, None) => Some(Want::Inner),
        (Part::Outer, None) => Some(Want::Outer),
    }
}
