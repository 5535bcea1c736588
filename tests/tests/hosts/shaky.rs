//! A store as one of several hosts sees it: it answers when it likes, and hears nothing from a host that is dead.

use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use phasm::{
    Phase,
    engine::time::Timestamp,
    store::{
        Answer, AttemptLog, Catalog, CatalogEntry, Census, Change, Claim, ClaimRequest, DuePlace, Encode,
        EntryName, EntryQuery, Exchange, Filter, HostId, Journal, Lease, Leases, Letter, Mailbox, Memory,
        NewNotice, Note, NoticeRow, Notices, Outbox, Pending, ReadStore, Record, Reply, RunRow, RunStatus,
        Settle, Store, StoreError,
    },
};
use tokio::{
    runtime::Handle,
    sync::{oneshot, watch},
};

use super::random::Random;

pub(crate) struct Shaky {
    inner: Arc<Memory>,
    /// Runtime of its host.
    runtime: Handle,
    /// Largest number of rounds an answer takes.
    slowest: Option<NonZeroU32>,
    random: Mutex<Random>,
    dead: AtomicBool,
    /// Number of calls that still reach the store.
    fuse: AtomicU64,
    calls: AtomicU64,
}

impl Shaky {
    pub(crate) fn new(inner: &Arc<Memory>, runtime: &Handle, seed: u64, slowest: u32) -> Self {
        Self {
            inner: Arc::clone(inner),
            runtime: runtime.clone(),
            slowest: NonZeroU32::new(slowest),
            random: Mutex::new(Random(seed)),
            dead: AtomicBool::new(false),
            fuse: AtomicU64::new(u64::MAX),
            calls: AtomicU64::new(0),
        }
    }

    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }

    /// From now on nothing reaches the store.
    pub(crate) fn die(&self) {
        self.dead.store(true, Relaxed);
    }

    /// Lets `calls` more calls reach the store, and none after them.
    pub(crate) fn die_after(&self, calls: u64) {
        self.fuse.store(calls, Relaxed);
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Relaxed)
    }

    /// Asks the store at once, in the order of the calls, and answers some time later.
    fn ask<T: Send + 'static>(&self, ask: impl FnOnce(&Memory) -> Pending<T>) -> Pending<T> {
        if self.fuse.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
            self.die();
        }
        if self.is_dead() {
            return Pending::new(std::future::pending());
        }
        self.calls.fetch_add(1, Relaxed);
        let rounds = self.slowest.map_or(0, |most| self.random.lock().unwrap().below(u64::from(most.get())));
        let answer = ask(&self.inner);
        if rounds == 0 {
            return answer;
        }
        // A task of its own delays the answer: the caller may be polled where nothing is put off.
        let (sender, told) = oneshot::channel();
        self.runtime.spawn(async move {
            for _ in 0..rounds {
                tokio::task::yield_now().await;
            }
            let _gone = sender.send(answer.await);
        });
        Pending::new(async move {
            match told.await {
                Ok(answer) => answer,
                // Its host is dead.
                Err(_) => std::future::pending().await,
            }
        })
    }
}

impl ReadStore for Shaky {
    fn load_since(&self, run_id: &str, since: u64) -> Pending<Vec<Record<Vec<u8>>>> {
        self.ask(|store| store.load_since(run_id, since))
    }

    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        self.ask(|store| store.get(run_id))
    }

    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        self.ask(|store| store.list(filter, limit))
    }

    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        self.ask(Memory::open_runs)
    }

    fn entry(&self, name: &EntryName) -> Pending<Option<CatalogEntry>> {
        self.ask(|store| store.entry(name))
    }

    fn entries(&self, wanted: EntryQuery) -> Pending<Vec<CatalogEntry>> {
        self.ask(|store| store.entries(wanted))
    }

    fn due_notices(&self, endpoint: &str, limit: usize) -> Pending<Vec<NoticeRow>> {
        self.ask(|store| store.due_notices(endpoint, limit))
    }

    fn endpoint_after(&self, endpoint: &str) -> Pending<Option<(Arc<str>, Timestamp)>> {
        self.ask(|store| store.endpoint_after(endpoint))
    }

    fn notices(&self, wanted: Notices) -> Pending<Vec<NoticeRow>> {
        self.ask(|store| store.notices(wanted))
    }

    fn due_entries(&self, after: Option<DuePlace>, limit: usize) -> Pending<Vec<CatalogEntry>> {
        self.ask(|store| store.due_entries(after, limit))
    }

    fn text(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        self.ask(|store| store.text(digest))
    }

    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        self.ask(|store| store.component(digest))
    }

    fn answer(&self, run_id: &str, letter: u64) -> Pending<Answer> {
        self.ask(|store| store.answer(run_id, letter))
    }

    fn census(&self, now: Timestamp) -> Pending<Census> {
        self.ask(|store| store.census(now))
    }

    fn namespaces(&self) -> Pending<Vec<Arc<str>>> {
        self.ask(Memory::namespaces)
    }

    fn ended(&self, namespace: &str, phase: Option<Phase>, limit: usize) -> Pending<(u64, Vec<RunRow>)> {
        self.ask(|store| store.ended(namespace, phase, limit))
    }

    fn follow(&self, run_id: &str) -> watch::Receiver<()> {
        self.inner.follow(run_id)
    }

    fn logs(&self, run_id: &str, task: Option<u32>) -> Pending<Vec<AttemptLog>> {
        self.ask(|store| store.logs(run_id, task))
    }
}

