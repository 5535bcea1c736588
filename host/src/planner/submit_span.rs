//! The span of a submission, and the trace that a new run belongs to.

use std::sync::Arc;

use phasm_engine::{run::Run, time::Timestamp};
use phasm_sandbox::trace::{SpanId, TraceContext, TraceId};

use super::Planner;
use crate::{
    store::RunHead,
    watch::spans::{Span, SpanKind, Tracer, belonging, caller, instant, of_submission},
};

/// The span of a submission that has not ended.
pub(crate) struct SubmitSpan {
    tracer: Arc<dyn Tracer>,
    context: TraceContext,
    caller: Option<SpanId>,
}

impl SubmitSpan {
    /// Ends the span: the submission is durable.
    pub(crate) fn end(self, head: &RunHead, now: Timestamp) {
        let Self { tracer, context, caller } = self;
        tracer.ended(Span {
            context,
            parent: caller,
            kind: SpanKind::Submit,
            name: Arc::clone(&head.workflow),
            since: instant(head.submitted_at),
            until: instant(now.max(head.submitted_at)),
            attributes: belonging(&head.run_id, &head.workflow, &head.namespace),
            failed: None,
        });
    }
}

impl Planner {
    /// The trace context that is stored with a new run.
    pub(super) fn trace(&self, run_id: &str) -> Option<Arc<str>> {
        let context = match (&self.tracer, caller()) {
            (None, None) => return None,
            (None, Some(caller)) => caller,
            (Some(_), Some(caller)) => caller.with(of_submission(run_id)),
            (Some(tracer), None) => {
                let trace = TraceId::of_run(run_id);
                TraceContext::new(trace, of_submission(run_id), tracer.samples(trace))
            }
        };
        Some(context.to_string().into())
    }

    /// Begins the span of a submission, if its trace is sampled.
    pub(crate) fn submit_span(&self, run: &Run) -> Option<SubmitSpan> {
        let tracer = Arc::clone(self.tracer.as_ref()?);
        let context: TraceContext = run.trace()?.parse().ok()?;
        let caller = caller().map(|caller| caller.span);
        context.is_sampled().then_some(SubmitSpan { tracer, context, caller })
    }
}
