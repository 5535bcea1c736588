//! Runs kept in this process and nowhere else.

mod documents;
mod entries;
mod notices;
mod offers;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    future::ready,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio::sync::watch;

use self::{documents::Documents, entries::Catalog, notices::NoticeTable, offers::Offers};
use super::{
    Answer, AttemptLog, CatalogEntry, Census, Change, Claim, ClaimRequest, DuePlace, Encode, EntryName,
    EntryQuery, ExchangeRequest, ExchangeResponse, Filter, HostId, Lease, Letter, MAX_LETTER_BYTES,
    MAX_WAITING_LETTERS, NewNotice, Note, NoticeRow, Notices, Pending, RETAINED_ANSWERS, ReadStore, Record,
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
        now(done)
    }

    /// Tells of another entry, if there is one.
    fn tell_entries<T: Send + 'static>(&self, done: Result<T, StoreError>) -> Pending<T> {
        if done.is_ok() {
            self.entries_changed.send_replace(());
        }
        now(done)
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
        let from_there = |run: &Run| {
            let first = run.journal.partition_point(|record| record.next_seq() <= since);
            run.journal.get(first..).unwrap_or_default().to_vec()
        };
        let journal = self.kept().run(run_id).map(from_there);
        let run_id = Arc::from(run_id);
        now(journal.ok_or(StoreError::NotFound { run_id }))
    }

    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        now(Ok(self.kept().run(run_id).map(|run| run.row.clone())))
    }

    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        let mut rows = self.kept().rows(|row| filter.fits(row));
        rows.sort_unstable_by_key(|row| Reverse(row.number));
        rows.truncate(limit);
        now(Ok(rows))
    }

    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        let mut rows = self.kept().rows(|row| row.status.open);
        rows.sort_unstable_by_key(urgency);
        now(Ok(rows))
    }

    fn census(&self, at: Timestamp) -> Pending<Census> {
        let mut census = Census::default();
        let kept = self.kept();
        kept.rows(|row| row.status.open).iter().for_each(|row| census.count(row, at));
        let letters = |run_id: &Arc<str>| kept.run(run_id).map_or(0, |run| run.letters.len() as u64);
        census.letters = kept.mail.iter().map(letters).sum();
        drop(kept);
        now(Ok(census))
    }

    fn namespaces(&self) -> Pending<Vec<Arc<str>>> {
        let rows = self.kept().rows(|row| !row.status.open);
        let names: BTreeSet<_> = rows.iter().map(|row| Arc::clone(&row.head.namespace)).collect();
        now(Ok(names.into_iter().collect()))
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
        now(Ok((count, rows)))
    }

    fn tenants(&self) -> Pending<Option<Arc<str>>> {
        now(Ok(self.kept().tenants.clone()))
    }

    fn stored(&self, namespaces: Vec<Arc<str>>) -> Pending<StoredBytes> {
        let mut stored = StoredBytes::new();
        for run in self.kept().runs.values().filter(|run| run.bytes > 0) {
            let namespace = &run.row.head.namespace;
            if namespaces.is_empty() || namespaces.contains(namespace) {
                *stored.entry(Arc::clone(namespace)).or_default() += run.bytes;
            }
        }
        now(Ok(stored))
    }

    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        now(Ok(self.kept().documents.component(digest)))
    }

    fn answer(&self, run_id: &str, letter: u64) -> Pending<Answer> {
        now(Ok(self.kept().run(run_id).map_or(Answer::Unknown, |run| run.answer(letter))))
    }

    fn logs(&self, run_id: &str, task: Option<u32>) -> Pending<Vec<AttemptLog>> {
        let wanted = |log: &&AttemptLog| task.is_none_or(|task| task == log.task);
        let of_run = |run: &Run| run.logs.values().filter(wanted).cloned().collect();
        now(Ok(self.kept().run(run_id).map(of_run).unwrap_or_default()))
    }

    fn entry(&self, name: &EntryName) -> Pending<Option<CatalogEntry>> {
        now(Ok(self.kept().shelves.entry(name)))
    }

    fn entries(&self, wanted: EntryQuery) -> Pending<Vec<CatalogEntry>> {
        now(Ok(self.kept().shelves.entries(&wanted)))
    }

    fn due_entries(&self, after: Option<DuePlace>, limit: usize) -> Pending<Vec<CatalogEntry>> {
        now(Ok(self.kept().shelves.due(after.as_ref(), limit)))
    }

    fn text(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        now(Ok(self.kept().shelves.text(digest)))
    }

    fn due_notices(&self, endpoint: &str, limit: usize) -> Pending<Vec<NoticeRow>> {
        now(Ok(self.kept().notified.due(endpoint, limit)))
    }

    fn endpoint_after(&self, endpoint: &str) -> Pending<Option<(Arc<str>, Timestamp)>> {
        now(Ok(self.kept().notified.endpoint_after(endpoint)))
    }

    fn notices(&self, wanted: Notices) -> Pending<Vec<NoticeRow>> {
        now(Ok(self.kept().notified.of(&wanted)))
    }

    fn follow(&self, run_id: &str) -> watch::Receiver<()> {
        self.followed.follow(run_id)
    }
}

