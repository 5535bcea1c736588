//! The execution of one attempt in this process.

use std::{
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use phasm_engine::outcome::code;
use phasm_sandbox::executor::Invocation;
use tracing::Instrument as _;

use super::{Permit, activity, guard::AttemptGuard};
use crate::dispatch::{
    attempt::Attempt,
    signal::{Inbox, Signal},
};

/// Executes an attempt and reports its end.
pub(super) async fn execute<I: Inbox>(permit: Permit<I>, mut guard: AttemptGuard<I>, attempt: Attempt<I>) {
    let Attempt { fence, mut invocation, bounds, observer, backlog, due, .. } = attempt;
    let runtime_ends =
        bounds.max_runtime.and_then(|limit| Instant::now().checked_add(Duration::from_millis(limit)));
    let deadline = [invocation.deadline, runtime_ends].into_iter().flatten().min();
    invocation.deadline = deadline;
    guard.begin(&invocation.executor_type, due);
    if bounds.max_inactivity.is_some() || observer.is_followed() {
        guard.report_start();
    }
    let dispatcher = Arc::clone(guard.dispatcher());
    let observer = match bounds.max_inactivity {
        None => observer,
        Some(limit) => {
            activity::watch(&dispatcher.control, &dispatcher.clock, fence, limit, observer, guard.inbox())
        }
    };
    let Invocation { run_id, namespace, task, attempt, .. } = &invocation;
    let span =
        tracing::info_span!("attempt", run = &**run_id, namespace = &**namespace, task = &**task, attempt);
    let execution = span.in_scope(|| dispatcher.executor.execute(invocation, observer));
    let mut execution = pin!(execution.instrument(span));
    let first_poll = poll_fn(|context| Poll::Ready(execution.as_mut().poll(context))).await;
    let outcome = match first_poll {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => {
            guard.leave_backlog();
            guard.report_start();
            execution.await
        }
    };
    let is_interrupted =
        outcome.code == code::TIMEOUT && deadline.is_some_and(|deadline| Instant::now() >= deadline);
    drop(permit);
    let last = if is_interrupted { Signal::Interrupted(fence) } else { Signal::Finished(fence, outcome) };
    dispatcher.report_end(&backlog, guard, last);
}
