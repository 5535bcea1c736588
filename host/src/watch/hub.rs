//! Hearing what a run does while it does it: who is told of its journal, and of what its guests say.
//!
//! Queues are bounded: whoever is slow misses records, and reads them in the store; lines and progress it misses for good.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use serde::Serialize;
use tokio::sync::mpsc;

use crate::journal::Told;
use phasm_sandbox::executor::Level;

/// What a watch has waiting for it at most; of a line that does not fit it only counts.
const QUEUE: usize = 4096;

/// Something a watcher hears.
#[derive(Clone, Debug)]
pub enum Notice {
    /// A record of the journal, durable.
    Record(Told),
    /// A guest wrote a line. Not in the journal.
    Log(Arc<LogLine>),
    /// A guest told how far it is. Not in the journal.
    Progress(Arc<ProgressNote>),
    /// So many lines and notes of progress were missed, as they came faster than they were read.
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
    missed: Arc<Misses>,
}

/// What did not fit into a queue.
#[derive(Debug, Default)]
pub(crate) struct Misses {
    pub(crate) records: AtomicBool,
    pub(crate) others: AtomicU64,
}

impl Listener {
    /// False once nobody reads what it takes.
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
    pub(crate) fn add(&self) -> (mpsc::Receiver<Notice>, Arc<Misses>) {
        let (notices, heard) = mpsc::channel(QUEUE);
        let missed = Arc::<Misses>::default();
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

    /// Nobody hears anything any more.
    pub(crate) fn close(&self) {
        self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
