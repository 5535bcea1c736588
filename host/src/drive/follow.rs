//! One run as it is watched.
//!
//! ```text
//!  driver ── durable record ──▶ queue of each watch ──▶ Watch::next ──▶ the record, and the run right after it
//!  store  ── what was missed, or written by another host ──▲
//! ```

use std::{
    collections::VecDeque,
    pin::pin,
    sync::{Arc, Weak, atomic::Ordering},
    task::{Context, Poll, Waker},
};

use phasm_engine::{
    event::{Event, TaskId},
    run::Run,
};
use tokio::sync::{mpsc, watch};

use crate::{
    core::HostCore,
    journal::{self, EventView, RecoverError, StepRecord, outline::PART_BYTES, plan_cache::PlanCache},
    run::{message::DriveStatus, registry::Entry},
    store::{ReadStore, StoreError},
    watch::hub::{LagCounters, Notice},
};

/// Where a watch reads what it did not hear.
enum Origin {
    /// A host, which a watch does not keep from being closed. Runs that it drives itself are heard.
    Host {
        shared: Weak<HostCore>,
        entry: Arc<Entry>,
        status: watch::Receiver<DriveStatus>,
    },
    Reader(Arc<dyn ReadStore>),
}

impl Origin {
    fn store(&self) -> Result<Arc<dyn ReadStore>, StoreError> {
        match self {
            Self::Host { shared, .. } => match shared.upgrade() {
                Some(shared) => Ok(Arc::clone(&shared.store) as _),
                None => Err(StoreError::Stopped),
            },
            Self::Reader(reader) => Ok(Arc::clone(reader)),
        }
    }

    /// Whether all that is recorded is heard.
    fn hears(&self) -> bool {
        matches!(self, Self::Host { entry, .. } if entry.is_loaded())
    }

    /// When it may have become another matter whether it is.
    async fn moves(&mut self) {
        let moved = match self {
            Self::Host { status, .. } => status.changed().await.is_ok(),
            Self::Reader(_) => false,
        };
        if !moved {
            std::future::pending::<()>().await;
        }
    }
}

/// A watch of one run: each record of its journal from some event on, once and in order, whichever host drives it; and, if that
/// is this process, what guests write meanwhile.
pub struct Watch {
    run_id: Arc<str>,
    origin: Origin,
    heard: mpsc::Receiver<Notice>,
    missed: Arc<LagCounters>,
    hearing: Hearing,
    plans: Arc<PlanCache>,
    since: u64,
    run: Option<Run>,
    read: VecDeque<StepRecord>,
    /// Whether there may be something to read.
    stale: bool,
    /// Task runs that have ended with the record that was told last, if the run keeps values only until they are shown.
    shown: Option<Vec<TaskId>>,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}

impl Watch {
    /// Watches a run of a host. Later records are heard; `stale` says that there may be earlier ones in the store.
    pub(crate) fn new(shared: &Arc<HostCore>, entry: &Arc<Entry>, since: u64, stale: bool) -> Self {
        let (heard, missed) = entry.watchers.add();
        let status = entry.status.subscribe();
        let origin = Origin::Host { shared: Arc::downgrade(shared), entry: Arc::clone(entry), status };
        let (run_id, plans) = (Arc::clone(&entry.id), Arc::clone(&shared.plans));
        let (run, read) = (None, VecDeque::new());
        Self {
            run_id,
            origin,
            heard,
            missed,
            hearing: Hearing::Here,
            plans,
            since,
            run,
            read,
            stale,
            shown: None,
        }
    }

    /// Watches a run of a store that other processes write to, from its event `since` on. The watch ends with the run, or once no
    /// process is left that drives it.
    #[must_use]
    pub fn of(reader: Arc<dyn ReadStore>, run_id: &str, since: u64) -> Self {
        Self::reading(reader, Arc::default(), run_id, since)
    }

