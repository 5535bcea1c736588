//! State of the guest that a thread polls: its computing time, and whether it yielded.

use std::{cell::Cell, task::Poll, time::Duration};

use phasm_engine::usage::ResourceUsage;

use super::stopwatch::{Stopwatch, micros};

thread_local! {
    /// Set when the guest that this thread polls has yielded only because its epoch was over.
    static PREEMPTED: Cell<bool> = const { Cell::new(false) };
    /// Time that this guest had computed before, and the start of the current poll.
    static COMPUTING: Cell<Option<(Duration, Stopwatch)>> = const { Cell::new(None) };
}

/// Starts a poll of work that had computed for `computed` before.
pub(super) fn begin(computed: Duration, watch: Stopwatch) {
    COMPUTING.set(Some((computed, watch)));
    PREEMPTED.set(false);
}

/// Ends a poll, and returns whether the guest yielded only because its epoch was over.
pub(super) fn end() -> bool {
    COMPUTING.set(None);
    PREEMPTED.take()
}

/// Returns the time that the current work of this thread has computed in all.
pub(super) fn computed() -> Duration {
    COMPUTING.get().map_or(Duration::ZERO, |(before, since)| before + since.elapsed())
}

/// Adds the time that this thread has computed for the work to its usage.
pub(super) fn so_far(metered: ResourceUsage) -> ResourceUsage {
    ResourceUsage { cpu_us: metered.cpu_us.saturating_add(micros(computed())), ..metered }
}

/// Starts to count the CPU time of this thread, which does nothing but this one call and polls no [`Attempt`](crate::Attempt).
#[cfg(target_os = "linux")]
pub(super) fn compute_since(watch: Stopwatch) {
    COMPUTING.set(Some((Duration::ZERO, watch)));
}

/// Suspends the guest once. The poller makes sure that it continues.
pub(super) async fn stop_for_others() {
    let mut stops = true;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut stops, false) {
            PREEMPTED.set(true);
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}
