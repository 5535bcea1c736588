//! Runs a jq filter over a value.

mod compile;
mod logger;
mod run;

use phasm_sdk::{inputs::Object, prelude::*};

inputs! {
    /// The filter, what it is given and the values of its variables.
    pub struct Task {
        /// The filter.
        filter: String,
        /// Input of the filter.
        input: Option<Json>,
        /// Each field is a variable: `{"limit": 3}` is `$limit`.
        args: Object<Inputs> = Object::default(),
    }
}

/// Runs `filter` over `input` (null if absent), with each field of `args` as a variable.
///
/// # Errors
///
/// Code 3 for bad inputs and a filter that does not compile, code 2 when the filter raises an error.
pub fn jq(call: Call<Task>) -> Result {
    logger::install();
    let Task { filter, input, args } = call.inputs;
    let (names, values): (Vec<_>, Vec<_>) =
        args.0.into_iter().map(|(name, value)| (format!("${name}"), value)).unzip();
    let filter = compile::compile(&filter, &names)?;
    let input = input.unwrap_or_else(|| Json::from_text("null"));
    let results = run::run(&filter, &input, &values)?;
    let first = results.first().cloned().unwrap_or_else(|| Json::from_text("null"));
    Ok(Outcome::succeeded().output_json("result", first).output("results", results))
}

executor!(jq, {
    outputs: {
        /// The first value that comes out, null if none does.
        result: Json,
        /// All of them.
        results: Vec<Json>,
    },
    deterministic: true,
    examples: [
        { name: "reads a member", inputs: { filter: ".a", input: { a: 1 } }, outputs: { result: 1, results: [1] } },
    ],
});

#[cfg(test)]
mod tests;
