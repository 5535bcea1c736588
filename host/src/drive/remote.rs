//! Runs that another host of the same store drives, as this one knows of them.

use std::{sync::Arc, time::Duration};

use phasm_engine::run::Run;

use crate::{
    core::Shared,
    journal::RecoverError,
    run::{
        message::{Request, RequestError, Standing},
        registry::Entry,
        request::{LetterBody, LetterReply},
    },
    store::{Answer, StoreError},
};

/// How long an answer is waited for where hosts have no leases.
const PATIENCE: Duration = Duration::from_secs(30);

impl Shared {
    /// Asks something of a run whose host reads its mail.
    pub(crate) async fn ask_elsewhere(&self, run: &Run, request: Request) -> Result<bool, RequestError> {
        let lost = |error: StoreError| {
            let ended = matches!(error, StoreError::Closed { .. });
            if ended { RequestError::Ended } else { RequestError::Lost(Arc::new(error)) }
        };
        let mut changed = self.store.changed();
        let letter = LetterBody::of(run, request).bytes();
        let number = self.store.post(run.id(), letter).await.map_err(lost)?;
        // A host that does not answer so long has lost the run, which somebody else will go on with.
        let patience = self.store.lease_time().map_or(PATIENCE, |lease| lease * 2);
        let answered = tokio::time::timeout(patience, async {
            loop {
                let answer = self.store.answer(run.id(), number).await?;
                if answer != Answer::Waiting || changed.changed().await.is_err() {
                    return Ok::<_, StoreError>(answer);
                }
            }
        });
        LetterReply::said(&answered.await.unwrap_or(Ok(Answer::Waiting)).map_err(lost)?)
    }

    /// Has those who wait for a run that is not driven here know how its store says that it stands.
    pub(crate) async fn stand_as_recorded(&self, entry: &Entry) -> Result<(), RecoverError> {
        let Some(row) = self.store.get(&entry.id).await? else {
            return Err(StoreError::NotFound { run_id: Arc::clone(&entry.id) }.into());
        };
        let stands = if !row.status.open {
            Standing::Ended(Arc::new(self.replay(&entry.id).await?.0))
        } else if row.status.rest.is_some_and(|rest| rest.parked) {
            Standing::Parked
        } else {
            Standing::Active
        };
        entry.standing.send_if_modified(|standing| {
            let changes = match (&*standing, &stands) {
                (Standing::Active | Standing::Parked, Standing::Ended(_)) => true,
                (Standing::Active, Standing::Parked) | (Standing::Parked, Standing::Active) => {
                    !entry.is_loaded()
                }
                _ => false,
            };
            if changes {
                *standing = stands;
            }
            changes
        });
        Ok(())
    }
}
