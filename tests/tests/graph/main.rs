//! Pictures of plans and runs: what is drawn, and where.
//!
//! `PHASM_ACCEPT=1` accepts the pictures beside this file.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod counts;
#[path = "../simulation/documents.rs"]
mod documents;
mod goldens;
mod pictures;
#[path = "../simulation/random.rs"]
mod random;

use std::sync::Arc;

use phasm_engine::{
    plan::{Draft, Executors, Plan},
    tree::Tree,
    value::Value,
};
use phasm_graph::{Diagram, Layout, Piece, Rect};
use serde_json::{Value as Json, json};

fn plan(templates: &[Json]) -> Arc<Plan> {
    phasm_tests::small::plan(templates).unwrap()
}

fn random_plan(random: &mut random::Random) -> Arc<Plan> {
    let tree = Tree::from(&Value::from(documents::document(random)));
    Arc::new(Draft::read(&tree).plan(&Executors::any(), &Value::Null).unwrap())
}

/// A dag `main` of `count` tasks, each after those that `after` says.
fn dag(count: usize, after: impl Fn(usize) -> Vec<usize>) -> Arc<Plan> {
    let task = |number: usize| {
        let after: Vec<_> = after(number).into_iter().map(|before| format!("t{before}")).collect();
        json!({ "name": format!("t{number}"), "template": "work", "dependencies": after })
    };
    let tasks: Vec<_> = (0..count).map(task).collect();
    plan(&[phasm_tests::small::work(), json!({ "dag": { "name": "main", "tasks": tasks } })])
}

fn holds(outer: Rect, inner: Rect) -> bool {
    outer.x <= inner.x
        && outer.y <= inner.y
        && inner.x + inner.width <= outer.x + outer.width
        && inner.y + inner.height <= outer.y + outer.height
}

fn overlap(a: Rect, b: Rect) -> bool {
    let beside = a.x + a.width <= b.x || b.x + b.width <= a.x;
    beside || a.y + a.height <= b.y || b.y + b.height <= a.y
}

/// Whether a piece of a line goes through a box, not only along its edge.
fn passes(piece: Piece, rect: Rect) -> bool {
    let (left, right, top, bottom) = match piece {
        Piece::Down { x, top, bottom } => (x, x, top, bottom),
        Piece::Bend { from, to, top, bottom } => (from.min(to), from.max(to), top, bottom),
    };
    left < rect.x + rect.width
        && rect.x < right.max(left + 1)
        && top < rect.y + rect.height
        && rect.y < bottom
}

/// No two boxes overlap, each stands in its own, lines go downwards from box to box and through none of them.
fn check(diagram: &Diagram) {
    let layout = Layout::of(diagram);
    assert_eq!(layout.boxes.len(), diagram.nodes.len());
    let rect = |at: usize| layout.boxes[at];
    for (at, node) in diagram.nodes.iter().enumerate() {
        let inside: Vec<usize> = node.levels.iter().flatten().copied().collect();
        for (position, child) in inside.iter().enumerate() {
            assert!(*child > at && diagram.nodes[*child].parent == at);
            assert!(holds(rect(at), rect(*child)), "{:?} {:?}", rect(at), rect(*child));
            let others = inside.iter().skip(position + 1);
            others.for_each(|other| assert!(overlap(rect(*child), rect(*other)), "{child} {other}"));
        }
        for edge in &node.edges {
            let (upper, lower) = (rect(edge.from), rect(edge.to));
            assert!(upper.y + upper.height <= lower.y, "{edge:?} goes up");
            assert!(layout.lines.iter().any(|line| line.from == edge.from && line.to.contains(&edge.to)));
        }
    }
    for line in &layout.lines {
        let around = diagram.nodes[line.from].parent;
        for piece in &line.pieces {
            let (Piece::Down { top, bottom, .. } | Piece::Bend { top, bottom, .. }) = *piece;
            assert!(top < bottom, "{piece:?}");
            let inside = diagram.nodes[around].levels.iter().flatten();
            inside.for_each(|at| assert!(!passes(*piece, rect(*at)), "{piece:?} {:?}", rect(*at)));
        }
    }
}
