//! A diagram as text, for a terminal.

use crate::{
    diagram::Diagram,
    label::Label,
    markup::{cells, clipped},
    model::Node,
};

/// Letters of a name that are printed.
const MAX_NAME_CELLS: usize = 60;
/// Letters of a message that are printed.
const MAX_DETAIL_CELLS: usize = 80;
/// Predecessors of a node that are printed.
const MAX_PREDECESSORS: usize = 4;

/// Prints a line for each node, indented by its depth: its name, its note, and the nodes that it follows.
///
/// Names are not escaped: the caller removes control characters before it prints them.
#[must_use]
pub fn tree(diagram: &Diagram) -> String {
    let nodes = diagram.in_reading_order();
    let label = |at: usize, depth: usize| {
        let name = diagram.nodes.get(at).map(|node| clipped(&node.label.name, MAX_NAME_CELLS));
        format!("{}{}", "  ".repeat(depth), name.unwrap_or_default())
    };
    let labels: Vec<_> = nodes.iter().map(|(at, depth)| label(*at, *depth)).collect();
    let width = labels.iter().map(|label| cells(label)).max().unwrap_or(0);
    let mut text = String::new();
    for ((at, _), label) in nodes.iter().zip(&labels) {
        let pad = " ".repeat(width - cells(label));
        let note = diagram.nodes.get(*at).map(note).unwrap_or_default();
        let line = format!("{label}{pad}  {note}{}", predecessors(diagram, *at));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns the note of a node, and what its box says below it.
fn note(node: &Node) -> String {
    let Label { note, detail, .. } = &node.label;
    if detail.is_empty() {
        return note.clone();
    }
    format!("{note} · {}", clipped(detail, MAX_DETAIL_CELLS))
}

/// Returns the names of the nodes that a node follows.
fn predecessors(diagram: &Diagram, at: usize) -> String {
    let name = |at: usize| diagram.nodes.get(at).map_or("", |node| node.label.name.as_str());
    let parent = diagram.nodes.get(at).and_then(|node| diagram.nodes.get(node.parent));
    let edges = parent.into_iter().flat_map(|parent| &parent.edges);
    let before: Vec<_> = edges.filter(|edge| edge.to == at).map(|edge| name(edge.from)).collect();
    if before.is_empty() {
        return String::new();
    }
    let more = if before.len() > MAX_PREDECESSORS { ", …" } else { "" };
    let names = before.into_iter().take(MAX_PREDECESSORS).collect::<Vec<_>>().join(", ");
    format!("  after {names}{more}")
}
