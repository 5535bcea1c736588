//! Watching runs: subscribers to their journals, and to what their guests write.
//!
//! Queues are bounded: a slow subscriber misses records, and reads them from the store; lines and progress are lost for it.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use serde::Serialize;
use tokio::sync::mpsc;

use crate::journal::StepRecord;
use phasm_sandbox::executor::Level;

/// Most notices that wait for a watch; lines beyond are only counted.
const QUEUE: usize = 4096;

/// Something a watcher hears.
#[derive(Clone, Debug)]
pub enum Notice {
    /// A record of the journal, durable.
    Record(StepRecord),
    /// A guest wrote a line. Not in the journal.
    Log(Arc<LogLine>),
    /// A guest told how far it is. Not in the journal.
    Progress(Arc<ProgressNote>),
    /// Number of lines and progress notes that were missed, as they came faster than they were read.
    Missed(u64),
}

/// One line a guest wrote.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// `scope/taskName`.
    pub task: Arc<str>,
    /// The attempt that wrote it.
    pub attempt: u32,
    /// How severe it is.
    pub level: Level,
    /// The line, without its end, and without secrets.
    pub text: String,
}

/// How far an attempt is.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgressNote {
    /// `scope/taskName`.
    pub task: Arc<str>,
    /// The attempt that told it.
    pub attempt: u32,
    /// From 0 to 1, where known.
    pub fraction: Option<f64>,
    /// A few words.
    pub text: String,
}

/// Takes the notices of one watch.
#[derive(Debug)]
struct Listener {
    notices: mpsc::Sender<Notice>,
    missed: Arc<LagCounters>,
}

/// Notices that did not fit into a queue.
#[derive(Debug, Default)]
pub(crate) struct LagCounters {
    pub(crate) records: AtomicBool,
    pub(crate) others: AtomicU64,
}

impl Listener {
    /// Returns false once the subscriber is gone.
    fn send(&self, notice: &Notice) -> bool {
        match self.notices.try_send(notice.clone()) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Closed(_)) => false,
            Err(mpsc::error::TrySendError::Full(_)) => {
                if let Notice::Record(_) = notice {
                    self.missed.records.store(true, Ordering::Release);
                } else {
                    self.missed.others.fetch_add(1, Ordering::Relaxed);
                }
                true
            }
        }
    }
}

/// Everybody who watches one run in this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watchers {
    shared: Arc<Listeners>,
}

#[derive(Debug, Default)]
struct Listeners {
    any: AtomicBool,
    listeners: Mutex<Vec<Listener>>,
}

impl Watchers {
    pub(crate) fn add(&self) -> (mpsc::Receiver<Notice>, Arc<LagCounters>) {
        let (notices, heard) = mpsc::channel(QUEUE);
        let missed = Arc::<LagCounters>::default();
        let listener = Listener { notices, missed: Arc::clone(&missed) };
        self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(listener);
        self.shared.any.store(true, Ordering::Release);
        (heard, missed)
    }

    pub(crate) fn any(&self) -> bool {
        self.shared.any.load(Ordering::Acquire)
    }

    pub(crate) fn send(&self, notice: &Notice) {
        let mut listeners = self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener.send(notice));
        self.shared.any.store(!listeners.is_empty(), Ordering::Release);
    }

    /// Drops all subscribers.
    pub(crate) fn close(&self) {
        self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
