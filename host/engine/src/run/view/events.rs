//! The journal for readers: each event as one JSON object, with the names it speaks of.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    event::{
        AttemptEnd, Event, HookFailure, HookFiring, PhaseChange, PhaseData, PolicyEvaluation, Requester,
        Resumption, RetrySchedule, RunningQuota, ScopeOpening, SubmissionRecord, TaskId,
    },
    phase::{Phase, TaskKind},
    plan::{MaxAttempts, RuleMatch, TemplateKind, Verdict},
    run::{Run, TaskRun, UsageView, WaitsFor, state::Place},
    time::Timestamp,
};

/// Shows the events of one record, the first with number `first_seq`, each as [`EventView::json`]. `run` is the run right after
/// the record.
#[must_use]
pub fn render(run: &Run, first_seq: u64, time: Timestamp, events: &[Event]) -> Vec<Value> {
    views(run, first_seq, time, events).map(|view| view.json()).collect()
}

/// Like [`render`], for callers that need only some of the views.
pub fn views<'r>(
    run: &'r Run,
    first_seq: u64,
    time: Timestamp,
    events: &'r [Event],
) -> impl Iterator<Item = EventView<'r>> {
    let numbered = (first_seq..).zip(events).zip(attempts(run, events));
    numbered.map(move |((seq, event), attempt)| EventView { run, seq, time, event, attempt })
}

/// An event, and the run right after its record.
#[derive(Clone, Copy, Debug)]
pub struct EventView<'r> {
    run: &'r Run,
    seq: u64,
    time: Timestamp,
    event: &'r Event,
    attempt: Option<u32>,
}

impl<'r> EventView<'r> {
    /// The event itself.
    #[must_use]
    pub const fn event(&self) -> &'r Event {
        self.event
    }

    /// When it happened.
    #[must_use]
    pub const fn time(&self) -> Timestamp {
        self.time
    }

    /// The event for readers: `{seq, time, type, runID, taskRunID?, taskName?, scope?, attempt?, data{}}`.
    #[must_use]
    pub fn json(&self) -> Value {
        let Self { run, seq, time, event, attempt } = *self;
        object(run, seq, time, event, attempt)
    }
}

