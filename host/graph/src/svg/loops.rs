//! A loop that is one node: a bar with the proportions of its phases, a strip of its iterations, and rows for some of them.

use phasm_engine::phase::Phase;

use super::{SvgOptions, TaskGroup};
use crate::{
    geometry::Rect,
    iterations::Iterations,
    layout::{NOTE_CELL, PADDING},
    markup::{Markup, cells, clipped, escaped, letters},
    model::Node,
    proportion::segments,
    sign::disc,
    tally::ORDER,
};

/// Distance of the bar from the upper edge of the loop.
const BAR_TOP: i32 = 62;
/// Height of the bar.
const BAR_HEIGHT: i32 = 8;
/// Distance of the strip from the upper edge of the loop.
const STRIP_TOP: i32 = 75;
/// Height of the strip.
const STRIP_HEIGHT: i32 = 12;
/// Width of a letter of a row's name, which is smaller than other names.
const ROW_CELL: i32 = 7;

/// Draws the bar and the strip of a loop.
pub(super) fn draw_counts(out: &mut Markup, iterations: &Iterations, Rect { x, y, width, .. }: Rect) {
    let (x, width) = (x + PADDING, width - 2 * PADDING);
    let counts = iterations.tally.summary_of("iteration");
    out.put(format_args!("<g class=\"phasm-bars\"><title>{counts}</title>"));
    for (phase, begin, end) in segments(&iterations.tally, width) {
        let (x, y, width) = (x + begin, y + BAR_TOP, end - begin);
        out.put(format_args!(
            "<rect class=\"phasm-cell phasm-{phase}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BAR_HEIGHT}\"/>"
        ));
    }
    out.put(format_args!("</g><g class=\"phasm-strip\"><title>{counts}{}</title>", slices(iterations)));
    for phase in ORDER.into_iter().filter(|phase| iterations.strip.contains(phase)) {
        out.put(format_args!("<path class=\"phasm-cell phasm-{phase}\" d=\""));
        for (begin, end) in places(&iterations.strip, phase, width) {
            let (x, y, width) = (x + begin, y + STRIP_TOP, end - begin);
            out.put(format_args!("M{x} {y}h{width}v{STRIP_HEIGHT}h-{width}z"));
        }
        out.put(format_args!("\"/>"));
    }
    out.put(format_args!("</g>"));
}

/// Writes the number of iterations that a cell of the strip stands for, if that is more than one.
fn slices(iterations: &Iterations) -> String {
    let cells = u64::try_from(iterations.strip.len()).unwrap_or(u64::MAX);
    let each = iterations.tally.tasks().div_ceil(cells.max(1));
    if each > 1 { format!("\nA cell is up to {each} iterations, in their order.") } else { String::new() }
}

/// Returns the places of the cells with a phase.
fn places(strip: &[Phase], phase: Phase, width: i32) -> impl Iterator<Item = (i32, i32)> {
    let count = i32::try_from(strip.len()).unwrap_or(i32::MAX).max(1);
    let cells = (0..count).zip(strip).filter(move |(_, cell)| **cell == phase);
    cells.map(move |(at, _)| (width * at / count, width * (at + 1) / count - 1))
}

/// Draws the row of an iteration, or of those that are not listed, which leads to the loop.
pub(super) fn draw_row(
    out: &mut Markup,
    options: SvgOptions<'_>,
    node: &Node,
    around: &Node,
    Rect { x, y, width, height }: Rect,
) {
    let label = &node.label;
    let phase = label.phase.map_or("Planned", Phase::as_str);
    let class = format!("phasm-box phasm-item phasm-{phase}");
    let end =
        TaskGroup { options, label, leads_to: label.task.or(around.label.task), class: &class }.begin(out);
    out.put(format_args!(
        "<rect class=\"phasm-frame\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>"
    ));
    if let Some(phase) = label.phase {
        out.put(format_args!("{}", disc(phase, x + 4, y + 4)));
    }
    let width = width - 30;
    let name = clipped(&label.name, letters(width, ROW_CELL));
    let name_width = i32::try_from(cells(&name)).unwrap_or(0) * ROW_CELL + 8;
    let note = if label.phase.is_some() { label.note.as_str() } else { "" };
    let note = escaped(&clipped(note, letters(width - name_width, NOTE_CELL)));
    let (x, y, name) = (x + 24, y + 15, escaped(&name));
    out.put(format_args!(
        "<text class=\"phasm-name\" x=\"{x}\" y=\"{y}\">{name}<tspan class=\"phasm-note\" dx=\"8\">{note}</tspan></text>{end}"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_fill_the_strip_without_touching() {
        let strip = [Phase::Succeeded, Phase::Failed, Phase::Succeeded];
        let cells: Vec<_> = places(&strip, Phase::Succeeded, 300).collect();
        assert_eq!(cells, [(0, 99), (200, 299)]);
        assert_eq!(places(&strip, Phase::Failed, 300).collect::<Vec<_>>(), [(100, 199)]);
    }
}
