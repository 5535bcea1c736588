//! A timeline as SVG: names on the left, bars on the right, and the time above them.

use phasm_engine::{
    phase::Phase,
    text,
    time::{Millis, Timestamp},
};

use super::{Frame, SvgOptions, begin_link, describe, title};
use crate::{
    markup::{Markup, clipped, escaped},
    sign::disc,
    timeline::{Bar, BarKind, Row, Timeline},
};

/// Left edge of the bars, in pixels.
const LEFT: i32 = 260;
/// Width of the longest bar.
const WIDTH: i32 = 720;
/// Upper edge of the first row.
const TOP: i32 = 46;
/// Height of a row.
const ROW: i32 = 22;
/// Indentation of a row by its depth.
const INDENT: i32 = 12;
/// Depth from which on rows are not indented further.
const MAX_DEPTH: usize = 10;
/// Minimum distance between two times on the axis.
const MIN_TICK_GAP: i64 = 90;
/// Candidates for the distance between two times on the axis, in milliseconds.
const STEPS: [Millis; 23] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
    600_000, 1_800_000, 3_600_000, 10_800_000, 43_200_000, 86_400_000,
];

/// Draws a timeline.
#[must_use]
pub fn timeline_svg(timeline: &Timeline, options: SvgOptions<'_>) -> String {
    let rows = i32::try_from(timeline.rows.len()).unwrap_or(i32::MAX / ROW / 2);
    let width = LEFT + WIDTH + 24;
    let height = TOP + rows * ROW + 12;
    let length = text::elapsed(timeline.to.since(timeline.from));
    let since = timeline.from.to_rfc3339();
    let description = format!("{length} from {since}; {}", describe(&timeline.diagram));
    let title = title("Timeline", &timeline.diagram);
    let mut out = Frame { width, height, title: &title, description: &description }.begin(options);
    axis(&mut out, timeline, height - 8);
    for (row, at) in timeline.rows.iter().zip(0..) {
        draw_row(&mut out, options, timeline, row, TOP + at * ROW);
    }
    out.put(format_args!("</svg>\n"));
    out.0
}

/// Returns the place of a time on the axis.
fn x(timeline: &Timeline, at: Timestamp) -> i32 {
    let length = i128::from(timeline.to.since(timeline.from).max(1));
    let elapsed = i128::from(at.since(timeline.from)).min(length);
    LEFT + i32::try_from(i128::from(WIDTH) * elapsed / length).unwrap_or(0)
}

/// Returns the smallest step that leaves room between the times.
fn step(length: Millis) -> Millis {
    let max_ticks = u64::try_from(i64::from(WIDTH) / MIN_TICK_GAP).unwrap_or(1);
    let fits = STEPS.into_iter().find(|step| length / step <= max_ticks);
    fits.unwrap_or_else(|| length.div_ceil(max_ticks).next_multiple_of(86_400_000))
}

fn axis(out: &mut Markup, timeline: &Timeline, bottom: i32) {
    let length = timeline.to.since(timeline.from);
    let since = timeline.from.to_rfc3339();
    out.put(format_args!("<text class=\"phasm-note\" x=\"12\" y=\"28\">from {since}</text>\n"));
    let step = step(length);
    for at in (0..=length / step).map(|count| count * step) {
        let (x, label) = (x(timeline, timeline.from.after(at)), tick_label(at));
        out.put(format_args!(
            "<path class=\"phasm-tick\" d=\"M{x} 36V{bottom}\"/>\
             <text class=\"phasm-note\" x=\"{x}\" y=\"28\" text-anchor=\"middle\">{label}</text>\n"
        ));
    }
}

/// Writes a time on the axis: `0`, `20 ms`, `1.5 s`, `3 min`, `1 h 30 min`, `2 d`.
fn tick_label(at: Millis) -> String {
    const DAY: Millis = 86_400_000;
    match at {
        0 => "0".to_owned(),
        1..1_000 => format!("{at} ms"),
        1_000..60_000 if at.is_multiple_of(1_000) => format!("{} s", at / 1_000),
        1_000..60_000 => format!("{}.{} s", at / 1_000, at % 1_000 / 100),
        60_000..3_600_000 if at.is_multiple_of(60_000) => format!("{} min", at / 60_000),
        DAY.. if at.is_multiple_of(DAY) => format!("{} d", at / DAY),
        3_600_000.. if at.is_multiple_of(3_600_000) => format!("{} h", at / 3_600_000),
        _ => text::elapsed(at),
    }
}

fn draw_row(out: &mut Markup, options: SvgOptions<'_>, timeline: &Timeline, row: &Row, top: i32) {
    let label = &row.label;
    let phase = label.phase.map_or("Planned", Phase::as_str);
    let left = 12 + INDENT * i32::try_from(row.depth.min(MAX_DEPTH)).unwrap_or(0);
    let room = usize::try_from((LEFT - left - 32) / 7).unwrap_or(0);
    let name = escaped(&clipped(&label.name, room));
    let is_linked = begin_link(out, options, label);
    out.put(format_args!(
        "<g class=\"phasm-row phasm-{phase}\"><title>{}</title>\
         <rect class=\"phasm-band\" x=\"4\" y=\"{top}\" width=\"{}\" height=\"{ROW}\"/>",
        escaped(&label.title),
        LEFT + WIDTH + 16
    ));
    if let Some(phase) = label.phase {
        out.put(format_args!("{}", disc(phase, left, top + 4)));
    }
    out.put(format_args!("<text class=\"phasm-name\" x=\"{}\" y=\"{}\">{name}</text>", left + 20, top + 15));
    row.bars.iter().for_each(|bar| draw_bar(out, timeline, bar, top));
    out.put(format_args!("</g>{}\n", if is_linked { "</a>" } else { "" }));
}

fn draw_bar(out: &mut Markup, timeline: &Timeline, bar: &Bar, top: i32) {
    let (from, to) = (x(timeline, bar.from), x(timeline, bar.to));
    let width = (to - from).max(2);
    let (kind, phase, y, height) = match bar.kind {
        BarKind::Container(phase) => ("container", phase, top + 9, 4),
        BarKind::Attempt(phase) => ("attempt", phase, top + 4, 14),
        BarKind::Wait => ("wait", Phase::Created, top + 10, 2),
        BarKind::Suspension => ("suspension", Phase::Suspended, top + 4, 14),
    };
    out.put(format_args!(
        "<rect class=\"phasm-bar phasm-bar-{kind} phasm-{phase}\" x=\"{from}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
         rx=\"2\"><title>{}</title></rect>",
        escaped(&bar.title)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_on_the_axis_are_round_and_have_room() {
        let rows = [(0, 1), (7, 1), (535, 100), (1_300, 200), (60_000, 10_000), (3_600_000, 600_000)];
        for (length, expected) in rows {
            assert_eq!(step(length), expected, "{length}");
        }
        assert_eq!(step(400 * 86_400_000), 50 * 86_400_000);
        assert!(u64::MAX / step(u64::MAX) <= 8);
    }

    #[test]
    fn times_on_the_axis_have_units() {
        let rows = [
            (0, "0"),
            (20, "20 ms"),
            (1_500, "1.5 s"),
            (30_000, "30 s"),
            (180_000, "3 min"),
            (90_000, "1 min 30 s"),
            (10_800_000, "3 h"),
            (172_800_000, "2 d"),
        ];
        for (at, expected) in rows {
            assert_eq!(tick_label(at), expected);
        }
    }
}
