//! Finding the runs that this host owns without driving them.
//!
//! ```text
//!  an operation failed, the store is connected again, time ─▶ owned in the store, and not loaded here ─▶ claim, load, drive
//! ```
//!
//! Such a run would stand still: its owner is live, so no other host claims it. The reply to a claim or a submission may have been
//! lost, a release may have failed, or the store may have gone back to an earlier state. The cause makes no difference.

use std::{sync::Arc, time::Duration};

use phasm_engine::time::Millis;

use crate::{
    core::{
        HostCore,
        background::{BackgroundTask, Wake, next_change},
    },
    drive::load,
    journal::RecoverError,
    store::StoreError,
};

/// Longest time that such a run stands still.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// Drives the runs that this host owns and does not drive.
pub(crate) struct OwnershipCheck;

impl BackgroundTask for OwnershipCheck {
    const WORK: &'static str = "find runs that this host owns and does not run";

    fn wake(&self, core: &HostCore) -> Wake {
        let doubt = Arc::clone(&core.ownership_doubt);
        let reconnected = next_change(core.store.reconnected());
        Box::pin(async move {
            tokio::select! {
                () = doubt.raised() => {}
                () = reconnected => {}
            }
        })
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        for run_id in core.store.owned(&core.host).await? {
            if !core.begins() {
                return Ok(None);
            }
            if core.registry.get(&run_id).is_some_and(|entry| entry.is_loaded()) {
                continue;
            }
            match load::drive_stray(core, &run_id).await {
                Ok(()) | Err(RecoverError::Ended { .. }) => {}
                Err(RecoverError::Store(error)) if error.is_passing() => return Err(error),
                Err(error) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "run {run_id} is owned by this host and cannot be run here"
                ),
            }
        }
        Ok(Some(core.clock.after(CHECK_INTERVAL)))
    }
}
