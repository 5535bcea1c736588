//! A run as lines of a terminal: the tree of scopes, and a summary.

use std::{collections::BTreeMap, sync::Arc};

use phasm::engine::{phase::Phase, time::Timestamp};

use super::{
    super::text,
    snapshot::{Row, Snapshot},
};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Characters of a message beside a task.
const LONGEST_MESSAGE: usize = 80;

/// The lines that show a run at `now`; `frame` turns the spinners, `progress` is what attempts said last.
pub(super) fn lines(
    snapshot: &Snapshot,
    now: Timestamp,
    frame: usize,
    progress: &BTreeMap<Arc<str>, String>,
) -> Vec<String> {
    let width = snapshot.rows.iter().map(|row| label(row).chars().count()).max().unwrap_or(0);
    let row = |row: &Row| {
        let note = progress.get(row.path.as_str()).filter(|_| row.phase == Phase::Running);
        line(row, width, now, frame, note.map(String::as_str))
    };
    let mut lines: Vec<String> = snapshot.rows.iter().map(row).collect();
    if snapshot.hidden > 0 {
        lines.push(text::dim(format_args!("  … and {} more", snapshot.hidden)));
    }
    lines.push(summary(snapshot, now, frame));
    lines
}

fn summary(snapshot: &Snapshot, now: Timestamp, frame: usize) -> String {
    let took = snapshot.finished_at.unwrap_or(now).since(snapshot.submitted_at);
    format!(
        "{} {} {} {} tasks {}",
        glyph(snapshot.phase, false, frame),
        text::bold(&snapshot.workflow),
        text::phase(snapshot.phase),
        snapshot.progress,
        text::dim(text::elapsed(took))
    )
}

/// The name in its place in the tree, and the attempt if it is not the first.
fn label(row: &Row) -> String {
    let indent = "  ".repeat(row.depth);
    let attempt = if row.attempt > 1 { format!(" [{}]", row.attempt) } else { String::new() };
    format!("{indent}{}{attempt}", row.name)
}

fn line(row: &Row, width: usize, now: Timestamp, frame: usize, note: Option<&str>) -> String {
    let label = label(row);
    let pad = " ".repeat(width.saturating_sub(label.chars().count()));
    let delay = row.wake_at.filter(|_| row.phase == Phase::Created);
    let mut line = format!("{} {label}{pad}  ", glyph(row.phase, delay.is_some(), frame));
    match delay {
        Some(at) => line += &text::doubtful(format_args!("retry in {}", text::elapsed(at.since(now)))),
        None => line += &text::phase(row.phase),
    }
    if let Some(reason) = row.reason {
        line += &format!(" ({})", reason.as_str());
    }
    if let Some(started) = row.started_at {
        let took = row.finished_at.unwrap_or(now).since(started);
        line += &format!(" {}", text::dim(text::elapsed(took)));
    }
    match note.or(Some(row.message.as_ref())).filter(|note| !note.is_empty()) {
        Some(note) if row.phase != Phase::Succeeded => {
            format!("{line}  {}", text::short(note, LONGEST_MESSAGE))
        }
        Some(_) | None => line,
    }
}

fn glyph(phase: Phase, delayed: bool, frame: usize) -> String {
    let glyph = match phase {
        Phase::Created if delayed => "↻",
        Phase::Created => "·",
        Phase::Ready | Phase::Running => SPINNER.get(frame % SPINNER.len()).copied().unwrap_or("*"),
        Phase::Suspended => "‖",
        Phase::Succeeded => "✓",
        Phase::Failed | Phase::Error | Phase::Timeout => "✗",
        Phase::Skipped => "-",
        Phase::Cancelled => "×",
    };
    text::styled(text::colour(phase), glyph)
}
