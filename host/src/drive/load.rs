//! Loading runs: from a journal to a driver that continues the run.
//!
//! ```text
//!  a message for a run, a claim ─▶ replay the journal ─▶ check requirements ─▶ Driver ─▶ RunTask
//!                                                                               │
//!          the store failed, or can never take a record ◀── FollowUp ───────────┘
//! ```

use std::sync::{Arc, atomic::Ordering};

use phasm_engine::{
    event::{Event, SubmissionRecord},
    run::{Run, Step},
    text,
};

use crate::{
    core::{HostCore, background::RETRY_PAUSES, detached::DetachOnDrop},
    dispatch::{
        run_task::RunTask,
        slots::{Claimant, Rank},
    },
    drive::{
        driver::{Driver, FollowUp},
        requirements,
    },
    journal::{self, RecoverError},
    run::{
        envelope::RequestEnvelope,
        lifecycle::LifecycleChange,
        message::{DriveStatus, Message},
        registry::Entry,
        request::{RequestReply, RunRequest},
    },
    store::{Claim, Lease, Note, Reply, StoreError},
};

/// Bytes of records that are in memory with the run that is made of them.
const REPLAY_PART_BYTES: usize = 64 << 20;

/// Sends messages to a run, which is loaded and driven if it is not yet; then they reach it before anything begins. The work is
/// completed even if the caller stops waiting.
///
/// # Errors
/// [`RecoverError`] when the run cannot be driven here; nothing is recorded then.
pub(crate) async fn reach(
    core: &Arc<HostCore>,
    run_id: &str,
    messages: Vec<Message>,
) -> Result<Arc<Entry>, RecoverError> {
    let control = core.control.clone();
    let core = Arc::clone(core);
    let run_id = Arc::from(run_id);
    DetachOnDrop::new(&control, async move { reach_now(&core, run_id, messages).await }).await
}

async fn reach_now(
    core: &Arc<HostCore>,
    run_id: Arc<str>,
    messages: Vec<Message>,
) -> Result<Arc<Entry>, RecoverError> {
    let entry = core.registry.entry(&run_id);
    let _loading = entry.load_lock.lock().await;
    let undelivered: Vec<_> = messages.into_iter().filter_map(|message| entry.tell(message).err()).collect();
    if undelivered.is_empty() && entry.is_loaded() {
        return Ok(Arc::clone(&entry));
    }
    // Cancelling is how to be rid of a run whose requirements are not met.
    let cancel = RunRequest::Cancel;
    let is_cancel =
        |message: &Message| matches!(message, Message::Ask { request, .. } if request.request == cancel);
    let anyway = undelivered.iter().any(is_cancel);
    let run = replay_drivable(core, &entry, anyway).await?;
    // A record of another host in between makes the first of this host's a conflict.
    let claimed = core.store.claim_run(&core.host, &run_id, core.clock.now()).await;
    let lease = match claimed.inspect_err(|error| core.ownership_doubt.raise(error))? {
        Claim::Leased(lease) => lease,
        Claim::Held(_) => return Err(RecoverError::Driven { run_id }),
        Claim::Closed => return Err(RecoverError::Ended { run_id, phase: run.phase() }),
    };
    resume(core, &entry, run, lease, undelivered).await?;
    Ok(Arc::clone(&entry))
}

/// Drives a run that this host has claimed; gives it back if it cannot.
pub(crate) async fn drive_claimed(core: &Arc<HostCore>, lease: Lease) -> Result<(), RecoverError> {
    let entry = core.registry.entry(&lease.head.run_id);
    let _loading = entry.load_lock.lock().await;
    if entry.is_loaded() {
        if entry.epoch.load(Ordering::Acquire) >= lease.epoch {
            return Ok(());
        }
        // Another host had the run in between, which this one has not noticed: it slept, and its leases expired.
        entry.dismiss().await;
    }
    load(core, &entry, lease).await
}

/// Drives a run that this host owns without driving it. The claim raises the epoch, so that a release of the lease before it, of
/// which the reply was lost and which the store carries out late, is refused.
pub(crate) async fn drive_stray(core: &Arc<HostCore>, run_id: &Arc<str>) -> Result<(), RecoverError> {
    let entry = core.registry.entry(run_id);
    let _loading = entry.load_lock.lock().await;
    // The run may have been loaded, released or claimed since the store was asked.
    let owner = core.store.get(run_id).await?.and_then(|row| row.owner);
    if entry.is_loaded() || owner.as_ref() != Some(&core.host) {
        return Ok(());
    }
    match core.store.claim_run(&core.host, run_id, core.clock.now()).await? {
        Claim::Leased(lease) => load(core, &entry, lease).await,
        Claim::Held(_) | Claim::Closed => Ok(()),
    }
}

