//! Nodes and edges of a diagram, and how many of them a picture holds.

use crate::{label::Label, tally::Tally};

/// Maximum sizes of a picture. Nodes beyond them are counted in one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nodes in all. The root's own nodes are drawn even beyond this.
    pub boxes: usize,
    /// Nodes on one level of a container.
    pub across: usize,
    /// Levels of a container.
    pub down: usize,
    /// Nodes of a container without edges, such as iterations of a loop.
    pub alike: usize,
    /// Lines of a container.
    pub lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { boxes: 400, across: 12, down: 30, alike: 24, lines: 2000 }
    }
}

/// An edge: `to` follows `from`, or is a hook of it. Both are numbers of nodes, or of items before nodes are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The upper one.
    pub from: usize,
    /// Whether `to` is a hook of `from`.
    pub hook: bool,
    /// The lower one.
    pub to: usize,
}

/// A node, drawn as a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Text and signs of the node.
    pub label: Label,
    /// Number of the node around this one. The first node, which is the page, has its own number.
    pub parent: usize,
    /// Numbers of the nodes inside, level by level. Empty for a closed node.
    pub levels: Vec<Vec<usize>>,
    /// Edges between the nodes inside, downwards, sorted.
    pub edges: Vec<Edge>,
    /// Tasks that the node stands for. Empty for an open node.
    pub tally: Tally,
}

impl Node {
    /// Returns a node with nothing inside.
    pub(crate) fn closed(label: Label, parent: usize) -> Self {
        Self { label, parent, levels: Vec::new(), edges: Vec::new(), tally: Tally::default() }
    }
}
