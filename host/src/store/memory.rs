//! Runs kept in this process and nowhere else.

mod catalog;
mod documents;
mod exchange;
mod outbox;
mod state;

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio::sync::watch;

use self::state::{Run, State, encoded, urgency};
use super::{
    Answer, AttemptLog, Catalog, CatalogEntry, Census, Change, Claim, ClaimRequest, DuePlace, Encode,
    EntryName, EntryQuery, Exchange, ExchangeRequest, ExchangeResponse, Filter, HostId, Journal, JournalPart,
    Lease, Leases, Letter, Mailbox, NewNotice, Note, NoticeRow, Notices, Outbox, Pending, ReadStore, Record,
    Reply, RunRow, RunStatus, Settle, Store, StoreError, StoredBytes, subscriptions::Subscriptions,
};
use crate::metrics::{CommitCounters, CommitCounts};

/// Store without a file: "durable" means until the process ends.
///
/// Open runs are always kept. The oldest closed runs are forgotten, row and journal, as soon as all
/// closed runs together hold more events than the limit; the run closed last always stays.
pub struct Memory {
    kept: Mutex<State>,
    changed: watch::Sender<()>,
    entries_changed: watch::Sender<()>,
    notices_changed: watch::Sender<()>,
    shared: watch::Sender<()>,
    followed: Subscriptions,
    commits: CommitCounters,
}

impl Memory {
    /// How many events of closed runs [`Memory::default`] keeps.
    pub const CLOSED_EVENTS: u64 = 1 << 20;

    /// An empty store that keeps up to `closed_events` events of closed runs.
    #[must_use]
    pub fn new(closed_events: u64) -> Self {
        let kept = Mutex::new(State { limit: closed_events, ..State::default() });
        Self {
            kept,
            changed: watch::Sender::new(()),
            entries_changed: watch::Sender::new(()),
            notices_changed: watch::Sender::new(()),
            shared: watch::Sender::new(()),
            followed: Subscriptions::default(),
            commits: CommitCounters::default(),
        }
    }

    /// Tells of a change, if there is one.
    fn tell<T: Send + 'static>(&self, done: Result<T, StoreError>) -> Pending<T> {
        if done.is_ok() {
            self.changed.send_replace(());
        }
        Pending::ready(done)
    }

    /// Tells of another entry, if there is one.
    fn tell_entries<T: Send + 'static>(&self, done: Result<T, StoreError>) -> Pending<T> {
        if done.is_ok() {
            self.entries_changed.send_replace(());
        }
        Pending::ready(done)
    }

    /// Every change to `State` is complete before anything that could panic, so a poisoned lock guards sound data.
    fn kept(&self) -> MutexGuard<'_, State> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new(Self::CLOSED_EVENTS)
    }
}

impl ReadStore for Memory {
    fn load_since(&self, run_id: &str, since: u64) -> Pending<Vec<Record<Vec<u8>>>> {
        let part = self.load_part(run_id, since, usize::MAX);
        Pending::new(async move { Ok(part.await?.records) })
    }

