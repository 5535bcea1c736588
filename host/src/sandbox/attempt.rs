//! Work on a guest thread: bounded in time, stopped when dropped, and an outcome even if the host panics.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Instant,
};

use phasm_engine::outcome::Outcome;
use tokio::task::JoinHandle;

use super::{Shared, fault, ticker::Alarm};

pub(super) type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Polls its work in place if that is a guest thread, else over there.
pub(crate) struct Attempt {
    shared: Arc<Shared>,
    place: Place,
}

enum Place {
    /// Not polled yet.
    Nowhere(Option<Bounded>),
    Here(Bounded),
    There(JoinHandle<Outcome>),
}

impl Attempt {
    pub(super) fn new(shared: Arc<Shared>, deadline: Option<Instant>, work: Work) -> Self {
        let bounded = Bounded { shared: Arc::clone(&shared), deadline, alarm: None, work };
        Self { shared, place: Place::Nowhere(Some(bounded)) }
    }
}

impl Future for Attempt {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let this = self.get_mut();
        if let Place::Nowhere(work) = &mut this.place
            && let Some(work) = work.take()
        {
            let threads = &this.shared.threads;
            this.place = if threads.is_current() {
                Place::Here(work)
            } else {
                Place::There(threads.handle().spawn(work))
            };
        }
        match &mut this.place {
            Place::Nowhere(_) => Poll::Pending,
            Place::Here(work) => Pin::new(work).poll(context),
            Place::There(task) => {
                let ended = ready!(Pin::new(task).poll(context));
                Poll::Ready(ended.unwrap_or_else(|error| Outcome::error(format!("host fault: {error}"))))
            }
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Place::There(task) = &self.place {
            task.abort();
        }
    }
}

/// Work that counts as a computing guest while it is polled and ends at its deadline.
struct Bounded {
    shared: Arc<Shared>,
    deadline: Option<Instant>,
    alarm: Option<Alarm>,
    work: Work,
}

impl Future for Bounded {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let Self { shared, deadline, alarm, work } = self.get_mut();
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Poll::Ready(fault::timeout());
        }
        let running = shared.ticker.enter();
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        drop(running);
        let poll = polled.unwrap_or_else(|panic| Poll::Ready(fault::host_fault(&*panic)));
        if let (Poll::Pending, Some(deadline)) = (&poll, *deadline) {
            alarm.get_or_insert_with(|| shared.ticker.alarm(deadline)).set(context.waker());
        }
        poll
    }
}
