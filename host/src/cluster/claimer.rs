//! Claims the runs of a store that are due.
//!
//! ```text
//!  released, posted, resumed ──▶ due ──▶ claim ──▶ load, drive ──▶ given back when only time or people are waited for
//!  the clock of the run that is due next ──▲
//! ```

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use phasm_engine::time::{Millis, Timestamp};
use tokio::sync::watch;

use crate::{
    clock::{Clock, NOT_SET},
    core::{PAUSES, Shared},
    journal::RecoverError,
    plugins::Plugins,
    retention,
    run::{lifecycle::Became, message::Message},
    store::{StoreError, Wanted},
};

/// Runs claimed at once; more follow when these are loaded.
const MOST_AT_ONCE: usize = 64;
/// Runs that cannot be driven here and are passed over; others are asked for again.
const MOST_PASSED_OVER: usize = 10_000;

/// How late a host may notice that the wall clock was set.
const LOOKS_AGAIN: Duration = Duration::from_secs(30);

/// Runs that cannot be driven here.
#[derive(Default)]
struct PassedOver {
    /// The last first.
    runs: Vec<Arc<str>>,
    /// Those that were tried since somebody wrote to them.
    asked: BTreeSet<Arc<str>>,
}

impl PassedOver {
    /// Those that somebody has written to are tried once more.
    async fn review(&mut self, shared: &Shared) -> Result<(), StoreError> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let mailed: BTreeSet<_> = shared.store.mailed(None).await?.into_iter().collect();
        self.asked.retain(|run_id| mailed.contains(run_id));
        let Self { runs, asked } = self;
        runs.retain(|run_id| !mailed.contains(run_id) || !asked.insert(Arc::clone(run_id)));
        Ok(())
    }

    fn add(&mut self, run_id: Arc<str>) {
        self.runs.truncate(MOST_PASSED_OVER - 1);
        self.runs.insert(0, run_id);
    }
}

/// Claims until the host is gone.
pub(crate) async fn claim_what_is_due(host: Weak<Shared>) {
    let mut passed_over = PassedOver::default();
    let mut installed =
        host.upgrade().and_then(|shared| shared.realms.common().plugins.as_ref().map(Plugins::changed));
    let (mut news, mut pause) = (false, PAUSES.0);
    while let Some(shared) = host.upgrade().filter(|shared| shared.begins()) {
        let (due, clock) = (Arc::clone(&shared.due), shared.clock.clone());
        // What others do while this round goes on makes the next.
        let mut changed = shared.store.changed();
        if std::mem::take(&mut news) {
            passed_over = PassedOver::default();
        }
        let round = round(&shared, &mut passed_over).await;
        if round.is_err() {
            shared.in_doubt.store(true, Ordering::Release);
        }
        // Nobody keeps the host alive by waiting for what is due.
        drop(shared);
        match round {
            Ok(next) => {
                pause = PAUSES.0;
                let next_due = async {
                    match next {
                        Some(at) => clock.sleep_until(at).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = due.notified() => {}
                    _ = changed.changed() => {}
                    () = newly(&mut installed) => news = true,
                    () = next_due => {}
                }
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "what is due cannot be claimed; trying again"
                );
                clock.sleep(pause).await;
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }
}

/// When there are other plugins.
pub(crate) async fn newly(installed: &mut Option<watch::Receiver<()>>) {
    let changed = match installed {
        Some(installed) => installed.changed().await.is_ok(),
        None => false,
    };
    if !changed {
        std::future::pending::<()>().await;
    }
}

/// How often runs are looked for that are kept no longer.
const FORGETS: Duration = Duration::from_secs(600);

/// Deletes runs that have ended and are kept no longer, until the host is gone.
pub(crate) async fn forget_what_is_old(host: Weak<Shared>, clock: Clock) {
    loop {
        let Some(shared) = host.upgrade().filter(|shared| !shared.is_closed()) else { return };
        match retention::prune(&*shared.store, &shared.retention, clock.now()).await {
            Ok(0) => {}
            Ok(count) => tracing::info!("{count} runs were deleted, as they are kept no longer"),
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "runs that are kept no longer cannot be deleted now"
            ),
        }
        drop(shared);
        clock.sleep(FORGETS).await;
    }
}

/// Says that the host is there, so often, until it is gone.
pub(crate) async fn say_that_it_is_there(host: Weak<Shared>, clock: Clock, pause: Duration) {
    loop {
        clock.sleep(pause).await;
        let Some(shared) = host.upgrade().filter(|shared| !shared.is_closed()) else { return };
        let beat = shared.store.heartbeat(&shared.host, Timestamp(i64::MAX)).await;
        let gauges = &shared.gauges;
        if beat.is_ok() { &gauges.heartbeats } else { &gauges.heartbeats_failed }.one_more();
        if let Err(error) = beat {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the store does not hear that this host is there"
            );
        }
    }
}

