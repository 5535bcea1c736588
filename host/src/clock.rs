//! The one reader of real time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use phasm_engine::time::Timestamp;

/// Wall-clock time that never runs backwards: the wall clock at the start, carried on by the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    wall: Timestamp,
    start: Instant,
}

impl Clock {
    /// Reads both clocks, once.
    #[must_use]
    pub fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
        Self { wall: Timestamp(millis), start: Instant::now() }
    }

    /// Now, in whole milliseconds.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let elapsed = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.wall.after(elapsed)
    }

    /// The monotonic instant of a timestamp; one before the start is the start, one too far off is none.
    #[must_use]
    pub fn instant(&self, at: Timestamp) -> Option<Instant> {
        self.start.checked_add(Duration::from_millis(at.since(self.wall)))
    }
}
