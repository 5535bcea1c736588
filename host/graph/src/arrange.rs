//! Places of the boxes in one box, and the lines between them: level below level, and lines around the boxes of the levels they pass.
//!
//! All lines from one box are one trunk with branches: on each level that it passes it has a place as if it were a box, narrow
//! and empty. So there are never more of these than boxes times levels, whatever the number of lines.

use std::collections::BTreeMap;

use crate::{
    crossings::{self, Link},
    geometry::{Line, Piece, Size},
    model::{Edge, Node},
    placement::{self, Preference},
};

/// Distance between boxes on a level, in pixels.
const BOX_GAP: i32 = 24;
/// Distance between levels with lines between them.
const LEVEL_GAP: i32 = 42;
/// Distance between levels without lines.
const ROW_GAP: i32 = 14;
/// Distance between the rows of a closed loop.
const LIST_GAP: i32 = 2;
/// Width of a line that passes a level.
const TRUNK: i32 = 4;
/// Weight of a trunk against that of a box: trunks are straight rather than boxes in the middle.
const TRUNK_WEIGHT: f64 = 4.0;
/// Rounds of moving levels towards each other, each down and up.
const ROUNDS: usize = 4;

/// Arrangement of the content of one box.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrangement {
    pub(crate) size: Size,
    /// Box, left, top.
    pub(crate) places: Vec<(usize, i32, i32)>,
    pub(crate) lines: Vec<Line>,
}

/// Something with a place on a level.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Number of the node; `None` for a trunk.
    node: Option<usize>,
    size: Size,
    x: i32,
}

impl Cell {
    fn middle(self) -> i32 {
        self.x + self.size.width / 2
    }

    fn weight(self) -> f64 {
        if self.node.is_some() { 1.0 } else { TRUNK_WEIGHT }
    }
}

/// The content of one box, with a cell for each box and for each level that a line passes.
#[derive(Debug, Default)]
struct LayeredGraph {
    cells: Vec<Cell>,
    levels: Vec<Vec<usize>>,
    /// Links below each level but the last.
    gaps: Vec<Vec<Link>>,
    /// The line that each link of a gap is part of.
    owners: Vec<Vec<usize>>,
    lines: Vec<Line>,
    /// Distance between the levels.
    gap: i32,
}

/// All edges from one node, or to all of its hooks.
struct Trunk {
    from: usize,
    hook: bool,
    to: Vec<usize>,
}

/// Upper and lower edge of a level.
struct Extent {
    top: i32,
    bottom: i32,
}

/// Finds places for the content of a node.
pub(crate) fn arrange(node: &Node, sizes: &[Size]) -> Arrangement {
    let mut graph = LayeredGraph::new(node, sizes);
    if graph.lines.is_empty() {
        graph.line_up();
    } else {
        crossings::reduce(&mut graph.levels, &graph.gaps, graph.cells.len());
        graph.move_together();
    }
    graph.finish()
}

/// Groups the edges of a node's content by their upper end.
fn trunks(edges: &[Edge]) -> Vec<Trunk> {
    let mut trunks: BTreeMap<(usize, bool), Vec<usize>> = BTreeMap::new();
    for edge in edges {
        trunks.entry((edge.from, edge.hook)).or_default().push(edge.to);
    }
    trunks.into_iter().map(|((from, hook), to)| Trunk { from, hook, to }).collect()
}

impl LayeredGraph {
    fn new(node: &Node, sizes: &[Size]) -> Self {
        let mut graph = Self::default();
        let mut place: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (level, boxes) in node.levels.iter().enumerate() {
            let mut cells = Vec::with_capacity(boxes.len());
            for number in boxes {
                let size = sizes.get(*number).copied().unwrap_or_default();
                let cell = graph.add(Some(*number), size);
                place.insert(*number, (level, cell));
                cells.push(cell);
            }
            graph.levels.push(cells);
        }
        let gaps = graph.levels.len().saturating_sub(1);
        graph.gaps = vec![Vec::new(); gaps];
        graph.owners = vec![Vec::new(); gaps];
        for trunk in trunks(&node.edges) {
            graph.add_trunk(trunk, &place);
        }
        graph.gap = match &node.iterations {
            Some(_) => LIST_GAP,
            None if graph.lines.is_empty() => ROW_GAP,
            None => LEVEL_GAP,
        };
        graph
    }

    fn add(&mut self, node: Option<usize>, size: Size) -> usize {
        self.cells.push(Cell { node, size, x: 0 });
        self.cells.len() - 1
    }

    /// Adds the trunk from a node down to the last that follows it, and its branches. `place` is the level and cell of each node.
    fn add_trunk(&mut self, trunk: Trunk, place: &BTreeMap<usize, (usize, usize)>) {
        let Trunk { from, hook, to } = trunk;
        let Some((first, mut upper)) = place.get(&from).copied() else { return };
        let mut ends: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (level, cell) in to.iter().filter_map(|to| place.get(to)) {
            ends.entry(*level).or_default().push(*cell);
        }
        let Some(last) = ends.last_key_value().map(|(level, _)| *level) else { return };
        let line = self.lines.len();
        self.lines.push(Line { from, to, hook, pieces: Vec::new() });
        for level in first + 1..=last {
            for cell in ends.remove(&level).into_iter().flatten() {
                self.link(level - 1, upper, cell, line);
            }
            if level < last {
                let trunk = self.add(None, Size { width: TRUNK, height: 0 });
                self.levels.get_mut(level).into_iter().for_each(|cells| cells.push(trunk));
                self.link(level - 1, upper, trunk, line);
                upper = trunk;
            }
        }
    }

