//! Turns JSON, TOML, YAML and CSV text into a value, and back. The order of keys is kept.

mod format;
mod node;

use format::Format;
use phasm_sdk::prelude::*;

inputs! {
    /// A conversion from text to value or back.
    pub struct Task {
        /// `parse` turns `text` into `value`, `render` turns `value` into `text`.
        operation: Operation = Operation::Parse,
        /// Format of the text.
        format: Format,
        /// Required to parse; a byte order mark is skipped.
        text: Option<String>,
        /// Value to render; absent is null.
        value: Option<Json>,
        /// Rendered JSON is indented.
        pretty: bool = false,
        /// CSV's first row names the columns.
        header: bool = true,
        /// CSV's delimiter, one ASCII character.
        delimiter: String = ",".to_owned(),
    }
}

inputs! {
    /// The two directions.
    #[derive(Clone, Copy)]
    pub enum Operation {
        /// From `text` to `value`.
        Parse = "parse",
        /// From `value` to `text`.
        Render = "render",
    }
}

/// Does what `operation` says.
///
/// # Errors
///
/// Code 2 for a text that does not parse or a value that the format cannot hold, code 3 for bad inputs.
pub fn parse(call: Call<Task>) -> Result {
    let mut task = call.inputs;
    match task.operation {
        Operation::Parse => {
            let text = task.text.take().or_error("input `text` is missing; expected the text to parse")?;
            let value = format::parse(text.strip_prefix('\u{feff}').unwrap_or(&text), &task)?;
            Ok(Outcome::succeeded().output_json("value", value))
        }
        Operation::Render => {
            let value = task.value.take().unwrap_or_else(|| Json::from_text("null"));
            Ok(Outcome::succeeded().output("text", format::render(&value, &task)?))
        }
    }
}

executor!(parse, {
    outputs: {
        /// The value, with `parse`.
        value: Option<Json>,
        /// The text, with `render`.
        text: Option<String>,
    },
    deterministic: true,
    examples: [
        { name: "reads TOML", inputs: { format: "toml", text: "version = 4" }, outputs: { value: { version: 4 } } },
    ],
});

#[cfg(test)]
mod tests;
