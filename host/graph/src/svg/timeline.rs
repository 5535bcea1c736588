//! A timeline as SVG: names on the left, bars on the right, and the time above them.

use phasm_engine::{
    phase::Phase,
    text,
    time::{Millis, Timestamp},
};

use super::{Frame, SvgOptions, TaskGroup, describe, title};
use crate::{
    markup::{Markup, cells, clipped, escaped},
    sign::disc,
    timeline::{Bar, BarKind, Row, Timeline},
};

/// Width of a timeline that stands alone. On a page it is as wide as the page.
const WIDTH: i32 = 1004;
/// Left edge of the bars, which the stylesheet repeats.
const LEFT: i32 = 260;
/// Room right of the bars, which the stylesheet repeats.
const RIGHT: i32 = 70;
/// Upper edge of the first row.
const TOP: i32 = 46;
/// Height of a row.
const ROW: i32 = 22;
/// Indentation of a row by its depth, in hundredths of the column of names.
const INDENT: usize = 5;
/// Depth from which on rows are not indented further.
const MAX_DEPTH: usize = 10;
/// Letters of a name. The column of names clips those that are wider.
const MAX_NAME: usize = 40;
/// Minimum distance between two times on the axis.
const MIN_TICK_GAP: i64 = 80;
/// Letters of a note that always have room right of the bars.
const MAX_NOTE: usize = 10;
/// All of the axis, in [`parts`].
const WHOLE: i64 = 10_000;
/// Candidates for the distance between two times on the axis, in milliseconds.
const STEPS: [Millis; 23] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
    600_000, 1_800_000, 3_600_000, 10_800_000, 43_200_000, 86_400_000,
];

/// Draws a timeline.
#[must_use]
pub fn timeline_svg(timeline: &Timeline, options: SvgOptions<'_>) -> String {
    let rows = i32::try_from(timeline.rows.len()).unwrap_or(i32::MAX / ROW / 2);
    let height = TOP + rows * ROW + 12;
    let length = text::elapsed(timeline.to.since(timeline.from));
    let since = timeline.from.to_rfc3339();
    let description = format!("{length} from {since}; {}", describe(&timeline.diagram));
    let title = title("Timeline", &timeline.diagram);
    let frame =
        Frame { width: WIDTH, height, is_fluid: options.embedded, title: &title, description: &description };
    let mut out = frame.begin(options);
    axis(&mut out, timeline, height);
    for (row, at) in timeline.rows.iter().zip(0..) {
        draw_row(&mut out, options, timeline, row, at);
    }
    out.put(format_args!("</svg>\n"));
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

/// Begins the area of the bars, whose place and width are set by the stylesheet.
fn begin_plot(out: &mut Markup, top: i32, height: i32) {
    out.put(format_args!(
        "<svg class=\"phasm-plot\" x=\"{LEFT}\" y=\"{top}\" width=\"{}\" height=\"{height}\">",
        WIDTH - LEFT - RIGHT
    ));
}

/// Begins the column of names, whose width is set by the stylesheet.
fn begin_names(out: &mut Markup, top: i32, height: i32) {
    out.put(format_args!(
        "<svg class=\"phasm-names\" x=\"0\" y=\"{top}\" width=\"{}\" height=\"{height}\">",
        LEFT - 12
    ));
}

/// Returns the smallest step that leaves room between the times.
fn step(length: Millis) -> Millis {
    let max_ticks = u64::try_from(i64::from(WIDTH - LEFT - RIGHT) / MIN_TICK_GAP).unwrap_or(1);
    let fits = STEPS.into_iter().find(|step| length / step <= max_ticks);
    fits.unwrap_or_else(|| length.div_ceil(max_ticks).next_multiple_of(86_400_000))
}

fn axis(out: &mut Markup, timeline: &Timeline, height: i32) {
    let length = timeline.to.since(timeline.from);
    let since = timeline.from.to_rfc3339();
    begin_names(out, 0, TOP);
    out.put(format_args!("<text class=\"phasm-note\" x=\"5%\" y=\"28\">from {since}</text></svg>\n"));
    begin_plot(out, 0, height);
    let step = step(length);
    for (count, at) in (0..=length / step).map(|count| (count, count * step)) {
        let x = percent(parts(timeline, timeline.from.after(at)));
        // A narrow page has room for some of the times.
        let rare = if count % 4 == 0 { "" } else { " phasm-rare" };
        let (label, bottom) = (tick_label(at), height - 8);
        out.put(format_args!(
            "<line class=\"phasm-tick\" x1=\"{x}\" x2=\"{x}\" y1=\"36\" y2=\"{bottom}\"/>\
             <text class=\"phasm-note{rare}\" x=\"{x}\" y=\"28\" text-anchor=\"middle\">{label}</text>\n"
        ));
    }
    out.put(format_args!("</svg>\n"));
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
    out.put(format_args!("<rect class=\"phasm-band\" x=\"0\" y=\"{top}\" width=\"100%\" height=\"{ROW}\"/>"));
    begin_names(out, top, ROW);
    let left = INDENT * (1 + row.depth.min(MAX_DEPTH));
    if let Some(phase) = label.phase {
        let sign = disc(phase, 0, 0);
        out.put(format_args!(
            "<svg class=\"phasm-{phase}\" x=\"{left}%\" y=\"4\" width=\"15\" height=\"15\">{sign}</svg>"
        ));
    }
    let name = escaped(&clipped(&label.name, MAX_NAME));
    out.put(format_args!("<text class=\"phasm-name\" x=\"{left}%\" dx=\"20\" y=\"15\">{name}</text></svg>"));
    if !row.bars.is_empty() {
        begin_plot(out, top, ROW);
        row.bars.iter().for_each(|bar| draw_bar(out, timeline, bar));
        draw_note(out, timeline, row);
        out.put(format_args!("</svg>"));
    }
    out.put(format_args!("{end}"));
}

fn draw_bar(out: &mut Markup, timeline: &Timeline, bar: &Bar) {
    let (begin, end) = (parts(timeline, bar.from), parts(timeline, bar.to));
    let (from, to, width) = (percent(begin), percent(end), percent((end - begin).max(1)));
    let title = escaped(&bar.title);
    let (class, phase, y, height) = match bar.kind {
        BarKind::Container(phase) => ("container", phase, 9, 4),
        BarKind::Attempt(phase) => ("attempt", phase, 4, 14),
        BarKind::Suspension => ("suspension", Phase::Suspended, 4, 14),
        BarKind::Queue | BarKind::RetryDelay => {
            let class = if bar.kind == BarKind::Queue { "queue" } else { "retry" };
            return out.put(format_args!(
                "<line class=\"phasm-bar phasm-bar-{class}\" x1=\"{from}\" x2=\"{to}\" y1=\"11\" y2=\"11\">\
                 <title>{title}</title></line>"
            ));
        }
    };
    out.put(format_args!(
        "<rect class=\"phasm-bar phasm-bar-{class} phasm-{phase}\" x=\"{from}\" y=\"{y}\" width=\"{width}\" \
         height=\"{height}\" rx=\"2\"><title>{title}</title></rect>"
    ));
}

/// Place of a row's note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NotePlace {
    /// Behind the last bar.
    After(i64),
    /// Before the first bar.
    Before(i64),
    /// On the last bar, at its end.
    On(i64),
}