impl Store for Memory {
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
        if answers { self.tell(appended) } else { now(appended) }
    }

    fn claim(&self, wanted: ClaimRequest) -> Pending<Vec<Lease>> {
        let claimed = self.kept().claim(&wanted);
        self.shared.send_replace(());
        now(Ok(claimed))
    }

    fn claim_run(&self, host: &HostId, run_id: &str, at: Timestamp) -> Pending<Claim> {
        let claimed = self.kept().claim_run(host, run_id, at);
        self.shared.send_replace(());
        now(claimed)
    }

    fn release(&self, lease: &Lease, wake_at: Option<Timestamp>) -> Pending<()> {
        let released = self.kept().release(lease, wake_at, None);
        self.tell(released)
    }

    fn leave(&self, lease: &Lease, wake_at: Option<Timestamp>, note: Note) -> Pending<()> {
        let left = self.kept().release(lease, wake_at, Some(note));
        self.tell(left)
    }

    fn keep_tenants(&self, tenants: Arc<str>) -> Pending<()> {
        self.kept().tenants = Some(tenants);
        now(Ok(()))
    }

    fn note(&self, lease: &Lease, note: Option<Note>) -> Pending<()> {
        now(self.kept().leased(lease).map(|run| run.row.note = note))
    }

    fn next_due(&self, wanted: ClaimRequest) -> Pending<Option<Timestamp>> {
        now(Ok(self.kept().next_due(&wanted)))
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
        if goes { self.tell(Ok(())) } else { now(Ok(())) }
    }

    fn post(&self, run_id: &str, body: Vec<u8>) -> Pending<u64> {
        let posted = self.kept().post(run_id, body);
        self.tell(posted)
    }

    fn changed(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn share(&self, ask: ExchangeRequest) -> Pending<ExchangeResponse> {
        let (shares, is_news) = self.kept().share(&ask);
        if is_news {
            self.shared.send_replace(());
        }
        now(Ok(shares))
    }

    fn shared(&self) -> watch::Receiver<()> {
        self.shared.subscribe()
    }

    fn mail(&self, lease: &Lease) -> Pending<Vec<Letter>> {
        now(Ok(self.kept().run(&lease.head.run_id).map(|run| run.letters.clone().into()).unwrap_or_default()))
    }

    fn mailed(&self, owner: Option<&HostId>) -> Pending<Vec<Arc<str>>> {
        let kept = self.kept();
        let is_theirs = |run: &Run| run.row.owner.as_ref() == owner;
        let mailed =
            kept.mail.iter().filter(|run_id| kept.run(run_id).is_some_and(is_theirs)).cloned().collect();
        drop(kept);
        now(Ok(mailed))
    }

    fn owned(&self, host: &HostId) -> Pending<Vec<Arc<str>>> {
        let theirs = self.kept().rows(|row| row.status.open && row.owner.as_ref() == Some(host));
        now(Ok(theirs.into_iter().map(|row| Arc::clone(&row.head.run_id)).collect()))
    }

    fn reply(&self, lease: &Lease, replies: Vec<Reply>) -> Pending<()> {
        let replied = self.kept().reply(lease, replies);
        self.tell(replied)
    }

    fn keep_log(&self, lease: &Lease, log: AttemptLog) -> Pending<()> {
        now(self.kept().leased(lease).map(|run| {
            run.bytes += log.text.len() as u64;
            if let Some(before) = run.logs.insert((log.task, log.attempt, log.dispatch), log) {
                run.bytes -= before.text.len() as u64;
            }
        }))
    }

    fn abandon(&self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Pending<()> {
        let abandoned = self.kept().abandon(lease, at, notices);
        self.notices_changed.send_replace(());
        self.tell(abandoned)
    }

    fn settle(&self, settle: Settle) -> Pending<bool> {
        now(Ok(self.kept().settle(settle)))
    }

    fn notices_changed(&self) -> watch::Receiver<()> {
        self.notices_changed.subscribe()
    }

    fn written(&self) -> Option<CommitCounts> {
        Some(self.commits.get())
    }

    fn delete(&self, run_id: &str) -> Pending<bool> {
        now(self.kept().delete(run_id))
    }

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
        let removed = self.kept().shelves.remove(name);
        self.tell_entries(Ok(removed))
    }

    fn entries_changed(&self) -> watch::Receiver<()> {
        self.entries_changed.subscribe()
    }
}

