//! The one reader of real time, and the time that runs go by.

mod machine;
#[cfg(test)]
pub(crate) mod manual;
mod run;

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use phasm_engine::time::{Millis, Timestamp};

use self::machine::Machine;
pub(crate) use self::run::{NOT_SET, RunClock};

/// Where time comes from. A host reads the machine's clocks unless it is given others, for tests.
pub trait TimeSource: Send + Sync {
    /// The wall clock, which may be set at any time.
    fn wall(&self) -> Timestamp;

    /// Milliseconds since some start. It goes on at its pace whatever the wall clock is set to.
    fn elapsed(&self) -> Millis;

    /// Returns once so much has elapsed.
    fn sleep_until(&self, elapsed: Millis) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// The wall clock, and one that goes on at its pace whatever that is set to.
#[derive(Clone)]
pub struct Clock {
    machine: Machine,
    given: Option<Arc<dyn TimeSource>>,
    /// Milliseconds that the wall clock is set forward by for all copies of this clock: it goes by that of a store then.
    correction: Arc<AtomicI64>,
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("now", &self.now()).finish_non_exhaustive()
    }
}

impl From<Arc<dyn TimeSource>> for Clock {
    fn from(given: Arc<dyn TimeSource>) -> Self {
        Self { given: Some(given), ..Self::start() }
    }
}

impl Clock {
    /// The machine's, from now on.
    #[must_use]
    pub fn start() -> Self {
        Self { machine: Machine::start(), given: None, correction: Arc::default() }
    }

    /// The wall clock, in whole milliseconds.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp(self.uncorrected().0.saturating_add(self.correction()))
    }

    /// The wall clock as it is set.
    pub(crate) fn uncorrected(&self) -> Timestamp {
        self.given.as_ref().map_or_else(machine::wall, |given| given.wall())
    }

    /// How far the wall clock is set forward.
    pub(crate) fn correction(&self) -> i64 {
        self.correction.load(Ordering::Relaxed)
    }

    /// Sets the wall clock forward by that many milliseconds, from what it is set to.
    pub(crate) fn correct(&self, by: i64) {
        self.correction.store(by, Ordering::Relaxed);
    }

    /// How long this clock has gone.
    pub(crate) fn elapsed(&self) -> Millis {
        self.given.as_ref().map_or_else(|| self.machine.elapsed(), |given| given.elapsed())
    }

    /// The same in microseconds, as far as its source tells them.
    pub(crate) fn elapsed_micros(&self) -> u64 {
        let given = |given: &Arc<dyn TimeSource>| given.elapsed().saturating_mul(1000);
        self.given.as_ref().map_or_else(|| self.machine.elapsed_micros(), given)
    }

    /// The wall clock's time when this clock was started, if the wall clock has not been set since.
    pub(crate) fn offset(&self) -> i64 {
        let elapsed = i64::try_from(self.elapsed()).unwrap_or(i64::MAX);
        self.now().0.saturating_sub(elapsed)
    }

    pub(crate) async fn sleep_until(&self, elapsed: Millis) {
        match &self.given {
            None => tokio::time::sleep(self.machine.until(elapsed)).await,
            Some(given) => given.sleep_until(elapsed).await,
        }
    }

    pub(crate) async fn sleep(&self, length: Duration) {
        self.sleep_until(self.after(length)).await;
    }

    /// The host's clock after that length.
    pub(crate) fn after(&self, length: Duration) -> Millis {
        self.elapsed().saturating_add(u64::try_from(length.as_millis()).unwrap_or(u64::MAX))
    }

    /// When that much will have elapsed; none if that is too far off.
    pub(crate) fn instant(&self, elapsed: Millis) -> Option<Instant> {
        let left = match &self.given {
            None => self.machine.until(elapsed),
            Some(given) => Duration::from_millis(elapsed.saturating_sub(given.elapsed())),
        };
        Instant::now().checked_add(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_clocks_are_read() {
        let clock = Clock::start();
        assert!(clock.now() > Timestamp(1_700_000_000_000));
        let at = clock.instant(clock.after(Duration::from_secs(3600))).unwrap();
        let left = at.saturating_duration_since(Instant::now());
        assert!(left <= Duration::from_secs(3600) && left > Duration::from_secs(1800), "{left:?}");
    }
}
