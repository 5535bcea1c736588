//! Subscriptions to writes of single runs.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::watch;

/// Runs of a store that have subscribers. Without subscribers no lookup is made.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    any: AtomicBool,
    runs: Mutex<HashMap<Arc<str>, Arc<watch::Sender<()>>>>,
}

impl Subscriptions {
    pub(super) fn follow(&self, run_id: &str) -> watch::Receiver<()> {
        let mut runs = self.runs();
        runs.retain(|_, told| told.receiver_count() > 0);
        let following = runs.entry(run_id.into()).or_default().subscribe();
        self.any.store(true, Ordering::Release);
        following
    }

    /// Returns the sender to notify once the run was written to.
    pub(super) fn of(&self, run_id: &str) -> Option<Arc<watch::Sender<()>>> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut runs = self.runs();
        let told = runs.get(run_id)?;
        if told.receiver_count() > 0 {
            return Some(Arc::clone(told));
        }
        runs.remove(run_id);
        self.any.store(!runs.is_empty(), Ordering::Release);
        None
    }

    /// All that are followed.
    #[cfg(feature = "postgres")]
    pub(super) fn all(&self) -> Vec<(Arc<str>, Arc<watch::Sender<()>>)> {
        let mut runs = self.runs();
        runs.retain(|_, told| told.receiver_count() > 0);
        self.any.store(!runs.is_empty(), Ordering::Release);
        runs.iter().map(|(run_id, told)| (Arc::clone(run_id), Arc::clone(told))).collect()
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<watch::Sender<()>>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