impl Journal for Shaky {
    fn append(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        replies: Vec<Reply>,
    ) -> Pending<()> {
        self.ask(|store| store.append(lease, status, record, replies))
    }

    fn keep_log(&self, lease: &Lease, log: AttemptLog) -> Pending<()> {
        self.ask(|store| store.keep_log(lease, log))
    }

    fn abandon(&self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Pending<()> {
        self.ask(|store| store.abandon(lease, at, notices))
    }

    fn delete(&self, run_id: &str) -> Pending<bool> {
        self.ask(|store| store.delete(run_id))
    }
}

impl Leases for Shaky {
    fn claim(&self, wanted: ClaimRequest) -> Pending<Vec<Lease>> {
        self.ask(|store| store.claim(wanted))
    }

    fn claim_run(&self, host: &HostId, run_id: &str, now: Timestamp) -> Pending<Claim> {
        self.ask(|store| store.claim_run(host, run_id, now))
    }

    fn release(&self, lease: &Lease, wake_at: Option<Timestamp>) -> Pending<()> {
        self.ask(|store| store.release(lease, wake_at))
    }

    fn leave(&self, lease: &Lease, wake_at: Option<Timestamp>, note: Note) -> Pending<()> {
        self.ask(|store| store.leave(lease, wake_at, note))
    }

    fn next_due(&self, wanted: ClaimRequest) -> Pending<Option<Timestamp>> {
        self.ask(|store| store.next_due(wanted))
    }

    fn heartbeat(&self, host: &HostId, until: Timestamp) -> Pending<()> {
        self.ask(|store| store.heartbeat(host, until))
    }

    fn changed(&self) -> watch::Receiver<()> {
        self.inner.changed()
    }

    fn owned(&self, host: &HostId) -> Pending<Vec<Arc<str>>> {
        self.ask(|store| store.owned(host))
    }
}

impl Mailbox for Shaky {
    fn post(&self, run_id: &str, body: Vec<u8>) -> Pending<u64> {
        self.ask(|store| store.post(run_id, body))
    }

    fn mail(&self, lease: &Lease) -> Pending<Vec<Letter>> {
        self.ask(|store| store.mail(lease))
    }

    fn mailed(&self, host: Option<&HostId>) -> Pending<Vec<Arc<str>>> {
        self.ask(|store| store.mailed(host))
    }

    fn reply(&self, lease: &Lease, replies: Vec<Reply>) -> Pending<()> {
        self.ask(|store| store.reply(lease, replies))
    }
}

impl Catalog for Shaky {
    fn change(&self, change: Change) -> Pending<u64> {
        self.ask(|store| store.change(change))
    }

    fn fire(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        change: Change,
    ) -> Pending<u64> {
        self.ask(|store| store.fire(lease, status, record, change))
    }

    fn remove_entry(&self, name: &EntryName) -> Pending<bool> {
        self.ask(|store| store.remove_entry(name))
    }

    fn entries_changed(&self) -> watch::Receiver<()> {
        self.inner.entries_changed()
    }
}

impl Outbox for Shaky {
    fn settle(&self, settle: Settle) -> Pending<bool> {
        self.ask(|store| store.settle(settle))
    }

    fn notices_changed(&self) -> watch::Receiver<()> {
        self.inner.notices_changed()
    }
}

impl Exchange for Shaky {
    fn shared(&self) -> watch::Receiver<()> {
        self.inner.shared()
    }
}

impl Store for Shaky {}

/// The answers to letters, as far as there are any.
pub(crate) fn told(answer: Result<Answer, StoreError>) -> String {
    match answer {
        Ok(Answer::Replied(body)) => String::from_utf8_lossy(&body).into_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}