/// Looks from time to time whether the wall clock was set, and has everybody who waits for it look again, until the host is gone.
pub(crate) async fn hear_of_another_time(host: Weak<Shared>, clock: Clock) {
    let mut known = clock.offset();
    loop {
        clock.sleep(LOOKS_AGAIN).await;
        let Some(shared) = host.upgrade().filter(|shared| !shared.is_closed()) else { return };
        let offset = clock.offset();
        if offset.abs_diff(known) >= NOT_SET {
            known = offset;
            shared.registry.tell_all(|| Message::Tick);
            shared.due.notify_one();
            shared.agenda.news.notify_one();
            shared.outlets.news.send_replace(());
        }
    }
}

/// Has those runs that this host has read the mail that others of a shared store leave them, until the host is gone.
pub(crate) async fn hear_mail(host: Weak<Shared>) {
    let Some(mut changed) = host.upgrade().map(|shared| shared.store.changed()) else { return };
    while changed.changed().await.is_ok() {
        let Some(shared) = host.upgrade().filter(|shared| !shared.is_closed()) else { return };
        if let Err(error) = read_all_mail(&shared).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the mail of this host's runs cannot be read now"
            );
        }
    }
}

async fn read_all_mail(shared: &Arc<Shared>) -> Result<(), StoreError> {
    for run_id in shared.store.mailed(Some(&shared.host)).await? {
        shared.read_mail(&run_id).await?;
    }
    Ok(())
}

/// Goes on with runs that this host has and does not know of: what was claimed is its own, also where the answer was lost.
async fn go_on_with_strays(shared: &Arc<Shared>) -> Result<(), StoreError> {
    for run_id in shared.store.owned(&shared.host).await? {
        if shared.registry.get(&run_id).is_some_and(|entry| entry.is_loaded()) {
            continue;
        }
        match shared.go_on_with_stray(&run_id).await {
            Ok(()) | Err(RecoverError::Ended { .. }) => {}
            Err(RecoverError::Store(error)) if error.is_passing() => return Err(error),
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "run {run_id} was this host's and cannot be driven here"
            ),
        }
    }
    Ok(())
}

/// Claims and loads all that is due; when the next run will be.
async fn round(shared: &Arc<Shared>, passed_over: &mut PassedOver) -> Result<Option<Millis>, StoreError> {
    passed_over.review(shared).await?;
    if shared.in_doubt.swap(false, Ordering::AcqRel) {
        go_on_with_strays(shared).await?;
    }
    loop {
        if !shared.begins() {
            return Ok(None);
        }
        let wanted = || Wanted {
            host: shared.host.clone(),
            now: shared.clock.now(),
            limit: MOST_AT_ONCE,
            except: passed_over.runs.clone(),
        };
        let claimed = shared.store.claim(wanted()).await?;
        shared.gauges.claimed.add(claimed.len() as u64);
        if claimed.is_empty() {
            let next = shared.store.next_due(wanted()).await?;
            let left = |at: Timestamp| Duration::from_millis(at.since(shared.clock.now()));
            return Ok(next.map(|at| shared.clock.after(left(at))));
        }
        for lease in claimed {
            let head = Arc::clone(&lease.head);
            let run_id = Arc::clone(&head.run_id);
            match shared.go_on_with(lease).await {
                // Of those that are not driven here by now, somebody else's record was faster.
                Ok(_) | Err(RecoverError::Store(StoreError::Conflict { .. } | StoreError::Fenced { .. })) => {
                }
                // It is this host's, and so is claimed by nobody.
                Err(RecoverError::Store(error)) if error.is_passing() => {
                    let entry = shared.registry.entry(&run_id);
                    let retaken = Arc::clone(shared).retake(entry, Arc::new(error), Vec::new());
                    shared.control.spawn(retaken);
                }
                Err(error) => {
                    if !shared.tidings.tell(&head, Became::PassedOver(error.to_string())) {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "run {run_id} is left to other hosts until it is written to, or there are other plugins"
                        );
                    }
                    passed_over.add(run_id);
                }
            }
        }
    }
}
