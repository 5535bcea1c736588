//! A run as lines of a terminal: the tree of scopes, and a summary.

use std::{collections::BTreeMap, sync::Arc};

use console::{measure_text_width, truncate_str};
use phasm::engine::{event::Reason, phase::Phase, time::Timestamp};

use super::snapshot::{Row, Snapshot};
use crate::terminal::{text, waiting};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Maximum number of characters of a task's message.
const MAX_MESSAGE_CHARS: usize = 80;

/// Minimum width for what follows a name on its line: a phase, and how long it took.
const STATUS_WIDTH: usize = 24;
/// Characters of a name that are shown however narrow the terminal.
const MIN_NAME_WIDTH: usize = 12;

/// The lines that show a run at `now` on a terminal so wide; `frame` turns the spinners, without one
/// nothing seems to move; `progress` is what attempts said last.
pub(super) fn lines(
    snapshot: &Snapshot,
    now: Timestamp,
    frame: Option<usize>,
    width: usize,
    progress: &BTreeMap<Arc<str>, String>,
) -> Vec<String> {
    let mut lines = tree(snapshot, now, frame, width, progress);
    lines.push(summary(snapshot, now, frame));
    lines
}

/// The tree alone; without a frame nothing in it seems to move.
pub(super) fn tree(
    snapshot: &Snapshot,
    now: Timestamp,
    frame: Option<usize>,
    width: usize,
    progress: &BTreeMap<Arc<str>, String>,
) -> Vec<String> {
    let most = width.saturating_sub(STATUS_WIDTH).max(MIN_NAME_WIDTH);
    let label = |row: &Row| truncate_str(&label(row), most, "…").into_owned();
    let width = snapshot.rows.iter().map(|row| measure_text_width(&label(row))).max().unwrap_or(0);
    let row = |row: &Row| {
        let note = progress.get(row.path.as_str()).filter(|_| row.phase == Phase::Running);
        let label = label(row);
        let pad = " ".repeat(width.saturating_sub(measure_text_width(&label)));
        line(row, &format!("{label}{pad}"), now, frame, note.map(String::as_str))
    };
    let mut lines: Vec<String> = snapshot.rows.iter().map(row).collect();
    if snapshot.hidden > 0 {
        lines.push(text::dim(format_args!("  … and {} more", snapshot.hidden)));
    }
    lines
}

fn summary(snapshot: &Snapshot, now: Timestamp, frame: Option<usize>) -> String {
    let took = snapshot.finished_at.unwrap_or(now).since(snapshot.submitted_at);
    let open = || format!("{} tasks", snapshot.progress);
    format!(
        "{} {} {} {} {}",
        glyph(Reason::counts_as(snapshot.phase, snapshot.reason), false, frame),
        text::bold(&snapshot.workflow),
        text::remarked(text::ended(snapshot.phase, snapshot.reason), &snapshot.remarks),
        snapshot.tally.clone().unwrap_or_else(open),
        text::dim(text::elapsed(took))
    )
}

/// The name in its place in the tree, and the attempt if it is not the first.
fn label(row: &Row) -> String {
    let indent = "  ".repeat(row.depth);
    let attempt = if row.attempt > 1 { format!(" #{}", row.attempt) } else { String::new() };
    format!("{indent}{}{attempt}", row.name)
}

fn line(row: &Row, label: &str, now: Timestamp, frame: Option<usize>, note: Option<&str>) -> String {
    let delay = row.wake_at.filter(|_| row.phase == Phase::Created);
    let mut line =
        format!("{} {label}  ", glyph(Reason::counts_as(row.phase, row.reason), delay.is_some(), frame));
    match delay {
        Some(at) => line += &text::doubtful(format_args!("retry in {}", text::elapsed(at.since(now)))),
        None => line += &text::remarked(text::ended(row.phase, row.reason), &row.remarks),
    }
    let held = row.waiting.as_ref().filter(|_| row.phase == Phase::Created && delay.is_none());
    if let Some(waiting) = held {
        let length = text::elapsed(now.since(waiting.since));
        line += &format!(" {}", text::dim(format_args!("{} {length}", waiting::told(waiting))));
    }
    if let Some(started) = row.started_at.filter(|_| delay.is_none()) {
        let took = row.finished_at.unwrap_or(now).since(started);
        line += &format!(" {}", text::dim(text::elapsed(took)));
    }
    match note.or(Some(text::without_refusals(&row.message))).filter(|note| !note.is_empty()) {
        Some(note) if row.phase != Phase::Succeeded => {
            format!("{line}  {}", text::short(note, MAX_MESSAGE_CHARS))
        }
        Some(_) | None => line,
    }
}

