//! The clocks of this machine.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use phasm_engine::time::{Millis, Timestamp};

pub(super) fn wall() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// A monotonic clock with an arbitrary start. Where the system has one, it counts the time for which the machine is suspended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    #[cfg(target_os = "linux")]
    start: Duration,
    #[cfg(not(target_os = "linux"))]
    start: std::time::Instant,
}

#[cfg(target_os = "linux")]
fn since_boot() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::try_from(time).unwrap_or_default()
}

impl Machine {
    #[cfg(target_os = "linux")]
    pub(super) fn start() -> Self {
        Self { start: since_boot() }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn start() -> Self {
        Self { start: std::time::Instant::now() }
    }

    #[cfg(target_os = "linux")]
    fn gone(self) -> Duration {
        since_boot().saturating_sub(self.start)
    }

    #[cfg(not(target_os = "linux"))]
    fn gone(self) -> Duration {
        self.start.elapsed()
    }

    pub(super) fn elapsed(self) -> Millis {
        u64::try_from(self.gone().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn elapsed_micros(self) -> u64 {
        u64::try_from(self.gone().as_micros()).unwrap_or(u64::MAX)
    }

    /// How long until so much has elapsed.
    pub(super) fn until(self, elapsed: Millis) -> Duration {
        Duration::from_millis(elapsed).saturating_sub(self.gone())
    }
}