fn object(run: &Run, seq: u64, time: Timestamp, event: &Event, attempt: Option<u32>) -> Value {
    let (task, attempt, data) = parts(run, event, attempt);
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("seq", seq.into());
    put("time", time.to_rfc3339().into());
    put("type", event.name().into());
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

/// The attempt that each event found or began, where the event does not say so itself: by the end of the record `run`
/// may have begun others, as after a retry without delay.
fn attempts(run: &Run, events: &[Event]) -> Vec<Option<u32>> {
    let mut begun_later: BTreeMap<TaskId, u32> = BTreeMap::new();
    let mut attempts = Vec::with_capacity(events.len());
    for event in events.iter().rev() {
        let task = subject(event).and_then(|id| run.task(id));
        let later = task.and_then(|task| begun_later.get(&task.id)).copied().unwrap_or_default();
        attempts.push(task.map(|task| task.attempt.saturating_sub(later)).filter(|attempt| *attempt > 0));
        if let Some(id) = begins(run, event) {
            *begun_later.entry(id).or_default() += 1;
        }
    }
    attempts.reverse();
    attempts
}

/// The task run of an event that belongs to an attempt without naming it.
fn subject(event: &Event) -> Option<TaskId> {
    if let Event::Phase(PhaseChange { task, .. })
    | Event::TimedOut(task, _)
    | Event::Resumed(Resumption { task, .. }) = event
    {
        Some(*task)
    } else {
        None
    }
}

/// The task run of which an event begins an attempt.
fn begins(run: &Run, event: &Event) -> Option<TaskId> {
    let (id, kind) = if let Event::Phase(PhaseChange { task, to: Phase::Ready, reason: None, .. }) = event {
        (*task, TaskKind::Leaf)
    } else if let Event::ScopeOpened(opened) = event {
        (opened.task, TaskKind::Wrapper)
    } else {
        return None;
    };
    run.task(id).filter(|task| run.kind(task) == kind).map(|task| task.id)
}

type Parts = (Option<TaskId>, Option<u32>, Value);

fn parts(run: &Run, event: &Event, attempt: Option<u32>) -> Parts {
    match event {
        Event::Submitted(submitted) => submitted_parts(run, submitted),
        Event::RunPhase(phase) => (None, None, json!({ "phase": phase })),
        Event::CancelRequested => (None, None, json!({})),
        Event::CancelRequestedBy(by) => (None, None, json!({ "by": by })),
        Event::TaskCancelRequested(task, by) => (Some(*task), None, with_caller(json!({}), by.as_ref())),
        Event::Held(quota) => (None, None, held(quota.as_ref())),
        Event::ScopeOpened(opened) => scope_parts(run, opened),
        Event::Repeated(task) => (Some(*task), None, json!({ "repeated": true, "tasks": 1 })),
        Event::Reused(task) => reused_parts(run, *task),
        Event::Phase(change) => phase_parts(change, attempt),
        Event::AttemptStarted(fence) => {
            let inputs = run.task(fence.task).map(|task| json!(task.inputs));
            let data = json!({ "inputs": inputs, "dispatch": fence.dispatch });
            (Some(fence.task), Some(fence.attempt), data)
        }
        Event::AttemptEnded(ended) => attempt_parts(run, ended),
        Event::Metered(fence, metered) => {
            (Some(fence.task), Some(fence.attempt), json!({ "usage": UsageView::of(*metered) }))
        }
        Event::TimedOut(task, clock) => (Some(*task), attempt, json!({ "which": clock.as_str() })),
        Event::Resumed(Resumption { task, payload, by }) => {
            let data = json!({ "payload": payload.as_ref() });
            (Some(*task), attempt, with_caller(data, by.as_ref()))
        }
        Event::PolicyEvaluated(evaluated) => policy_parts(run, evaluated),
        Event::RetryScheduled(RetrySchedule { task, attempt, delay_ms, wake_at }) => {
            let data = json!({ "attempt": attempt, "delayMs": delay_ms, "wakeAt": wake_at.to_rfc3339() });
            (Some(*task), Some(attempt.saturating_sub(1)), data)
        }
        Event::TaskEnded(task, _) => {
            let phase = run.task(*task).map(|task| task.phase);
            (Some(*task), None, json!({ "phase": phase }))
        }
        Event::HookFired(fired) => {
            let HookFiring { run: hook, of, kind, inputs, .. } = fired.as_ref();
            let data = json!({ "hookType": kind, "hookOf": run.task_run_id(*of), "inputs": inputs });
            (Some(*hook), None, data)
        }
        Event::HookFailed(failed) => {
            let HookFailure { of, kind, run: hook, message } = failed.as_ref();
            let data = json!({ "hookType": kind, "hookOf": run.task_run_id(*of), "message": message });
            (hook.or(Some(*of)), None, data)
        }
        Event::Warning(warning) => {
            (warning.task, None, json!({ "code": warning.code, "message": warning.message }))
        }
        Event::Broken(message) => (Some(TaskId::ROOT), None, json!({ "message": message })),
    }
}

/// Returns the reason why executable leaves wait, in the words of views.
fn held(quota: Option<&RunningQuota>) -> Value {
    match quota {
        Some(RunningQuota { tenant, running }) => {
            json!({ "for": WaitsFor::Quota, "tenant": tenant, "running": running })
        }
        None => json!({ "for": WaitsFor::Slot }),
    }
}

fn submitted_parts(run: &Run, submitted: &SubmissionRecord) -> Parts {
    let plan = run.plan();
    let mut data = json!({
        "workflow": plan.name, "namespace": plan.namespace, "priority": plan.priority,
        "parameters": submitted.parameters.as_ref(),
    });
    if let (Some(rerun), Some(data)) = (&submitted.rerun, data.as_object_mut()) {
        data.insert("rerunOf".to_owned(), json!(rerun.run_id));
    }
    if let (false, Some(data)) = (submitted.settings.is_empty(), data.as_object_mut()) {
        data.insert("settings".to_owned(), json!(submitted.settings));
    }
    (None, None, with_caller(data, submitted.by.as_ref()))
}

/// Adds the caller that made a request, if it is known.
fn with_caller(mut data: Value, by: Option<&Requester>) -> Value {
    if let (Some(by), Some(data)) = (by, data.as_object_mut()) {
        data.insert("by".to_owned(), json!(by));
    }
    data
}

/// Returns the reused result's data, which is stored with the task run.
fn reused_parts(run: &Run, id: TaskId) -> Parts {
    let Some(task) = run.task(id) else { return (None, None, json!({})) };
    let data = json!({
        "of": run.rerun_of(), "inputs": task.inputs, "code": task.code, "message": task.message,
        "outputs": task.outputs,
    });
    (Some(id), None, with_caller(data, task.resumed_by()))
}

fn scope_parts(run: &Run, opened: &ScopeOpening) -> Parts {
    let tasks = run.task(opened.task).map(|task| run.children_at_first(task, opened.items.as_deref()));
    let mut data = json!({ "inputs": opened.inputs, "tasks": tasks });
    if let (Some(items), Some(data)) = (&opened.items, data.as_object_mut()) {
        data.insert("items".to_owned(), json!(items));
    }
    (Some(opened.task), None, data)
}

fn phase_parts(change: &PhaseChange, attempt: Option<u32>) -> Parts {
    let PhaseChange { task, from, to, reason, with } = change;
    let mut data = Map::new();
    let mut put = |key: &str, value: Value| data.insert(key.to_owned(), value);
    put("from", json!(from));
    put("to", json!(to));
    put("reason", json!(reason));
    match with.as_deref() {
        Some(PhaseData::Partial { message, outputs } | PhaseData::Result { message, outputs }) => {
            put("message", json!(message));
            put("outputs", json!(outputs));
        }
        Some(PhaseData::Refused { reason, by }) => {
            put("refused", json!(reason));
            if let Some(by) = by {
                put("by", json!(by));
            }
        }
        Some(PhaseData::Bound { .. }) | None => {}
    }
    (Some(*task), attempt, Value::Object(data))
}

fn attempt_parts<'r>(run: &'r Run, ended: &AttemptEnd) -> Parts {
    let AttemptEnd { fence, phase, code, message, outputs, duration_ms, metered, condition: _ } = ended;
    let mut data = json!({
        "phase": phase, "code": code, "message": message, "outputs": json!(outputs), "durationMs": duration_ms,
    });
    if let Some(data) = data.as_object_mut() {
        let usage = UsageView::of(*metered).map(|usage| ("usage".to_owned(), json!(usage)));
        let task = run.task(fence.task);
        let ended = |task: &'r TaskRun| task.attempts.iter().rev().find(|one| one.number == fence.attempt);
        let reason = task.and_then(|task| run.reason_of(task, ended(task)?));
        let reason = reason.map(|reason| ("reason".to_owned(), reason.into()));
        data.extend(usage.into_iter().chain(reason));
    }
    (Some(fence.task), Some(fence.attempt), data)
}