fn glyph(phase: Phase, delayed: bool, frame: Option<usize>) -> String {
    let glyph = match phase {
        Phase::Created if delayed => "↻",
        Phase::Created => "·",
        Phase::Ready | Phase::Running => {
            frame.and_then(|frame| SPINNER.get(frame % SPINNER.len())).copied().unwrap_or("▸")
        }
        Phase::Suspended => "‖",
        Phase::Succeeded => "✓",
        Phase::Failed | Phase::Error | Phase::Timeout => "✗",
        Phase::Skipped => "-",
        Phase::Cancelled => "×",
    };
    text::styled(text::colour(phase), glyph)
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use phasm::engine::run::Progress;

    use super::*;

    fn row(depth: usize, name: &str, phase: Phase) -> Row {
        Row {
            depth,
            name: name.into(),
            path: name.into(),
            phase,
            reason: None,
            remarks: Vec::new(),
            attempt: 1,
            started_at: None,
            finished_at: None,
            wake_at: None,
            waiting: None,
            message: "".into(),
        }
    }

    #[test]
    fn the_tree_shows_attempts_delays_progress_and_what_went_wrong() {
        let at = |millis| Some(Timestamp(millis));
        let rows = vec![
            Row { started_at: at(0), ..row(0, "main", Phase::Running) },
            Row { started_at: at(1000), ..row(1, "fetch", Phase::Running) },
            Row { wake_at: at(6000), attempt: 2, ..row(1, "flaky", Phase::Created) },
            Row {
                started_at: at(0),
                finished_at: at(2500),
                reason: Some(Reason::RetryExhausted),
                message: "\u{1b}[31mboom".into(),
                ..row(1, "bad", Phase::Failed)
            },
            row(1, "later", Phase::Created),
        ];
        let snapshot = Snapshot {
            workflow: "w".into(),
            phase: Phase::Running,
            reason: None,
            remarks: Vec::new(),
            progress: Progress { done: 1, total: 50 },
            submitted_at: Timestamp(0),
            finished_at: None,
            tally: None,
            rows,
            hidden: 3,
        };
        let progress = BTreeMap::from([("fetch".into(), "50 % half".to_owned())]);
        let lines = lines(&snapshot, Timestamp(4000), Some(0), usize::MAX, &progress);
        let plain: Vec<_> = lines.iter().map(|line| strip_str(line).to_string()).collect();
        let expected = [
            "⠋ main        Running 4.0 s",
            "⠋   fetch     Running 3.0 s  50 % half",
            "↻   flaky #2  retry in 2.0 s",
            "✗   bad       Failed (retry-exhausted) 2.5 s  \\u{1b}[31mboom",
            "·   later     Created",
            "  … and 3 more",
            "⠋ w Running 1/50 tasks 4.0 s",
        ];
        assert_eq!(plain, expected);
        let narrow = super::lines(&snapshot, Timestamp(4000), Some(0), 30, &progress);
        assert_eq!(strip_str(&narrow[2]).to_string(), "↻   flaky #2  retry in 2.0 s");
        let over = Snapshot {
            phase: Phase::Failed,
            finished_at: at(5000),
            tally: Some("2 tasks: 1 succeeded, 1 failed".into()),
            ..snapshot
        };
        let last = super::lines(&over, Timestamp(9000), Some(0), usize::MAX, &progress).pop().unwrap();
        assert_eq!(strip_str(&last).to_string(), "✗ w Failed 2 tasks: 1 succeeded, 1 failed 5.0 s");
    }
}
