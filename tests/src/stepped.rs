//! Time that is stepped and set by hand, for whole hosts.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use phasm::clock::TimeSource;
use phasm_engine::time::{Millis, Timestamp};
use tokio::sync::watch;

/// A wall clock that is set by hand, and one that goes on when it is told to.
#[derive(Debug, Default)]
pub struct Stepped {
    /// The wall clock when nothing had elapsed.
    offset: AtomicI64,
    elapsed: watch::Sender<Millis>,
    /// Number of sleepers by the time at which they wake.
    sleepers: Arc<Mutex<BTreeMap<Millis, u32>>>,
}

/// A registered sleeper; dropping it removes it.
struct Sleeper(Millis, Arc<Mutex<BTreeMap<Millis, u32>>>);

impl Sleeper {
    fn new(until: Millis, all: &Arc<Mutex<BTreeMap<Millis, u32>>>) -> Self {
        *lock(all).entry(until).or_default() += 1;
        Self(until, Arc::clone(all))
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        if let Entry::Occupied(mut sleepers) = lock(&self.1).entry(self.0) {
            *sleepers.get_mut() -= 1;
            if *sleepers.get() == 0 {
                sleepers.remove();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stepped {
    /// Both clocks go on.
    pub fn pass(&self, length: Millis) {
        self.elapsed.send_modify(|elapsed| *elapsed += length);
    }

    /// When the next of those who wait goes on.
    #[must_use]
    pub fn next_sleep(&self) -> Option<Millis> {
        lock(&self.sleepers).keys().next().copied()
    }

    /// Only the wall clock moves; sleepers do not notice.
    pub fn set(&self, by: i64) {
        self.offset.fetch_add(by, Ordering::Relaxed);
    }
}

impl TimeSource for Stepped {
    fn wall(&self) -> Timestamp {
        Timestamp(self.offset.load(Ordering::Relaxed)).after(self.elapsed())
    }

    fn elapsed(&self) -> Millis {
        *self.elapsed.borrow()
    }

    fn sleep_until(&self, until: Millis) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let mut elapsed = self.elapsed.subscribe();
        let sleeper = Sleeper::new(until, &self.sleepers);
        Box::pin(async move {
            let _waits = sleeper;
            // The clock outlives its host.
            let _reached = elapsed.wait_for(|elapsed| *elapsed >= until).await;
        })
    }
}
