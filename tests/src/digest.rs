//! The outcome of a run: all that must be equal where nothing disturbs it.

use std::{collections::BTreeMap, fmt::Write as _};

use phasm::{RunView, TaskView, journal, store::Record};
use serde_json::Value;

/// A run that was read back.
#[derive(Debug)]
pub struct Digest {
    /// Phases, codes, outputs, and how many ends of each kind were recorded, by task.
    pub text: String,
    /// Its events, as they are printed.
    pub events: Vec<Value>,
    /// The run as it stands.
    pub view: RunView,
    /// Whether nothing follows any more.
    pub is_over: bool,
}

/// Events that are counted: decisions and ends. The start of an attempt may be recorded again.
const COUNTED: [&str; 9] = [
    "task.attempt.done",
    "task.attempt.failed",
    "task.done",
    "task.failed",
    "task.retry.scheduled",
    "task.resumed",
    "task.timeout",
    "hook.fired",
    "scope.opened",
];

/// Reads a run's journal.
///
/// # Errors
/// The journal is inconsistent; the text says where.
pub fn digest(run_id: &str, records: &[Record<Vec<u8>>]) -> Result<Digest, String> {
    let mut events = Vec::new();
    let run = journal::replay(run_id, records, |run, seq, time, happened| {
        events.extend(journal::render(run, seq, time, happened));
    });
    let run = run.map_err(|error| error.to_string())?;
    let view = RunView::of(&run);
    let mut text = format!("{} {:?} {}\n", view.phase, view.message, json(&view.outputs));
    for task in tasks(&view) {
        let (phase, reason, code, outputs) =
            (task.phase, json(&task.reason), json(&task.code), json(&task.outputs));
        let path = format!("{}/{}", task.scope, task.task_name);
        // Writing to a text does not fail.
        let _written = writeln!(text, "{path} {phase} {reason} {code} {outputs} retries {}", task.retries);
    }
    for (what, count) in counts(&events) {
        let _written = writeln!(text, "{what} {count}");
    }
    Ok(Digest { text, events, view, is_over: run.is_over() })
}

/// All task runs, hooks' too.
pub fn tasks(view: &RunView) -> impl Iterator<Item = &TaskView> {
    view.tasks.iter().chain(view.hooks.iter().map(|hook| &hook.task))
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// `scope/taskName` of what an event is about.
#[must_use]
pub fn path(event: &Value) -> String {
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    format!("{}/{}", text("scope"), text("taskName"))
}

fn counts(events: &[Value]) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for event in events {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if COUNTED.contains(&kind) {
            *counts.entry(format!("{kind} {}", path(event))).or_default() += 1;
        }
    }
    counts
}
