//! Recovering the runs of a store: replaying their journals, and driving them on where those end.

use std::sync::Arc;

use phasm_engine::{run::Run, time::Millis};
use tokio::sync::oneshot;

use super::Host;
use crate::{
    core::HostCore,
    drive::{follow::Watch, handle::RunHandle, load},
    journal::RecoverError,
    run::{envelope::RequestEnvelope, message::Message, request::RequestError},
    store::{Claim, ClaimRequest, RunHead, StoreError},
};

/// Runs claimed at once.
const MAX_RUNS_AT_ONCE: usize = 1000;
/// A run whose clock runs out so soon is waited for.
const RETRY_MILLIS: Millis = 60_000;

impl Host {
    /// Recovers the runs of the store that [have something to do](Self::claim), and drives them on together. Runs that cannot
    /// be recovered do not keep the others from it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn recover(&self) -> Result<Vec<(Arc<RunHead>, Result<RunHandle, RecoverError>)>, StoreError> {
        let mut recovered = Vec::new();
        for head in self.claim().await? {
            let handle = self.recover_run(&head.run_id).await;
            if handle.is_err() {
                self.release_run(&head.run_id).await?;
            }
            recovered.push((head, handle));
        }
        Ok(recovered)
    }

    /// Claims the runs of the store that have work now or within a minute: runs of hosts that are gone, runs that never began,
    /// due ones, and those with requests. Runs that wait for a person or a far-off clock stay where they are. The run that has
    /// waited longest comes first, then the most urgent.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn claim(&self) -> Result<Vec<Arc<RunHead>>, StoreError> {
        let now = self.shared.clock.now().after(RETRY_MILLIS);
        let mut claimed = Vec::new();
        loop {
            let (host, except) = (self.shared.host.clone(), Vec::new());
            let leases =
                self.shared.store.claim(ClaimRequest { host, now, limit: MAX_RUNS_AT_ONCE, except }).await?;
            if leases.is_empty() {
                return Ok(claimed);
            }
            claimed.extend(leases.into_iter().map(|lease| lease.head));
        }
    }

    /// Gives back a run that this host has claimed and does not drive: it is due.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn release_run(&self, run_id: &str) -> Result<(), StoreError> {
        let HostCore { store, host, clock, .. } = &*self.shared;
        let entry = self.shared.registry.entry(&Arc::from(run_id));
        let _alone = entry.load_lock.lock().await;
        if entry.is_loaded() {
            return Ok(());
        }
        match store.claim_run(host, run_id, clock.now()).await? {
            Claim::Leased(lease) => store.release(&lease, Some(clock.now())).await,
            Claim::Held(_) | Claim::Closed => Ok(()),
        }
    }

    /// Recovers one run of the store and drives it on. Waits keep their absolute times, what was in flight is executed
    /// again under the same numbers by the same components, suspended tasks stay suspended. A run that this host drives
    /// already is not recovered twice.
    ///
    /// # Errors
    /// [`RecoverError`] when there is no such run, when it has ended, when its journal cannot be read, or when what it was
    /// submitted with is not there; nothing is recorded then.
    pub async fn recover_run(&self, run_id: &str) -> Result<RunHandle, RecoverError> {
        let entry = load::reach(&self.shared, run_id, Vec::new()).await?;
        Ok(RunHandle::new(&self.shared, &entry))
    }

    /// [`Self::recover_run`] with a request that the run handles before anything else: what the request stops does not begin
    /// again. The request is durable when this returns; the reply is that of [`RunHandle::ask`].
    ///
    /// # Errors
    /// The errors of [`Self::recover_run`]. A request that changed nothing is no error, and the reply says so.
    pub async fn ask_run(
        &self,
        run_id: &str,
        request: impl Into<RequestEnvelope>,
    ) -> Result<(RunHandle, Result<bool, RequestError>), RecoverError> {
        let (reply, hears) = oneshot::channel();
        let request = request.into();
        let ask = Message::Ask { request: request.clone(), reply };
        let entry = load::reach(&self.shared, run_id, vec![ask]).await?;
        let handle = RunHandle::new(&self.shared, &entry).by(request.by);
        let reply = match hears.await {
            Ok(reply) => reply,
            // A run that this host drives ended just before it was asked; it says so.
            Err(_unheard) => handle.ask(request.request).await,
        };
        Ok((handle, reply))
    }

    /// Watches a run from its next event on. Taken before [`Self::recover_run`], it tells every event that this host adds.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn watch_new(&self, run_id: &str) -> Result<Watch, StoreError> {
        let row = self.shared.store.get(run_id).await?;
        let since = row.map_or(0, |row| row.seq);
        let entry = self.shared.registry.entry(&run_id.into());
        Ok(Watch::new(&self.shared, &entry, since, true))
    }

    /// Has a run read a request that another process has posted to the store. The run is loaded if it is not. The reply is in the
    /// store.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn read_mail(&self, run_id: &str) -> Result<(), StoreError> {
        load::read_requests(&self.shared, run_id).await
    }

    /// A run as its journal has it. Nothing of it is driven on.
    ///
    /// # Errors
    /// [`RecoverError`] when there is no such run, or its journal cannot be read.
    pub async fn replay(&self, run_id: &str) -> Result<Run, RecoverError> {
        load::replay(&self.shared, run_id).await.map(|(run, _)| run)
    }
}
