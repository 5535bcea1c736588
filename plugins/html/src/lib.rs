//! Extracts texts, attributes and parts of HTML by CSS selectors.

mod extract;
mod limits;
mod query;

use phasm_sdk::{inputs::Object, prelude::*};

inputs! {
    /// A page, and what to extract.
    pub struct Task {
        /// The HTML, a whole page or a part of one.
        html: String,
        /// CSS selector of the elements.
        selector: String,
        /// Part of each element that is returned.
        get: query::Part = query::Part::Text,
        /// Name of the attribute, for `attribute`.
        attribute: Option<String>,
        /// Fields of an object for each element by name, each with `selector`, `get`, `attribute` and `all`.
        fields: Object<Inputs> = Object::default(),
        /// Number of elements after which the search ends; absent for no end.
        limit: Option<usize>,
        /// More elements are a failure.
        max_matches as "maxMatches": usize = 10_000,
        /// A larger page, and larger results, are a failure.
        max_bytes as "maxBytes": usize = 4 << 20,
    }
}

/// Extracts what the selectors match.
///
/// # Errors
///
/// Code 2 for more results than allowed, code 3 for bad inputs and selectors that are none.
pub fn html(call: Call<Task>) -> Result {
    let task = call.inputs;
    if task.html.len() > task.max_bytes {
        let message = format!("the page has {} bytes; `maxBytes` allows {}", task.html.len(), task.max_bytes);
        return Err(limits::failed(message));
    }
    let query = query::read(&task)?;
    let matches = extract::all(&query, &task)?;
    let first = matches.first().cloned().unwrap_or(Value::Null);
    let count = matches.len();
    Ok(Outcome::succeeded().output("first", first).output("matches", matches).output("count", count))
}

executor!(html, {
    outputs: {
        /// The first of the results, null if there is none.
        first: Option<Json>,
        /// A result for each element: a text, or an object with `fields`.
        matches: Vec<Json>,
        /// Number of elements.
        count: u64,
    },
    deterministic: true,
    examples: [
        {
            name: "reads a heading",
            inputs: { selector: "h1", html: "<h1>One</h1><p>Two</p>" },
            outputs: { first: "One", count: 1 },
        },
    ],
});

#[cfg(test)]
mod tests;
