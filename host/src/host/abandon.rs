//! Ending runs that cannot continue.

use std::sync::Arc;

use phasm_engine::phase::Phase;

use super::Host;
use crate::{drive::load, journal::RecoverError, store::Claim};

impl Host {
    /// Ends a run that cannot continue as Error, with the reason. If its journal can be read, that is recorded, and open tasks
    /// are Cancelled; if not, only its row says that it has ended. Returns whether it was recorded.
    ///
    /// # Errors
    /// [`RecoverError::Ended`], [`RecoverError::Driven`] if a host has it, or when the store fails.
    pub async fn abandon(&self, run_id: &str, why: &str) -> Result<bool, RecoverError> {
        let shared = &self.shared;
        let entry = shared.registry.entry(&Arc::from(run_id));
        let _alone = entry.load_lock.lock().await;
        let driven = || RecoverError::Driven { run_id: run_id.into() };
        if entry.is_loaded() {
            return Err(driven());
        }
        let now = shared.clock.now();
        let claimed = shared.store.claim_run(&shared.host, run_id, now).await;
        let lease = match claimed.inspect_err(|error| shared.ownership_doubt.raise(error))? {
            Claim::Leased(lease) => lease,
            Claim::Held(_) => return Err(driven()),
            Claim::Closed => {
                let row = shared.store.get(run_id).await?;
                let phase = row.map_or(Phase::Error, |row| row.status.phase);
                return Err(RecoverError::Ended { run_id: run_id.into(), phase });
            }
        };
        load::abandon(shared, &entry, lease, why).await
    }
}
