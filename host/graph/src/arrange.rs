//! Places of the boxes in one box, and the lines between them: level below level, and lines around the boxes of the levels they pass.
//!
//! All lines from one box are one trunk with branches: on each level that it passes it has a place as if it were a box, narrow
//! and empty. So there are never more of these than boxes times levels, whatever the number of lines.

use std::collections::BTreeMap;

use crate::{
    diagram::{Follows, Shown},
    layout::{Line, Piece},
    order::{Link, untangle},
    settle::{Wish, settle},
};

/// Between boxes on a level.
const BESIDE: i32 = 24;
/// Between levels with lines between them, and without.
const BELOW: i32 = 42;
const BELOW_ALIKE: i32 = 14;
/// How wide a line is that passes a level.
const TRUNK: i32 = 4;
/// Trunks are straight rather than boxes in the middle.
const STRAIGHT: f64 = 4.0;
/// Rounds of moving levels towards each other, each down and up.
const ROUNDS: usize = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) width: i32,
    pub(crate) height: i32,
}

/// Arrangement of the content of one box.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arranged {
    pub(crate) size: Size,
    /// Box, left, top.
    pub(crate) places: Vec<(usize, i32, i32)>,
    pub(crate) lines: Vec<Line>,
}

/// Something with a place on a level.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The box; of a trunk nothing.
    shown: Option<usize>,
    size: Size,
    x: i32,
}

impl Cell {
    fn middle(self) -> i32 {
        self.x + self.size.width / 2
    }

    fn weight(self) -> f64 {
        if self.shown.is_some() { 1.0 } else { STRAIGHT }
    }
}

#[derive(Debug, Default)]
struct Sheet {
    cells: Vec<Cell>,
    levels: Vec<Vec<usize>>,
    /// Below each level but the last.
    gaps: Vec<Vec<Link>>,
    /// Which line each link of a gap is of.
    owners: Vec<Vec<usize>>,
    lines: Vec<Line>,
}

/// Finds places for what is in a box.
pub(crate) fn arrange(shown: &Shown, sizes: &[Size]) -> Arranged {
    let mut sheet = Sheet::new(shown, sizes);
    if sheet.lines.is_empty() {
        sheet.line_up();
    } else {
        untangle(&mut sheet.levels, &sheet.gaps, sheet.cells.len());
        sheet.move_together();
    }
    sheet.arranged()
}

impl Sheet {
    fn new(shown: &Shown, sizes: &[Size]) -> Self {
        let mut sheet = Self::default();
        let mut place: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (level, boxes) in shown.levels.iter().enumerate() {
            let mut cells = Vec::with_capacity(boxes.len());
            for number in boxes {
                let size = sizes.get(*number).copied().unwrap_or_default();
                let cell = sheet.add(Some(*number), size);
                place.insert(*number, (level, cell));
                cells.push(cell);
            }
            sheet.levels.push(cells);
        }
        let gaps = sheet.levels.len().saturating_sub(1);
        (sheet.gaps, sheet.owners) = (vec![Vec::new(); gaps], vec![Vec::new(); gaps]);
        let mut trunks: BTreeMap<(usize, bool), Vec<&Follows>> = BTreeMap::new();
        for follows in &shown.follows {
            trunks.entry((follows.from, follows.hook)).or_default().push(follows);
        }
        for ((from, hook), follows) in trunks {
            let to: Vec<_> = follows.iter().map(|follows| follows.to).collect();
            sheet.draw((from, hook), to, &place);
        }
        sheet
    }

    fn add(&mut self, shown: Option<usize>, size: Size) -> usize {
        self.cells.push(Cell { shown, size, x: 0 });
        self.cells.len() - 1
    }

    /// The trunk from a box, down to the last that follows it, and its branches.
    fn draw(&mut self, (from, hook): (usize, bool), to: Vec<usize>, place: &BTreeMap<usize, (usize, usize)>) {
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
        self.cells.get(cell).copied().unwrap_or(Cell { shown: None, size: Size::default(), x: 0 })
    }

