//! A timeline as SVG: names on the left, bars on the right, and the time above them.

use phasm_engine::{
    phase::Phase,
    text,
    time::{Millis, Timestamp},
};

use super::{Frame, SvgOptions, TaskGroup, describe, title};
use crate::{
    markup::{Markup, clipped, escaped},
    sign::disc,
    timeline::{Bar, BarKind, Row, Timeline},
};

/// Width of a timeline that stands alone. On a page it is as wide as the page.
const WIDTH: i32 = 1004;
/// Width of the column of names left of the bars, which the stylesheet repeats.
const LEFT: i32 = 260;
/// Width of the column of durations right of the bars, which the stylesheet repeats.
const RIGHT: i32 = 150;
/// Upper edge of the first row.
const TOP: i32 = 46;
/// Height of a row.
const ROW: i32 = 22;
/// Indentation of a row by its depth.
const INDENT: i32 = 11;
/// Depth from which on rows are not indented further.
const MAX_DEPTH: usize = 5;
/// Letters of a name. The column of names clips those that are wider.
const MAX_NAME: usize = 40;
/// Minimum distance between two times on the axis.
const MIN_TICK_GAP: i64 = 70;
/// Times on the axis that have room on a narrow page.
const NARROW_TICKS: u64 = 3;
/// All of the axis, in [`parts`].
const WHOLE: i64 = 10_000;
/// Candidates for the distance between two times on the axis, in milliseconds.
const STEPS: [Millis; 23] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
    600_000, 1_800_000, 3_600_000, 10_800_000, 43_200_000, 86_400_000,
];

/// Draws a timeline.
///
/// Places of bars are parts of the picture's width, which has a column on each side: on a page these are its margins.
#[must_use]
pub fn timeline_svg(timeline: &Timeline, options: SvgOptions<'_>) -> String {
    let rows = i32::try_from(timeline.rows.len()).unwrap_or(i32::MAX / ROW / 2);
    let height = TOP + rows * ROW + 12;
    let length = text::elapsed(timeline.to.since(timeline.from));
    let since = timeline.from.to_rfc3339();
    let description = format!("{length} from {since}; {}", describe(&timeline.diagram));
    let title = title("Timeline", &timeline.diagram);
    let is_fluid = options.embedded;
    let mut out =
        Frame { width: WIDTH, height, is_fluid, title: &title, description: &description }.begin(options);
    if !is_fluid {
        let width = WIDTH - LEFT - RIGHT;
        out.put(format_args!(
            "<svg class=\"phasm-plot\" x=\"{LEFT}\" width=\"{width}\" height=\"{height}\">\n"
        ));
    }
    out.put(format_args!(
        "<clipPath id=\"phasm-column\"><rect class=\"phasm-column\" width=\"{}\" height=\"{height}\"/></clipPath>\n",
        LEFT - 12
    ));
    axis(&mut out, timeline, height - 8);
    for (row, at) in timeline.rows.iter().zip(0..) {
        draw_row(&mut out, options, timeline, row, at);
    }
    out.put(format_args!("{}</svg>\n", if is_fluid { "" } else { "</svg>" }));
    out.0
}

/// Returns the place of a time on the axis, in parts of [`WHOLE`].
fn parts(timeline: &Timeline, at: Timestamp) -> i64 {
    let length = i128::from(timeline.to.since(timeline.from).max(1));
    let elapsed = i128::from(at.since(timeline.from)).min(length);
    i64::try_from(i128::from(WHOLE) * elapsed / length).unwrap_or(0)
}

/// Writes a place or a width on the axis: `12.50%`.
fn percent(parts: i64) -> String {
    format!("{}.{:02}%", parts / 100, parts % 100)
}

/// Begins a group in the column of names.
const NAMES: &str = "<g class=\"phasm-names\"><g clip-path=\"url(#phasm-column)\">";

/// Returns the smallest step that leaves room between the times.
fn step(length: Millis) -> Millis {
    let max_ticks = u64::try_from(i64::from(WIDTH - LEFT - RIGHT) / MIN_TICK_GAP).unwrap_or(1);
    let fits = STEPS.into_iter().find(|step| length / step <= max_ticks);
    fits.unwrap_or_else(|| length.div_ceil(max_ticks).next_multiple_of(86_400_000))
}

