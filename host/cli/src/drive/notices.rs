//! Lines about the events of a run.

use phasm::{
    LogLine, Notice, ProgressNote, RecoverError, Watch,
    engine::{
        event::{Event, PhaseChange},
        phase::Phase,
        time::Timestamp,
    },
};
use serde_json::{Value, json};

use crate::{terminal::text, trace};

/// Returns an event as `--events` prints it, in lines. Log lines and progress are not in the journal and have no `seq`.
pub(super) fn json_lines(notice: &Notice, watch: &Watch, run_id: &str, now: Timestamp) -> String {
    let told = |kind: &str, path: &str, attempt: u32, data: Value| {
        let (scope, name) = path.rsplit_once('/').unwrap_or(("", path));
        json!({
            "time": now.to_rfc3339(), "type": kind, "runID": run_id, "taskName": name, "scope": scope,
            "attempt": attempt, "data": data,
        })
    };
    let line = match notice {
        Notice::Record(record) => {
            let lines = watch.views(record).map(|view| view.json().to_string() + "\n");
            return lines.collect();
        }
        Notice::Missed(count) => json!({
            "time": now.to_rfc3339(), "type": "missed", "runID": run_id, "data": { "notices": count },
        })
        .to_string(),
        Notice::Log(line) => {
            told("task.log", &line.task, line.attempt, json!({ "level": line.level, "text": line.text }))
                .to_string()
        }
        Notice::Progress(note) => {
            let data = json!({ "fraction": note.fraction, "text": note.text });
            told("task.progress", &note.task, note.attempt, data).to_string()
        }
    };
    line + "\n"
}

/// `scope/task#attempt level text`; brackets in a path are indexes.
pub(super) fn log_line(line: &LogLine) -> String {
    let LogLine { task, attempt, level, text } = line;
    format!("{task}#{attempt} {} {}\n", trace::word(*level), text::clean(text))
}

/// `50 % half done`.
pub(super) fn progress(note: &ProgressNote) -> String {
    let text = text::short(&note.text, 60);
    match note.fraction {
        Some(fraction) => format!("{:.0} % {text}", fraction * 100.0),
        None => text.into_owned(),
    }
}

/// Whether an event says that a task waits for an answer.
pub(super) const fn is_suspension(event: &Event) -> bool {
    matches!(event, Event::Phase(PhaseChange { to: Phase::Suspended, .. }))
}

/// Returns the failure of a run that cannot be followed any more.
pub(super) fn deaf(error: &RecoverError) -> String {
    let why = error.to_string();
    format!("{} events cannot be read any more: {}\n", text::doubtful("warning:"), text::clean(&why))
}

/// Returns the line about events that were missed.
pub(super) fn missed(count: u64) -> String {
    format!("{} {count} lines of guests came too fast to be shown\n", text::doubtful("warning:"))
}

/// The line of an event that is a warning, as it is rendered.
pub(super) fn warning(event: &Value) -> String {
    let task = path(event).map(|path| format!("{path}: ")).unwrap_or_default();
    let message =
        text::clean(event.pointer("/data/message").and_then(Value::as_str).unwrap_or_default()).into_owned();
    format!("{} {task}{message}\n", text::doubtful("warning:"))
}

/// `scope/taskName` of a journal event's task.
pub(super) fn path(event: &Value) -> Option<String> {
    let name = event["taskName"].as_str()?;
    let scope = event["scope"].as_str().filter(|scope| !scope.is_empty());
    Some(scope.map_or_else(|| name.to_owned(), |scope| format!("{scope}/{name}")))
}
