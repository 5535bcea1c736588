//! Nodes and edges of a diagram, and how many of them a picture holds.

use crate::{iterations::Iterations, label::Label, tally::Tally};

/// Maximum sizes of a picture. Nodes beyond them are counted in one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nodes in all. The root's own nodes are drawn even beyond this.
    pub boxes: usize,
    /// Nodes on one level of a container.
    pub across: usize,
    /// Levels of a container.
    pub down: usize,
    /// Iterations of a loop that are drawn one by one. A loop with more of them is one node.
    pub alike: usize,
    /// Lines of a container.
    pub lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { boxes: 400, across: 12, down: 30, alike: 8, lines: 2000 }
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
    /// Tasks that the node stands for, without those of the nodes inside. Empty for an open node.
    pub tally: Tally,
    /// Iterations of a loop that is not opened; the nodes inside are those that failed or are suspended.
    pub iterations: Option<Iterations>,
}

impl Node {
    /// Returns a node with nothing inside.
    pub(crate) fn closed(label: Label, parent: usize) -> Self {
        let (levels, edges) = (Vec::new(), Vec::new());
        Self { label, parent, levels, edges, tally: Tally::default(), iterations: None }
    }
}