    /// [`Self::of`] with a cache of plans.
    pub(crate) fn reading(
        reader: Arc<dyn ReadStore>,
        plans: Arc<PlanCache>,
        run_id: &str,
        since: u64,
    ) -> Self {
        let (_, heard) = mpsc::channel(1);
        Self {
            run_id: run_id.into(),
            origin: Origin::Reader(reader),
            heard,
            missed: Arc::default(),
            hearing: Hearing::Here,
            plans,
            since,
            run: None,
            read: VecDeque::new(),
            stale: true,
            shown: None,
        }
    }

    /// The same for a reader that only shows events: values of task runs that have ended are dropped once they are told.
    pub(crate) fn forgetful(self) -> Self {
        Self { shown: Some(Vec::new()), ..self }
    }

    /// Has [`known`](Self::known) look whether more was recorded meanwhile.
    pub fn look_again(&mut self) {
        self.stale = true;
    }

    /// The run right after the record that was told last; nothing before the first.
    #[must_use]
    pub const fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// Returns the next notice; none once the run has ended, the host is closed, or no process drives the run. May be dropped and
    /// called again: nothing is lost.
    ///
    /// # Errors
    /// When the store cannot be read, or its records do not follow.
    pub async fn next(&mut self) -> Result<Option<Notice>, RecoverError> {
        loop {
            match self.heard().await? {
                WatchSignal::Notice(notice) => return Ok(Some(notice)),
                WatchSignal::Nothing => return Ok(None),
                WatchSignal::Unread => {}
            }
            if let Some(notice) = self.known().await? {
                return Ok(Some(notice));
            }
        }
    }

    /// Waits for a notice, and never reads the store: a caller that must not compute for long has [`known`](Self::known) do that
    /// elsewhere, until there is nothing more to read. May be dropped and called again, as [`next`](Self::next).
    ///
    /// # Errors
    /// When a record does not follow.
    pub async fn heard(&mut self) -> Result<WatchSignal, RecoverError> {
        if self.read.is_empty() { self.advance(true).await } else { Ok(WatchSignal::Unread) }
    }

    /// Returns a notice that is there already; none if more is to come. May read the store.
    ///
    /// # Errors
    /// The errors of [`next`](Self::next).
    pub async fn known(&mut self) -> Result<Option<Notice>, RecoverError> {
        loop {
            match self.advance(false).await? {
                WatchSignal::Notice(notice) => return Ok(Some(notice)),
                WatchSignal::Nothing => return Ok(None),
                WatchSignal::Unread => self.stale = !self.read_on().await?,
            }
        }
    }

    /// Returns the next notice that was read or received. Without one it waits, if it is to.
    async fn advance(&mut self, waits: bool) -> Result<WatchSignal, RecoverError> {
        loop {
            if let Some(told) = self.read.pop_front() {
                if self.apply(&told)? {
                    return Ok(WatchSignal::Notice(Notice::Record(told)));
                }
                continue;
            }
            self.stale |= self.missed.records.swap(false, Ordering::AcqRel);
            if self.stale {
                return Ok(WatchSignal::Unread);
            }
            let missed = self.missed.others.swap(0, Ordering::AcqRel);
            if missed > 0 {
                return Ok(WatchSignal::Notice(Notice::Missed(missed)));
            }
            if self.is_over() {
                return Ok(self.last_words().map_or(WatchSignal::Nothing, WatchSignal::Notice));
            }
            let heard = if waits { self.hear().await } else { self.heard_already() };
            match heard {
                WakeReason::Notice(Notice::Record(told)) if self.follows(&told) => self.read.push_back(told),
                WakeReason::Notice(Notice::Record(_)) | WakeReason::Written => self.stale = true,
                WakeReason::Notice(notice) => return Ok(WatchSignal::Notice(notice)),
                WakeReason::Nothing => return Ok(WatchSignal::Nothing),
            }
        }
    }

    /// Returns a notice that was received already, without waiting.
    ///
    /// # Errors
    /// The errors of [`next`](Self::next).
    pub fn try_next(&mut self) -> Result<Option<Notice>, RecoverError> {
        match pin!(self.next()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(next) => next,
            Poll::Pending => Ok(None),
        }
    }