/// Drives a run that is leased to this host and not loaded; gives it back if it cannot.
async fn load(core: &Arc<HostCore>, entry: &Arc<Entry>, lease: Lease) -> Result<(), RecoverError> {
    match replay_drivable(core, entry, false).await {
        Ok(run) => resume(core, entry, run, lease, Vec::new()).await,
        Err(error) => {
            // The run stays due, for a host that meets its requirements.
            let now = core.clock.now();
            let note = Note { why: text::brief(&error.to_string()).into(), since: now };
            let left = core.store.leave(&lease, Some(now), note).await;
            left.inspect_err(|error| core.ownership_doubt.raise(error))?;
            Err(error)
        }
    }
}

/// Loads a run again once its store is well.
pub(crate) async fn retake(
    core: Arc<HostCore>,
    entry: Arc<Entry>,
    failed: Arc<StoreError>,
    inspections: Vec<Message>,
) {
    let (mut pause, longest) = RETRY_PAUSES;
    let run_id = &entry.id;
    tracing::warn!(error = &*failed as &dyn std::error::Error, "run {run_id} waits until its store is well");
    loop {
        core.clock.sleep(pause).await;
        pause = (pause * 2).min(longest);
        match reach(&core, run_id, Vec::new()).await {
            Err(RecoverError::Store(error)) if error.is_passing() && !core.is_closed() => {}
            Ok(_) => {
                // One that comes too late is dropped, which tells its sender.
                inspections.into_iter().for_each(|message| drop(entry.tell(message)));
                return;
            }
            Err(RecoverError::Ended { .. }) => return,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "run {run_id} cannot be loaded again"
                );
                entry.lose(failed);
                return;
            }
        }
    }
}

/// Has a run read the requests that others have posted to the store. The run is loaded for it if it is not; if it cannot be, the
/// requests are refused.
///
/// # Errors
/// When the store fails.
pub(crate) async fn read_requests(core: &Arc<HostCore>, run_id: &str) -> Result<(), StoreError> {
    if !core.begins() {
        // They wait for the host that continues the run.
        return Ok(());
    }
    let told = core.registry.get(run_id).is_some_and(|entry| entry.tell(Message::Mail).is_ok());
    if told {
        return Ok(());
    }
    match reach(core, run_id, vec![Message::Mail]).await {
        Ok(_) | Err(RecoverError::Ended { .. } | RecoverError::Driven { .. }) => Ok(()),
        // A journal that cannot be read stays unreadable.
        Err(RecoverError::Store(error)) if !matches!(error, StoreError::Corrupt { .. }) => Err(error),
        Err(refused) => {
            let said = refuse_requests(core, run_id, &refused.to_string()).await;
            said.inspect_err(|error| core.ownership_doubt.raise(error))
        }
    }
}

/// Refuses the requests to a run that cannot be loaded, except the one to abandon it.
async fn refuse_requests(core: &Arc<HostCore>, run_id: &str, why: &str) -> Result<(), StoreError> {
    let entry = core.registry.entry(&Arc::from(run_id));
    let _loading = entry.load_lock.lock().await;
    if entry.is_loaded() {
        // A request to cancel has loaded the run meanwhile; its driver reads the others.
        return Ok(());
    }
    let Claim::Leased(lease) = core.store.claim_run(&core.host, run_id, core.clock.now()).await? else {
        return Ok(());
    };
    let requests = core.store.mail(&lease).await?;
    let read = requests.iter().filter_map(|request| RequestEnvelope::read(&request.body));
    let reason = read.into_iter().find_map(|envelope| match envelope.request {
        RunRequest::Abandon { reason } => Some(reason),
        RunRequest::Resume { .. } | RunRequest::Cancel | RunRequest::CancelTask { .. } => None,
    });
    if let Some(reason) = reason
        && abandon(core, &entry, lease.clone(), &reason).await.is_ok()
    {
        // The end of the run is the reply to all of them.
        entry.tell_commit();
        return Ok(());
    }
    let refused = RequestReply::Refused(why.to_owned()).bytes();
    let replies = requests.iter().map(|request| Reply { letter: request.id, body: Arc::clone(&refused) });
    core.store.reply(&lease, replies.collect()).await?;
    entry.tell_commit();
    core.store.release(&lease, None).await
}

/// Ends a run that this host has claimed and that cannot continue. Returns false if only its row says so, as its journal cannot be
/// read.
///
/// # Errors
/// When the store fails.
pub(crate) async fn abandon(
    core: &Arc<HostCore>,
    entry: &Arc<Entry>,
    lease: Lease,
    why: &str,
) -> Result<bool, RecoverError> {
    let now = core.clock.now();
    match replay(core, &entry.id).await {
        Ok((mut run, _)) => {
            let step = run.give_up(now, why);
            drive(core, entry, run, step, lease, Vec::new()).await?;
            let mut status = entry.status.subscribe();
            let is_over = |status: &DriveStatus| !matches!(status, DriveStatus::Active | DriveStatus::Parked);
            let _ended = status.wait_for(is_over).await;
            Ok(true)
        }
        Err(RecoverError::Store(error)) if error.is_passing() => Err(error.into()),
        Err(_) => {
            let seq = core.store.get(&entry.id).await?.map_or(0, |row| row.seq);
            let notices = core.webhooks.subscribers(&lease.head, &[]).abandoned(&lease.head, seq, now, why);
            core.store.abandon(&lease, now, notices).await?;
            Ok(false)
        }
    }
}

