//! The journal for readers (R-D1): each event as one JSON object, with the names it speaks of.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    event::{AttemptEnded, Event, PhaseChanged, RetryScheduled, TaskId, With},
    run::Run,
    task::TaskRun,
    time::Timestamp,
};

/// Shows `event`, the one with number `seq`, as `{seq, time, type, runID, taskRunID?, taskName?, scope?, attempt?,
/// data{}}`. `run` is the run right after the event was applied, or later.
#[must_use]
pub fn render(run: &Run, seq: u64, time: Timestamp, event: &Event) -> Value {
    let (kind, task, attempt, data) = parts(run, event);
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("seq", seq.into());
    put("time", time.to_rfc3339().into());
    put("type", kind.into());
    put("runID", run.id().as_ref().into());
    if let Some(task) = task.and_then(|id| run.task(id)) {
        put("taskRunID", run.task_run_id(task.id).into());
        put("taskName", run.node(task).name.as_ref().into());
        put("scope", run.scope_path(task).into());
    }
    if let Some(attempt) = attempt {
        put("attempt", attempt.into());
    }
    put("data", data);
    Value::Object(object)
}

type Parts = (&'static str, Option<TaskId>, Option<u32>, Value);

fn parts(run: &Run, event: &Event) -> Parts {
    match event {
        Event::Submitted(submitted) => {
            let plan = run.plan();
            let data = json!({
                "workflow": plan.name, "namespace": plan.namespace, "priority": plan.priority,
                "parameters": submitted.parameters.as_ref(),
            });
            ("run.submitted", None, None, data)
        }
        Event::RunPhase(phase) => ("run.phase", None, None, json!({ "phase": phase })),
        Event::CancelRequested => ("run.cancel.requested", None, None, json!({})),
        Event::ScopeOpened(opened) => {
            let children =
                run.task(opened.task).and_then(|t| t.scope.as_ref()).map_or(0, |s| s.children.len());
            ("scope.opened", Some(opened.task), None, json!({ "inputs": opened.inputs, "tasks": children }))
        }
        Event::Phase(change) => phase_parts(run, change),
        Event::AttemptStarted(fence) => {
            let inputs = run.task(fence.task).map(|task| json!(task.inputs));
            let data = json!({ "inputs": inputs, "dispatch": fence.dispatch });
            ("task.attempt.started", Some(fence.task), Some(fence.attempt), data)
        }
        Event::AttemptEnded(ended) => attempt_parts(ended),
        Event::TimedOut(task, clock) => {
            ("task.timeout", Some(*task), attempt_of(run.task(*task)), json!({ "which": clock.as_str() }))
        }
        Event::Resumed(task, payload) => {
            let data = json!({ "payload": payload.as_ref() });
            ("task.resumed", Some(*task), attempt_of(run.task(*task)), data)
        }
        Event::RetryScheduled(RetryScheduled { task, attempt, delay_ms, wake_at }) => {
            let data = json!({ "attempt": attempt, "delayMs": delay_ms, "wakeAt": wake_at.to_rfc3339() });
            ("task.retry.scheduled", Some(*task), Some(attempt.saturating_sub(1)), data)
        }
        Event::TaskEnded(task, well) => {
            let phase = run.task(*task).map(|task| task.phase);
            (if *well { "task.done" } else { "task.failed" }, Some(*task), None, json!({ "phase": phase }))
        }
        Event::Warning(warning) => (
            "engine.warning",
            warning.task,
            None,
            json!({ "code": warning.code, "message": warning.message }),
        ),
    }
}

fn attempt_of(task: Option<&TaskRun>) -> Option<u32> {
    task.map(|task| task.attempt).filter(|attempt| *attempt > 0)
}

fn phase_parts(run: &Run, change: &PhaseChanged) -> Parts {
    let PhaseChanged { task, from, to, reason, with } = change;
    let mut data = Map::new();
    let mut put = |key: &str, value: Value| data.insert(key.to_owned(), value);
    put("from", json!(from));
    put("to", json!(to));
    put("reason", json!(reason));
    match with.as_deref() {
        Some(With::Partial { message, outputs } | With::Result { message, outputs }) => {
            put("message", json!(message));
            put("outputs", named(outputs));
        }
        Some(With::Bound { .. }) | None => {}
    }
    ("task.phase", Some(*task), attempt_of(run.task(*task)), Value::Object(data))
}

fn attempt_parts(ended: &AttemptEnded) -> Parts {
    let AttemptEnded { fence, phase, code, message, outputs, duration_ms } = ended;
    let kind =
        if *phase == crate::phase::Phase::Succeeded { "task.attempt.done" } else { "task.attempt.failed" };
    let data = json!({
        "phase": phase, "code": code, "message": message, "outputs": named(outputs), "durationMs": duration_ms,
    });
    (kind, Some(fence.task), Some(fence.attempt), data)
}

fn named<T: Serialize>(outputs: T) -> Value {
    json!(outputs)
}
