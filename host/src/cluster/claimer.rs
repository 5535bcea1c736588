//! Claims the runs of a store that are due.
//!
//! ```text
//!  released, posted, resumed ──▶ due ──▶ claim ──▶ load, drive ──▶ released when only time or people are waited for
//!  the clock of the run that is due next ──▲
//! ```

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use phasm_engine::time::{Millis, Timestamp};

use crate::{
    core::{
        HostCore,
        background::{BackgroundTask, PluginChanges, Wake},
    },
    drive::load,
    journal::RecoverError,
    run::lifecycle::LifecycleChange,
    store::{ClaimRequest, StoreError},
};

/// Runs claimed at once; more follow when these are loaded.
const MAX_CLAIMED_AT_ONCE: usize = 64;
/// Runs that this host skips; the oldest of more are tried again.
const MAX_SKIPPED_RUNS: usize = 10_000;

/// Claims due runs and drives them.
pub(crate) struct Claimer {
    skipped: SkippedRuns,
    plugins: PluginChanges,
}

/// Runs that this host cannot drive, for example for want of a plugin.
#[derive(Default)]
struct SkippedRuns {
    /// The latest first.
    runs: Vec<Arc<str>>,
    /// Runs that were tried once since the last request to them.
    retried: BTreeSet<Arc<str>>,
}

impl SkippedRuns {
    /// Gives each run with new requests one more try: the request may be to cancel it.
    async fn review(&mut self, core: &HostCore) -> Result<(), StoreError> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let mailed: BTreeSet<_> = core.store.mailed(None).await?.into_iter().collect();
        self.retried.retain(|run_id| mailed.contains(run_id));
        let Self { runs, retried } = self;
        runs.retain(|run_id| !mailed.contains(run_id) || !retried.insert(Arc::clone(run_id)));
        Ok(())
    }

    fn add(&mut self, run_id: Arc<str>) {
        self.runs.truncate(MAX_SKIPPED_RUNS - 1);
        self.runs.insert(0, run_id);
    }
}

impl Claimer {
    pub(crate) fn new(core: &HostCore) -> Self {
        Self { skipped: SkippedRuns::default(), plugins: PluginChanges::of(core) }
    }
}

impl BackgroundTask for Claimer {
    const WORK: &'static str = "claim due runs";

    fn wake(&self, core: &HostCore) -> Wake {
        let due = Arc::clone(&core.due);
        let mut changed = core.store.changed();
        let plugins = self.plugins.next();
        Box::pin(async move {
            tokio::select! {
                () = due.notified() => {}
                _ = changed.changed() => {}
                () = plugins => {}
            }
        })
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        if !core.knows_clock() {
            return Ok(None);
        }
        if self.plugins.take() {
            self.skipped = SkippedRuns::default();
        }
        claim_due(core, &mut self.skipped).await
    }
}

/// Claims and loads all due runs; returns when the next one is due.
async fn claim_due(core: &Arc<HostCore>, skipped: &mut SkippedRuns) -> Result<Option<Millis>, StoreError> {
    skipped.review(core).await?;
    loop {
        if !core.begins() {
            return Ok(None);
        }
        let wanted = || ClaimRequest {
            host: core.host.clone(),
            now: core.clock.now(),
            limit: MAX_CLAIMED_AT_ONCE,
            except: skipped.runs.clone(),
        };
        let claimed = core.store.claim(wanted()).await?;
        core.gauges.claimed.add(claimed.len() as u64);
        if claimed.is_empty() {
            let next = core.store.next_due(wanted()).await?;
            let left = |at: Timestamp| Duration::from_millis(at.since(core.clock.now()));
            return Ok(next.map(|at| core.clock.after(left(at))));
        }
        for lease in claimed {
            let head = Arc::clone(&lease.head);
            let run_id = Arc::clone(&head.run_id);
            match load::drive_claimed(core, lease).await {
                // A conflict: another host's record was faster, and the run is driven there.
                Ok(_)
                | Err(RecoverError::Store(StoreError::Conflict { .. } | StoreError::LeaseLost { .. })) => {}
                // The run is leased to this host, so no other host claims it.
                Err(RecoverError::Store(error)) if error.is_passing() => {
                    let entry = core.registry.entry(&run_id);
                    let retaken = load::retake(Arc::clone(core), entry, Arc::new(error), Vec::new());
                    core.control.spawn(retaken);
                }
                Err(error) => {
                    if !core.lifecycle.tell(&head, LifecycleChange::PassedOver(error.to_string())) {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "skipping run {run_id}; it is tried again after a request to it or a change of plugins"
                        );
                    }
                    skipped.add(run_id);
                }
            }
        }
    }
}
