//! Results of operations that are queued.

use std::{
    future::{self, Future},
    pin::Pin,
    task::{Context, Poll},
};

use super::StoreError;

/// The result of an operation that the store has queued already, or reads. Borrows nothing, and needs no particular runtime.
///
/// Dropping it drops the result only: the operation happens all the same. A caller that does not need the result says so by
/// [`Self::detach`].
#[must_use = "the operation happens either way; await its result, or `detach` from it"]
pub struct Pending<T>(Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>);

impl<T> Pending<T> {
    /// Makes the result of an operation that is queued, or of one that only reads.
    pub fn new(result: impl Future<Output = Result<T, StoreError>> + Send + 'static) -> Self {
        Self(Box::pin(result))
    }

    /// Makes a result that is known already.
    pub fn ready(result: Result<T, StoreError>) -> Self
    where
        T: Send + 'static,
    {
        Self::new(future::ready(result))
    }

    /// Leaves the operation to the store.
    pub fn detach(self) {}
}

impl<T> Future for Pending<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context)
    }
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl<T: Send + 'static> Pending<T> {
    /// Makes the result that a store's thread sends. A thread that ends drops the senders of results that it owes.
    pub(super) fn sent(result: tokio::sync::oneshot::Receiver<Result<T, StoreError>>) -> Self {
        Self::new(async move { result.await.unwrap_or(Err(StoreError::Stopped)) })
    }
}
