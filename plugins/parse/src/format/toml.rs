//! TOML. Dates and times become texts.

use phasm_sdk::prelude::*;

use super::{Format, position};
use crate::node::Node;

pub(super) fn parse(text: &str) -> Result<Node> {
    toml::from_str(text).map_err(|why| {
        let (line, column) = position(text, why.span().map_or(0, |span| span.start));
        Format::Toml.malformed(why.message(), line, column)
    })
}

pub(super) fn render(node: &Node) -> Result<String> {
    if !matches!(node, Node::Object(_)) {
        return Err(Format::Toml.unfit("at the top there must be an object"));
    }
    if let Some(path) = path_of_null(node) {
        return Err(Format::Toml.unfit(format!("there is no null in TOML, but `{path}` is null")));
    }
    toml::to_string_pretty(node).map_err(|why| Format::Toml.unfit(why))
}

fn path_of_null(node: &Node) -> Option<String> {
    match node {
        Node::Null => Some(String::new()),
        Node::List(nodes) => {
            nodes.iter().enumerate().find_map(|(at, node)| Some(format!("[{at}]{}", path_of_null(node)?)))
        }
        Node::Object(fields) => {
            fields.iter().find_map(|(key, node)| Some(format!(".{key}{}", path_of_null(node)?)))
        }
        Node::Bool(_) | Node::Unsigned(_) | Node::Signed(_) | Node::Float(_) | Node::Text(_) => None,
    }
}