/// Drives a replayed run on.
async fn resume(
    core: &Arc<HostCore>,
    entry: &Arc<Entry>,
    mut run: Run,
    lease: Lease,
    mut messages: Vec<Message>,
) -> Result<(), RecoverError> {
    // Requests may have been posted while no host drove the run.
    messages.push(Message::Mail);
    let step = run.recover(core.clock.now());
    match drive(core, entry, run, step, lease.clone(), messages).await {
        Err(error @ StoreError::TooLarge { .. }) => give_up(core, entry, lease, &error).await,
        driven => Ok(driven?),
    }
}

/// Ends a run at its last record, as its store can never take what follows.
async fn give_up(
    core: &Arc<HostCore>,
    entry: &Arc<Entry>,
    lease: Lease,
    error: &StoreError,
) -> Result<(), RecoverError> {
    let (mut run, _) = replay(core, &entry.id).await?;
    let step = run.give_up(core.clock.now(), &format!("what follows cannot be recorded: {error}"));
    Ok(drive(core, entry, run, step, lease, Vec::new()).await?)
}

/// Drives a run from a step that is not durable yet: its first, or the first after it was loaded. `messages` reach it before
/// anything begins.
///
/// # Errors
/// The store's; nothing was recorded.
pub(crate) async fn drive(
    core: &Arc<HostCore>,
    entry: &Arc<Entry>,
    run: Run,
    step: Step,
    lease: Lease,
    messages: Vec<Message>,
) -> Result<(), StoreError> {
    let number = core.driven.fetch_add(1, Ordering::Relaxed);
    let head = Arc::clone(&lease.head);
    let rank = Rank::new(head.priority, head.submitted_at, number);
    let claimant = Claimant { tenant: core.environments.tenant(&head.namespace), rank };
    let mut driver = Driver::new(Arc::clone(core), Arc::clone(entry), run, lease, claimant);
    driver.record_first(step).await?;
    driver.open(messages);
    core.lifecycle.tell(&head, LifecycleChange::Driven);
    let control = core.control.clone();
    let owner = Arc::clone(core);
    let driving = async move {
        if let Some(work) = driver.drive().await {
            follow_up(owner, work);
        }
    };
    let task = RunTask::new(driving, control);
    entry.set_task(Some(Arc::clone(&task)));
    if core.is_closed() {
        entry.set_task(None);
    }
    task.poll();
    Ok(())
}

/// Does the work that a driver leaves to its host.
fn follow_up(core: Arc<HostCore>, work: FollowUp) {
    let control = core.control.clone();
    match work {
        FollowUp::Retake { entry, error, inspections } => {
            control.spawn(retake(core, entry, error, inspections));
        }
        FollowUp::GiveUp { entry, lease, error } => {
            control.spawn(async move {
                let _loading = entry.load_lock.lock().await;
                if let Err(failed) = give_up(&core, &entry, lease, &error).await {
                    tracing::warn!(
                        error = &failed as &dyn std::error::Error,
                        "failed to end run {}",
                        entry.id
                    );
                    entry.lose(error);
                }
            });
        }
    }
}

/// Replays a run that can be driven here, or must be although requirements are unmet.
async fn replay_drivable(core: &HostCore, entry: &Entry, anyway: bool) -> Result<Run, RecoverError> {
    let (run, submitted) = replay(core, &entry.id).await?;
    if run.is_over() {
        let phase = run.phase();
        entry.status.send_replace(DriveStatus::Ended(Arc::new(run)));
        return Err(RecoverError::Ended { run_id: Arc::clone(&entry.id), phase });
    }
    let missing = requirements::missing(core, run.plan(), &submitted).await?;
    if !missing.is_empty() && !anyway {
        return Err(RecoverError::Missing { run_id: Arc::clone(&entry.id), missing });
    }
    Ok(run)
}

/// Replays a run's journal. Returns the run and its submission.
///
/// # Errors
/// [`RecoverError`] when there is no such run, or its journal cannot be read.
pub(crate) async fn replay(core: &HostCore, run_id: &str) -> Result<(Run, SubmissionRecord), RecoverError> {
    let mut submitted = None;
    let mut replayed: Option<Run> = None;
    loop {
        let since = replayed.as_ref().map_or(0, |run| run.seq());
        let part = core.store.load_part(run_id, since, REPLAY_PART_BYTES).await?;
        journal::replay_with(&core.plans, &mut replayed, run_id, &part.records, |_, _, _, events| {
            if let (None, Some(Event::Submitted(first))) = (&submitted, events.first()) {
                submitted = Some(first.as_ref().clone());
            }
        })?;
        if part.is_last {
            break;
        }
    }
    let not_found = || StoreError::NotFound { run_id: run_id.into() };
    Ok((replayed.ok_or_else(not_found)?, submitted.ok_or_else(not_found)?))
}