fn now<T: Send + 'static>(answer: Result<T, StoreError>) -> Pending<T> {
    Box::pin(ready(answer))
}

/// Highest priority first, then in the order of submission.
type Urgency = (Reverse<u16>, u64);

/// Runs by when they are due, the most urgent first.
type Due = BTreeSet<(Timestamp, Urgency, Arc<str>)>;

fn urgency(row: &RunRow) -> Urgency {
    (Reverse(row.head.priority), row.number)
}

/// Says when a run is due.
fn wake_at(due: &mut Due, row: &mut RunRow, at: Option<Timestamp>) {
    let key = |at| (at, urgency(row), Arc::clone(&row.head.run_id));
    if let Some(before) = row.wake_at {
        due.remove(&key(before));
    }
    due.extend(at.map(key));
    row.wake_at = at;
}

/// Bytes take much less room than events.
fn encoded(record: Record<Arc<dyn Encode>>) -> Record<Vec<u8>> {
    let Record { first_seq, events, time, body, document, notices } = record;
    let mut bytes = Vec::new();
    body.encode(&mut bytes);
    bytes.shrink_to_fit();
    Record { first_seq, events, time, body: bytes, document, notices }
}

#[derive(Default)]
struct State {
    runs: HashMap<Arc<str>, Run>,
    /// Runs that were submitted with a key, by namespace and key.
    keys: HashMap<(Arc<str>, Arc<str>), Arc<str>>,
    hosts: HashMap<HostId, Timestamp>,
    /// All that ever had a run.
    owners: BTreeSet<HostId>,
    last_number: u64,
    last_letter: u64,
    /// Runs without an owner.
    due: Due,
    /// Runs with letters that wait for an answer.
    mail: BTreeSet<Arc<str>>,
    /// In the order of closing.
    closed: VecDeque<Arc<str>>,
    closed_events: u64,
    limit: u64,
    documents: Documents,
    offers: Offers,
    shelves: Catalog,
    notified: NoticeTable,
    tenants: Option<Arc<str>>,
}

struct Run {
    row: RunRow,
    epoch: u64,
    journal: Vec<Record<Vec<u8>>>,
    letters: VecDeque<Letter>,
    replies: VecDeque<Reply>,
    logs: BTreeMap<(u32, u32, u32), AttemptLog>,
    /// Bytes of the run's records and logs.
    bytes: u64,
}

impl Run {
    fn lease(&self, host: &HostId) -> Lease {
        Lease { head: Arc::clone(&self.row.head), host: host.clone(), epoch: self.epoch }
    }

    fn answer(&self, letter: u64) -> Answer {
        match self.replies.iter().find(|reply| reply.letter == letter) {
            Some(reply) if reply.body.is_empty() => Answer::Ended,
            Some(reply) => Answer::Replied(reply.body.to_vec()),
            None if self.letters.iter().any(|waiting| waiting.id == letter) => Answer::Waiting,
            None => Answer::Unknown,
        }
    }

    /// The letters to a run that has ended are answered by nothing at all.
    fn end_mail(&mut self) {
        let unanswered = self.letters.drain(..);
        self.replies.extend(unanswered.map(|letter| Reply { letter: letter.id, body: Arc::new([]) }));
    }

