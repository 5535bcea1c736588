//! Work that is completed even if its caller stops waiting.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::runtime::Handle;

/// A future that its caller polls, and that is spawned to be completed if the caller drops it.
pub(crate) struct DetachOnDrop<T: 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    control: Handle,
}

impl<T: 'static> DetachOnDrop<T> {
    pub(crate) fn new(control: &Handle, work: impl Future<Output = T> + Send + 'static) -> Self {
        Self { work: Some(Box::pin(work)), control: control.clone() }
    }
}

impl<T: 'static> Future for DetachOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(work) = self.work.as_mut() else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl<T: 'static> Drop for DetachOnDrop<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.control.spawn(async move { drop(work.await) });
        }
    }
}
