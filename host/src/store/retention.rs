//! How long runs that have ended are kept.

use std::{collections::BTreeMap, sync::Arc};

use phasm_engine::{
    phase::Phase,
    time::{Millis, Timestamp},
};

use phasm_artifacts::{ArtifactError, HostArtifacts};

use super::{ReadStore, RunHead, RunRow, Store, StoreError};

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

/// Result of deleting runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneResult {
    /// Number of deleted runs.
    pub deleted: u64,
    /// Damaged runs, which were left: their rows do not say when they ended.
    pub left: Vec<RunRow>,
}

/// Runs that a retention lets go, of one namespace.
#[derive(Default)]
struct Page {
    goes: Vec<Arc<RunHead>>,
    left: Vec<RunRow>,
    /// Whether there may be more.
    more: bool,
}

/// Returns the runs to delete among the first `limit` runs of a namespace that ended.
async fn page(
    store: &dyn ReadStore,
    namespace: &str,
    phase: Option<Phase>,
    keep: Keep,
    now: Timestamp,
    limit: usize,
) -> Result<Page, StoreError> {
    let Keep { age, count } = keep;
    let before = age.map(|age| Timestamp(now.0.saturating_sub_unsigned(age)));
    let (all, rows) = store.ended(namespace, phase, limit).await?;
    let found = rows.len();
    let beyond = count.map_or(0, |count| all.saturating_sub(count));
    let is_old = |at: Option<Timestamp>| before.is_some_and(|before| at.is_some_and(|at| at < before));
    let mut page = Page::default();
    for (place, row) in (0..).zip(rows) {
        if row.damaged.is_some() {
            page.left.push(row);
        } else if place < beyond || is_old(row.status.finished_at) {
            page.goes.push(row.head);
        } else {
            break;
        }
    }
    page.more = found == limit && page.goes.len() + page.left.len() == found;
    Ok(page)
}

/// The runs of a store that a retention lets go, as of `now`, the first that ended first in each namespace; and those that are
/// damaged, which stay.
///
/// # Errors
/// When the store cannot be read.
pub async fn prunable(
    store: &dyn ReadStore,
    retention: &Retention,
    now: Timestamp,
) -> Result<(Vec<Arc<RunHead>>, Vec<RunRow>), StoreError> {
    let (mut found, mut left) = (Vec::new(), Vec::new());
    for (namespace, keep) in bounded(store, retention).await? {
        let mut limit = BATCH;
        let page = loop {
            let page = page(store, &namespace, retention.phase, keep, now, limit).await?;
            if !page.more {
                break page;
            }
            // Nothing is deleted: the next ones come behind the same.
            limit *= 2;
        };
        found.extend(page.goes);
        left.extend(page.left);
    }
    Ok((found, left))
}

/// Deletes the runs of a store that a retention lets go, as of `now`, a few at a time, so that others go on meanwhile; and gives their
/// room back. Artifacts that no other run names are deleted with them. Damaged runs are left, and returned.
///
/// # Errors
/// When the store fails; what was deleted by then is.
pub async fn prune(
    store: &dyn Store,
    retention: &Retention,
    now: Timestamp,
    artifacts: &HostArtifacts,
) -> Result<PruneResult, StoreError> {
    let mut pruned = PruneResult::default();
    for (namespace, keep) in bounded(store, retention).await? {
        let mut left = Vec::new();
        loop {
            let limit = BATCH + left.len();
            let page = page(store, &namespace, retention.phase, keep, now, limit).await?;
            // They share commits.
            let deleting: Vec<_> = page.goes.iter().map(|head| store.delete(&head.run_id)).collect();
            let (before, known) = (pruned.deleted, left.len());
            for deleted in deleting {
                pruned.deleted += u64::from(deleted.await?);
            }
            // Artifacts go after the runs that name them. Those that a crash leaves are found later.
            let gone = page.goes.iter().map(|head| Arc::clone(&head.run_id)).collect();
            artifacts.forget(&namespace, gone).await;
            while store.give_back().await? {}
            left = page.left;
            if !page.more || (pruned.deleted == before && left.len() == known) {
                break;
            }
        }
        pruned.left.extend(left);
    }
    // Also where no run was deleted: hosts come and go.
    while store.give_back().await? {}
    Ok(pruned)
}

/// Forgets artifacts of runs that are not in the store, and uploads that no run names after a day: what failed submissions and ended
/// processes left. Each run with artifacts is looked up.
///
/// # Errors
/// When the folder of artifacts cannot be read or written.
pub async fn forget_lost_artifacts(
    store: &dyn ReadStore,
    artifacts: &HostArtifacts,
) -> Result<(), ArtifactError> {
    for owner in artifacts.old_owners().await? {
        // A run that cannot be read may be there.
        if matches!(store.get(&owner.run_id).await, Ok(None)) {
            artifacts.forget(&owner.namespace, vec![owner.run_id]).await;
        }
    }
    Ok(())
}

/// The namespaces of which not all runs are kept.
async fn bounded(store: &dyn ReadStore, retention: &Retention) -> Result<Vec<(Arc<str>, Keep)>, StoreError> {
    let namespaces = store.namespaces().await?;
    let kept = namespaces.into_iter().map(|namespace| (Arc::clone(&namespace), retention.of(&namespace)));
    Ok(kept.filter(|(_, keep)| *keep != Keep::default()).collect())
}
