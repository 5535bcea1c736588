//! Running attempts, here or on other hosts.
//!
//! ```text
//!                          ┌─ a permit ──▶ execution ──▶ executor ──▶ AttemptGuard::end ─┐
//!  Attempt ──▶ Dispatcher ─┤                    ▲                                        ├─▶ signal to the driver
//!                          └─ none ──▶ RemoteWait (offered to other hosts) ──────────────┘
//! ```

mod activity;
mod execution;
mod guard;
mod remote_wait;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use phasm_sandbox::{Sandbox, executor::Executor};
use tokio::{
    runtime::Handle,
    sync::mpsc::{self, UnboundedSender},
    task::AbortHandle,
};

pub(crate) use self::remote_wait::{Outbound, WaitReply, WaitingAttempt};
use self::{guard::AttemptGuard, remote_wait::RemoteWait};
use crate::{
    clock::Clock,
    dispatch::{
        attempt::Attempt,
        backlog::Backlog,
        run_task::{notify_here, notify_on, notify_soon},
        signal::{Inbox, Signal},
        slots::{Rules, Slots},
    },
    metrics::Gauges,
};

/// Runs attempts on the guests' runtime, or has other hosts run them.
pub(crate) struct Dispatcher<I: Inbox> {
    pub(crate) slots: Slots<I>,
    executor: Arc<dyn Executor>,
    guests: Handle,
    control: Handle,
    clock: Clock,
    gauges: Arc<Gauges>,
    /// Owner of the threads on which heavy results are handled.
    sandbox: Option<Sandbox>,
    /// Receives attempts for which there is no permit here; unset while there is no exchange with other hosts.
    outbound: OnceLock<UnboundedSender<Outbound<I>>>,
    last_waiting: AtomicU64,
}

/// A permit to execute one attempt here. It is returned when it is dropped.
pub(crate) struct Permit<I: Inbox>(Arc<Dispatcher<I>>);

impl<I: Inbox> fmt::Debug for Permit<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit")
    }
}

impl<I: Inbox> Drop for Permit<I> {
    fn drop(&mut self) {
        self.0.slots.leave(1);
    }
}

impl<I: Inbox> Dispatcher<I> {
    pub(crate) fn new(
        slots: u32,
        rules: Rules,
        executor: Arc<dyn Executor>,
        guests: Handle,
        control: Handle,
        clock: Clock,
    ) -> Self {
        Self {
            slots: Slots::new(slots, rules, clock.clone()),
            executor,
            guests,
            control,
            clock,
            gauges: Arc::default(),
            sandbox: None,
            outbound: OnceLock::new(),
            last_waiting: AtomicU64::new(0),
        }
    }

    /// The same, which counts there.
    pub(crate) fn with_metrics(self, gauges: &Arc<Gauges>) -> Self {
        Self { gauges: Arc::clone(gauges), ..self }
    }

    /// Sets the sandbox, whose threads for long computations also handle heavy results.
    pub(crate) fn with_sandbox(self, sandbox: Option<&Sandbox>) -> Self {
        Self { sandbox: sandbox.cloned(), ..self }
    }

    /// Where guests run, if they do.
    pub(crate) fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }

    /// Sends attempts for which there is no permit here to `outbound` from now on.
    pub(crate) fn set_outbound(&self, outbound: UnboundedSender<Outbound<I>>) {
        drop(self.outbound.set(outbound));
    }

    /// Whether other hosts may execute attempts.
    pub(crate) fn has_outbound(&self) -> bool {
        self.outbound.get().is_some()
    }

    /// Sends a message to the exchange with other hosts.
    fn send_outbound(&self, message: Outbound<I>) {
        // The exchange ends with the host.
        let _ended = self.outbound.get().map(|outbound| outbound.send(message));
    }

    /// Whether an attempt would begin here, and nothing outside could tell that it has (R-D6).
    pub(crate) fn is_pure(&self, namespace: &Arc<str>, executor_type: &str) -> bool {
        let is_here = !self.has_outbound() || self.slots.has_place();
        is_here && self.executor.is_pure(namespace, executor_type)
    }

    /// Returns slots and permits that were [taken](Slots::take_unused) for attempts of other hosts that did not come.
    pub(crate) fn give_back_room(&self, room: u32) {
        if room > 0 {
            self.slots.leave(i64::from(room));
            self.slots.give_back(i64::from(room));
        }
    }

    /// One of the permits that were [taken](Slots::take_unused).
    pub(crate) fn reserved_permit(self: &Arc<Self>) -> Permit<I> {
        Permit(Arc::clone(self))
    }

    /// A permit for an attempt that waited, if there is one by now.
    pub(crate) fn permit(self: &Arc<Self>) -> Option<Permit<I>> {
        self.slots.enter(false).then(|| Permit(Arc::clone(self)))
    }

    /// Starts one attempt, or offers it to other hosts if there is no permit for it here.
    ///
    /// The attempt's slot comes back exactly once: by a signal that [ends](Signal::is_end) it, or directly once the driver has
    /// left.
    pub(crate) fn start(self: &Arc<Self>, attempt: Attempt<I>) -> AbortHandle {
        let must_enter = attempt.invocation.resumed || !self.has_outbound();
        if self.slots.enter(must_enter) {
            return self.start_here(Permit(Arc::clone(self)), attempt);
        }
        let number = self.last_waiting.fetch_add(1, Ordering::Relaxed) + 1;
        let (replies, received) = mpsc::unbounded_channel();
        let offer =
            attempt.offer.as_ref().and_then(|terms| terms.offer(number, &attempt.invocation, attempt.bounds));
        let waiting = WaitingAttempt { number, fence: attempt.fence, offer, replies };
        self.send_outbound(Outbound::Attempt(Box::new(waiting)));
        let wait = RemoteWait::new(number, Arc::clone(self), received);
        self.guests.spawn(wait.then_execute(attempt)).abort_handle()
    }

    /// Starts an attempt that has a permit.
    pub(crate) fn start_here(self: &Arc<Self>, permit: Permit<I>, attempt: Attempt<I>) -> AbortHandle {
        let guard = AttemptGuard::queued(self, &attempt);
        self.guests.spawn(execution::execute(permit, guard, attempt)).abort_handle()
    }

    /// Reports the end of an attempt on the thread where that delays no other attempt: heavy results on the threads for long
    /// computations, others on this thread unless attempts wait for it.
    fn report_end(&self, backlog: &Backlog, guard: AttemptGuard<I>, last: Signal) {
        match &self.sandbox {
            Some(sandbox) if last.is_heavy() => notify_on(sandbox.long_runtime(), || guard.end(last)),
            _ if backlog.is_empty() => notify_here(|| guard.end(last)),
            _ => notify_soon(&self.guests, || guard.end(last)),
        }
    }
}
