//! Which runs this host drives.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::handle::RunHandle;

/// The runs a host drives.
#[derive(Debug, Default)]
pub(crate) struct Registry(Mutex<HashMap<Arc<str>, RunHandle>>);

impl Registry {
    pub(crate) fn get(&self, run_id: &str) -> Option<RunHandle> {
        self.handles().get(run_id).cloned()
    }

    pub(crate) fn add(&self, handle: RunHandle) {
        self.handles().insert(Arc::clone(&handle.id), handle);
    }

    pub(crate) fn remove(&self, run_id: &str) {
        self.handles().remove(run_id);
    }

    fn handles(&self) -> MutexGuard<'_, HashMap<Arc<str>, RunHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
