//! Spans of traces: how long runs, their steps, attempts and requests took.
//!
//! ```text
//! caller ─▶ submit ─▶ run ─▶ step ─▶ … ─▶ attempt ─▶ request
//!             when it is durable   when their end is durable    when it is over, wherever the attempt is executed
//! ```
//!
//! Runs last for days and are driven by one host after another, so no span is kept in memory: ids follow from names
//! ([`TraceContext`]), the trace is in the run's first record, and a span is passed on once, as a whole, when its end has become
//! durable, by the host that made it so. A span that a host had not passed on when it died is lost. Spans within this process,
//! `attempt` and `request`, are spans of the crate `tracing` as well.

mod calls;
mod driven;

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, SystemTime},
};

use phasm_engine::time::Timestamp;
use phasm_sandbox::trace::{SpanId, TraceContext, TraceId};

pub(crate) use self::{calls::Calls, driven::DrivenSpans};

/// Takes spans, and passes them on to where they are looked at.
pub trait Tracer: Send + Sync {
    /// Whether a trace that begins with a run here is recorded. A trace that a caller began follows the caller's decision.
    fn samples(&self, trace: TraceId) -> bool;

    /// Takes a span that has ended. A run waits for this: it may neither wait nor fail.
    fn ended(&self, span: Span);
}

/// Something that took its time, and is over.
#[derive(Clone, Debug)]
pub struct Span {
    /// Which one.
    pub context: TraceContext,
    /// The parent span.
    pub parent: Option<SpanId>,
    /// The kind.
    pub kind: SpanKind,
    /// The name: of a workflow or a task, or the method of a request.
    pub name: Arc<str>,
    /// When it began.
    pub since: SystemTime,
    /// When it was over.
    pub until: SystemTime,
    /// Attributes.
    pub attributes: Vec<(&'static str, SpanValue)>,
    /// Why it did not end well, if it did not.
    pub failed: Option<Arc<str>>,
}

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpanKind {
    /// From a submission until it was durable.
    Submit,
    /// A run.
    Run,
    /// A task run.
    Step,
    /// One attempt of it, with what it was suspended for.
    Attempt,
    /// A request that an attempt made of another system.
    Request,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanValue {
    /// A text.
    Text(Arc<str>),
    /// A number.
    Number(i64),
}

tokio::task_local! {
    static CALLER: TraceContext;
}

/// Does `work` within a span of a caller: runs that are submitted meanwhile belong to the caller's trace.
pub async fn on_behalf_of<T>(caller: Option<TraceContext>, work: impl Future<Output = T>) -> T {
    match caller {
        Some(caller) => CALLER.scope(caller, work).await,
        None => work.await,
    }
}

/// [`on_behalf_of`] for what is done at once.
pub fn within<T>(caller: Option<TraceContext>, work: impl FnOnce() -> T) -> T {
    match caller {
        Some(caller) => CALLER.sync_scope(caller, work),
        None => work(),
    }
}

/// On whose behalf this is done.
#[must_use]
pub fn caller() -> Option<TraceContext> {
    CALLER.try_with(Clone::clone).ok()
}

/// The span of a run.
fn of_run(run_id: &str) -> SpanId {
    SpanId::of(run_id)
}

/// The span of its submission.
pub(crate) fn of_submission(run_id: &str) -> SpanId {
    SpanId::of(&format!("{run_id}/submit"))
}

pub(crate) fn instant(at: Timestamp) -> SystemTime {
    let millis = Duration::from_millis(at.0.unsigned_abs());
    let instant = if at.0 < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(millis)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(millis)
    };
    instant.unwrap_or(SystemTime::UNIX_EPOCH)
}

fn text(value: impl Into<Arc<str>>) -> SpanValue {
    SpanValue::Text(value.into())
}

/// The attributes of a span that tell its run.
pub(crate) fn belonging(
    run_id: &Arc<str>,
    workflow: &Arc<str>,
    namespace: &Arc<str>,
) -> Vec<(&'static str, SpanValue)> {
    [("phasm.run", run_id), ("phasm.workflow", workflow), ("phasm.namespace", namespace)]
        .map(|(name, value)| (name, SpanValue::Text(Arc::clone(value))))
        .into()
}
