//! Work for the store besides driving runs: heartbeats, pruning, and the wall clock.

use std::{mem, sync::Arc, time::Duration};

use phasm_engine::time::{Millis, Timestamp};
use tokio::sync::Semaphore;

use crate::{
    clock::NOT_SET,
    core::{
        HostCore,
        background::{BackgroundTask, Wake, never},
    },
    store::StoreError,
    store::{
        RunRow,
        retention::{self, PruneResult},
    },
};

/// Longest time until a host notices that the wall clock was set.
const CLOCK_CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// Time between two prunings of ended runs.
const PRUNE_INTERVAL: Duration = Duration::from_secs(600);

/// Heartbeats without an answer: as many as fit into a lease. More would not reach a database that does not answer either.
const MAX_UNANSWERED: usize = 3;

/// Renews this host's leases. A database that answers slowly does not delay the next heartbeat.
pub(crate) struct Heartbeat {
    interval: Duration,
    unanswered: Arc<Semaphore>,
    /// Unset until the first interval begins: opening the store was the first heartbeat.
    is_started: bool,
}

impl Heartbeat {
    /// `interval` is a third of the lease time: two heartbeats may be lost before other hosts take over.
    pub(crate) fn every(interval: Duration) -> Self {
        Self { interval, unanswered: Arc::new(Semaphore::new(MAX_UNANSWERED)), is_started: false }
    }
}

impl BackgroundTask for Heartbeat {
    const WORK: &'static str = "renew this host's leases";

    fn is_wanted(&self, core: &HostCore) -> bool {
        !core.is_closed()
    }

    fn wake(&self, _core: &HostCore) -> Wake {
        never()
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        if mem::replace(&mut self.is_started, true)
            && let Ok(turn) = Arc::clone(&self.unanswered).try_acquire_owned()
        {
            let beat = core.store.heartbeat(&core.host, Timestamp(i64::MAX));
            let gauges = Arc::clone(&core.gauges);
            core.control.spawn(async move {
                let beat = beat.await;
                if beat.is_ok() { &gauges.heartbeats } else { &gauges.heartbeats_failed }.one_more();
                // The next heartbeat comes in time all the same, so this is no reason to pause for longer.
                if let Err(error) = beat {
                    tracing::warn!(error = &error as &dyn std::error::Error, "heartbeat failed");
                }
                drop(turn);
            });
        }
        Ok(Some(core.clock.after(self.interval)))
    }
}

/// Rounds of pruning, ten minutes each, after which artifacts are looked for whose runs are gone.
const ROUNDS_UNTIL_LOST: u64 = 144;

/// Deletes ended runs that the retention keeps no longer.
#[derive(Default)]
pub(crate) struct Pruner {
    rounds: u64,
}

impl BackgroundTask for Pruner {
    const WORK: &'static str = "delete runs past their retention";

    fn is_wanted(&self, core: &HostCore) -> bool {
        !core.is_closed()
    }

    fn wake(&self, _core: &HostCore) -> Wake {
        never()
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        let PruneResult { deleted, left } =
            retention::prune(&*core.store, &core.retention, core.clock.now(), &core.planner.artifacts)
                .await?;
        // Each run with artifacts is looked up for that.
        if self.rounds.is_multiple_of(ROUNDS_UNTIL_LOST)
            && let Err(error) = retention::forget_lost_artifacts(&*core.store, &core.planner.artifacts).await
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "artifacts without a run stay");
        }
        self.rounds += 1;
        if deleted > 0 {
            tracing::info!("deleted {deleted} runs past their retention");
        }
        for RunRow { number, head, damaged, .. } in left {
            let found = damaged.unwrap_or_default();
            tracing::warn!(
                "run {} (number {number}) is damaged and was not deleted: {found}",
                head.run_id.escape_debug()
            );
        }
        Ok(Some(core.clock.after(PRUNE_INTERVAL)))
    }
}

/// Notices that the wall clock was set, and wakes everything that waits for a time of day.
pub(crate) struct ClockWatch {
    offset: i64,
}

impl ClockWatch {
    pub(crate) fn new(core: &HostCore) -> Self {
        Self { offset: core.clock.offset() }
    }
}

impl BackgroundTask for ClockWatch {
    const WORK: &'static str = "watch the wall clock";

    fn is_wanted(&self, core: &HostCore) -> bool {
        !core.is_closed()
    }

    fn wake(&self, _core: &HostCore) -> Wake {
        never()
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        let offset = core.clock.offset();
        if offset.abs_diff(self.offset) >= NOT_SET {
            self.offset = offset;
            core.wake_clocks();
        }
        Ok(Some(core.clock.after(CLOCK_CHECK_INTERVAL)))
    }
}
