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

/// Polls its work in place while that is a guest thread, and moves it there as soon as it is not.
pub struct Attempt {
    shared: Arc<Shared>,
    here: Option<Bounded>,
    there: Option<JoinHandle<Outcome>>,
}

impl Attempt {
    pub(super) fn new(shared: Arc<Shared>, deadline: Option<Instant>, work: Work) -> Self {
        let bounded = Bounded { shared: Arc::clone(&shared), deadline, alarm: None, work };
        Self { shared, here: Some(bounded), there: None }
    }
}

impl Future for Attempt {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let Self { shared, here, there } = self.get_mut();
        let threads = &shared.threads;
        if let Some(work) = here.take_if(|_| !threads.is_current()) {
            *there = Some(threads.handle().spawn(work));
        }
        match (here, there) {
            (Some(work), _) => Pin::new(work).poll(context),
            (None, Some(task)) => {
                let ended = ready!(Pin::new(task).poll(context));
                Poll::Ready(ended.unwrap_or_else(|error| Outcome::error(format!("host fault: {error}"))))
            }
            (None, None) => Poll::Pending,
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(task) = &self.there {
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
