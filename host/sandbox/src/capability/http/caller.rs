//! The attempt that makes requests.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use super::{
    EgressSecret, HttpGrant, HttpLimits,
    budget::RequestBudget,
    failure::{Failure, OverLimit},
    net::Net,
    request_log::{GIVEN_UP, RequestLog},
    secret_injection,
    target::Target,
};
use crate::{
    attempt_context::AttemptContext,
    capability::refusals::{RefusalList, Refusals, advice},
    trace::{SpanId, TraceContext},
    transcript::Transcript,
};

/// An attempt, as its requests see it.
pub(super) struct Caller {
    pub(super) net: Arc<Net>,
    pub(super) grant: HttpGrant,
    pub(super) context: Arc<AttemptContext>,
    pub(super) transcript: Arc<Transcript>,
    pub(super) budget: RequestBudget,
    pub(super) log: RequestLog,
    /// Secrets whose placeholders the attempt was given.
    pub(super) secrets: Vec<EgressSecret>,
    made: AtomicU32,
    /// Span of the attempt, for subscribers to the traces of this process.
    pub(super) attempt: tracing::Span,
    refusals: RefusalList,
}

impl Caller {
    fn new(
        net: &Arc<Net>,
        grant: &HttpGrant,
        context: &Arc<AttemptContext>,
        transcript: &Arc<Transcript>,
    ) -> Self {
        Self {
            budget: RequestBudget::new(&context.ceilings),
            secrets: secret_injection::given(&net.config.secrets, &context.tenant, &context.invocation),
            net: Arc::clone(net),
            grant: grant.clone(),
            context: Arc::clone(context),
            transcript: Arc::clone(transcript),
            log: RequestLog::default(),
            made: AtomicU32::new(0),
            attempt: tracing::Span::current(),
            refusals: RefusalList::default(),
        }
    }

    pub(super) fn net(&self) -> &Net {
        &self.net
    }

    pub(super) fn limits(&self) -> &HttpLimits {
        &self.net().config.limits
    }

    pub(super) fn grant(&self) -> &HttpGrant {
        &self.grant
    }

    pub(super) fn plugin(&self) -> &str {
        self.context.plugin()
    }

    /// Returns the failure for a limit that was reached.
    pub(super) fn over(&self, over: OverLimit) -> Failure {
        Failure::over(over, self.context.owner())
    }

    /// Returns the number of the next request.
    pub(super) fn number(&self) -> u32 {
        self.made.fetch_add(1, Relaxed)
    }

    /// Returns the span of a request, which is the same for every execution of its attempt.
    pub(super) fn span(&self, number: u32) -> TraceContext {
        let invocation = &self.context.invocation;
        invocation.span().with(SpanId::of(&format!("{}/{number}", invocation.idempotency_key())))
    }

    /// Checks that the request is granted.
    pub(super) fn allows(&self, target: &Target) -> Result<(), Failure> {
        if self.grant().allow.iter().any(|pattern| pattern.matches(target)) {
            return Ok(());
        }
        let why = format!("not granted; {}", advice("http", &target.pattern().to_string(), self.plugin()));
        Err(Failure::refused(why))
    }

    /// Keeps a refusal that an operator could lift for the attempt's message, and returns whether it is new.
    pub(super) fn refuse(&self, why: &str) -> bool {
        self.refusals.keep(why)
    }
}

/// Requests of one attempt. When this is dropped, no more of them is reported: unfinished ones are logged as given up.
pub(super) struct AttemptRequests(Arc<Caller>);

impl AttemptRequests {
    pub(super) fn new(
        net: &Arc<Net>,
        grant: &HttpGrant,
        context: &Arc<AttemptContext>,
        transcript: &Arc<Transcript>,
    ) -> Self {
        Self(Arc::new(Caller::new(net, grant, context, transcript)))
    }

    pub(super) fn caller(&self) -> &Arc<Caller> {
        &self.0
    }

    /// Reports the refusals.
    pub(super) fn report_refusals(&self, refusals: &mut Refusals) {
        self.0.refusals.report(refusals);
    }

    /// Returns the bytes that came in and went out.
    pub(super) fn byte_counts(&self) -> (u64, u64) {
        self.0.budget.byte_counts()
    }
}

impl Drop for AttemptRequests {
    fn drop(&mut self) {
        for (number, entry) in self.0.log.take_all() {
            entry.report(&self.0.transcript, || self.0.span(number), Some(GIVEN_UP));
        }
    }
}
