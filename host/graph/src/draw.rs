//! A diagram as SVG.

use std::collections::BTreeSet;

use phasm_engine::phase::Phase;

use crate::{
    STYLE,
    diagram::{Diagram, Shown},
    layout::{BESIDE_TEXT, CELL, Layout, Line, Piece, Rect},
    look::Kind,
    markup::{Markup, clipped, escaped},
    sign::disc,
    timeline::Timeline,
};

/// How a picture is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drawing<'a> {
    /// Prefix of the address of a task run's page; its number follows. With `None`, boxes are no links.
    pub links: Option<&'a str>,
    /// Without the stylesheet, which the page around it has.
    pub embedded: bool,
}

impl Drawing<'_> {
    /// Draws a diagram.
    #[must_use]
    pub fn graph(&self, diagram: &Diagram) -> String {
        let layout = Layout::of(diagram);
        let Rect { width, height, .. } = layout.page();
        let mut out = self.begin((width, height), &title("Graph", diagram), &describe(diagram));
        for at in diagram.read().into_iter().map(|(at, _)| at) {
            if let (Some(shown), Some(rect)) = (diagram.boxes.get(at), layout.boxes.get(at)) {
                self.draw_box(&mut out, shown, *rect);
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

    /// Draws a timeline.
    #[must_use]
    pub fn timeline(&self, timeline: &Timeline) -> String {
        crate::chart::chart(self, timeline)
    }

    /// The beginning, up to what is drawn. A picture with links is a group, as what is in an image cannot be reached.
    pub(crate) fn begin(&self, (width, height): (i32, i32), title: &str, description: &str) -> Markup {
        let role = if self.links.is_some() { "group" } else { "img" };
        let (title, description) = (escaped(title), escaped(description));
        let mut out = Markup::default();
        out.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"phasm\" role=\"{role}\" aria-label=\"{title}\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n<title>{title}</title>\n\
             <desc>{description}</desc>\n"
        ));
        if !self.embedded {
            out.put(format_args!("<style>\n{STYLE}</style>\n"));
        }
        out.put(format_args!("<rect class=\"phasm-page\" width=\"{width}\" height=\"{height}\"/>\n"));
        out
    }

    /// Begins a link to what is said of a task run; whether there is one to end.
    pub(crate) fn link(&self, out: &mut Markup, look: &crate::Look) -> bool {
        let (Some(links), Some(task)) = (self.links, look.task) else { return false };
        let (links, name) = (escaped(links), escaped(&format!("{}, {}", look.name, look.note)));
        out.put(format_args!("<a href=\"{links}{task}\" aria-label=\"{name}\">"));
        true
    }

    fn draw_box(&self, out: &mut Markup, shown: &Shown, rect: Rect) {
        let look = &shown.look;
        let Rect { x, y, width, height } = rect;
        let phase = look.phase.map_or("Planned", Phase::as_str);
        let open = if shown.levels.is_empty() { "" } else { " phasm-open" };
        let is_linked = self.link(out, look);
        out.put(format_args!(
            "<g class=\"phasm-box phasm-kind-{} phasm-{phase}{open}\"><title>{}</title>\
             <rect class=\"phasm-frame\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"7\"/>",
            look.kind.as_str(),
            escaped(&look.title)
        ));
        let mut text = x + 14;
        if let Some(phase) = look.phase {
            out.put(format_args!(
                "{}",
                disc(phase, x + 11, y + if shown.levels.is_empty() { 9 } else { 10 })
            ));
            text = x + 31;
        }
        draw_text(out, shown, (text, y), x + width - 8 - text);
        out.put(format_args!("</g>{}\n", if is_linked { "</a>" } else { "" }));
    }
}

/// The name and the note: below each other in a box that is shut, else beside each other.
fn draw_text(out: &mut Markup, shown: &Shown, (x, y): (i32, i32), width: i32) {
    let look = &shown.look;
    let letters = |width: i32, each: i32| usize::try_from(width / each).unwrap_or(0);
    let name = clipped(&look.name, letters(width, CELL));
    let escaped_name = escaped(&name);
    if shown.levels.is_empty() {
        let (line, note) = (y + 20, escaped(&clipped(&look.note, letters(width + BESIDE_TEXT / 2, 6))));
        let (left, below) = (if look.phase.is_some() { x - 20 } else { x }, y + 37);
        out.put(format_args!(
            "<text class=\"phasm-name\" x=\"{x}\" y=\"{line}\">{escaped_name}</text>\
             <text class=\"phasm-note\" x=\"{left}\" y=\"{below}\">{note}</text>"
        ));
        return;
    }
    let taken = i32::try_from(crate::markup::cells(&name)).unwrap_or(0) * CELL + 10;
    let (line, note) = (y + 21, escaped(&clipped(&look.note, letters(width - taken, 6))));
    let note = if note == "…" { String::new() } else { note };
    out.put(format_args!(
        "<text class=\"phasm-name\" x=\"{x}\" y=\"{line}\">{escaped_name}\
         <tspan class=\"phasm-note\" dx=\"8\">{note}</tspan></text>"
    ));
}

fn draw_line(out: &mut Markup, line: &Line, diagram: &Diagram) {
    let name = |at: &usize| diagram.boxes.get(*at).map_or("", |shown| shown.look.name.as_str());
    let to: Vec<_> = line.to.iter().map(name).take(8).collect();
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

/// Returns the title of a picture.
pub(crate) fn title(what: &str, diagram: &Diagram) -> String {
    let of = diagram.run_id.as_ref().map(|run_id| format!(", run {run_id}")).unwrap_or_default();
    format!("{what} of {}{of}", diagram.name)
}

/// For those who do not see it.
pub(crate) fn describe(diagram: &Diagram) -> String {
    let told = diagram.tally().told();
    let hidden: Vec<_> = diagram.boxes.iter().filter(|shown| shown.look.kind == Kind::More).collect();
    let hidden: u64 = hidden.iter().map(|shown| shown.tally.tasks()).sum();
    let mut told =
        if hidden == 0 { told } else { format!("{told}; {hidden} of them are not drawn one by one") };
    if diagram.lines_left_out > 0 {
        told = format!("{told}; {} lines are left out", diagram.lines_left_out);
    }
    told
}
