//! The spans of a run that is driven here: what of it has ended in a record that is durable.

use std::sync::Arc;

use phasm_engine::{
    event::{AttemptEnd, Event, PhaseChange},
    phase::{Phase, TaskKind},
    plan::Work,
    run::{Run, TaskRun},
    time::Timestamp,
};
use phasm_sandbox::{
    executor::Invocation,
    trace::{SpanId, TraceContext, TraceId},
};

use super::{Span, SpanKind, SpanValue, Tracer, belonging, instant, of_run, text};
use crate::journal::Moment;

/// Tells the spans of one run.
pub(crate) struct DrivenSpans {
    /// Absent for a trace that is not recorded.
    tracer: Option<Arc<dyn Tracer>>,
    /// The run's own.
    context: Arc<TraceContext>,
    /// The parent of the run's span.
    parent: Option<SpanId>,
}

impl DrivenSpans {
    /// The spans of `run`. Without a caller's trace the run begins one.
    pub(crate) fn of(run: &Run, tracer: Option<&Arc<dyn Tracer>>) -> Option<Self> {
        let span = of_run(run.id());
        let kept: Option<TraceContext> = run.trace().and_then(|kept| kept.parse().ok());
        let (context, parent) = match (kept, tracer) {
            (Some(kept), _) => (kept.with(span), Some(kept.span)),
            (None, Some(tracer)) => {
                let trace = TraceId::of_run(run.id());
                (TraceContext::new(trace, span, tracer.samples(trace)), None)
            }
            (None, None) => return None,
        };
        let tracer = tracer.filter(|_| context.is_sampled()).cloned();
        Some(Self { tracer, context: Arc::new(context), parent })
    }

    /// The trace context of the run's attempts.
    pub(crate) fn context(&self) -> Arc<TraceContext> {
        Arc::clone(&self.context)
    }

    /// Returns the spans that end with a record, after which the run is in this state; they are [passed on](Self::tell) once it
    /// is durable.
    pub(crate) fn ended(&self, run: &Run, moments: &[Moment]) -> Vec<Span> {
        if self.tracer.is_none() {
            return Vec::new();
        }
        let events =
            moments.iter().flat_map(|Moment { time, events }| events.iter().map(move |event| (*time, event)));
        events.filter_map(|(time, event)| self.span(run, time, event)).collect()
    }

    pub(crate) fn tell(&self, spans: Vec<Span>) {
        if let Some(tracer) = &self.tracer {
            spans.into_iter().for_each(|span| tracer.ended(span));
        }
    }

    fn span(&self, run: &Run, time: Timestamp, event: &Event) -> Option<Span> {
        if let Event::AttemptEnded(ended) = event {
            return self.attempt(run, time, ended);
        }
        if let Event::RunPhase(phase) = event
            && phase.is_terminal()
        {
            return Some(self.run(run, time, *phase));
        }
        if let Event::Phase(PhaseChange { task, to, .. }) = event
            && to.is_terminal()
        {
            return self.step(run, run.task(*task)?, time, *to);
        }
        None
    }

    fn run(&self, run: &Run, time: Timestamp, phase: Phase) -> Span {
        let (plan, root) = (run.plan(), run.tasks().first());
        let message = root.map(|root| Arc::clone(&root.message)).unwrap_or_default();
        let mut attributes = belonging(run.id(), &plan.name, &plan.namespace);
        attributes.push(("phasm.phase", text(phase.as_str())));
        Span {
            context: TraceContext::clone(&self.context),
            parent: self.parent,
            kind: SpanKind::Run,
            name: Arc::clone(&plan.name),
            since: instant(run.times().submitted_at),
            until: instant(time),
            attributes,
            failed: failed(phase, &message),
        }
    }

    /// A container that is the root is its run, and no step of it.
    fn step(&self, run: &Run, task: &TaskRun, time: Timestamp, phase: Phase) -> Option<Span> {
        let span = step(run, task);
        if span == self.context.span {
            return None;
        }
        let began = task.dispatched_at.into_iter().chain(task.started_at).min().unwrap_or(time);
        let mut attributes = of_task(run, task);
        attributes.extend([
            ("phasm.phase", text(phase.as_str())),
            ("phasm.attempts", SpanValue::Number(task.attempt.into())),
        ]);
        attributes.extend(task.code.map(|code| ("phasm.code", SpanValue::Number(code.into()))));
        attributes.extend(task.reused.then(|| ("phasm.reused", text("true"))));
        Some(Span {
            context: self.context.with(span),
            parent: Some(run.above(task).map_or(self.context.span, |above| step(run, above))),
            kind: SpanKind::Step,
            name: Arc::clone(&run.node(task).name),
            since: instant(began),
            until: instant(time),
            attributes,
            failed: failed(phase, &task.message),
        })
    }

    fn attempt(&self, run: &Run, time: Timestamp, ended: &AttemptEnd) -> Option<Span> {
        let AttemptEnd { fence, phase, code, message, duration_ms, .. } = ended;
        let task = run.task(fence.task)?;
        let lasted = i64::try_from(duration_ms.unwrap_or(0)).unwrap_or(i64::MAX);
        let mut attributes = of_task(run, task);
        attributes.extend([
            ("phasm.attempt", SpanValue::Number(fence.attempt.into())),
            ("phasm.phase", text(phase.as_str())),
            ("phasm.code", SpanValue::Number((*code).into())),
        ]);
        Some(Span {
            context: self.context.with(Invocation::span_of(&run.task_run_id(task.id), fence.attempt)),
            parent: Some(step(run, task)),
            kind: SpanKind::Attempt,
            name: Arc::clone(&run.node(task).name),
            since: instant(Timestamp(time.0.saturating_sub(lasted))),
            until: instant(time),
            attributes,
            failed: failed(*phase, message),
        })
    }
}

/// The span of a task run.
fn step(run: &Run, task: &TaskRun) -> SpanId {
    let is_run = run.above(task).is_none() && run.kind(task) == TaskKind::Container;
    if is_run { of_run(run.id()) } else { SpanId::of(&run.task_run_id(task.id)) }
}

fn of_task(run: &Run, task: &TaskRun) -> Vec<(&'static str, SpanValue)> {
    let (plan, node) = (run.plan(), run.node(task));
    let mut attributes = belonging(run.id(), &plan.name, &plan.namespace);
    attributes.extend([
        ("phasm.task", text(Arc::clone(&node.name))),
        ("phasm.task.path", text(run.path(task))),
        ("phasm.task.run", text(run.task_run_id(task.id))),
    ]);
    if let Work::Executor(call) = &node.work {
        attributes.push(("phasm.executor", text(Arc::clone(&call.executor_type))));
        let digest = plan.executors.get(&call.executor_type).and_then(|pinned| pinned.digest.clone());
        attributes.extend(digest.map(|digest| ("phasm.executor.digest", text(digest))));
    }
    attributes
}

/// The failure of a span, for a phase that is no success.
fn failed(phase: Phase, message: &Arc<str>) -> Option<Arc<str>> {
    match phase {
        Phase::Failed | Phase::Error | Phase::Timeout | Phase::Cancelled => Some(Arc::clone(message)),
        Phase::Created
        | Phase::Ready
        | Phase::Running
        | Phase::Suspended
        | Phase::Succeeded
        | Phase::Skipped => None,
    }
}
