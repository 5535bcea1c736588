//! Runs that this process drives or refers to.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, atomic::AtomicU64},
};

use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    dispatch::run_task::RunTask,
    run::message::{DriveStatus, Message},
    store::StoreError,
    watch::hub::Watchers,
};

/// Entries of the runs that are driven here, or that have a handle here.
#[derive(Debug, Default)]
pub(crate) struct Registry(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    runs: HashMap<Arc<str>, Weak<Entry>>,
    /// At this size, entries without a user are dropped.
    sweep_at: usize,
}

/// The state that drivers and handles of a run share.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: Arc<str>,
    /// Where its driver hears, if it is loaded.
    driver: Mutex<Option<mpsc::UnboundedSender<Message>>>,
    /// The task that drives it.
    task: Mutex<Option<Arc<RunTask>>>,
    /// Epoch of the lease under which it was driven last.
    pub(crate) epoch: AtomicU64,
    pub(crate) status: watch::Sender<DriveStatus>,
    /// Told of every commit of the run.
    pub(crate) commits: watch::Sender<()>,
    pub(crate) watchers: Watchers,
    /// Held while it is loaded or given back, so that neither is done twice.
    pub(crate) load_lock: tokio::sync::Mutex<()>,
}

impl Entry {
    fn new(id: &Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            id: Arc::clone(id),
            driver: Mutex::default(),
            task: Mutex::default(),
            epoch: AtomicU64::default(),
            status: watch::Sender::default(),
            commits: watch::Sender::default(),
            watchers: Watchers::default(),
            load_lock: tokio::sync::Mutex::default(),
        })
    }

    /// Sends a message to the driver. An undelivered one comes back: the run is not loaded.
    pub(crate) fn tell(&self, message: Message) -> Result<(), Message> {
        let Some(driver) = self.driver().clone() else { return Err(message) };
        driver.send(message).map_err(|unheard| unheard.0)
    }

    pub(crate) fn is_loaded(&self) -> bool {
        self.driver().as_ref().is_some_and(|driver| !driver.is_closed())
    }

    /// Has the driver leave the run.
    pub(crate) async fn dismiss(&self) {
        let (waits, left) = oneshot::channel();
        // One that leaves anyway drops it, too.
        drop(self.tell(Message::HandOver(waits)));
        let _dropped = left.await;
    }

    pub(crate) fn set_driver(&self, driver: Option<mpsc::UnboundedSender<Message>>) {
        *self.driver() = driver;
    }

    /// A record of the run has become durable.
    pub(crate) fn tell_commit(&self) {
        // Sending to no receiver takes time as well.
        if self.commits.receiver_count() > 0 {
            self.commits.send_replace(());
        }
    }

    /// Replaces the task that drives the run; the one before is cleared.
    pub(crate) fn set_task(&self, task: Option<Arc<RunTask>>) {
        let before = mem::replace(&mut *self.task.lock().unwrap_or_else(PoisonError::into_inner), task);
        if let Some(before) = before {
            before.clear();
        }
    }

    fn driver(&self) -> MutexGuard<'_, Option<mpsc::UnboundedSender<Message>>> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the run as lost: it does not continue here.
    pub(crate) fn lose(&self, error: Arc<StoreError>) {
        self.status.send_replace(DriveStatus::Lost(error));
        self.watchers.close();
    }

    fn close(&self) {
        self.watchers.close();
        self.status.send_if_modified(|status| {
            let goes_on = matches!(status, DriveStatus::Active | DriveStatus::Parked);
            if goes_on {
                *status = DriveStatus::Closed;
            }
            goes_on
        });
    }
}

impl Registry {
    /// The entry of a run; a new one if there is none.
    pub(crate) fn entry(&self, run_id: &Arc<str>) -> Arc<Entry> {
        let mut known = self.lock();
        if let Some(entry) = known.runs.get(run_id).and_then(Weak::upgrade) {
            return entry;
        }
        let entry = Entry::new(run_id);
        known.runs.insert(Arc::clone(run_id), Arc::downgrade(&entry));
        known.sweep();
        entry
    }

    /// The entry of a run, if there is one.
    pub(crate) fn get(&self, run_id: &str) -> Option<Arc<Entry>> {
        self.lock().runs.get(run_id)?.upgrade()
    }

    /// How many runs are loaded.
    pub(crate) fn loaded(&self) -> usize {
        self.entries().iter().filter(|entry| entry.is_loaded()).count()
    }

    /// Every run stands still from now on.
    pub(crate) fn stop(&self) {
        self.entries().iter().for_each(|entry| entry.set_task(None));
    }

    /// Every run that is loaded hears this.
    pub(crate) fn tell_all(&self, message: impl Fn() -> Message) {
        // One that is not loaded has nothing to hear.
        self.entries().iter().for_each(|entry| drop(entry.tell(message())));
    }

    /// Ends every wait for the run.
    pub(crate) fn close(&self) {
        self.entries().iter().for_each(|entry| entry.close());
    }

    fn entries(&self) -> Vec<Arc<Entry>> {
        self.lock().runs.values().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Each entry is looked at so often as its number doubles, which is twice on average.
    fn sweep(&mut self) {
        if self.runs.len() > self.sweep_at {
            self.runs.retain(|_, entry| entry.strong_count() > 0);
            self.sweep_at = (self.runs.len() * 2).max(64);
        }
    }
}