    fn load_part(&self, run_id: &str, since: u64, most: usize) -> Pending<JournalPart> {
        let part = self.kept().run(run_id).map(|run| run.part(since, most));
        let run_id = Arc::from(run_id);
        Pending::ready(part.ok_or(StoreError::NotFound { run_id }))
    }

    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        Pending::ready(Ok(self.kept().run(run_id).map(|run| run.row.clone())))
    }

    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        let mut rows = self.kept().rows(|row| filter.fits(row));
        rows.sort_unstable_by_key(|row| Reverse(row.number));
        rows.truncate(limit);
        Pending::ready(Ok(rows))
    }

    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        let mut rows = self.kept().rows(|row| row.status.open);
        rows.sort_unstable_by_key(urgency);
        Pending::ready(Ok(rows))
    }

    fn census(&self, at: Timestamp) -> Pending<Census> {
        let mut census = Census::default();
        let kept = self.kept();
        kept.rows(|row| row.status.open).iter().for_each(|row| census.count(row, at));
        let letters = |run_id: &Arc<str>| kept.run(run_id).map_or(0, |run| run.letters.len() as u64);
        census.letters = kept.mail.iter().map(letters).sum();
        drop(kept);
        Pending::ready(Ok(census))
    }

    fn namespaces(&self) -> Pending<Vec<Arc<str>>> {
        let rows = self.kept().rows(|row| !row.status.open);
        let names: BTreeSet<_> = rows.iter().map(|row| Arc::clone(&row.head.namespace)).collect();
        Pending::ready(Ok(names.into_iter().collect()))
    }

    fn ended(&self, namespace: &str, phase: Option<Phase>, limit: usize) -> Pending<(u64, Vec<RunRow>)> {
        let wanted = |row: &RunRow| {
            !row.status.open
                && &*row.head.namespace == namespace
                && phase.is_none_or(|phase| phase == row.status.phase)
        };
        let mut rows = self.kept().rows(wanted);
        let count = rows.len() as u64;
        rows.sort_unstable_by_key(|row| (row.status.finished_at, row.number));
        rows.truncate(limit);
        Pending::ready(Ok((count, rows)))
    }

    fn tenants(&self) -> Pending<Option<Arc<str>>> {
        Pending::ready(Ok(self.kept().tenants.clone()))
    }

    fn stored(&self, namespaces: Vec<Arc<str>>) -> Pending<StoredBytes> {
        let mut stored = StoredBytes::new();
        for run in self.kept().runs.values().filter(|run| run.bytes > 0) {
            let namespace = &run.row.head.namespace;
            if namespaces.is_empty() || namespaces.contains(namespace) {
                *stored.entry(Arc::clone(namespace)).or_default() += run.bytes;
            }
        }
        Pending::ready(Ok(stored))
    }

    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        Pending::ready(Ok(self.kept().documents.component(digest)))
    }

    fn answer(&self, run_id: &str, letter: u64) -> Pending<Answer> {
        Pending::ready(Ok(self.kept().run(run_id).map_or(Answer::Unknown, |run| run.answer(letter))))
    }

    fn logs(&self, run_id: &str, task: Option<u32>) -> Pending<Vec<AttemptLog>> {
        let wanted = |log: &&AttemptLog| task.is_none_or(|task| task == log.task);
        let of_run = |run: &Run| run.logs.values().filter(wanted).cloned().collect();
        Pending::ready(Ok(self.kept().run(run_id).map(of_run).unwrap_or_default()))
    }

    fn entry(&self, name: &EntryName) -> Pending<Option<CatalogEntry>> {
        Pending::ready(Ok(self.kept().catalog.entry(name)))
    }

    fn entries(&self, wanted: EntryQuery) -> Pending<Vec<CatalogEntry>> {
        Pending::ready(Ok(self.kept().catalog.entries(&wanted)))
    }

    fn due_entries(&self, after: Option<DuePlace>, limit: usize) -> Pending<Vec<CatalogEntry>> {
        Pending::ready(Ok(self.kept().catalog.due(after.as_ref(), limit)))
    }

    fn text(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        Pending::ready(Ok(self.kept().catalog.text(digest)))
    }

    fn due_notices(&self, endpoint: &str, limit: usize) -> Pending<Vec<NoticeRow>> {
        Pending::ready(Ok(self.kept().notified.due(endpoint, limit)))
    }

    fn endpoint_after(&self, endpoint: &str) -> Pending<Option<(Arc<str>, Timestamp)>> {
        Pending::ready(Ok(self.kept().notified.endpoint_after(endpoint)))
    }

    fn notices(&self, wanted: Notices) -> Pending<Vec<NoticeRow>> {
        Pending::ready(Ok(self.kept().notified.of(&wanted)))
    }

    fn follow(&self, run_id: &str) -> watch::Receiver<()> {
        self.followed.follow(run_id)
    }
}

impl Journal for Memory {
    fn append(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        replies: Vec<Reply>,
    ) -> Pending<()> {
        let (answers, is_told) = (!replies.is_empty(), !record.notices.is_empty());
        let (began, record) = (Instant::now(), encoded(record));
        let bytes = record.body.len();
        let appended = self.kept().append(lease, status, record, replies).map(drop);
        if is_told {
            self.notices_changed.send_replace(());
        }
        if appended.is_ok() {
            self.commits.done(began, 1, Some(bytes));
        }
        if let Some(told) = self.followed.of(&lease.head.run_id) {
            told.send_replace(());
        }
        if answers { self.tell(appended) } else { Pending::ready(appended) }
    }

    fn keep_log(&self, lease: &Lease, log: AttemptLog) -> Pending<()> {
        Pending::ready(self.kept().leased(lease).map(|run| run.keep_log(log)))
    }

    fn abandon(&self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Pending<()> {
        let abandoned = self.kept().abandon(lease, at, notices);
        self.notices_changed.send_replace(());
        self.tell(abandoned)
    }

    fn delete(&self, run_id: &str) -> Pending<bool> {
        Pending::ready(self.kept().delete(run_id))
    }
}

impl Leases for Memory {
    fn claim(&self, wanted: ClaimRequest) -> Pending<Vec<Lease>> {
        let claimed = self.kept().claim(&wanted);
        self.shared.send_replace(());
        Pending::ready(Ok(claimed))
    }