    fn reply(&mut self, reply: Reply) {
        if let Some(at) = self.letters.iter().position(|letter| letter.id == reply.letter) {
            self.letters.remove(at);
            self.replies.push_back(reply);
        }
        while self.replies.len() as u64 > RETAINED_ANSWERS {
            self.replies.pop_front();
        }
    }
}

impl State {
    fn run(&self, run_id: &str) -> Option<&Run> {
        self.runs.get(run_id)
    }

    fn rows(&self, wanted: impl Fn(&RunRow) -> bool) -> Vec<RunRow> {
        self.runs.values().map(|run| &run.row).filter(|row| wanted(row)).cloned().collect()
    }

    /// The run of a lease that still holds.
    fn leased(&mut self, lease: &Lease) -> Result<&mut Run, StoreError> {
        let run_id = &lease.head.run_id;
        let run =
            self.runs.get_mut(run_id).ok_or_else(|| StoreError::NotFound { run_id: Arc::clone(run_id) })?;
        if run.epoch == lease.epoch { Ok(run) } else { Err(lease.lost()) }
    }

    /// Returns the runs forgotten over it, to be dropped once the lock is free again.
    fn append(
        &mut self,
        lease: &Lease,
        status: RunStatus,
        mut record: Record<Vec<u8>>,
        replies: Vec<Reply>,
    ) -> Result<Vec<Run>, StoreError> {
        let document = record.document.take();
        let run_id = &lease.head.run_id;
        match self.runs.get(run_id) {
            Some(run) if run.epoch != lease.epoch => return Err(lease.lost()),
            Some(run) => {
                record.check_follows(run_id, run.row.seq)?;
                if !run.row.status.open {
                    self.uncount_closed(run_id);
                }
            }
            None => {
                record.check_follows(run_id, 0)?;
                self.create(lease, status)?;
                record.document = document.map(|document| self.documents.keep(&document));
            }
        }
        self.notified.add(run_id, mem::take(&mut record.notices));
        let Some(run) = self.runs.get_mut(run_id) else { return Ok(Vec::new()) };
        run.row.status = status;
        run.row.seq = record.next_seq();
        run.bytes += record.body.len() as u64;
        run.journal.push(record);
        let answers = !replies.is_empty();
        replies.into_iter().for_each(|reply| run.reply(reply));
        if answers && run.letters.is_empty() {
            self.mail.remove(run_id);
        }
        if !status.open {
            self.closed(run_id);
        }
        Ok(self.forget())
    }

    fn change(&mut self, change: &Change) -> Result<u64, StoreError> {
        self.shelves.check(change)?;
        Ok(self.shelves.change(change))
    }

    fn fire(
        &mut self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Vec<u8>>,
        change: &Change,
    ) -> Result<u64, StoreError> {
        self.shelves.check(change)?;
        self.append(lease, status, record, Vec::new())?;
        Ok(self.shelves.change(change))
    }

    fn reply(&mut self, lease: &Lease, replies: Vec<Reply>) -> Result<(), StoreError> {
        let run = self.leased(lease)?;
        replies.into_iter().for_each(|reply| run.reply(reply));
        if run.letters.is_empty() {
            self.mail.remove(&lease.head.run_id);
        }
        Ok(())
    }

    fn create(&mut self, lease: &Lease, status: RunStatus) -> Result<(), StoreError> {
        let Lease { head, host, epoch } = lease;
        if let Some(key) = &head.key {
            let key = (Arc::clone(&head.namespace), Arc::clone(key));
            if let Some(run_id) = self.keys.get(&key) {
                return Err(StoreError::Exists { run_id: Arc::clone(run_id) });
            }
            self.keys.insert(key, Arc::clone(&head.run_id));
        }
        self.owners.insert(host.clone());
        self.last_number += 1;
        let (number, head, owner) = (self.last_number, Arc::clone(head), Some(host.clone()));
        let run_id = Arc::clone(&head.run_id);
        let status = RunStatus { open: true, ..status };
        let row = RunRow { number, head, status, seq: 0, owner, wake_at: None, note: None };
        let run = Run {
            row,
            epoch: *epoch,
            journal: Vec::new(),
            letters: VecDeque::new(),
            replies: VecDeque::new(),
            logs: BTreeMap::new(),
            bytes: 0,
        };
        self.runs.insert(run_id, run);
        Ok(())
    }

