//! Boxes stand apart, each in its own, and no line passes through one.

use phasm_engine::time::Timestamp;
use phasm_graph::{Diagram, Kind, Layout, Piece, Rect};

use crate::samples;

fn holds(outer: Rect, inner: Rect) -> bool {
    outer.x <= inner.x
        && outer.y <= inner.y
        && inner.x + inner.width <= outer.x + outer.width
        && inner.y + inner.height <= outer.y + outer.height
}

fn overlap(a: Rect, b: Rect) -> bool {
    let apart = a.x + a.width <= b.x || b.x + b.width <= a.x;
    !(apart || a.y + a.height <= b.y || b.y + b.height <= a.y)
}

fn passes(piece: Piece, rect: Rect) -> bool {
    let (left, right, top, bottom) = match piece {
        Piece::Down { x, top, bottom } => (x, x, top, bottom),
        Piece::Bend { from, to, top, bottom } => (from.min(to), from.max(to), top, bottom),
    };
    let across = left < rect.x + rect.width && rect.x < right.max(left + 1);
    across && top < rect.y + rect.height && rect.y < bottom
}

fn check(diagram: &Diagram) {
    let layout = Layout::of(diagram);
    for (at, node) in diagram.nodes.iter().enumerate() {
        let inside: Vec<usize> = node.levels.iter().flatten().copied().collect();
        for (position, child) in inside.iter().enumerate() {
            assert_eq!(diagram.nodes[*child].parent, at);
            assert!(holds(layout.boxes[at], layout.boxes[*child]), "{at} {child}");
            for other in &inside[position + 1..] {
                assert!(!overlap(layout.boxes[*child], layout.boxes[*other]), "{child} {other}");
            }
        }
    }
    for line in &layout.lines {
        let around = &diagram.nodes[diagram.nodes[line.from].parent];
        for (piece, at) in
            line.pieces.iter().flat_map(|piece| around.levels.iter().flatten().map(move |at| (piece, at)))
        {
            assert!(!passes(*piece, layout.boxes[*at]), "{piece:?} {:?}", layout.boxes[*at]);
        }
    }
}

#[test]
fn boxes_stand_apart_and_every_task_is_drawn_or_counted() {
    let failing = &[2, 3, 5, 7, 11, 13, 17, 19];
    let worlds = [
        samples::failed(),
        samples::pipeline(),
        samples::approval(),
        samples::customers(5, &[2]).finished(),
        samples::customers(9, &[]).finished(),
        samples::customers(500, failing).finished(),
        samples::customers(500, failing).until(Timestamp(700)),
    ];
    for world in worlds {
        let diagram = world.diagram();
        check(&diagram);
        let leaves = world.run.tasks().iter().filter(|task| world.run.children(task).len() == 0).count();
        assert_eq!(diagram.tally().tasks(), leaves as u64);
    }
}

/// A note, or the message of a failure, has room before it is cut; boxes without a message are low.
#[test]
fn boxes_grow_by_what_they_say() {
    let diagram = samples::failed().diagram();
    let layout = Layout::of(&diagram);
    let rect = |name: &str| {
        let at = diagram.nodes.iter().position(|node| node.label.name == name).unwrap();
        (layout.boxes[at].width, layout.boxes[at].height)
    };
    assert_eq!(rect("rates"), (220, 46));
    assert_eq!(rect("fetch"), (286, 62));
}

/// The entries of a pipeline that goes back are one line from the first to the last.
#[test]
fn a_pipeline_with_jumps_is_in_the_order_of_its_entries() {
    let diagram = samples::pipeline().diagram();
    check(&diagram);
    let main = diagram.nodes.iter().find(|node| node.label.kind == Kind::Pipeline).unwrap();
    let name = |at: &usize| diagram.nodes[*at].label.name.as_str();
    let levels: Vec<_> = main.levels.iter().map(|level| level.iter().map(name).collect::<Vec<_>>()).collect();
    assert_eq!(
        levels,
        [["1. fetch"], ["2. fetch"], ["3. fetch"], ["4. fetch"], ["5. transform"], ["6. write"]]
    );
    assert_eq!(main.edges.len(), 5);
    assert!(main.edges.iter().all(|edge| edge.from + 1 == edge.to));
}
