//! Time that is stepped and set by hand, for whole hosts.

use std::{
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicI64, Ordering},
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
}

impl Stepped {
    /// Both clocks go on.
    pub fn pass(&self, length: Millis) {
        self.elapsed.send_modify(|elapsed| *elapsed += length);
    }

    /// Only the wall clock moves; whoever waits does not notice.
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
        Box::pin(async move {
            // The clock outlives its host.
            let _reached = elapsed.wait_for(|elapsed| *elapsed >= until).await;
        })
    }
}
