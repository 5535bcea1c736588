//! How long runs that have ended are kept.

use std::{collections::BTreeMap, sync::Arc};

use phasm_engine::{
    phase::Phase,
    time::{Millis, Timestamp},
};

use super::{ReadStore, RunHead, Store, StoreError};

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
    /// Whether nothing is deleted.
    pub(crate) fn keeps_all(&self) -> bool {
        let keeps = |keep: &Keep| *keep == Keep::default();
        keeps(&self.others) && self.namespaces.values().all(keeps)
    }

    fn of(&self, namespace: &str) -> Keep {
        self.namespaces.get(namespace).copied().unwrap_or(self.others)
    }
}

/// Returns the runs to delete among the first `limit` runs of a namespace that ended, and whether there may be more.
async fn page(
    store: &dyn ReadStore,
    namespace: &str,
    phase: Option<Phase>,
    keep: Keep,
    now: Timestamp,
    limit: usize,
) -> Result<(Vec<Arc<RunHead>>, bool), StoreError> {
    let Keep { age, count } = keep;
    let before = age.map(|age| Timestamp(now.0.saturating_sub_unsigned(age)));
    let (all, rows) = store.ended(namespace, phase, limit).await?;
    let found = rows.len();
    let beyond = count.map_or(0, |count| all.saturating_sub(count));
    let is_old = |at: Option<Timestamp>| before.is_some_and(|before| at.is_some_and(|at| at < before));
    let goes = (0..).zip(rows).take_while(|(place, row)| *place < beyond || is_old(row.status.finished_at));
    let goes: Vec<_> = goes.map(|(_, row)| row.head).collect();
    let more = found == limit && goes.len() == found;
    Ok((goes, more))
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
    let mut found = Vec::new();
    for (namespace, keep) in bounded(store, retention).await? {
        let mut limit = BATCH;
        found.extend(loop {
            let (goes, more) = page(store, &namespace, retention.phase, keep, now, limit).await?;
            if !more {
                break goes;
            }
            // Nothing is deleted: the next ones come behind the same.
            limit *= 2;
        });
    }
    Ok(found)
}

/// Deletes the runs of a store that a retention lets go, as of `now`, a few at a time, so that others go on meanwhile; and gives their
/// room back. Returns how many.
///
/// # Errors
/// When the store fails; what was deleted by then is.
pub async fn prune(store: &dyn Store, retention: &Retention, now: Timestamp) -> Result<u64, StoreError> {
    let mut count = 0;
    for (namespace, keep) in bounded(store, retention).await? {
        loop {
            let (goes, more) = page(store, &namespace, retention.phase, keep, now, BATCH).await?;
            // They share commits.
            let deleting: Vec<_> = goes.iter().map(|head| store.delete(&head.run_id)).collect();
            for deleted in deleting {
                count += u64::from(deleted.await?);
            }
            while store.give_back().await? {}
            if !more {
                break;
            }
        }
    }
    // Also where no run was deleted: hosts come and go.
    while store.give_back().await? {}
    Ok(count)
}

/// The namespaces of which not all runs are kept.
async fn bounded(store: &dyn ReadStore, retention: &Retention) -> Result<Vec<(Arc<str>, Keep)>, StoreError> {
    let namespaces = store.namespaces().await?;
    let kept = namespaces.into_iter().map(|namespace| (Arc::clone(&namespace), retention.of(&namespace)));
    Ok(kept.filter(|(_, keep)| *keep != Keep::default()).collect())
}
