//! The end of an attempt: reported once, whatever happens to it.

use std::sync::Arc;

use phasm_engine::{event::Fence, time::Millis};

use super::Dispatcher;
use crate::{
    dispatch::{
        attempt::Attempt,
        backlog::BacklogGuard,
        run_task::notify_here,
        signal::{Inbox, Signal},
    },
    metrics::{AttemptResult, AttemptTimer},
};

/// Sees to it that an attempt's slot comes back exactly once.
pub(super) struct AttemptGuard<I: Inbox> {
    fence: Fence,
    inbox: I,
    tenant: Option<Arc<str>>,
    dispatcher: Arc<Dispatcher<I>>,
    /// The host's clock at the start, until that is reported: together with the end, if the attempt is over at once and no
    /// watcher follows it. Most are, and the driver has one turn for them instead of two.
    started: Option<Millis>,
    timer: Option<AttemptTimer>,
    backlog: Option<BacklogGuard>,
    is_open: bool,
}

impl<I: Inbox> AttemptGuard<I> {
    /// Guards an attempt that waits for another host, or for a permit here.
    pub(super) fn waiting(dispatcher: &Arc<Dispatcher<I>>, attempt: &Attempt<I>) -> Self {
        Self {
            fence: attempt.fence,
            inbox: attempt.inbox.clone(),
            tenant: attempt.tenant.clone(),
            dispatcher: Arc::clone(dispatcher),
            started: None,
            timer: None,
            backlog: None,
            is_open: true,
        }
    }

    /// Guards an attempt that waits for a thread.
    pub(super) fn queued(dispatcher: &Arc<Dispatcher<I>>, attempt: &Attempt<I>) -> Self {
        let mut guard = Self::waiting(dispatcher, attempt);
        guard.backlog = Some(attempt.backlog.enter());
        guard
    }

    pub(super) fn dispatcher(&self) -> &Arc<Dispatcher<I>> {
        &self.dispatcher
    }

    pub(super) fn inbox(&self) -> &I {
        &self.inbox
    }

    /// Counts the start of the executor.
    pub(super) fn begin(&mut self, executor: &str, due: Option<Millis>) {
        self.backlog.as_mut().map(BacklogGuard::begin);
        let Dispatcher { clock, gauges, .. } = &*self.dispatcher;
        let timer = gauges.attempts.begin(executor, due, clock.elapsed_micros());
        self.timer = Some(timer);
        self.started = Some(timer.began());
    }

    /// Leaves the backlog, as the attempt has given its thread back while it waits.
    pub(super) fn leave_backlog(&mut self) {
        self.backlog = None;
    }

    /// Reports the start, if that was not done yet.
    pub(super) fn report_start(&mut self) {
        notify_here(|| self.signal_start());
    }

    fn signal_start(&mut self) {
        if let Some(elapsed) = self.started.take() {
            // Whether the driver is still there shows at the end.
            self.inbox.signal(Signal::Started(self.fence, Some(elapsed)));
        }
    }

    /// Passes on a signal from the host that executes the attempt.
    pub(super) fn forward(&self, signal: Signal) {
        // Whether the driver is still there shows at the end.
        self.inbox.signal(signal);
    }

    /// Reports the end of the attempt.
    pub(super) fn end(mut self, last: Signal) {
        self.close(last);
    }

    fn close(&mut self, last: Signal) {
        self.is_open = false;
        self.measure(&last);
        // The receiver of the end finds the place in the backlog free.
        self.backlog = None;
        self.signal_start();
        if !self.inbox.signal(last) {
            let slots = &self.dispatcher.slots;
            match &self.tenant {
                Some(tenant) => slots.give_back_of(tenant, 1),
                None => slots.give_back(1),
            }
        }
    }

    /// Counts an attempt that was executed here.
    fn measure(&mut self, last: &Signal) {
        let Some(timer) = self.timer.take() else { return };
        let result = match last {
            Signal::Finished(_, outcome) => AttemptResult::of(outcome.code),
            Signal::Interrupted(_) => AttemptResult::Timeout,
            Signal::Gone(_)
            | Signal::Lent(_)
            | Signal::Started(..)
            | Signal::Inactive(_)
            | Signal::Wrote(..) => AttemptResult::Stopped,
        };
        let Dispatcher { clock, gauges, .. } = &*self.dispatcher;
        gauges.attempts.end(timer, result, clock.elapsed_micros());
    }
}

impl<I: Inbox> Drop for AttemptGuard<I> {
    fn drop(&mut self) {
        if self.is_open {
            self.close(Signal::Gone(self.fence));
        }
    }
}
