//! The clock of the store, which hosts that share it go by.
//!
//! A host whose wall clock is minutes off would fire schedules early or late, and cut the delays of runs that other hosts wrote. The
//! database has a clock that all its hosts can ask, so a host that differs by more than a second goes by that one.

use std::{sync::Arc, time::Duration};

use phasm_engine::time::{Millis, Timestamp};

use crate::{
    core::{
        HostCore,
        background::{BackgroundTask, Wake, next_change},
    },
    store::StoreError,
};

/// Time between two comparisons.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// Difference that is left alone: clocks are never read at once.
const TOLERANCE: u64 = 1000;

/// Compares the host's wall clock with the store's.
pub(crate) struct StoreClockCheck;

impl BackgroundTask for StoreClockCheck {
    const WORK: &'static str = "read the clock of the store";

    fn is_wanted(&self, core: &HostCore) -> bool {
        !core.is_closed()
    }

    fn wake(&self, core: &HostCore) -> Wake {
        // Another server, with another clock, may have taken the place of the one before.
        Box::pin(next_change(core.store.reconnected()))
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        let (asked_at, asked) = (core.clock.uncorrected(), core.clock.elapsed());
        let told = core.store.clock().await?;
        let took = core.clock.elapsed().saturating_sub(asked);
        if let Some(told) = told {
            correct(core, asked_at, told, took);
        }
        core.know_clock();
        Ok(told.map(|_| core.clock.after(CHECK_INTERVAL)))
    }
}

/// Follows the store's clock, which showed `told` at some time in the `took` milliseconds since the host's showed `asked_at`.
fn correct(core: &HostCore, asked_at: Timestamp, told: Timestamp, took: Millis) {
    let middle = asked_at.after(took / 2);
    let ahead = told.0.saturating_sub(middle.0);
    // An answer that took long says less.
    let correction = if ahead.unsigned_abs() > TOLERANCE + took / 2 { ahead } else { 0 };
    let before = core.clock.correction();
    if correction.abs_diff(before) <= TOLERANCE {
        return;
    }
    core.clock.correct(correction);
    if correction == 0 {
        tracing::info!("the clock of this host agrees with the store's clock again");
    } else {
        let (seconds, way) = (ahead.unsigned_abs() / 1000, if ahead > 0 { "behind" } else { "ahead of" });
        tracing::warn!(
            "the clock of this host is {seconds} s {way} the store's clock; delays and schedules use the store's clock: set the host's clock"
        );
    }
    core.wake_clocks();
}