fn axis(out: &mut Markup, timeline: &Timeline, bottom: i32) {
    let length = timeline.to.since(timeline.from);
    let since = timeline.from.to_rfc3339();
    out.put(format_args!(
        "{NAMES}<text class=\"phasm-note phasm-wide\" x=\"12\" y=\"28\">from {since}</text></g></g>\n"
    ));
    let step = step(length);
    let steps = length / step;
    let every = (steps + 1).div_ceil(NARROW_TICKS);
    for (count, at) in (0..=steps).map(|count| (count, count * step)) {
        let x = percent(parts(timeline, timeline.from.after(at)));
        // A narrow page has room for some of the times.
        let class = if count % every == 0 { "phasm-note" } else { "phasm-note phasm-wide" };
        let label = tick_label(at);
        out.put(format_args!(
            "<line class=\"phasm-tick\" x1=\"{x}\" x2=\"{x}\" y1=\"36\" y2=\"{bottom}\"/>\
             <text class=\"{class}\" x=\"{x}\" y=\"28\" text-anchor=\"middle\">{label}</text>\n"
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

fn draw_row(out: &mut Markup, options: SvgOptions<'_>, timeline: &Timeline, row: &Row, at: i32) {
    let label = &row.label;
    let top = TOP + at * ROW;
    let phase = label.phase.map_or("Planned", Phase::as_str);
    let even = if at % 2 == 0 { "" } else { " phasm-even" };
    let class = format!("phasm-row phasm-{phase}{even}");
    let end = TaskGroup { options, label, leads_to: label.task, class: &class }.begin(out);
    out.put(format_args!(
        "<rect class=\"phasm-band\" x=\"-{LEFT}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{ROW}\"/>{NAMES}"
    ));
    let left = 12 + INDENT * i32::try_from(row.depth.min(MAX_DEPTH)).unwrap_or(0);
    if let Some(of) = label.phase {
        out.put(format_args!("<g class=\"phasm-{phase}\">{}</g>", disc(of, left, top + 4)));
    }
    let name = escaped(&clipped(&label.name, MAX_NAME));
    let iterations = row.iterations.as_deref().unwrap_or_default();
    out.put(format_args!(
        "<text class=\"phasm-name\" x=\"{}\" y=\"{}\">{name}<tspan class=\"phasm-note phasm-wide\" dx=\"8\">{iterations}</tspan></text>\
         </g></g>",
        left + 20,
        top + 15
    ));
    row.bars.iter().for_each(|bar| draw_bar(out, timeline, bar, top));
    draw_took(out, timeline, row, top + 15);
    out.put(format_args!("{end}"));
}

fn draw_bar(out: &mut Markup, timeline: &Timeline, bar: &Bar, top: i32) {
    let (begin, end) = (parts(timeline, bar.from), parts(timeline, bar.to));
    let (from, to, width) = (percent(begin), percent(end), percent((end - begin).max(1)));
    let title = escaped(&bar.title);
    let (class, phase, y, height) = match bar.kind {
        BarKind::Container(phase) => ("container", phase, top + 9, 4),
        BarKind::Attempt(phase) => ("attempt", phase, top + 4, 14),
        BarKind::Suspension => ("suspension", Phase::Suspended, top + 4, 14),
        BarKind::Queue | BarKind::RetryDelay => {
            let class = if bar.kind == BarKind::Queue { "queue" } else { "retry" };
            let y = top + 11;
            return out.put(format_args!(
                "<line class=\"phasm-bar phasm-bar-{class}\" x1=\"{from}\" x2=\"{to}\" y1=\"{y}\" y2=\"{y}\">\
                 <title>{title}</title></line>"
            ));
        }
    };
    out.put(format_args!(
        "<rect class=\"phasm-bar phasm-bar-{class} phasm-{phase}\" x=\"{from}\" y=\"{y}\" width=\"{width}\" \
         height=\"{height}\" rx=\"2\"><title>{title}</title></rect>"
    ));
}

/// Draws the number of attempts and the duration behind the last bar. The column right of the bars has room for them.
fn draw_took(out: &mut Markup, timeline: &Timeline, row: &Row, y: i32) {
    let Some(end) = row.bars.iter().map(|bar| parts(timeline, bar.to)).max() else { return };
    let (x, took) = (percent(end), &row.took);
    let attempts =
        row.attempts.map(|attempts| format!("<tspan class=\"phasm-wide\">{attempts} attempts, </tspan>"));
    let attempts = attempts.unwrap_or_default();
    out.put(format_args!("<text class=\"phasm-took\" x=\"{x}\" dx=\"6\" y=\"{y}\">{attempts}{took}</text>"));
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

    #[test]
    fn places_are_written_in_percent() {
        assert_eq!([0, 5, 1_250, WHOLE].map(percent), ["0.00%", "0.05%", "12.50%", "100.00%"]);
    }

    /// The stylesheet has the same columns as a picture that stands alone.
    #[test]
    fn the_stylesheet_has_the_columns() {
        for rule in [
            format!("margin: 0 {RIGHT}px 0 {LEFT}px; width: calc(100% - {}px);", LEFT + RIGHT),
            format!(".phasm-names {{ transform: translateX(-{LEFT}px); }}"),
        ] {
            assert!(crate::STYLE.contains(&rule), "{rule}");
        }
    }
}