    fn claim_run(&self, host: &HostId, run_id: &str, at: Timestamp) -> Pending<Claim> {
        let claimed = self.kept().claim_run(host, run_id, at);
        self.shared.send_replace(());
        Pending::ready(claimed)
    }

    fn release(&self, lease: &Lease, wake_at: Option<Timestamp>) -> Pending<()> {
        let released = self.kept().release(lease, wake_at, None);
        self.tell(released)
    }

    fn leave(&self, lease: &Lease, wake_at: Option<Timestamp>, note: Note) -> Pending<()> {
        let left = self.kept().release(lease, wake_at, Some(note));
        self.tell(left)
    }

    fn note(&self, lease: &Lease, note: Option<Note>) -> Pending<()> {
        Pending::ready(self.kept().leased(lease).map(|run| run.row.note = note))
    }

    fn next_due(&self, wanted: ClaimRequest) -> Pending<Option<Timestamp>> {
        Pending::ready(Ok(self.kept().next_due(&wanted)))
    }

    fn heartbeat(&self, host: &HostId, until: Timestamp) -> Pending<()> {
        let goes = until <= Timestamp(0);
        let mut kept = self.kept();
        kept.hosts.insert(host.clone(), until);
        if goes {
            kept.let_rest(until, None);
        }
        drop(kept);
        self.shared.send_replace(());
        // Its runs are to be had.
        if goes { self.tell(Ok(())) } else { Pending::ready(Ok(())) }
    }

    fn changed(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn owned(&self, host: &HostId) -> Pending<Vec<Arc<str>>> {
        let theirs = self.kept().rows(|row| row.status.open && row.owner.as_ref() == Some(host));
        Pending::ready(Ok(theirs.into_iter().map(|row| Arc::clone(&row.head.run_id)).collect()))
    }
}

impl Mailbox for Memory {
    fn post(&self, run_id: &str, body: Vec<u8>) -> Pending<u64> {
        let posted = self.kept().post(run_id, body);
        self.tell(posted)
    }

    fn mail(&self, lease: &Lease) -> Pending<Vec<Letter>> {
        Pending::ready(Ok(self
            .kept()
            .run(&lease.head.run_id)
            .map(|run| run.letters.clone().into())
            .unwrap_or_default()))
    }

    fn mailed(&self, owner: Option<&HostId>) -> Pending<Vec<Arc<str>>> {
        let kept = self.kept();
        let is_theirs = |run: &Run| run.row.owner.as_ref() == owner;
        let mailed =
            kept.mail.iter().filter(|run_id| kept.run(run_id).is_some_and(is_theirs)).cloned().collect();
        drop(kept);
        Pending::ready(Ok(mailed))
    }

    fn reply(&self, lease: &Lease, replies: Vec<Reply>) -> Pending<()> {
        let replied = self.kept().reply(lease, replies);
        self.tell(replied)
    }
}

impl Catalog for Memory {
    fn change(&self, change: Change) -> Pending<u64> {
        let changed = self.kept().change(&change);
        self.tell_entries(changed)
    }

    fn fire(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        change: Change,
    ) -> Pending<u64> {
        let fired = self.kept().fire(lease, status, encoded(record), &change);
        self.notices_changed.send_replace(());
        self.tell_entries(fired)
    }

    fn remove_entry(&self, name: &EntryName) -> Pending<bool> {
        let removed = self.kept().catalog.remove(name);
        self.tell_entries(Ok(removed))
    }

    fn entries_changed(&self) -> watch::Receiver<()> {
        self.entries_changed.subscribe()
    }
}

impl Outbox for Memory {
    fn settle(&self, settle: Settle) -> Pending<bool> {
        Pending::ready(Ok(self.kept().settle(settle)))
    }

    fn notices_changed(&self) -> watch::Receiver<()> {
        self.notices_changed.subscribe()
    }
}

impl Exchange for Memory {
    fn is_shared(&self) -> bool {
        true
    }

    fn share(&self, ask: ExchangeRequest) -> Pending<ExchangeResponse> {
        let (shares, is_news) = self.kept().share(&ask);
        if is_news {
            self.shared.send_replace(());
        }
        Pending::ready(Ok(shares))
    }

    fn shared(&self) -> watch::Receiver<()> {
        self.shared.subscribe()
    }
}

impl Store for Memory {
    fn keep_tenants(&self, tenants: Arc<str>) -> Pending<()> {
        self.kept().tenants = Some(tenants);
        Pending::ready(Ok(()))
    }

    fn written(&self) -> Option<CommitCounts> {
        Some(self.commits.get())
    }
}
