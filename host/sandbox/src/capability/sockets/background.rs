//! Work for a guest in a task of its own, which ends when the guest drops it.

use std::task::{Context, Poll, Waker, ready};

use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn};

/// Result of a task that runs, or has run.
pub(super) enum Background<T> {
    Running(AbortOnDropJoinHandle<T>),
    Done(T),
}

impl<T: Send + 'static> Background<T> {
    pub(super) fn spawn(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self::Running(spawn(work))
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Self::Running(task) = self {
            let done = ready!(std::pin::Pin::new(task).poll(context));
            *self = Self::Done(done);
        }
        Poll::Ready(())
    }

    /// Waits until it is done.
    pub(super) async fn wait(&mut self) {
        std::future::poll_fn(|context| self.poll(context)).await;
    }

    /// Returns the result if there is one by now.
    pub(super) fn done(&mut self) -> Option<&mut T> {
        match self.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => None,
            Poll::Ready(()) => match self {
                Self::Done(done) => Some(done),
                Self::Running(_) => None,
            },
        }
    }
}
