//! Numbers of YAML and TOML that would become others: their readers hand over the nearest double, without the digits.

use std::collections::BTreeSet;

use phasm_sdk::number;

use crate::node::Node;

/// Returns the first number in `text` that is not the double that was read for it, and its place in bytes.
pub(super) fn lost<'t>(text: &'t str, node: &Node) -> Option<(usize, &'t str)> {
    let mut doubles = BTreeSet::new();
    collect(node, &mut doubles);
    if doubles.is_empty() {
        return None;
    }
    words(text).find(|(_, word)| {
        let number = word.replace('_', "");
        let double = number.parse::<f64>().ok().filter(|double| doubles.contains(&double.to_bits()));
        double.is_some() && !number::is_kept(number.trim_start_matches('+'))
    })
}

fn collect(node: &Node, doubles: &mut BTreeSet<u64>) {
    match node {
        Node::Float(double) => {
            doubles.insert(double.to_bits());
        }
        Node::List(nodes) => nodes.iter().for_each(|node| collect(node, doubles)),
        Node::Object(fields) => fields.iter().for_each(|(_, node)| collect(node, doubles)),
        Node::Null | Node::Bool(_) | Node::Unsigned(_) | Node::Signed(_) | Node::Text(_) => {}
    }
}

/// The words that may be numbers: they begin with a digit, a sign or a dot, and stand in no quotes.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_' | '"' | '\'');
    let mut at = 0;
    text.split(move |c: char| !is_part(c)).filter_map(move |word| {
        let start = at;
        // Every separator is one character, and the words are parts of the text.
        at = start + word.len() + text.get(start + word.len()..)?.chars().next().map_or(0, char::len_utf8);
        let begins = word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
        begins.then_some((start, word))
    })
}