    fn release(
        &mut self,
        lease: &Lease,
        at: Option<Timestamp>,
        note: Option<Note>,
    ) -> Result<(), StoreError> {
        self.leased(lease)?;
        let Some(run) = self.runs.get_mut(&lease.head.run_id) else { return Ok(()) };
        run.row.owner = None;
        run.row.note = note;
        let at = at.filter(|_| run.row.status.open);
        wake_at(&mut self.due, &mut run.row, at);
        Ok(())
    }

    fn share(&mut self, ask: &ExchangeRequest) -> (ExchangeResponse, bool) {
        let Self { offers, runs, hosts, .. } = self;
        let epoch = |run_id: &str| runs.get(run_id).map(|run| run.epoch);
        offers.share(ask, epoch, |host| hosts.get(host).copied().unwrap_or(Timestamp(0)))
    }

    fn lend(&mut self, run_id: &str, host: &HostId) -> Option<Lease> {
        let run = self.runs.get_mut(run_id)?;
        if run.row.owner.as_ref() != Some(host) {
            run.epoch += 1;
            self.offers.void(run_id);
            run.row.owner = Some(host.clone());
            run.row.note = None;
            self.owners.insert(host.clone());
            wake_at(&mut self.due, &mut run.row, None);
        }
        Some(run.lease(host))
    }

    /// Since when a run that others may have is to be had, or will be.
    fn free_at(&self, row: &RunRow, host: &HostId) -> Option<Timestamp> {
        match &row.owner {
            _ if !row.status.open => None,
            Some(owner) if owner == host => None,
            Some(owner) => Some(self.hosts.get(owner).copied().unwrap_or(Timestamp(0))),
            None if self.mail.contains(&row.head.run_id) => Some(Timestamp(0)),
            None => row.wake_at,
        }
    }

    /// Returns the runs that this host might claim now or later, without visiting those that have an owner.
    fn candidates(&self, wanted: &ClaimRequest) -> impl Iterator<Item = (Timestamp, &RunRow)> {
        let due = self.due.iter().map(|(.., run_id)| run_id).take(wanted.limit + wanted.except.len());
        // A single host has no other host to take runs from.
        let alone = self.owners.iter().all(|owner| *owner == wanted.host);
        let of_others = self.runs.iter().filter(move |_| !alone).filter(|(_, run)| run.row.owner.is_some());
        let names: BTreeSet<_> = due.chain(&self.mail).chain(of_others.map(|(run_id, _)| run_id)).collect();
        let rows = names.into_iter().filter_map(|run_id| self.run(run_id)).map(|run| &run.row);
        rows.filter(|row| wanted.admits(row)).filter_map(|row| Some((self.free_at(row, &wanted.host)?, row)))
    }

    fn next_due(&self, wanted: &ClaimRequest) -> Option<Timestamp> {
        self.candidates(wanted).map(|(at, _)| at).min()
    }

    /// Runs that only wait lose their owner once its host is gone: they are fenced off, and due when their clock runs out.
    fn let_rest(&mut self, at: Timestamp, but: Option<&HostId>) {
        if self.owners.iter().all(|owner| Some(owner) == but) {
            return;
        }
        for run in self.runs.values_mut() {
            let Some(owner) = run.row.owner.as_ref().filter(|owner| Some(*owner) != but) else { continue };
            let is_gone = self.hosts.get(owner).is_none_or(|until| *until <= at);
            let Some(rest) = run.row.status.rest.filter(|_| is_gone) else { continue };
            run.row.owner = None;
            run.epoch += 1;
            wake_at(&mut self.due, &mut run.row, rest.until);
        }
    }

    fn claim(&mut self, wanted: &ClaimRequest) -> Vec<Lease> {
        self.let_rest(wanted.now, Some(&wanted.host));
        let due = self.candidates(wanted).filter(|(at, _)| *at <= wanted.now);
        let mut due: Vec<_> =
            due.map(|(at, row)| ((at, urgency(row)), Arc::clone(&row.head.run_id))).collect();
        due.sort_unstable();
        due.truncate(wanted.limit);
        due.iter().filter_map(|(_, run_id)| self.lend(run_id, &wanted.host)).collect()
    }