/// Returns the place of a note of so many letters, given the begin and the end of the bars. The page may be narrow.
const fn note_place(letters: usize, begin: i64, end: i64) -> NotePlace {
    if letters <= MAX_NOTE || end <= WHOLE * 6 / 10 {
        NotePlace::After(end)
    } else if begin >= WHOLE * 7 / 10 {
        NotePlace::Before(begin)
    } else {
        NotePlace::On(end)
    }
}

fn draw_note(out: &mut Markup, timeline: &Timeline, row: &Row) {
    let begin = row.bars.iter().map(|bar| parts(timeline, bar.from)).min().unwrap_or(0);
    let end = row.bars.iter().map(|bar| parts(timeline, bar.to)).max().unwrap_or(0);
    let (at, shift, anchor) = match note_place(cells(&row.note), begin, end) {
        NotePlace::After(at) => (at, 6, "start"),
        NotePlace::Before(at) | NotePlace::On(at) => (at, -6, "end"),
    };
    let (x, note) = (percent(at), escaped(&row.note));
    out.put(format_args!(
        "<text class=\"phasm-took\" x=\"{x}\" dx=\"{shift}\" y=\"15\" text-anchor=\"{anchor}\">{note}</text>"
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

    #[test]
    fn a_note_stands_where_there_is_room() {
        let rows = [
            ((5, 0, 10_000), NotePlace::After(10_000)),
            ((20, 0, 5_000), NotePlace::After(5_000)),
            ((20, 8_000, 10_000), NotePlace::Before(8_000)),
            ((20, 1_000, 9_000), NotePlace::On(9_000)),
        ];
        for ((letters, begin, end), expected) in rows {
            assert_eq!(note_place(letters, begin, end), expected);
        }
    }

    #[test]
    fn places_are_written_in_percent() {
        assert_eq!([0, 5, 1_250, WHOLE].map(percent), ["0.00%", "0.05%", "12.50%", "100.00%"]);
    }

    /// The stylesheet has the same numbers, so that a picture looks alike where it does not apply.
    #[test]
    fn the_stylesheet_has_the_columns() {
        let plot = format!(".phasm-plot {{ x: {LEFT}px; width: calc(100% - {}px);", LEFT + RIGHT);
        assert!(crate::STYLE.contains(&plot), "{plot}");
        assert!(crate::STYLE.contains(&format!(".phasm-names {{ width: {}px; }}", LEFT - 12)));
    }
}
