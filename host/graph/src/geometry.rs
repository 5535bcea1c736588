//! Sizes, rectangles and lines of a picture, in pixels.

/// Width and height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) width: i32,
    pub(crate) height: i32,
}

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

/// Line from one node to all that follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The upper node.
    pub from: usize,
    /// The lower ones.
    pub to: Vec<usize>,
    /// Whether they are its hooks.
    pub hook: bool,
    /// Its parts, each downwards.
    pub pieces: Vec<Piece>,
}

impl Line {
    /// Moves the line to the right and down.
    pub(crate) fn shift(mut self, x: i32, y: i32) -> Self {
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