    fn link(&mut self, gap: usize, upper: usize, lower: usize, line: usize) {
        if let (Some(gap), Some(owners)) = (self.gaps.get_mut(gap), self.owners.get_mut(gap)) {
            gap.push(Link { upper, lower });
            owners.push(line);
        }
    }

    fn cell(&self, cell: usize) -> Cell {
        self.cells.get(cell).copied().unwrap_or(Cell { node: None, size: Size::default(), x: 0 })
    }

    /// Places the cells in columns, from the left.
    fn line_up(&mut self) {
        let columns = self.levels.iter().map(Vec::len).max().unwrap_or(0);
        let mut left = 0;
        for column in 0..columns {
            let cells: Vec<_> = self.levels.iter().filter_map(|level| level.get(column)).copied().collect();
            let widest = cells.iter().map(|cell| self.cell(*cell).size.width).max().unwrap_or(0);
            for cell in cells {
                self.cells.get_mut(cell).into_iter().for_each(|cell| cell.x = left);
            }
            left += widest + BOX_GAP;
        }
    }

    /// Moves each level as near as possible to the cells that its lines lead to.
    fn move_together(&mut self) {
        for level in 0..self.levels.len() {
            self.move_level(level, &[]);
        }
        let lower = |link: &Link| (link.lower, link.upper);
        let upper = |link: &Link| (link.upper, link.lower);
        for _ in 0..ROUNDS {
            for at in 0..self.gaps.len() {
                let lines: Vec<_> = self.gaps.get(at).into_iter().flatten().map(lower).collect();
                self.move_level(at + 1, &lines);
            }
            for at in (0..self.gaps.len()).rev() {
                let lines: Vec<_> = self.gaps.get(at).into_iter().flatten().map(upper).collect();
                self.move_level(at, &lines);
            }
        }
    }

    /// Moves a level to where its lines lead. A line is a cell of the level and one of another level.
    fn move_level(&mut self, level: usize, lines: &[(usize, usize)]) {
        let mut targets: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (own, other) in lines {
            let other = self.cell(*other);
            let (sum, weight) = targets.entry(*own).or_default();
            *sum += f64::from(other.middle()) * other.weight();
            *weight += other.weight();
        }
        let cells = self.levels.get(level).cloned().unwrap_or_default();
        let preference = |number: &usize| {
            let cell = self.cell(*number);
            let middle = targets.get(number).map_or(f64::from(cell.middle()), |(sum, weight)| sum / weight);
            Preference { middle, width: cell.size.width, weight: cell.weight() }
        };
        let preferences: Vec<_> = cells.iter().map(preference).collect();
        for (number, x) in cells.iter().zip(placement::place(&preferences, BOX_GAP)) {
            self.cells.get_mut(*number).into_iter().for_each(|cell| cell.x = x);
        }
    }

    fn finish(mut self) -> Arrangement {
        let left = self.cells.iter().map(|cell| cell.x).min().unwrap_or(0);
        self.cells.iter_mut().for_each(|cell| cell.x -= left);
        let (levels, height) = self.heights();
        let mut arrangement = Arrangement::default();
        arrangement.size.height = height;
        for (cells, level) in self.levels.iter().zip(&levels) {
            for cell in cells.iter().map(|cell| self.cell(*cell)) {
                arrangement.size.width = arrangement.size.width.max(cell.x + cell.size.width);
                arrangement.places.extend(cell.node.map(|node| (node, cell.x, level.top)));
            }
            debug_assert!(level.top <= level.bottom);
        }
        self.draw_pieces(&levels);
        arrangement.lines = self.lines;
        arrangement
    }

    /// Returns the upper and lower edge of each level, and the height of all.
    fn heights(&self) -> (Vec<Extent>, i32) {
        let mut levels = Vec::with_capacity(self.levels.len());
        let mut top = 0;
        for cells in &self.levels {
            let height = cells.iter().map(|cell| self.cell(*cell).size.height).max().unwrap_or(0);
            levels.push(Extent { top, bottom: top + height });
            top += height + self.gap;
        }
        (levels, (top - self.gap).max(0))
    }

    /// Draws the pieces of every line.
    fn draw_pieces(&mut self, levels: &[Extent]) {
        let gaps = self.gaps.iter().zip(&self.owners);
        for ((level, next), (links, owners)) in levels.iter().zip(levels.iter().skip(1)).zip(gaps) {
            for (link, owner) in links.iter().zip(owners) {
                let upper = self.cell(link.upper);
                let begin = level.top + upper.size.height;
                let from = upper.middle();
                let to = self.cell(link.lower).middle();
                let Some(line) = self.lines.get_mut(*owner) else { continue };
                line.pieces.push(Piece::Bend { from, to, top: level.bottom, bottom: next.top });
                if begin < level.bottom {
                    line.pieces.push(Piece::Down { x: from, top: begin, bottom: level.bottom });
                }
            }
        }
        for line in &mut self.lines {
            line.pieces.sort_unstable();
            line.pieces.dedup();
        }
    }
}
