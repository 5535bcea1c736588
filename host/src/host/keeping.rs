//! How long runs that have ended are kept, and what becomes of those that nobody can go on with.

use std::{collections::BTreeMap, sync::Arc};

use phasm_engine::{
    phase::Phase,
    time::{Millis, Timestamp},
};

use super::Host;
use crate::{
    journal::RecoverError,
    store::{Claim, ReadStore, RunHead, Store, StoreError},
};

/// Runs deleted at once: what others write meanwhile does not wait long.
const BATCH: usize = 256;

/// How long runs that have ended are kept: no longer than each that is given allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// After they ended, in milliseconds.
    pub age: Option<Millis>,
    /// The last so many of a namespace.
    pub count: Option<u64>,
}

/// Which runs that have ended are deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// By namespace.
    pub namespaces: BTreeMap<Arc<str>, Keep>,
    /// In all other namespaces.
    pub others: Keep,
    /// Only those in this phase; they alone count.
    pub phase: Option<Phase>,
}

impl Retention {
    fn of(&self, namespace: &str) -> Keep {
        self.namespaces.get(namespace).copied().unwrap_or(self.others)
    }
}

/// The runs that a [`Retention`] lets go, as of `now`: all of them, or so that they can be deleted, `each` batch by itself.
async fn let_go(
    store: &dyn ReadStore,
    retention: &Retention,
    now: Timestamp,
    mut each: impl AsyncFnMut(Vec<Arc<RunHead>>) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    for namespace in store.namespaces().await? {
        let Keep { age, count } = retention.of(&namespace);
        if age.is_none() && count.is_none() {
            continue;
        }
        let before = age.map(|age| Timestamp(now.0.saturating_sub_unsigned(age)));
        let mut limit = BATCH;
        loop {
            let (all, rows) = store.ended(&namespace, retention.phase, limit).await?;
            let found = rows.len();
            let beyond = count.map_or(0, |count| all.saturating_sub(count));
            let is_old =
                |at: Option<Timestamp>| before.is_some_and(|before| at.is_some_and(|at| at < before));
            let goes =
                (0..).zip(rows).take_while(|(place, row)| *place < beyond || is_old(row.status.finished_at));
            let goes: Vec<_> = goes.map(|(_, row)| row.head).collect();
            let (full, whole) = (found == limit, goes.len() == found);
            let deleted = each(goes).await?;
            if !full || !whole {
                break;
            }
            // Where nothing is deleted the next ones come behind the same.
            limit = if deleted { BATCH } else { limit * 2 };
        }
    }
    Ok(())
}

/// The runs of a store that a retention lets go, as of `now`, the first that ended first in each namespace.
///
/// # Errors
/// When the store cannot be read.
pub async fn prunable(
    store: &dyn ReadStore,
    retention: &Retention,
    now: Timestamp,
) -> Result<Vec<Arc<RunHead>>, StoreError> {
    let mut found: BTreeMap<Arc<str>, Vec<Arc<RunHead>>> = BTreeMap::new();
    let_go(store, retention, now, async |goes| {
        if let Some(first) = goes.first() {
            found.insert(Arc::clone(&first.namespace), goes);
        }
        Ok(false)
    })
    .await?;
    Ok(found.into_values().flatten().collect())
}

/// Deletes the runs of a store that a retention lets go, as of `now`, a few at a time, so that others go on meanwhile; and gives their
/// room back. Returns how many.
///
/// # Errors
/// When the store fails; what was deleted by then is.
pub async fn prune(store: &dyn Store, retention: &Retention, now: Timestamp) -> Result<u64, StoreError> {
    let mut count = 0;
    let_go(store, retention, now, async |goes| {
        // They share commits.
        let deleting: Vec<_> = goes.iter().map(|head| store.delete(&head.run_id)).collect();
        for deleted in deleting {
            count += u64::from(deleted.await?);
        }
        while store.give_back().await? {}
        Ok(true)
    })
    .await?;
    Ok(count)
}

impl Host {
    /// Ends a run that nobody can go on with as Error, with a message that says why: where its journal is read that is recorded, and what
    /// is open is Cancelled; where it is not, only its row says that it has ended. Returns whether it was recorded.
    ///
    /// # Errors
    /// [`RecoverError::Ended`], [`RecoverError::Driven`] if a host has it, or when the store fails.
    pub async fn abandon(&self, run_id: &str, why: &str) -> Result<bool, RecoverError> {
        let shared = &self.shared;
        let entry = shared.registry.entry(&Arc::from(run_id));
        let _alone = entry.turning.lock().await;
        let driven = || RecoverError::Driven { run_id: run_id.into() };
        if entry.is_loaded() {
            return Err(driven());
        }
        let now = shared.clock.now();
        let lease = match shared.store.claim_run(&shared.host, run_id, now).await? {
            Claim::Leased(lease) => lease,
            Claim::Held(_) => return Err(driven()),
            Claim::Closed => {
                let row = shared.store.get(run_id).await?;
                let phase = row.map_or(Phase::Error, |row| row.status.phase);
                return Err(RecoverError::Ended { run_id: run_id.into(), phase });
            }
        };
        let passing =
            |error: &RecoverError| matches!(error, RecoverError::Store(error) if error.is_passing());
        match shared.replay(run_id).await {
            Ok((mut run, _)) => {
                let step = run.give_up(now, why);
                let handle = shared.drive(&entry, run, step, lease, Vec::new()).await?;
                let _ended = handle.wait().await;
                Ok(true)
            }
            Err(error) if passing(&error) => Err(error),
            Err(_) => {
                shared.store.abandon(&lease, now).await?;
                Ok(false)
            }
        }
    }
}
