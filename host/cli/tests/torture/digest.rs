//! Result of a run: all that must be the same with and without disturbances, and what a journal says about time.

#[expect(unreachable_pub, reason = "the simulation has it in a library")]
#[path = "../../../../tests/src/digest.rs"]
mod read;

use std::{collections::BTreeMap, sync::Arc};

use phasm::{
    RunView, TaskView,
    engine::time::Timestamp,
    store::{Filter, ReadStore, RunRow},
};
use serde_json::Value;

/// A run that is read back.
pub(crate) struct Digest {
    pub(crate) row: RunRow,
    /// Phases, codes, outputs, and how many ends of each kind were recorded, by task.
    pub(crate) text: String,
    /// Tasks that wait for an answer.
    pub(crate) asks: Vec<String>,
    pub(crate) events: Vec<Value>,
    /// Whether nothing follows any more, by its journal.
    pub(crate) is_over: bool,
}

pub(crate) async fn all(store: &dyn ReadStore) -> Result<Vec<Digest>, String> {
    let mut all = Vec::new();
    for row in rows(store).await? {
        all.push(of(store, row).await?);
    }
    Ok(all)
}

pub(crate) async fn rows(store: &dyn ReadStore) -> Result<Vec<RunRow>, String> {
    store.list(Filter::default(), usize::MAX).await.map_err(|error| error.to_string())
}

pub(crate) async fn of(store: &dyn ReadStore, row: RunRow) -> Result<Digest, String> {
    let id = Arc::clone(&row.head.run_id);
    let failed = |error: &dyn std::fmt::Display| format!("run {id}: {error}");
    let records = store.load(&id).await.map_err(|error| failed(&error))?;
    let read::Digest { text, events, view, is_over } =
        read::digest(&id, &records).map_err(|error| failed(&error))?;
    times(&events, &view).map_err(|error| failed(&error))?;
    // Tasks that are executed side by side end in any order, and so do their hooks.
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    let text = lines.join("\n");
    let asks = view.tasks.iter().filter(|task| task.phase == phasm::Phase::Suspended);
    let asks = asks.map(|task| task.task_name.to_string()).collect();
    Ok(Digest { row, text, asks, events, is_over })
}

fn time(value: Option<&Value>) -> Option<Timestamp> {
    Timestamp::from_rfc3339(value?.as_str()?)
}

/// Time goes on; a delay is as long as it was to be; no clock expires before its time, and none is moved.
fn times(events: &[Value], view: &RunView) -> Result<(), String> {
    let mut last = Timestamp(0);
    let mut wakes = BTreeMap::new();
    for event in events {
        let now = time(event.get("time")).ok_or("an event without a time")?;
        if now < last {
            return Err(format!("time goes back: {event}"));
        }
        last = now;
        delays(event, now, &mut wakes)?;
    }
    view.tasks.iter().try_for_each(deadline)
}

/// `wakes` says when the next attempt of each task may begin.
fn delays(event: &Value, now: Timestamp, wakes: &mut BTreeMap<String, Timestamp>) -> Result<(), String> {
    let field = |name: &str| event.get("data").and_then(|data| data.get(name));
    match event.get("type").and_then(Value::as_str) {
        Some("task.retry.scheduled") => {
            let delay = field("delayMs").and_then(Value::as_u64).unwrap_or(0);
            let wake = time(field("wakeAt")).unwrap_or(now);
            wakes.insert(read::path(event), wake);
            if wake < now.after(delay) { Err(format!("a delay is short: {event}")) } else { Ok(()) }
        }
        Some("task.attempt.started") if wakes.get(&read::path(event)).is_some_and(|wake| now < *wake) => {
            Err(format!("before its delay was over: {event}"))
        }
        _ => Ok(()),
    }
}

/// The clocks of the workloads, which are known by their tasks' names.
fn deadline(task: &TaskView) -> Result<(), String> {
    let length = match task.task_name.as_ref() {
        "late" => 700,
        "closed" => 900,
        "ask" => 86_400_000,
        _ => return Ok(()),
    };
    let at = |text: Option<&str>| text.and_then(Timestamp::from_rfc3339);
    let Some(deadline) = at(task.deadline_at.as_deref()) else { return Ok(()) };
    // The time is counted from the dispatch, a moment after the task was created and at the latest when it started.
    let (created, started) = (at(Some(&task.created_at)), at(task.started_at.as_deref()));
    if created.is_some_and(|created| deadline < created.after(length))
        || started.is_some_and(|started| deadline > started.after(length))
    {
        return Err(format!("{}: its clock was moved: {}", task.task_name, serde_json::json!(task)));
    }
    Ok(())
}
