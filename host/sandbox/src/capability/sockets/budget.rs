//! Budget of the connections of one attempt.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{Ceilings, Limit, LimitError};

pub(super) struct Budget {
    ceilings: Ceilings,
    connects: AtomicU64,
    lookups: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    connections: Arc<Semaphore>,
}

impl Budget {
    pub(super) fn new(ceilings: &Ceilings) -> Self {
        let connections = usize::try_from(ceilings.most(Limit::TcpConnections)).unwrap_or(usize::MAX);
        Self {
            ceilings: *ceilings,
            connects: AtomicU64::new(0),
            lookups: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            connections: Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// Takes one connection that is begun.
    pub(super) fn connect(&self) -> Result<(), LimitError> {
        self.count(&self.connects)
    }

    /// Takes one look-up.
    pub(super) fn look_up(&self) -> Result<(), LimitError> {
        self.count(&self.lookups)
    }

    fn count(&self, counter: &AtomicU64) -> Result<(), LimitError> {
        let taken = self.take(counter, 1, Limit::TcpConnects);
        if taken == 1 { Ok(()) } else { Err(self.ceilings.exceeded(Limit::TcpConnects)) }
    }

    /// Takes a place for an open connection.
    pub(super) fn place(&self) -> Result<OwnedSemaphorePermit, LimitError> {
        let place = Arc::clone(&self.connections).try_acquire_owned();
        place.map_err(|_| self.ceilings.exceeded(Limit::TcpConnections))
    }

    /// Takes bytes to send, at most `bytes`; those that are not sent are given back.
    pub(super) fn send(&self, bytes: usize) -> Result<usize, LimitError> {
        let taken = self.take(&self.sent, bytes as u64, Limit::TcpSent);
        if taken == 0 && bytes > 0 {
            return Err(self.ceilings.exceeded(Limit::TcpSent));
        }
        Ok(usize::try_from(taken).unwrap_or(bytes))
    }

    pub(super) fn give_back(&self, unsent: usize) {
        self.sent.fetch_sub(unsent as u64, Relaxed);
    }

    /// Counts bytes that were received.
    pub(super) fn receive(&self, bytes: usize) -> Result<(), LimitError> {
        let before = self.received.fetch_add(bytes as u64, Relaxed);
        let is_within = before.saturating_add(bytes as u64) <= self.ceilings.most(Limit::TcpReceived);
        if is_within { Ok(()) } else { Err(self.ceilings.exceeded(Limit::TcpReceived)) }
    }

    /// Takes up to `units`, and returns how many there were.
    fn take(&self, counter: &AtomicU64, units: u64, limit: Limit) -> u64 {
        let most = self.ceilings.most(limit);
        let mut taken = 0;
        // Always some, so that it never fails.
        let _ = counter.fetch_update(Relaxed, Relaxed, |used| {
            taken = units.min(most.saturating_sub(used));
            Some(used.saturating_add(taken))
        });
        taken
    }

    /// Returns the bytes that came in and went out.
    pub(super) fn byte_counts(&self) -> (u64, u64) {
        (self.received.load(Relaxed), self.sent.load(Relaxed))
    }
}
