//! Where everything stands: from the innermost boxes outwards their sizes, then from the page inwards their places.

use crate::{
    arrange::{self, Arranged, Size},
    diagram::{Diagram, Shown},
    look::{Kind, Look},
    markup::cells,
};

/// Pixels of a character, at most: names are clipped anyway.
pub(crate) const CELL: i32 = 8;
const NARROWEST: i32 = 148;
/// With room for a phase, how long it took, and an attempt.
const NARROWEST_RUN: i32 = 204;
const WIDEST: i32 = 244;
/// A box without others in it.
pub(crate) const CLOSED: i32 = 46;
/// Height of the header of a box with boxes in it.
pub(crate) const HEADER: i32 = 34;
/// Between a box and those in it.
pub(crate) const PADDING: i32 = 14;
/// Around the page.
pub(crate) const MARGIN: i32 = 8;
/// The sign and the room around a text.
pub(crate) const BESIDE_TEXT: i32 = 42;

/// A place, in pixels from the left and the top of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
}

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Piece {
    /// Straight down.
    Down {
        /// Where.
        x: i32,
        /// From.
        top: i32,
        /// To.
        bottom: i32,
    },
    /// Between two levels, where there are no boxes.
    Bend {
        /// Begins here.
        from: i32,
        /// Ends here.
        to: i32,
        /// Upper end.
        top: i32,
        /// Lower end.
        bottom: i32,
    },
}

/// Line from one box to all that follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The upper box.
    pub from: usize,
    /// The lower ones.
    pub to: Vec<usize>,
    /// Whether they are its hooks.
    pub hook: bool,
    /// Its parts, each downwards.
    pub pieces: Vec<Piece>,
}

/// Where everything of a diagram stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rectangle of each box; the first one is the whole picture.
    pub boxes: Vec<Rect>,
    /// All lines.
    pub lines: Vec<Line>,
}

impl Layout {
    /// Finds places for everything.
    #[must_use]
    pub fn of(diagram: &Diagram) -> Self {
        let boxes = &diagram.boxes;
        let mut sizes = vec![Size::default(); boxes.len()];
        let mut inside: Vec<Arranged> = vec![Arranged::default(); boxes.len()];
        // A box has a higher number than the box around it, so this order sees the inner ones first.
        for (at, shown) in boxes.iter().enumerate().rev() {
            let arranged = arrange::arrange(shown, &sizes);
            let size = outer(at, shown, &arranged);
            if let (Some(slot), Some(own)) = (sizes.get_mut(at), inside.get_mut(at)) {
                (*slot, *own) = (size, arranged);
            }
        }
        let mut layout = Self { boxes: vec![Rect::default(); boxes.len()], lines: Vec::new() };
        for (at, (arranged, size)) in inside.into_iter().zip(&sizes).enumerate() {
            layout.place(at, arranged, *size);
        }
        layout
    }

    /// Sets the size of a box, whose place is known, and the places of those in it.
    fn place(&mut self, at: usize, arranged: Arranged, size: Size) {
        let Some(own) = self.boxes.get_mut(at) else { return };
        (own.width, own.height) = (size.width, size.height);
        let edge = if at == 0 { (MARGIN, MARGIN) } else { (PADDING, HEADER) };
        let (x, y) = (own.x + edge.0, own.y + edge.1);
        for (inside, left, top) in arranged.places {
            if let Some(slot) = self.boxes.get_mut(inside) {
                (slot.x, slot.y) = (x + left, y + top);
            }
        }
        self.lines.extend(arranged.lines.into_iter().map(|line| line.moved(x, y)));
    }

    /// The whole picture.
    #[must_use]
    pub fn page(&self) -> Rect {
        self.boxes.first().copied().unwrap_or_default()
    }
}

impl Line {
    fn moved(mut self, x: i32, y: i32) -> Self {
        for piece in &mut self.pieces {
            *piece = match *piece {
                Piece::Down { x: at, top, bottom } => {
                    Piece::Down { x: at + x, top: top + y, bottom: bottom + y }
                }
                Piece::Bend { from, to, top, bottom } => {
                    Piece::Bend { from: from + x, to: to + x, top: top + y, bottom: bottom + y }
                }
            };
        }
        self
    }
}

/// The size of a box, given what is in it.
fn outer(at: usize, shown: &Shown, inside: &Arranged) -> Size {
    let Size { width, height } = inside.size;
    if at == 0 {
        return Size { width: width + 2 * MARGIN, height: height + 2 * MARGIN };
    }
    let least = text_width(&shown.look);
    if shown.levels.is_empty() {
        return Size { width: least, height: CLOSED };
    }
    Size { width: (width + 2 * PADDING).max(least), height: HEADER + height + PADDING }
}

/// Returns the width of a box for its texts. In a run it depends on the name alone, so that boxes do not move when a phase
/// changes.
fn text_width(look: &Look) -> i32 {
    let of = |text: &str, each: i32| i32::try_from(cells(text)).unwrap_or(i32::MAX / 16).saturating_mul(each);
    let is_run = look.phase.is_some() && look.kind != Kind::More;
    let (note, least) = if is_run { (0, NARROWEST_RUN) } else { (of(&look.note, 6), NARROWEST) };
    of(&look.name, CELL).max(note).saturating_add(BESIDE_TEXT).clamp(least, WIDEST)
}
