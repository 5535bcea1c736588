//! Runs that another host of the same store drives.

use std::{sync::Arc, time::Duration};

use phasm_engine::run::Run;

use crate::{
    core::HostCore,
    journal::RecoverError,
    run::{
        envelope::RequestEnvelope,
        message::DriveStatus,
        registry::Entry,
        request::{RequestError, RequestReply},
    },
    store::{Answer, StoreError},
};

/// Longest wait for a reply where hosts have no leases.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// Posts a request to a run that another host drives, and waits for the reply.
///
/// # Errors
/// [`RequestError`].
pub(crate) async fn request(
    core: &HostCore,
    run: &Run,
    envelope: RequestEnvelope,
) -> Result<bool, RequestError> {
    let lost = |error: StoreError| {
        let ended = matches!(error, StoreError::Closed { .. });
        if ended { RequestError::Ended } else { RequestError::Lost(Arc::new(error)) }
    };
    let mut changed = core.store.changed();
    envelope.request.check_task(run)?;
    let number = core.store.post(run.id(), envelope.bytes()).await.map_err(lost)?;
    // A host that has not replied by then has lost the run to another host.
    let patience = core.store.lease_time().map_or(REPLY_TIMEOUT, |lease| lease * 2);
    let answered = tokio::time::timeout(patience, async {
        loop {
            let answer = core.store.answer(run.id(), number).await?;
            if answer != Answer::Waiting || changed.changed().await.is_err() {
                return Ok::<_, StoreError>(answer);
            }
        }
    });
    RequestReply::said(&answered.await.unwrap_or(Ok(Answer::Waiting)).map_err(lost)?)
}

/// Updates the status of a run that is not driven here from its store, for callers that wait for it.
///
/// # Errors
/// When the store cannot be read.
pub(crate) async fn update_status(core: &HostCore, entry: &Entry) -> Result<(), RecoverError> {
    let Some(row) = core.store.get(&entry.id).await? else {
        return Err(StoreError::NotFound { run_id: Arc::clone(&entry.id) }.into());
    };
    let stands = if !row.status.open {
        // A caller that needs the run reads it, and no more of it than it needs.
        DriveStatus::EndedElsewhere
    } else if row.status.rest.is_some_and(|rest| rest.parked) {
        DriveStatus::Parked
    } else {
        DriveStatus::Active
    };
    entry.status.send_if_modified(|status| {
        let changes = match (&*status, &stands) {
            (DriveStatus::Active | DriveStatus::Parked, DriveStatus::EndedElsewhere) => true,
            (DriveStatus::Active, DriveStatus::Parked) | (DriveStatus::Parked, DriveStatus::Active) => {
                !entry.is_loaded()
            }
            _ => false,
        };
        if changes {
            *status = stands;
        }
        changes
    });
    Ok(())
}