    fn claim_run(&mut self, host: &HostId, run_id: &str, at: Timestamp) -> Result<Claim, StoreError> {
        let is_there = |owner: &HostId| self.hosts.get(owner).is_some_and(|until| *until > at);
        let run = self.run(run_id).ok_or_else(|| StoreError::NotFound { run_id: run_id.into() })?;
        match &run.row.owner {
            _ if !run.row.status.open => return Ok(Claim::Closed),
            Some(owner) if owner != host && is_there(owner) => return Ok(Claim::Held(owner.clone())),
            Some(_) | None => {}
        }
        Ok(self.lend(run_id, host).map_or(Claim::Closed, Claim::Leased))
    }

    fn post(&mut self, run_id: &str, body: Vec<u8>) -> Result<u64, StoreError> {
        let named = || Arc::from(run_id);
        if body.len() > MAX_LETTER_BYTES {
            return Err(StoreError::TooLarge { run_id: named(), size: body.len(), limit: MAX_LETTER_BYTES });
        }
        let run = self.runs.get_mut(run_id).ok_or_else(|| StoreError::NotFound { run_id: named() })?;
        if !run.row.status.open {
            return Err(StoreError::Closed { run_id: named() });
        }
        if run.letters.len() >= MAX_WAITING_LETTERS {
            return Err(StoreError::MailboxFull { run_id: named(), limit: MAX_WAITING_LETTERS });
        }
        self.last_letter += 1;
        run.letters.push_back(Letter { id: self.last_letter, body });
        self.mail.insert(named());
        Ok(self.last_letter)
    }

    fn settle(&mut self, settle: Settle) -> bool {
        let is_there = self.runs.contains_key(&settle.id.run_id);
        self.notified.settle(settle, is_there)
    }

    fn abandon(&mut self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Result<(), StoreError> {
        let run_id = &lease.head.run_id;
        self.leased(lease)?;
        let Some(run) = self.runs.get_mut(run_id) else { return Ok(()) };
        if !run.row.status.open {
            return Err(StoreError::Closed { run_id: Arc::clone(run_id) });
        }
        run.row.status = RunStatus { phase: Phase::Error, finished_at: Some(at), open: false, rest: None };
        self.notified.add(run_id, notices);
        self.closed(run_id);
        Ok(())
    }

    /// Removes a run that has ended from the indexes of open runs.
    fn closed(&mut self, run_id: &Arc<str>) {
        self.mail.remove(run_id);
        let Some(run) = self.runs.get_mut(run_id) else { return };
        run.end_mail();
        run.row.owner = None;
        wake_at(&mut self.due, &mut run.row, None);
        self.closed_events += run.row.seq;
        self.closed.push_back(Arc::clone(run_id));
    }

    fn delete(&mut self, run_id: &str) -> Result<bool, StoreError> {
        match self.runs.get(run_id) {
            None => return Ok(false),
            Some(run) if run.row.status.open => return Err(StoreError::StillOpen { run_id: run_id.into() }),
            Some(_) => self.uncount_closed(&Arc::from(run_id)),
        }
        self.remove(run_id);
        Ok(true)
    }

    fn remove(&mut self, run_id: &str) -> Option<Run> {
        let run = self.runs.remove(run_id)?;
        self.notified.forget(run_id);
        if let Some(key) = &run.row.head.key {
            self.keys.remove(&(Arc::clone(&run.row.head.namespace), Arc::clone(key)));
        }
        if let Some(document) = run.journal.first().and_then(|first| first.document.as_ref()) {
            self.documents.forget(&document.digest);
        }
        Some(run)
    }

    /// A run that is written to after it was closed counts anew, or no longer.
    fn uncount_closed(&mut self, run_id: &Arc<str>) {
        if let Some(run) = self.runs.get(run_id).filter(|run| !run.row.status.open) {
            self.closed_events -= run.row.seq;
            self.closed.retain(|closed| closed != run_id);
        }
    }

    fn forget(&mut self) -> Vec<Run> {
        let mut forgotten = Vec::new();
        while self.closed_events > self.limit && self.closed.len() > 1 {
            let oldest = self.closed.pop_front();
            let Some(run) = oldest.and_then(|run_id| self.remove(&run_id)) else { break };
            self.closed_events -= run.row.seq;
            forgotten.push(run);
        }
        forgotten
    }
}
