//! Hearing what a run does while it does it: its journal, and what its guests say.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use phasm_engine::{
    event::{Event, Fence},
    run::{self, Run},
    time::Timestamp,
};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::{
    executor::{Level, Observer},
    logbook::Logbook,
    secrets::Secrets,
    store::AttemptLog,
};

/// Something a watcher hears.
#[derive(Clone, Debug)]
pub enum Notice {
    /// One event of the journal, durable, as `--events` prints it.
    Event(Arc<serde_json::Value>),
    /// A guest wrote a line. Not in the journal.
    Log(Arc<LogLine>),
    /// A guest told how far it is. Not in the journal.
    Progress(Arc<ProgressNote>),
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

/// Takes notices. They queue in memory until they are read.
pub(crate) type Listener = mpsc::UnboundedSender<Notice>;

/// Everybody who watches one run.
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
    pub(crate) fn add(&self, listener: Listener) {
        self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(listener);
        self.shared.any.store(true, Ordering::Release);
    }

    pub(crate) fn any(&self) -> bool {
        self.shared.any.load(Ordering::Acquire)
    }

    fn send(&self, notice: &Notice) {
        let mut listeners = self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener.send(notice.clone()).is_ok());
        self.shared.any.store(!listeners.is_empty(), Ordering::Release);
    }

    /// Tells a durable record's events. Nothing is rendered while nobody watches.
    pub(crate) fn tell(&self, run: &Run, first_seq: u64, time: Timestamp, events: &[Event]) {
        if !self.any() {
            return;
        }
        for event in run::render(run, first_seq, time, events) {
            self.send(&Notice::Event(Arc::new(event)));
        }
    }
}

/// Hears one attempt for the watchers, and for its run.
pub(crate) struct Ear {
    watchers: Watchers,
    task: Arc<str>,
    fence: Fence,
    secrets: Secrets,
    book: Logbook,
}

impl Ear {
    /// `kept` is how many bytes of the log are kept with the run.
    pub(crate) fn new(watchers: Watchers, run: &Run, fence: Fence, secrets: &Secrets, kept: usize) -> Self {
        let task = run.task(fence.task).map(|task| run.path(task)).unwrap_or_default().into();
        Self { watchers, task, ..Self::alone(fence, secrets, kept) }
    }

    /// Of an attempt whose run is driven elsewhere: what is kept of it goes there.
    pub(crate) fn alone(fence: Fence, secrets: &Secrets, kept: usize) -> Self {
        let (watchers, task) = (Watchers::default(), "".into());
        Self { watchers, task, fence, secrets: secrets.clone(), book: Logbook::new(kept) }
    }

    /// What is to be kept of the attempt, which is over, if it wrote anything.
    pub(crate) fn close(&self) -> Option<AttemptLog> {
        self.book.close(self.fence)
    }
}

impl Observer for Ear {
    fn log(&self, level: Level, text: &str) {
        let text = self.hide(text);
        self.book.write(level, &text);
        if self.watchers.any() {
            let (task, attempt) = (Arc::clone(&self.task), self.fence.attempt);
            let line = LogLine { task, attempt, level, text: text.into_owned() };
            self.watchers.send(&Notice::Log(Arc::new(line)));
        }
    }

    fn progress(&self, fraction: Option<f64>, text: &str) {
        if self.watchers.any() {
            let (task, attempt) = (Arc::clone(&self.task), self.fence.attempt);
            let note = ProgressNote { task, attempt, fraction, text: self.hide(text).into_owned() };
            self.watchers.send(&Notice::Progress(Arc::new(note)));
        }
    }

    fn activity(&self) {}

    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.secrets.hide(text)
    }
}
