//! Measuring computing time.

use std::time::{Duration, Instant};

/// Measures time since it was started.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stopwatch {
    /// Wall-clock time: cheap to read, and a short computation is seldom interrupted.
    Clock(Instant),
    /// CPU time of this thread, which does not grow while others run.
    #[cfg(target_os = "linux")]
    Thread(Duration),
}

impl Stopwatch {
    pub(super) fn of_moment() -> Self {
        Self::Clock(Instant::now())
    }

    /// Starts to measure a long computation on this thread.
    pub(super) fn of_thread() -> Self {
        #[cfg(target_os = "linux")]
        let started = Self::Thread(cpu::of_thread());
        #[cfg(not(target_os = "linux"))]
        let started = Self::of_moment();
        started
    }

    /// Returns the elapsed time. Must be called on the thread that started it.
    pub(super) fn elapsed(self) -> Duration {
        match self {
            Self::Clock(started) => started.elapsed(),
            #[cfg(target_os = "linux")]
            Self::Thread(started) => cpu::of_thread().saturating_sub(started),
        }
    }
}

/// Converts to microseconds.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// CPU time.
#[cfg(target_os = "linux")]
pub(super) mod cpu {
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    /// Returns the CPU time of this thread.
    pub(crate) fn of_thread() -> Duration {
        read(ClockId::ThreadCPUTime)
    }

    /// Returns the CPU time of all threads of this process.
    pub(crate) fn of_process() -> Duration {
        read(ClockId::ProcessCPUTime)
    }

    fn read(clock: ClockId) -> Duration {
        clock_gettime(clock).try_into().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_takes_time_and_waiting_does_not() {
        let watch = Stopwatch::of_thread();
        let mut work = 1_u64;
        while watch.elapsed() < Duration::from_millis(2) {
            work = work.wrapping_mul(3);
        }
        assert!(std::hint::black_box(work) > 0);
        assert!(micros(watch.elapsed()) >= 2000);
        assert!(micros(Duration::MAX) == u64::MAX);
    }
}
