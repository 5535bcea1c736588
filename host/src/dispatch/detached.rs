//! Work that is done to its end whether somebody waits for it or not.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::runtime::Handle;

/// A future that whoever waits for it polls, and that goes on by itself once nobody does.
pub(crate) struct Lasting<T: 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    control: Handle,
}

impl<T: 'static> Lasting<T> {
    pub(crate) fn new(control: &Handle, work: impl Future<Output = T> + Send + 'static) -> Self {
        Self { work: Some(Box::pin(work)), control: control.clone() }
    }
}

impl<T: 'static> Future for Lasting<T> {
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

impl<T: 'static> Drop for Lasting<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.control.spawn(async move { drop(work.await) });
        }
    }
}
