//! Recovering the runs of a store: replaying their journals, and driving them on where those end.

use std::sync::Arc;

use phasm_engine::{
    event::{Event, Submitted},
    run::Run,
};
use tokio::sync::{mpsc, oneshot};

use super::Host;
use crate::{
    driver::Shared,
    handle::RunHandle,
    journal::{self, RecoverError},
    message::{Message, Request, RequestError},
    store::{Claim, RunHead, StoreError},
    watch::{Listener, Notice},
};

impl Host {
    /// Recovers every open run of the store, the most urgent first, and drives them on together. Runs that cannot be
    /// recovered do not keep the others from it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn recover(&self) -> Result<Vec<(Arc<RunHead>, Result<RunHandle, RecoverError>)>, StoreError> {
        let mut recovered = Vec::new();
        for row in self.shared.store.open_runs().await? {
            let handle = self.recover_run(&row.head.run_id).await;
            recovered.push((row.head, handle));
        }
        Ok(recovered)
    }

    /// Recovers one run of the store and drives it on. Waits keep their absolute times, what was in flight is executed
    /// again under the same numbers by the same components, suspended tasks stay suspended. A run that this host drives
    /// already is not recovered twice.
    ///
    /// # Errors
    /// [`RecoverError`] when there is no such run, when it has ended, when its journal cannot be read, or when what it was
    /// submitted with is not there; nothing is recorded then.
    pub async fn recover_run(&self, run_id: &str) -> Result<RunHandle, RecoverError> {
        self.recover_with(run_id, None, None).await
    }

    /// [`Self::recover_run`], heard from the first event on that this host adds.
    ///
    /// # Errors
    /// As [`Self::recover_run`].
    pub async fn recover_run_watched(
        &self,
        run_id: &str,
    ) -> Result<(RunHandle, mpsc::UnboundedReceiver<Notice>), RecoverError> {
        let (listener, notices) = mpsc::unbounded_channel();
        let handle = self.recover_with(run_id, Some(listener), None).await?;
        Ok((handle, notices))
    }

    /// [`Self::recover_run_watched`] for a request that comes before anything else: what it stops is not begun again.
    /// Durable when it returns; the reply is that of [`RunHandle::ask`].
    ///
    /// # Errors
    /// As [`Self::recover_run`]. That the request changed nothing is a reply.
    pub async fn ask_run(
        &self,
        run_id: &str,
        request: Request,
    ) -> Result<(RunHandle, mpsc::UnboundedReceiver<Notice>, Result<bool, RequestError>), RecoverError> {
        let (listener, notices) = mpsc::unbounded_channel();
        let (reply, hears) = oneshot::channel();
        let ask = Message::Ask { request: request.clone(), reply };
        let handle = self.recover_with(run_id, Some(listener), Some(ask)).await?;
        let reply = match hears.await {
            Ok(reply) => reply,
            // A run that this host drives ended just before it was asked; it says so.
            Err(_unheard) => handle.ask(request).await,
        };
        Ok((handle, notices, reply))
    }

    /// A run as its journal has it. Nothing of it is driven on.
    ///
    /// # Errors
    /// [`RecoverError`] when there is no such run, or its journal cannot be read.
    pub async fn replay(&self, run_id: &str) -> Result<Run, RecoverError> {
        self.replay_submitted(run_id).await.map(|(run, _)| run)
    }

    /// The run, and what it was submitted with.
    pub(super) async fn replay_submitted(&self, run_id: &str) -> Result<(Run, Submitted), RecoverError> {
        let records = self.shared.store.load(run_id).await?;
        let mut submitted = None;
        let run = journal::replay(run_id, &records, |_, _, _, events| {
            if let (None, Some(Event::Submitted(first))) = (&submitted, events.first()) {
                submitted = Some(first.as_ref().clone());
            }
        })?;
        let not_found = || StoreError::NotFound { run_id: run_id.into() };
        Ok((run, submitted.ok_or_else(not_found)?))
    }

    /// `first` reaches the run before anything else does.
    async fn recover_with(
        &self,
        run_id: &str,
        listener: Option<Listener>,
        first: Option<Message>,
    ) -> Result<RunHandle, RecoverError> {
        let _alone = self.recovering.lock().await;
        if let Some(driven) = self.shared.registry.get(run_id) {
            listener.map(Message::Watch).into_iter().chain(first).for_each(|message| driven.tell(message));
            return Ok(driven);
        }
        let Shared { store, clock, host, .. } = &*self.shared;
        // Cancelling is how to be rid of a run that cannot go on.
        let cancels = matches!(&first, Some(Message::Ask { request: Request::Cancel, .. }));
        let mut run = self.replay_here(run_id, cancels).await?;
        // Nobody else's record comes between: one that did makes the first of this host's a conflict.
        let lease = match store.claim_run(host, run_id, clock.now()).await? {
            Claim::Leased(lease) => lease,
            Claim::Held(_) => return Err(RecoverError::Driven { run_id: run_id.into() }),
            Claim::Closed => return Err(RecoverError::Ended { run_id: run_id.into(), phase: run.phase() }),
        };
        let step = run.recover(clock.now());
        Ok(self.drive(run, step, lease, listener, first).await?)
    }

    /// A run that can be driven on here, or is to be in spite of what is missing.
    async fn replay_here(&self, run_id: &str, anyway: bool) -> Result<Run, RecoverError> {
        let (run, submitted) = self.replay_submitted(run_id).await?;
        if run.is_over() {
            return Err(RecoverError::Ended { run_id: run_id.into(), phase: run.phase() });
        }
        let missing = self.missing(run.plan(), &submitted).await;
        if !missing.is_empty() && !anyway {
            return Err(RecoverError::Missing { run_id: run_id.into(), missing });
        }
        Ok(run)
    }
}
