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

    /// The number of the event.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// The path of the task run that the event is about, if it is about one.
    #[must_use]
    pub fn path(&self) -> Option<String> {
        Some(self.run.path(self.run.task(task_of(self.event)?)?))
    }

    /// The event for readers: `{seq, time, type, runID, taskRunID?, taskName?, scope?, attempt?, data{}}`.
    #[must_use]
    pub fn json(&self) -> Value {
        let Self { run, seq, time, event, attempt } = *self;
        object(run, seq, time, event, attempt)
    }
}

fn object(run: &Run, seq: u64, time: Timestamp, event: &Event, attempt: Option<u32>) -> Value {
    let (attempt, data) = parts(run, event, attempt);
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("seq", seq.into());
    put("time", time.to_rfc3339().into());
    put("type", event.name().into());
    put("runID", run.id().as_ref().into());
    if let Some(task) = task_of(event).and_then(|id| run.task(id)) {
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

/// The task run that an event is about.
fn task_of(event: &Event) -> Option<TaskId> {
    match event {
        Event::Submitted(_)
        | Event::RunPhase(_)
        | Event::CancelRequested
        | Event::CancelRequestedBy(_)
        | Event::Held(_) => None,
        Event::TaskCancelRequested(task, _)
        | Event::Repeated(task)
        | Event::Reused(task)
        | Event::TimedOut(task, _)
        | Event::TaskEnded(task, _) => Some(*task),
        Event::ScopeOpened(opened) => Some(opened.task),
        Event::Phase(change) => Some(change.task),
        Event::AttemptStarted(fence) | Event::Metered(fence, _) => Some(fence.task),
        Event::AttemptEnded(ended) => Some(ended.fence.task),
        Event::Resumed(resumed) => Some(resumed.task),
        Event::PolicyEvaluated(evaluated) => Some(evaluated.fence.task),
        Event::RetryScheduled(retry) => Some(retry.task),
        Event::HookFired(fired) => Some(fired.run),
        Event::HookFailed(failed) => failed.run.or(Some(failed.of)),
        Event::Warning(warning) => warning.task,
        Event::Broken(_) => Some(TaskId::ROOT),
    }
}

/// The attempt that an event is about, and its data.
type Parts = (Option<u32>, Value);

fn parts(run: &Run, event: &Event, attempt: Option<u32>) -> Parts {
    match event {
        Event::Submitted(submitted) => (None, submitted_data(run, submitted)),
        Event::RunPhase(phase) => (None, json!({ "phase": phase })),
        Event::CancelRequested => (None, json!({})),
        Event::CancelRequestedBy(by) => (None, json!({ "by": by })),
        Event::TaskCancelRequested(_, by) => (None, with_caller(json!({}), by.as_ref())),
        Event::Held(quota) => (None, held(quota.as_ref())),
        Event::ScopeOpened(opened) => (None, scope_data(run, opened)),
        Event::Repeated(_) => (None, json!({ "repeated": true, "tasks": 1 })),
        Event::Reused(task) => (None, reused_data(run, *task)),
        Event::Phase(change) => (attempt, phase_data(change)),
        Event::AttemptStarted(fence) => {
            let inputs = run.task(fence.task).map(|task| json!(task.inputs));
            (Some(fence.attempt), json!({ "inputs": inputs, "dispatch": fence.dispatch }))
        }
        Event::AttemptEnded(ended) => (Some(ended.fence.attempt), attempt_data(run, ended)),
        Event::Metered(fence, metered) => (Some(fence.attempt), json!({ "usage": UsageView::of(*metered) })),
        Event::TimedOut(_, clock) => (attempt, json!({ "which": clock.as_str() })),
        Event::Resumed(Resumption { payload, by, .. }) => {
            (attempt, with_caller(json!({ "payload": payload.as_ref() }), by.as_ref()))
        }
        Event::PolicyEvaluated(evaluated) => (Some(evaluated.fence.attempt), policy_data(run, evaluated)),
        Event::RetryScheduled(RetrySchedule { attempt, delay_ms, wake_at, .. }) => {
            let data = json!({ "attempt": attempt, "delayMs": delay_ms, "wakeAt": wake_at.to_rfc3339() });
            (Some(attempt.saturating_sub(1)), data)
        }
        Event::TaskEnded(task, _) => (None, json!({ "phase": run.task(*task).map(|task| task.phase) })),
        Event::HookFired(fired) => {
            let HookFiring { of, kind, inputs, .. } = fired.as_ref();
            (None, json!({ "hookType": kind, "hookOf": run.task_run_id(*of), "inputs": inputs }))
        }
        Event::HookFailed(failed) => {
            let HookFailure { of, kind, message, .. } = failed.as_ref();
            (None, json!({ "hookType": kind, "hookOf": run.task_run_id(*of), "message": message }))
        }
        Event::Warning(warning) => (None, json!({ "code": warning.code, "message": warning.message })),
        Event::Broken(message) => (None, json!({ "message": message })),
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

fn submitted_data(run: &Run, submitted: &SubmissionRecord) -> Value {
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
    with_caller(data, submitted.by.as_ref())
}

/// Adds the caller that made a request, if it is known.
fn with_caller(mut data: Value, by: Option<&Requester>) -> Value {
    if let (Some(by), Some(data)) = (by, data.as_object_mut()) {
        data.insert("by".to_owned(), json!(by));
    }
    data
}

/// Returns the reused result's data, which is stored with the task run.
fn reused_data(run: &Run, id: TaskId) -> Value {
    let Some(task) = run.task(id) else { return json!({}) };
    let data = json!({
        "of": run.rerun_of(), "inputs": task.inputs, "code": task.code, "message": task.message,
        "outputs": task.outputs,
    });
    with_caller(data, task.resumed_by())
}

fn scope_data(run: &Run, opened: &ScopeOpening) -> Value {
    let tasks = run.task(opened.task).map(|task| run.children_at_first(task, opened.items.as_deref()));
    let mut data = json!({ "inputs": opened.inputs, "tasks": tasks });
    if let (Some(items), Some(data)) = (&opened.items, data.as_object_mut()) {
        data.insert("items".to_owned(), json!(items));
    }
    data
}

fn phase_data(change: &PhaseChange) -> Value {
    let PhaseChange { task: _, from, to, reason, with } = change;
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
    Value::Object(data)
}

fn attempt_data<'r>(run: &'r Run, ended: &AttemptEnd) -> Value {
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
    data
}

fn policy_data(run: &Run, evaluated: &PolicyEvaluation) -> Value {
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
    Value::Object(data)
}

/// The label of a pipeline's task, seen from one of its tasks.
fn label(run: &Run, from: TaskId, to: usize) -> Option<String> {
    let Place::Entry(template, ..) = run.task(from)?.place else { return None };
    let Some(TemplateKind::Pipeline(pipeline)) = run.plan().kind(template) else { return None };
    pipeline.nodes.get(to).map(|node| node.name.as_ref().to_owned())
}
