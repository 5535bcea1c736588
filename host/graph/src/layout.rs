//! Places of a diagram's boxes and lines: sizes from the innermost boxes outwards, then places from the page inwards.

use crate::{
    arrange::{self, Arrangement},
    diagram::Diagram,
    geometry::{Line, Rect, Size},
    label::{Kind, Label},
    markup::cells,
    model::Node,
};

/// Maximum width of a character: names are clipped anyway.
pub(crate) const CELL: i32 = 8;
/// Pixels of a letter of a note.
pub(crate) const NOTE_CELL: i32 = 6;
/// Minimum width of a box of a plan.
const MIN_WIDTH: i32 = 148;
/// Minimum width of a box of a run, with room for a phase, a duration and an attempt.
const MIN_RUN_WIDTH: i32 = 220;
/// Maximum width of a box without others in it.
const MAX_WIDTH: i32 = 340;
/// Maximum width that the header of a box asks for.
const MAX_HEADER_WIDTH: i32 = 480;
/// Height of a box without others in it.
const CLOSED_HEIGHT: i32 = 46;
/// Height of the third line of such a box.
pub(crate) const DETAIL_HEIGHT: i32 = 16;
/// Width of a loop that is one node.
const LOOP_WIDTH: i32 = 408;
/// Height of its texts, its bar and its strip.
const LOOP_HEADER: i32 = 96;
/// Height of a row in it.
const ROW_HEIGHT: i32 = 22;
/// Distance below its rows.
const LOOP_MARGIN: i32 = 8;
/// Height of the header of a box with boxes in it.
const HEADER: i32 = 34;
/// Distance between a box and those in it.
pub(crate) const PADDING: i32 = 14;
/// Distance between the page and its boxes.
const MARGIN: i32 = 8;
/// Width of a box that its text cannot use: the sign, and the room around them.
const TEXT_MARGIN: i32 = 42;
/// Width of a box that its note cannot use.
pub(crate) const NOTE_MARGIN: i32 = 22;

/// Size of a row of a loop that is one node.
const ROW: Size = Size { width: LOOP_WIDTH - 2 * PADDING, height: ROW_HEIGHT };

/// Places of a diagram's boxes and lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rectangle of each box; the first one is the whole picture.
    pub boxes: Vec<Rect>,
    /// All lines.
    pub lines: Vec<Line>,
}

impl Layout {
    /// Lays out a diagram.
    #[must_use]
    pub fn of(diagram: &Diagram) -> Self {
        let nodes = &diagram.nodes;
        let mut sizes = vec![Size::default(); nodes.len()];
        let mut inside: Vec<Arrangement> = vec![Arrangement::default(); nodes.len()];
        // A node has a higher number than the node around it, so this order sees the inner ones first.
        for (at, node) in nodes.iter().enumerate().rev() {
            let arrangement = arrange::arrange(node, &sizes);
            let is_row = nodes.get(node.parent).is_some_and(|parent| parent.iterations.is_some());
            if let (Some(size), Some(content)) = (sizes.get_mut(at), inside.get_mut(at)) {
                *size = if is_row { ROW } else { outer_size(at, node, &arrangement) };
                *content = arrangement;
            }
        }
        let mut layout = Self { boxes: vec![Rect::default(); nodes.len()], lines: Vec::new() };
        for (at, ((arrangement, size), node)) in inside.into_iter().zip(&sizes).zip(nodes).enumerate() {
            let header = if node.iterations.is_some() { LOOP_HEADER } else { HEADER };
            layout.place(at, arrangement, *size, header);
        }
        layout
    }

    /// Sets the size of a box whose place is known, and the places of the boxes in it.
    fn place(&mut self, at: usize, arrangement: Arrangement, size: Size, header: i32) {
        let Some(own) = self.boxes.get_mut(at) else { return };
        own.width = size.width;
        own.height = size.height;
        let x = own.x + if at == 0 { MARGIN } else { PADDING };
        let y = own.y + if at == 0 { MARGIN } else { header };
        for (inside, left, top) in arrangement.places {
            if let Some(rect) = self.boxes.get_mut(inside) {
                rect.x = x + left;
                rect.y = y + top;
            }
        }
        self.lines.extend(arrangement.lines.into_iter().map(|line| line.shift(x, y)));
    }

    /// Returns the rectangle of the whole picture.
    #[must_use]
    pub fn page(&self) -> Rect {
        self.boxes.first().copied().unwrap_or_default()
    }
}

/// Returns the size of a box from that of its content.
fn outer_size(at: usize, node: &Node, inside: &Arrangement) -> Size {
    let Size { width, height } = inside.size;
    if at == 0 {
        return Size { width: width + 2 * MARGIN, height: height + 2 * MARGIN };
    }
    if node.iterations.is_some() {
        return Size { width: LOOP_WIDTH, height: LOOP_HEADER + height + LOOP_MARGIN };
    }
    if node.levels.is_empty() {
        let detail = if node.label.detail.is_empty() { 0 } else { DETAIL_HEIGHT };
        return Size { width: text_width(&node.label), height: CLOSED_HEIGHT + detail };
    }
    let width = (width + 2 * PADDING).max(header_width(&node.label));
    Size { width, height: HEADER + height + PADDING }
}

/// Returns the width of a text of which a letter has `cell` pixels.
fn pixels(text: &str, cell: i32) -> i32 {
    i32::try_from(cells(text)).unwrap_or(i32::MAX / 16).saturating_mul(cell)
}

/// Returns the width of the header of a box with others in it: name, note and remark are one line.
fn header_width(label: &Label) -> i32 {
    let note = pixels(&label.header_note(), NOTE_CELL);
    let texts = pixels(&label.name, CELL).saturating_add(note);
    texts.saturating_add(TEXT_MARGIN + 10).clamp(MIN_WIDTH, MAX_HEADER_WIDTH)
}

/// Returns the width of a box for its texts. Boxes of a run have room for most notes, so that few move when a phase changes.
fn text_width(label: &Label) -> i32 {
    let is_run = label.phase.is_some() && label.kind != Kind::More;
    let min_width = if is_run { MIN_RUN_WIDTH } else { MIN_WIDTH };
    let notes = pixels(&label.note, NOTE_CELL).max(pixels(&label.detail, NOTE_CELL));
    let name = pixels(&label.name, CELL).saturating_add(TEXT_MARGIN);
    name.max(notes.saturating_add(NOTE_MARGIN)).clamp(min_width, MAX_WIDTH)
}
