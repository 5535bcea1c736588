//! The span of a submission, and the trace that a new run belongs to.

use std::sync::Arc;

use phasm_engine::{run::Run, time::Timestamp};
use phasm_sandbox::trace::{SpanId, TraceContext, TraceId};

use crate::{
    core::Shared,
    store::RunHead,
    watch::spans::{Span, SpanKind, Tracer, belonging, caller, instant, of_submission},
};

/// A submission that is under way, where somebody traces it.
pub(super) struct Submitting {
    tracer: Arc<dyn Tracer>,
    context: TraceContext,
    caller: Option<SpanId>,
}

impl Submitting {
    /// It is durable.
    pub(super) fn done(self, head: &RunHead, now: Timestamp) {
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

impl Shared {
    /// What is kept with a new run of the trace that it belongs to.
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

    /// Traces the submission of a run.
    pub(super) fn submitting(&self, run: &Run) -> Option<Submitting> {
        let tracer = Arc::clone(self.tracer.as_ref()?);
        let context: TraceContext = run.trace()?.parse().ok()?;
        let caller = caller().map(|caller| caller.span);
        context.is_sampled().then_some(Submitting { tracer, context, caller })
    }
}
