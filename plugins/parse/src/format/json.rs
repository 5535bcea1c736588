//! JSON.

use phasm_sdk::{number, prelude::*, serde_json};

use super::Format;
use crate::node::Node;

/// The text itself, once it is known to be JSON that fits into memory's numbers and depths.
pub(super) fn parse(text: &str) -> Result<Json> {
    if let Some((at, number)) = number::lost(text) {
        return Err(Format::Json.lossy(text, at, number));
    }
    let parsed = serde_json::from_str::<Node>(text);
    parsed.map_err(|why| {
        let message = why.to_string();
        let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
        Format::Json.malformed(what, why.line(), why.column())
    })?;
    Ok(Json::from_text(text.trim()))
}

pub(super) fn render(node: &Node, pretty: bool) -> Result<String> {
    let text = if pretty { serde_json::to_string_pretty(node) } else { serde_json::to_string(node) };
    text.map_err(|why| Format::Json.unfit(why))
}