    /// The record's events with what is to be known of them. It must be the one that was told last.
    pub fn views<'r>(&'r self, told: &'r StepRecord) -> impl Iterator<Item = EventView<'r>> {
        let of = |run| journal::views(run, told.first_seq, told.time, &told.body);
        self.run().into_iter().flat_map(of)
    }

    /// Lines that its last attempts wrote before the run ended.
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
    fn follows(&self, told: &StepRecord) -> bool {
        told.first_seq <= self.seq()
    }

    /// Advances the run; returns true if the record is wanted.
    fn apply(&mut self, told: &StepRecord) -> Result<bool, RecoverError> {
        if told.first_seq < self.seq() {
            return Ok(false);
        }
        if let (Some(shown), Some(run)) = (&mut self.shown, &mut self.run) {
            shown.drain(..).for_each(|task| run.forget_values(task));
        }
        journal::apply(&self.plans, &mut self.run, &self.run_id, told)?;
        if let Some(shown) = &mut self.shown {
            shown.extend(told.body.iter().filter_map(ended));
        }
        Ok(told.next_seq() > self.since)
    }

    /// Reads records that it has not had; false if there are more.
    async fn read_on(&mut self) -> Result<bool, RecoverError> {
        let seq = self.seq();
        let part = self.origin.store()?.load_part(&self.run_id, seq, PART_BYTES).await?;
        for record in part.records {
            let told = journal::told(&self.plans, &self.run_id, &record)?;
            self.read.extend(told.into_iter().filter(|told| told.first_seq >= seq));
        }
        Ok(part.is_last)
    }

    fn heard_already(&mut self) -> WakeReason {
        self.heard.try_recv().map_or(WakeReason::Nothing, WakeReason::Notice)
    }

    async fn hear(&mut self) -> WakeReason {
        loop {
            let is_host = matches!(self.origin, Origin::Host { .. });
            match (self.origin.hears(), &self.hearing) {
                // There is no source of notices.
                (true, _) => self.hearing = Hearing::Here,
                (false, Hearing::Here) => {
                    let Ok(store) = self.origin.store() else { return WakeReason::Nothing };
                    self.hearing = Hearing::Followed(store.follow(&self.run_id));
                    // Records that were written before.
                    return WakeReason::Written;
                }
                (false, Hearing::Followed(_) | Hearing::OfNobody) => {}
            }
            tokio::select! {
                biased;
                heard = self.heard.recv(), if is_host => {
                    return heard.map_or(WakeReason::Nothing, WakeReason::Notice);
                }
                () = self.hearing.changes(), if !matches!(self.hearing, Hearing::OfNobody) => return WakeReason::Written,
                () = self.origin.moves(), if is_host => {}
                else => return WakeReason::Nothing,
            }
        }
    }
}

/// Result of waiting for a notice without reading the store.
#[derive(Debug)]
pub enum WatchSignal {
    /// A notice.
    Notice(Notice),
    /// The store may have more, which [`Watch::known`] reads.
    Unread,
    /// The run has ended, the host is closed, or no process drives the run.
    Nothing,
}

/// The task run that an event ends.
fn ended(event: &Event) -> Option<TaskId> {
    let Event::Phase(change) = event else { return None };
    change.to.is_terminal().then_some(change.task)
}

/// How it is known that there is something to read.
enum Hearing {
    /// Notices are received, as far as is known.
    Here,
    /// The writing process reports commits.
    Followed(watch::Receiver<()>),
    /// No process will write any more.
    OfNobody,
}

impl Hearing {
    /// Resolves when something was written, or no process will write any more.
    async fn changes(&mut self) {
        let Self::Followed(written) = self else { return std::future::pending().await };
        if written.changed().await.is_err() {
            *self = Self::OfNobody;
        }
    }
}

/// The reason why a wait ended.
enum WakeReason {
    Notice(Notice),
    /// There is something to read.
    Written,
    /// No more notices come.
    Nothing,
}