    /// From the left, in columns.
    fn line_up(&mut self) {
        let columns = self.levels.iter().map(Vec::len).max().unwrap_or(0);
        let mut left = 0;
        for column in 0..columns {
            let cells: Vec<_> = self.levels.iter().filter_map(|level| level.get(column)).copied().collect();
            let widest = cells.iter().map(|cell| self.cell(*cell).size.width).max().unwrap_or(0);
            for cell in cells {
                self.cells.get_mut(cell).into_iter().for_each(|cell| cell.x = left);
            }
            left += widest + BESIDE;
        }
    }

    /// Each level as near as can be to what its lines lead to.
    fn move_together(&mut self) {
        for level in 0..self.levels.len() {
            self.settle(level, &[]);
        }
        let lower = |link: &Link| (link.lower, link.upper);
        let upper = |link: &Link| (link.upper, link.lower);
        for _ in 0..ROUNDS {
            for at in 0..self.gaps.len() {
                let lines: Vec<_> = self.gaps.get(at).into_iter().flatten().map(lower).collect();
                self.settle(at + 1, &lines);
            }
            for at in (0..self.gaps.len()).rev() {
                let lines: Vec<_> = self.gaps.get(at).into_iter().flatten().map(upper).collect();
                self.settle(at, &lines);
            }
        }
    }

    /// Moves a level to where its lines, as (one of the level, one of another), lead.
    fn settle(&mut self, level: usize, lines: &[(usize, usize)]) {
        let mut led: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (own, other) in lines {
            let other = self.cell(*other);
            let (sum, weight) = led.entry(*own).or_default();
            *sum += f64::from(other.middle()) * other.weight();
            *weight += other.weight();
        }
        let cells = self.levels.get(level).cloned().unwrap_or_default();
        let wish = |number: &usize| {
            let cell = self.cell(*number);
            let middle = led.get(number).map_or(f64::from(cell.middle()), |(sum, weight)| sum / weight);
            Wish { middle, width: cell.size.width, weight: cell.weight() }
        };
        let wishes: Vec<_> = cells.iter().map(wish).collect();
        for (number, x) in cells.iter().zip(settle(&wishes, BESIDE)) {
            self.cells.get_mut(*number).into_iter().for_each(|cell| cell.x = x);
        }
    }

    fn arranged(mut self) -> Arranged {
        let left = self.cells.iter().map(|cell| cell.x).min().unwrap_or(0);
        self.cells.iter_mut().for_each(|cell| cell.x -= left);
        let (levels, height) = self.heights();
        let mut arranged = Arranged::default();
        arranged.size.height = height;
        for (cells, (top, bottom)) in self.levels.iter().zip(&levels) {
            for cell in cells.iter().map(|cell| self.cell(*cell)) {
                arranged.size.width = arranged.size.width.max(cell.x + cell.size.width);
                arranged.places.extend(cell.shown.map(|shown| (shown, cell.x, *top)));
            }
            debug_assert!(top <= bottom);
        }
        self.pieces(&levels);
        arranged.lines = self.lines;
        arranged
    }

    /// The upper and lower edge of each level, and where the last one ends.
    fn heights(&self) -> (Vec<(i32, i32)>, i32) {
        let between = if self.lines.is_empty() { BELOW_ALIKE } else { BELOW };
        let (mut levels, mut top) = (Vec::with_capacity(self.levels.len()), 0);
        for cells in &self.levels {
            let height = cells.iter().map(|cell| self.cell(*cell).size.height).max().unwrap_or(0);
            levels.push((top, top + height));
            top += height + between;
        }
        (levels, (top - between).max(0))
    }

    /// Draws every line from what it leads through.
    fn pieces(&mut self, levels: &[(i32, i32)]) {
        let below = levels.iter().skip(1);
        for (((top, bottom), (next, _)), (links, owners)) in
            levels.iter().zip(below).zip(self.gaps.iter().zip(&self.owners))
        {
            for (link, owner) in links.iter().zip(owners) {
                let (upper, lower) = (self.cell(link.upper), self.cell(link.lower));
                let (from, to, begin) = (upper.middle(), lower.middle(), top + upper.size.height);
                let Some(line) = self.lines.get_mut(*owner) else { continue };
                line.pieces.push(Piece::Bend { from, to, top: *bottom, bottom: *next });
                if begin < *bottom {
                    line.pieces.push(Piece::Down { x: from, top: begin, bottom: *bottom });
                }
            }
        }
        for line in &mut self.lines {
            line.pieces.sort_unstable();
            line.pieces.dedup();
        }
    }
}