fn policy_parts(run: &Run, evaluated: &PolicyEvaluation) -> Parts {
    let PolicyEvaluation { fence, rule, verdict, iter, ctx } = evaluated;
    let rule = match rule {
        RuleMatch::Rule(index) => json!(index),
        RuleMatch::Else => json!("else"),
        RuleMatch::Default => json!("default"),
    };
    let mut data = Map::from_iter([("rule".to_owned(), rule), ("do".to_owned(), json!(verdict.as_str()))]);
    match verdict {
        Verdict::Retry { attempts, delay_ms } => {
            let attempts = match attempts {
                MaxAttempts::Unlimited => json!(-1),
                MaxAttempts::Limited(most) => json!(most),
            };
            data.insert("attempts".to_owned(), attempts);
            data.extend(delay_ms.map(|delay| ("delayMs".to_owned(), json!(delay))));
        }
        Verdict::Jump(to) => {
            data.insert("to".to_owned(), json!(label(run, fence.task, *to)));
        }
        Verdict::Continue | Verdict::Break | Verdict::Fail => {}
    }
    for (name, values) in [("iter", iter), ("ctx", ctx)] {
        if !values.is_empty() {
            data.insert(name.to_owned(), json!(values));
        }
    }
    (Some(fence.task), Some(fence.attempt), Value::Object(data))
}

/// The label of a pipeline's task, seen from one of its tasks.
fn label(run: &Run, from: TaskId, to: usize) -> Option<String> {
    let Place::Entry(template, ..) = run.task(from)?.place else { return None };
    let Some(TemplateKind::Pipeline(pipeline)) = run.plan().kind(template) else { return None };
    pipeline.nodes.get(to).map(|node| node.name.as_ref().to_owned())
}
