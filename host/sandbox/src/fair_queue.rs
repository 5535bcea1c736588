//! Fair shares of a bounded resource, such as connections or threads for long work.
//!
//! ```text
//!  enter ──▶ may the holder take a place? ── yes ──▶ Place, until dropped ──▶ the next holder that may
//!               │ no                                                             ▲
//!               └──▶ a place to wait ── the least holding, then the least used ──┘
//!                       │ none
//!                       └──▶ QueueFull
//! ```
//!
//! A holder is a key of a tenant. It may take a place while the places that its tenant holds and those that the key holds are together
//! fewer than the places that are free, times the tenant's weight. So a key that is alone has a third of the places, a tenant with many
//! keys half of them, and the more tenants there are the less each has; but some places are free for the next tenant, always. The rule is
//! known from the buffers of switches as dynamic thresholds. Places to wait are shared by the same rule.
//!
//! The next place goes to the tenant that holds least for its weight, and among these to the one that has used least, in time. The same
//! decides between the keys of a tenant. Requests of one key are served in their order.
//!
//! Each step costs the logarithm of the number of holders. Nothing polls.

mod shares;
#[cfg(test)]
mod tests;

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Instant,
};

use tokio::sync::oneshot;

use self::shares::{Entry, Shares};

/// Holders that wait for a turn, a third of which one key may have. Each is a request or a task, which have limits of their own.
const MAX_WAITING_TURNS: usize = 1 << 20;

/// A key of a tenant, as a holder of places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Name of the tenant. Holders of one tenant share its part.
    pub tenant: Arc<str>,
    /// Name of the key within the tenant.
    pub key: Arc<str>,
    /// Weight of the tenant: with twice the weight it may hold twice as much. 0 counts as 1.
    pub weight: u32,
}

impl Holder {
    /// The holder of work that no client of a server has asked for.
    #[must_use]
    pub fn of_no_client() -> Self {
        // No tenant is called so.
        Self { tenant: "".into(), key: "".into(), weight: 1 }
    }
}

/// A bounded number of places, shared fairly among those who want them.
#[derive(Clone, Debug)]
pub struct FairQueue(Arc<Mutex<Shares<Waiter>>>);

/// The holder has as many requests waiting as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests of this key wait already")]
pub struct QueueFull;

/// Numbers of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueUsage {
    /// Places in all.
    pub places: u64,
    /// Places that are held.
    pub held: u64,
    /// Requests that wait for a place.
    pub waiting: u64,
    /// Requests that had to wait, so far.
    pub waited: u64,
    /// Requests that were refused, so far.
    pub refused: u64,
}

/// A place, or several, until dropped.
#[derive(Debug)]
pub struct Place {
    queue: FairQueue,
    holder: Holder,
    /// Number of places.
    size: usize,
    since: Instant,
}

/// A request that waits, with the channel on which it gets its place.
#[derive(Debug)]
struct Waiter {
    holder: Holder,
    size: usize,
    granted: oneshot::Sender<Place>,
}

/// The waiting end of a [`Waiter`]. It leaves the queue when it is dropped.
struct Waiting {
    queue: FairQueue,
    holder: Holder,
    number: u64,
    granted: oneshot::Receiver<Place>,
}

impl FairQueue {
    /// A queue with that many places, and that many places to wait.
    #[must_use]
    pub fn new(places: usize, waiting: usize) -> Self {
        Self(Arc::new(Mutex::new(Shares::new(places.max(1), waiting))))
    }

    /// A queue for turns that end soon. Every place may be taken, and only the order of those that wait is fair.
    #[must_use]
    pub fn of_turns(places: usize) -> Self {
        Self(Arc::new(Mutex::new(Shares::of_turns(places.max(1), MAX_WAITING_TURNS))))
    }

    /// Waits for a place. A caller that stops waiting leaves no trace.
    ///
    /// # Errors
    /// [`QueueFull`] at once if the holder may not have one more request waiting.
    pub async fn enter(&self, holder: &Holder) -> Result<Place, QueueFull> {
        self.enter_with(holder, 1).await
    }

    /// Waits for so many places, to be held as one: for work that takes more of a resource than other work does. A request for more
    /// places than the queue has waits for all of them. Requests that come later do not overtake it.
    ///
    /// # Errors
    /// The same as [`enter`](Self::enter).
    pub async fn enter_with(&self, holder: &Holder, size: usize) -> Result<Place, QueueFull> {
        let mut receiver = None;
        let size = size.clamp(1, self.shares().places());
        let entry = self.shares().enter(holder, size, || {
            let (granted, waiting) = oneshot::channel();
            receiver = Some(waiting);
            Waiter { holder: holder.clone(), size, granted }
        });
        match (entry, receiver) {
            (Entry::Place, _) => Ok(self.place(holder.clone(), size)),
            (Entry::Waits(number), Some(granted)) => {
                let waiting = Waiting { queue: self.clone(), holder: holder.clone(), number, granted };
                waiting.await.ok_or(QueueFull)
            }
            (Entry::Waits(_) | Entry::Full, _) => Err(QueueFull),
        }
    }

    /// Takes a place if the holder may have one now.
    #[must_use]
    pub fn try_enter(&self, holder: &Holder) -> Option<Place> {
        self.shares().try_enter(holder, 1).then(|| self.place(holder.clone(), 1))
    }

    /// Returns the queue's numbers.
    #[must_use]
    pub fn usage(&self) -> QueueUsage {
        self.shares().usage()
    }

    fn place(&self, holder: Holder, size: usize) -> Place {
        Place { queue: self.clone(), holder, size, since: Instant::now() }
    }

    /// Changes the shares, and then gives places to those that wait and may have one.
    fn change<T>(&self, change: impl FnOnce(&mut Shares<Waiter>) -> T) -> T {
        let mut shares = self.shares();
        let changed = change(&mut shares);
        let next: Vec<_> = std::iter::from_fn(|| shares.next()).collect();
        // A place whose receiver is gone comes back by this function: not under the lock.
        drop(shares);
        for waiter in next {
            drop(waiter.granted.send(self.place(waiter.holder, waiter.size)));
        }
        changed
    }

    fn shares(&self) -> MutexGuard<'_, Shares<Waiter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Returns its holder.
    #[must_use]
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Returns whether the holder's tenant holds no other place, and has no request waiting.
    #[must_use]
    pub fn is_only(&self) -> bool {
        self.queue.shares().has_one(&self.holder.tenant)
    }

    /// Makes another holder have the place, as when it becomes known who made a connection. Returns false, and changes nothing, if
    /// that holder may not take a place.
    #[must_use]
    pub fn hand_over(&mut self, to: &Holder) -> bool {
        if self.holder == *to {
            return true;
        }
        let (from, since) = (&self.holder, self.since);
        let is_taken = self.queue.change(|shares| shares.hand_over(from, to, self.size, since.elapsed()));
        if is_taken {
            self.holder = to.clone();
            self.since = Instant::now();
        }
        is_taken
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.queue.change(|shares| shares.leave(&self.holder, self.size, self.since.elapsed()));
    }
}

impl Future for Waiting {
    type Output = Option<Place>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.granted).poll(cx).map(Result::ok)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // A place that was granted meanwhile goes with the channel. Others may have been behind one that waits for several places.
        let left = self.queue.change(|shares| shares.stop_waiting(&self.holder, self.number));
        drop(left);
    }
}
