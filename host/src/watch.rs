//! Hearing what a run does while it does it: its journal, and what its guests say.
//!
//! ```text
//!  driver ── durable record ──▶ queue of each watch ──▶ Watch::next ──▶ the record, and the run right after it
//!  store  ── what was missed, or written by another host ──▲
//! ```
//!
//! Queues are bounded: whoever is slow misses records, and reads them in the store; lines and progress it misses for good.

mod ear;

use std::{
    collections::VecDeque,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use phasm_engine::{event::Event, run::Run};
use serde::Serialize;
use tokio::sync::{mpsc, watch};

pub(crate) use self::ear::Ear;
use crate::{
    executor::Level,
    journal::{self, EventView, RecoverError},
    registry::Entry,
    shared::Shared,
    store::{ReadStore, Record, StoreError},
};

/// What a watch has waiting for it at most; of a line that does not fit it only counts.
const QUEUE: usize = 4096;

/// Events that became durable together.
pub type Told = Record<Arc<Vec<Event>>>;

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
struct Misses {
    records: AtomicBool,
    others: AtomicU64,
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
    fn add(&self) -> (mpsc::Receiver<Notice>, Arc<Misses>) {
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

/// Where a watch reads what it did not hear.
enum Source {
    /// A host, which a watch does not keep from being closed. Runs that it drives itself are heard.
    Host(Weak<Shared>, Arc<Entry>),
    Reader(Arc<dyn ReadStore>),
}

impl Source {
    fn store(&self) -> Result<Arc<dyn ReadStore>, StoreError> {
        match self {
            Self::Host(shared, _) => match shared.upgrade() {
                Some(shared) => Ok(Arc::clone(&shared.store) as _),
                None => Err(StoreError::Stopped),
            },
            Self::Reader(reader) => Ok(Arc::clone(reader)),
        }
    }

    /// Whether all that is recorded is heard.
    fn hears(&self) -> bool {
        matches!(self, Self::Host(_, entry) if entry.is_loaded())
    }
}

/// One run as it is watched: each record of its journal from some event on, once and in order, whoever drives it; and, where that
/// is this process, what guests say meanwhile.
pub struct Watch {
    run_id: Arc<str>,
    source: Source,
    heard: mpsc::Receiver<Notice>,
    missed: Arc<Misses>,
    /// Told when others have written.
    written: watch::Receiver<()>,
    /// Whether nobody will tell that.
    alone: bool,
    since: u64,
    run: Option<Run>,
    read: VecDeque<Told>,
    /// Whether there may be something to read.
    stale: bool,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}

impl Watch {
    /// Watches a run of a host. What is recorded from now on is heard; `stale` says that something was before.
    pub(crate) fn new(shared: &Arc<Shared>, entry: &Arc<Entry>, since: u64, stale: bool) -> Self {
        let (heard, missed) = entry.watchers.add();
        let written = shared.store.follow(&entry.id);
        let source = Source::Host(Arc::downgrade(shared), Arc::clone(entry));
        let run_id = Arc::clone(&entry.id);
        let (run, read) = (None, VecDeque::new());
        Self { run_id, source, heard, missed, written, alone: false, since, run, read, stale }
    }

    /// Watches a run of a store that other processes write to, from its event `since` on. It ends with the run, or once nobody is
    /// left who would write.
    #[must_use]
    pub fn of(reader: Arc<dyn ReadStore>, run_id: &str, since: u64) -> Self {
        let (_, heard) = mpsc::channel(1);
        let written = reader.follow(run_id);
        Self {
            run_id: run_id.into(),
            source: Source::Reader(reader),
            heard,
            missed: Arc::default(),
            written,
            alone: false,
            since,
            run: None,
            read: VecDeque::new(),
            stale: true,
        }
    }

    /// The run right after the record that was told last; nothing before the first.
    #[must_use]
    pub const fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// What happens next; nothing once the run has ended, the host is closed, or nobody drives it who would say so. May be dropped
    /// and called again: nothing is lost.
    ///
    /// # Errors
    /// When the store cannot be read, or its records do not follow.
    pub async fn next(&mut self) -> Result<Option<Notice>, RecoverError> {
        loop {
            if let Some(told) = self.read.pop_front() {
                if self.apply(&told)? {
                    return Ok(Some(Notice::Record(told)));
                }
                continue;
            }
            self.stale |= self.missed.records.swap(false, Ordering::AcqRel);
            if self.stale {
                self.read_on().await?;
                self.stale = false;
                continue;
            }
            let missed = self.missed.others.swap(0, Ordering::AcqRel);
            if missed > 0 {
                return Ok(Some(Notice::Missed(missed)));
            }
            if self.is_over() {
                return Ok(self.last_words());
            }
            match self.hear().await {
                Heard::Notice(Notice::Record(told)) if self.follows(&told) => self.read.push_back(told),
                Heard::Notice(Notice::Record(_)) | Heard::Written => self.stale = true,
                Heard::Notice(notice) => return Ok(Some(notice)),
                Heard::Nothing => return Ok(None),
            }
        }
    }

    /// What has happened already, without waiting for more.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn try_next(&mut self) -> Result<Option<Notice>, RecoverError> {
        match pin!(self.next()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(next) => next,
            Poll::Pending => Ok(None),
        }
    }

    /// The record's events with what is to be known of them. It must be the one that was told last.
    pub fn views<'r>(&'r self, told: &'r Told) -> impl Iterator<Item = EventView<'r>> {
        let of = |run| journal::views(run, told.first_seq, told.time, &told.body);
        self.run().into_iter().flat_map(of)
    }

    /// What its last attempts said before it ended.
    fn last_words(&mut self) -> Option<Notice> {
        let heard = std::iter::from_fn(|| self.heard.try_recv().ok());
        { heard }.find(|notice| !matches!(notice, Notice::Record(_)))
    }

    fn is_over(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.is_over())
    }

    fn seq(&self) -> u64 {
        self.run.as_ref().map_or(0, |run| run.seq())
    }

    /// Whether the record is the next one, or one that was read before it was heard.
    fn follows(&self, told: &Told) -> bool {
        told.first_seq <= self.seq()
    }

    /// Goes on with the run; true if the record is wanted.
    fn apply(&mut self, told: &Told) -> Result<bool, RecoverError> {
        if told.first_seq < self.seq() {
            return Ok(false);
        }
        journal::apply(&mut self.run, &self.run_id, told)?;
        Ok(told.next_seq() > self.since)
    }

    async fn read_on(&mut self) -> Result<(), RecoverError> {
        let seq = self.seq();
        for record in self.source.store()?.load_since(&self.run_id, seq).await? {
            if record.first_seq >= seq {
                self.read.push_back(journal::told(&self.run_id, &record)?);
            }
        }
        Ok(())
    }

    async fn hear(&mut self) -> Heard {
        loop {
            let here = matches!(self.source, Source::Host(..));
            tokio::select! {
                biased;
                heard = self.heard.recv(), if here => {
                    return heard.map_or(Heard::Nothing, Heard::Notice);
                }
                changed = self.written.changed(), if !self.alone => match changed {
                    Ok(()) if self.source.hears() => {}
                    Ok(()) => return Heard::Written,
                    Err(_) => {
                        // What was written before it was said that nothing more will be.
                        self.alone = true;
                        return Heard::Written;
                    }
                },
                else => return Heard::Nothing,
            }
        }
    }
}

/// What ended a wait.
enum Heard {
    Notice(Notice),
    /// There is something to read.
    Written,
    /// Nobody says anything any more.
    Nothing,
}
