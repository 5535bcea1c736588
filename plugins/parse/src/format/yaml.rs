//! YAML 1.2: `yes` and `no` are texts; anchors are expanded within bounds, `<<` merges.

use phasm_sdk::prelude::*;
use serde_saphyr::{MessageFormatter, Options, UserMessageFormatter};

use super::Format;
use crate::node::Node;

/// Room for data, not only for configuration, but not for what aliases multiply.
fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_events: 4_000_000, max_nodes: 2_000_000 },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
        strict_booleans: true,
        with_snippet: false,
    }
}

pub(super) fn parse(text: &str) -> Result<Node> {
    serde_saphyr::from_str_with_options(text, options()).map_err(|why| {
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (line, column) = why.location().map_or((1, 1), |at| (number(at.line()), number(at.column())));
        Format::Yaml.malformed(UserMessageFormatter.format_message(&why), line, column)
    })
}

pub(super) fn render(node: &Node) -> Result<String> {
    serde_saphyr::to_string(node).map_err(|why| Format::Yaml.unfit(why))
}
