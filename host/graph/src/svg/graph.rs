//! A diagram as SVG.

use std::collections::BTreeSet;

use phasm_engine::phase::Phase;

use super::{Frame, SvgOptions, TaskGroup, describe, loops, title};
use crate::{
    diagram::Diagram,
    geometry::{Line, Piece, Rect},
    label::Label,
    layout::{CELL, DETAIL_HEIGHT, Layout, NOTE_CELL, NOTE_MARGIN},
    markup::{Markup, cells, clipped, escaped, letters},
    model::Node,
    sign::disc,
};

/// Room that the sign of a phase takes from a text.
const SIGN: i32 = 17;
/// Names in the title of a line.
const MAX_TITLE_NAMES: usize = 8;

/// Draws a diagram.
#[must_use]
pub fn graph_svg(diagram: &Diagram, options: SvgOptions<'_>) -> String {
    let layout = Layout::of(diagram);
    let Rect { width, height, .. } = layout.page();
    let title = title("Graph", diagram);
    let description = describe(diagram);
    let frame = Frame { width, height, is_fluid: false, title: &title, description: &description };
    let mut out = frame.begin(options);
    for (at, _) in diagram.in_reading_order() {
        if let (Some(node), Some(rect)) = (diagram.nodes.get(at), layout.boxes.get(at)) {
            let around = diagram.nodes.get(node.parent);
            match around.filter(|around| around.iterations.is_some()) {
                Some(around) => loops::draw_row(&mut out, options, node, around, *rect),
                None => draw_box(&mut out, options, node, around, *rect),
            }
        }
    }
    for line in &layout.lines {
        draw_line(&mut out, line, diagram);
    }
    let ends: BTreeSet<usize> = layout.lines.iter().flat_map(|line| &line.to).copied().collect();
    for rect in ends.into_iter().filter_map(|at| layout.boxes.get(at)) {
        draw_arrow(&mut out, *rect);
    }
    out.put(format_args!("</svg>\n"));
    out.0
}

fn draw_box(
    out: &mut Markup,
    options: SvgOptions<'_>,
    node: &Node,
    around: Option<&Node>,
    Rect { x, y, width, height }: Rect,
) {
    let label = &node.label;
    let phase = label.phase.map_or("Planned", Phase::as_str);
    let has_lines = node.levels.is_empty() || node.iterations.is_some();
    let open = if has_lines { "" } else { " phasm-open" };
    let class = format!("phasm-box phasm-kind-{} phasm-{phase}{open}", label.kind.as_str());
    // A count leads to the container whose tasks it counts.
    let leads_to = label.task.or_else(|| around?.label.task);
    let end = TaskGroup { options, label, leads_to, class: &class }.begin(out);
    out.put(format_args!(
        "<rect class=\"phasm-frame\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"7\"/>"
    ));
    let mut text = Text { x: x + 14, top: y, width: width - 22 };
    if let Some(phase) = label.phase {
        out.put(format_args!("{}", disc(phase, x + 11, y + if has_lines { 9 } else { 10 })));
        text.x += SIGN;
        text.width -= SIGN;
    }
    if has_lines {
        draw_lines(out, label, text, width);
    } else {
        draw_header(out, label, text);
    }
    if let Some(iterations) = &node.iterations {
        loops::draw_counts(out, iterations, Rect { x, y, width, height });
    }
    out.put(format_args!("{end}"));
}

/// Room for the text of a box.
#[derive(Clone, Copy)]
struct Text {
    x: i32,
    /// Upper edge of the box.
    top: i32,
    width: i32,
}

/// Draws the name, and below it the note and the detail.
fn draw_lines(out: &mut Markup, label: &Label, text: Text, width: i32) {
    let Text { x, top, .. } = text;
    let name = escaped(&clipped(&label.name, letters(text.width, CELL)));
    let name_y = top + 20;
    out.put(format_args!("<text class=\"phasm-name\" x=\"{x}\" y=\"{name_y}\">{name}</text>"));
    let x = if label.phase.is_some() { x - 20 } else { x };
    let mut y = top + 37;
    for line in [&label.note, &label.detail] {
        let line = escaped(&clipped(line, letters(width - NOTE_MARGIN, NOTE_CELL)));
        if !line.is_empty() {
            out.put(format_args!("<text class=\"phasm-note\" x=\"{x}\" y=\"{y}\">{line}</text>"));
        }
        y += DETAIL_HEIGHT;
    }
}

/// Draws the name, and next to it the note as far as there is room.
fn draw_header(out: &mut Markup, label: &Label, text: Text) {
    let Text { x, top, width } = text;
    let name = clipped(&label.name, letters(width, CELL));
    let name_width = i32::try_from(cells(&name)).unwrap_or(0) * CELL + 10;
    let name = escaped(&name);
    let mut note = escaped(&clipped(&label.header_note(), letters(width - name_width, NOTE_CELL)));
    if note == "…" {
        note.clear();
    }
    let y = top + 21;
    out.put(format_args!(
        "<text class=\"phasm-name\" x=\"{x}\" y=\"{y}\">{name}\
         <tspan class=\"phasm-note\" dx=\"8\">{note}</tspan></text>"
    ));
}

fn draw_line(out: &mut Markup, line: &Line, diagram: &Diagram) {
    let name = |at: &usize| diagram.nodes.get(*at).map_or("", |node| node.label.name.as_str());
    let to: Vec<_> = line.to.iter().map(name).take(MAX_TITLE_NAMES).collect();
    let more = if line.to.len() > to.len() { ", …" } else { "" };
    let title = escaped(&format!("{} → {}{more}", name(&line.from), to.join(", ")));
    let class = if line.hook { "phasm-line phasm-aside" } else { "phasm-line" };
    out.put(format_args!("<path class=\"{class}\" d=\""));
    for piece in &line.pieces {
        match *piece {
            Piece::Down { x, top, bottom } => out.put(format_args!("M{x} {top}V{bottom}")),
            Piece::Bend { from, to, top, bottom } if from == to => {
                out.put(format_args!("M{from} {top}V{bottom}"));
            }
            Piece::Bend { from, to, top, bottom } => {
                let middle = i32::midpoint(top, bottom);
                out.put(format_args!("M{from} {top}C{from} {middle} {to} {middle} {to} {bottom}"));
            }
        }
    }
    out.put(format_args!("\"><title>{title}</title></path>\n"));
}

fn draw_arrow(out: &mut Markup, Rect { x, y, width, .. }: Rect) {
    let middle = x + width / 2;
    out.put(format_args!("<path class=\"phasm-arrow\" d=\"M{middle} {y}l-4-7h8z\"/>\n"));
}
