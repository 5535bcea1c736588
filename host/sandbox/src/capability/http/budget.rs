//! Budget that is left to one attempt.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use tokio::sync::Semaphore;

use super::{
    failure::OverLimit,
    net::{Net, Permits},
};
use crate::limits::{Ceilings, Limit};

pub(super) struct RequestBudget {
    ceilings: Ceilings,
    requests: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    connections: Arc<Semaphore>,
}

/// Bytes that one request transfers; they count for its attempt as well.
#[derive(Default)]
pub(super) struct Transfer {
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
    over: Mutex<Option<OverLimit>>,
}

impl RequestBudget {
    pub(super) fn new(ceilings: &Ceilings) -> Self {
        let left = |limit| AtomicU64::new(ceilings.most(limit));
        let connections = usize::try_from(ceilings.most(Limit::HttpConnections)).unwrap_or(usize::MAX);
        Self {
            ceilings: *ceilings,
            requests: left(Limit::HttpRequests),
            sent: left(Limit::HttpSent),
            received: left(Limit::HttpReceived),
            connections: Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS))),
        }
    }

    fn over(&self, limit: Limit) -> OverLimit {
        OverLimit::Limit(self.ceilings.exceeded(limit))
    }

    /// Takes one request.
    pub(super) fn request(&self) -> Result<(), OverLimit> {
        take(&self.requests, 1).ok_or_else(|| self.over(Limit::HttpRequests))
    }

    /// Takes a permit for a connection of this attempt, and waits for those of its plugin and of all guests.
    pub(super) async fn connection(&self, net: &Net, plugin: Arc<Semaphore>) -> Result<Permits, OverLimit> {
        let over = self.over(Limit::HttpConnections);
        let own = Arc::clone(&self.connections).try_acquire_owned().map_err(|_| over)?;
        net.permits(own, plugin).await.ok_or(over)
    }

    pub(super) fn send(&self, bytes: usize, transfer: &Transfer) -> Result<(), OverLimit> {
        transfer.sent.fetch_add(bytes as u64, Relaxed);
        take(&self.sent, bytes as u64).ok_or_else(|| transfer.exceed(self.over(Limit::HttpSent)))
    }

    pub(super) fn receive(&self, bytes: usize, transfer: &Transfer) -> Result<(), OverLimit> {
        transfer.received.fetch_add(bytes as u64, Relaxed);
        take(&self.received, bytes as u64).ok_or_else(|| transfer.exceed(self.over(Limit::HttpReceived)))
    }

    /// Returns the bytes that came in and went out.
    pub(super) fn byte_counts(&self) -> (u64, u64) {
        let gone = |limit, left: &AtomicU64| self.ceilings.most(limit).saturating_sub(left.load(Relaxed));
        (gone(Limit::HttpReceived, &self.received), gone(Limit::HttpSent, &self.sent))
    }
}

impl Transfer {
    /// Returns the limit that ended the request, even if another error was reported since.
    pub(super) fn over(&self) -> Option<OverLimit> {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn exceed(&self, over: OverLimit) -> OverLimit {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = Some(over);
        over
    }
}

fn take(left: &AtomicU64, units: u64) -> Option<()> {
    left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(units)).ok().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        capability::http::{HttpConfig, HttpLimits},
        limits::Limits,
    };

    /// R-I23.
    #[tokio::test]
    async fn an_attempts_connections_are_refused_and_a_plugins_wait() {
        let limits = HttpLimits { connections: 1, plugin_connections: 2, ..HttpLimits::default() };
        let config = HttpConfig { limits: limits.clone(), ..HttpConfig::default() };
        let net = Net::new(config, &crate::tenants::Tenants::default());
        let ceilings = Ceilings::of(&Limits::default(), &limits);
        let (one, other, third) =
            (RequestBudget::new(&ceilings), RequestBudget::new(&ceilings), RequestBudget::new(&ceilings));
        let open = one.connection(&net, net.of_plugin("t", "p")).await.unwrap();
        assert_eq!(
            one.connection(&net, net.of_plugin("t", "p")).await.err(),
            Some(one.over(Limit::HttpConnections))
        );
        let held = other.connection(&net, net.of_plugin("t", "p")).await.unwrap();
        let mut waiting = Box::pin(third.connection(&net, net.of_plugin("t", "p")));
        assert!(polled(&mut waiting).is_none());
        assert!(third.connection(&net, net.of_plugin("t", "other")).await.is_err(), "its own place is taken");
        assert!(net.of_plugin("u", "p").available_permits() == 2, "another tenant's");
        drop(open);
        assert!(waiting.await.is_ok());
        drop(held);
        assert!(one.connection(&net, net.of_plugin("t", "p")).await.is_ok());
    }

    fn polled<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(future).poll(&mut context) {
            std::task::Poll::Ready(ready) => Some(ready),
            std::task::Poll::Pending => None,
        }
    }
}
