//! Time for tests.

use std::{
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
};

use phasm_engine::time::{Millis, Timestamp};

use super::TimeSource;

/// A clock that is set and advanced by hand.
#[derive(Debug, Default)]
pub(crate) struct ManualClock {
    pub(crate) wall: AtomicI64,
    pub(crate) elapsed: AtomicU64,
}

impl ManualClock {
    /// Both clocks go on.
    pub(crate) fn pass(&self, millis: u32) {
        self.elapsed.fetch_add(u64::from(millis), Ordering::Relaxed);
        self.set(i64::from(millis));
    }

    /// Only the wall clock moves.
    pub(crate) fn set(&self, by: i64) {
        self.wall.fetch_add(by, Ordering::Relaxed);
    }
}

impl TimeSource for ManualClock {
    fn wall(&self) -> Timestamp {
        Timestamp(self.wall.load(Ordering::Relaxed))
    }

    fn elapsed(&self) -> Millis {
        self.elapsed.load(Ordering::Relaxed)
    }

    fn sleep_until(&self, _: Millis) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(std::future::pending())
    }
}
