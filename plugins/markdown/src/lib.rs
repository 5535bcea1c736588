//! Renders Markdown to HTML that is safe to show: markup in the text is escaped, and links lead to known schemes only.

mod links;
mod render;

use phasm_sdk::prelude::*;

inputs! {
    /// A text in Markdown, and how to render it.
    pub struct Task {
        /// The text.
        text: String,
        /// Effect of HTML in the text.
        html: RawHtml = RawHtml::Escape,
        /// Schemes that links and images may have; addresses without a scheme are always kept.
        schemes: Vec<String> = ["http", "https", "mailto"].map(str::to_owned).to_vec(),
        /// Whether tables, lists of tasks, strikethrough and footnotes are read.
        extensions: bool = true,
        /// A larger text, and a larger result, are a failure.
        max_bytes as "maxBytes": usize = 4 << 20,
    }
}

inputs! {
    /// Effect of HTML in the text.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub enum RawHtml {
        /// Tags are shown as they are written.
        Escape = "escape",
        /// Tags are left out; the text in them stays.
        Remove = "remove",
        /// Tags are part of the result: only for texts of people you trust.
        Keep = "keep",
    }
}

/// Renders the text.
///
/// # Errors
///
/// Code 2 for a text or result that is too large, code 3 for bad inputs.
pub fn markdown(call: Call<Task>) -> Result {
    let task = call.inputs;
    if task.text.len() > task.max_bytes {
        let message = format!("the text has {} bytes; `maxBytes` allows {}", task.text.len(), task.max_bytes);
        return Err(Outcome::failed(message).kind("too-large").retryable(false));
    }
    let (html, blocked) = render::render(&task)?;
    Ok(Outcome::succeeded().output("html", html).output("blocked", blocked))
}

executor!(markdown, {
    outputs: {
        /// The result.
        html: String,
        /// Addresses of links and images that were left out, each once.
        blocked: Vec<String>,
    },
    deterministic: true,
    examples: [
        { name: "makes a paragraph", inputs: { text: "A **word**" }, outputs: { html: "<p>A <strong>word</strong></p>\n" } },
    ],
});

#[cfg(test)]
mod tests;
