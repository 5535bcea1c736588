//! A diagram as SVG.

use std::collections::BTreeSet;

use phasm_engine::phase::Phase;

use super::{Frame, SvgOptions, begin_link, describe, title};
use crate::{
    diagram::Diagram,
    geometry::{Line, Piece, Rect},
    label::Label,
    layout::{CELL, Layout, NOTE_CELL, TEXT_MARGIN},
    markup::{Markup, cells, clipped, escaped},
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
    let mut out = Frame { width, height, title: &title, description: &description }.begin(options);
    for (at, _) in diagram.in_reading_order() {
        if let (Some(node), Some(rect)) = (diagram.nodes.get(at), layout.boxes.get(at)) {
            draw_box(&mut out, options, node, *rect);
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

fn draw_box(out: &mut Markup, options: SvgOptions<'_>, node: &Node, rect: Rect) {
    let label = &node.label;
    let Rect { x, y, width, height } = rect;
    let phase = label.phase.map_or("Planned", Phase::as_str);
    let is_closed = node.levels.is_empty();
    let open = if is_closed { "" } else { " phasm-open" };
    let is_linked = begin_link(out, options, label);
    out.put(format_args!(
        "<g class=\"phasm-box phasm-kind-{} phasm-{phase}{open}\"><title>{}</title>\
         <rect class=\"phasm-frame\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"7\"/>",
        label.kind.as_str(),
        escaped(&label.title)
    ));
    let mut text = Text { x: x + 14, top: y, width: width - 22 };
    if let Some(phase) = label.phase {
        out.put(format_args!("{}", disc(phase, x + 11, y + if is_closed { 9 } else { 10 })));
        text.x += SIGN;
        text.width -= SIGN;
    }
    if is_closed {
        draw_closed_text(out, label, text);
    } else {
        draw_header(out, label, text);
    }
    out.put(format_args!("</g>{}\n", if is_linked { "</a>" } else { "" }));
}

/// Room for the text of a box.
#[derive(Clone, Copy)]
struct Text {
    x: i32,
    /// Upper edge of the box.
    top: i32,
    width: i32,
}

/// Returns how many letters of `cell` pixels fit into a width.
fn letters(width: i32, cell: i32) -> usize {
    usize::try_from(width / cell).unwrap_or(0)
}

/// Draws the name, and below it the note.
fn draw_closed_text(out: &mut Markup, label: &Label, text: Text) {
    let Text { x, top, width } = text;
    let name = escaped(&clipped(&label.name, letters(width, CELL)));
    let note = escaped(&clipped(&label.note, letters(width + TEXT_MARGIN / 2, NOTE_CELL)));
    let note_x = if label.phase.is_some() { x - 20 } else { x };
    let name_y = top + 20;
    let note_y = top + 37;
    out.put(format_args!(
        "<text class=\"phasm-name\" x=\"{x}\" y=\"{name_y}\">{name}</text>\
         <text class=\"phasm-note\" x=\"{note_x}\" y=\"{note_y}\">{note}</text>"
    ));
}

/// Draws the name, and next to it the note as far as there is room.
fn draw_header(out: &mut Markup, label: &Label, text: Text) {
    let Text { x, top, width } = text;
    let name = clipped(&label.name, letters(width, CELL));
    let name_width = i32::try_from(cells(&name)).unwrap_or(0) * CELL + 10;
    let name = escaped(&name);
    let mut note = escaped(&clipped(&label.note, letters(width - name_width, NOTE_CELL)));
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
