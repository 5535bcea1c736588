//! A store that cannot write, or takes its time.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

use phasm::{
    engine::time::Timestamp,
    store::{
        AttemptLog, Catalog, Change, Claim, ClaimRequest, Encode, EntryName, Exchange, HasReader, HostId,
        Journal, Lease, Leases, Letter, Mailbox, Memory, NewNotice, Note, Outbox, Pending, ReadStore, Record,
        Reply, RunStatus, Store, StoreError,
    },
};

/// A store that does as it is told, which may be nothing.
pub(crate) struct Failing {
    pub(crate) inner: Memory,
    pub(crate) fails: AtomicBool,
    pub(crate) too_large: AtomicBool,
    /// For the first record of a run that was claimed.
    pub(crate) append_fails: AtomicBool,
    /// The next record finds the journal shorter than its writer knows.
    pub(crate) conflicts: AtomicBool,
    pub(crate) failed: Mutex<Option<tokio::sync::oneshot::Sender<()>>>,
    /// The next of these is done, and its answer lost.
    pub(crate) unheard: Arc<Mutex<Option<&'static str>>>,
    /// The store's clock, if it has one.
    pub(crate) clock: Mutex<Option<Box<dyn Fn() -> Timestamp + Send>>>,
    /// The next of these is not done.
    pub(crate) refused: Mutex<Option<&'static str>>,
    /// Until it opens, the next record is on its way.
    pub(crate) gate: Mutex<Option<tokio::sync::oneshot::Receiver<()>>>,
    pub(crate) follows: AtomicUsize,
    /// Bytes of the largest record so far.
    pub(crate) largest: AtomicUsize,
}

impl Failing {
    pub(crate) fn new() -> Self {
        let (inner, fails) = (Memory::default(), AtomicBool::new(false));
        Self {
            inner,
            fails,
            too_large: AtomicBool::new(false),
            append_fails: AtomicBool::new(false),
            conflicts: AtomicBool::new(false),
            failed: Mutex::new(None),
            unheard: Arc::default(),
            clock: Mutex::new(None),
            refused: Mutex::new(None),
            gate: Mutex::new(None),
            follows: AtomicUsize::new(0),
            largest: AtomicUsize::new(0),
        }
    }

    /// An answer that is lost if it is the one, and says anything.
    fn unheard<T: Send + 'static>(
        &self,
        call: &'static str,
        answer: Pending<T>,
        says: fn(&T) -> bool,
    ) -> Pending<T> {
        let unheard = Arc::clone(&self.unheard);
        Pending::new(async move {
            let said = answer.await?;
            let is_lost = says(&said) && unheard.lock().unwrap().take_if(|lost| *lost == call).is_some();
            if is_lost { Err(StoreError::Full { path: "lost".into() }) } else { Ok(said) }
        })
    }

    /// Asks the store, unless the call is refused; its answer may be lost.
    fn ask<T: Send + 'static>(
        &self,
        call: &'static str,
        ask: impl FnOnce(&Memory) -> Pending<T>,
    ) -> Pending<T> {
        if self.refused.lock().unwrap().take_if(|refused| *refused == call).is_some() {
            return Pending::ready(Err(StoreError::Full { path: "refused".into() }));
        }
        let answer = self.full().unwrap_or_else(|| ask(&self.inner));
        self.unheard(call, answer, |_| true)
    }

    fn full<T: Send + 'static>(&self) -> Option<Pending<T>> {
        if self.too_large.swap(false, SeqCst) {
            let error = StoreError::TooLarge { run_id: "w".into(), size: 300_000_001, limit: 256 << 20 };
            return Some(Pending::ready(Err(error)));
        }
        if !self.fails.load(SeqCst) {
            return None;
        }
        if let Some(failed) = self.failed.lock().unwrap().take() {
            failed.send(()).unwrap();
        }
        Some(Pending::ready(Err(StoreError::Full { path: "full".into() })))
    }
}

impl HasReader for Failing {
    fn reader(&self) -> &dyn ReadStore {
        &self.inner
    }
    fn subscribe(&self, run_id: &str) -> tokio::sync::watch::Receiver<()> {
        self.follows.fetch_add(1, SeqCst);
        self.inner.follow(run_id)
    }
}

impl Journal for Failing {
    fn append(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        replies: Vec<Reply>,
    ) -> Pending<()> {
        if lease.epoch > 1 && self.append_fails.swap(false, SeqCst) {
            return Pending::ready(Err(StoreError::Full { path: "full".into() }));
        }
        if self.conflicts.swap(false, SeqCst) {
            let run_id = Arc::clone(&lease.head.run_id);
            return Pending::ready(Err(StoreError::Conflict {
                run_id,
                expected: record.first_seq,
                found: 1,
            }));
        }
        let mut bytes = Vec::new();
        record.body.encode(&mut bytes);
        self.largest.fetch_max(bytes.len(), SeqCst);
        let appended = self.ask("append", |store| store.append(lease, status, record, replies));
        match self.gate.lock().unwrap().take() {
            None => appended,
            Some(gate) => Pending::new(async move {
                gate.await.unwrap();
                appended.await
            }),
        }
    }
    fn keep_log(&self, lease: &Lease, log: AttemptLog) -> Pending<()> {
        self.inner.keep_log(lease, log)
    }
    fn abandon(&self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Pending<()> {
        self.inner.abandon(lease, at, notices)
    }
    fn delete(&self, run_id: &str) -> Pending<bool> {
        self.inner.delete(run_id)
    }
}

impl Leases for Failing {
    fn claim(&self, wanted: ClaimRequest) -> Pending<Vec<Lease>> {
        let claimed = self.full().unwrap_or_else(|| self.inner.claim(wanted));
        self.unheard("claim", claimed, |leases| !leases.is_empty())
    }
    fn claim_run(&self, host: &HostId, run_id: &str, now: Timestamp) -> Pending<Claim> {
        self.ask("claim_run", |store| store.claim_run(host, run_id, now))
    }
    fn release(&self, lease: &Lease, wake_at: Option<Timestamp>) -> Pending<()> {
        self.ask("release", |store| store.release(lease, wake_at))
    }
    fn leave(&self, lease: &Lease, wake_at: Option<Timestamp>, note: Note) -> Pending<()> {
        self.ask("leave", |store| store.leave(lease, wake_at, note))
    }
    fn next_due(&self, wanted: ClaimRequest) -> Pending<Option<Timestamp>> {
        self.inner.next_due(wanted)
    }
    fn heartbeat(&self, host: &HostId, until: Timestamp) -> Pending<()> {
        self.inner.heartbeat(host, until)
    }
    fn clock(&self) -> Pending<Option<Timestamp>> {
        Pending::ready(Ok(self.clock.lock().unwrap().as_ref().map(|clock| clock())))
    }
    fn changed(&self) -> tokio::sync::watch::Receiver<()> {
        self.inner.changed()
    }
    fn owned(&self, host: &HostId) -> Pending<Vec<Arc<str>>> {
        self.inner.owned(host)
    }
}

impl Mailbox for Failing {
    fn post(&self, run_id: &str, body: Vec<u8>) -> Pending<u64> {
        self.inner.post(run_id, body)
    }
    fn mail(&self, lease: &Lease) -> Pending<Vec<Letter>> {
        self.inner.mail(lease)
    }
    fn mailed(&self, owner: Option<&HostId>) -> Pending<Vec<Arc<str>>> {
        self.inner.mailed(owner)
    }
    fn reply(&self, lease: &Lease, replies: Vec<Reply>) -> Pending<()> {
        self.ask("reply", |store| store.reply(lease, replies))
    }
}

impl Catalog for Failing {
    fn change(&self, change: Change) -> Pending<u64> {
        self.inner.change(change)
    }
    fn fire(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        change: Change,
    ) -> Pending<u64> {
        self.ask("fire", |store| store.fire(lease, status, record, change))
    }
    fn remove_entry(&self, name: &EntryName) -> Pending<bool> {
        self.inner.remove_entry(name)
    }
    fn entries_changed(&self) -> tokio::sync::watch::Receiver<()> {
        self.inner.entries_changed()
    }
}

impl Outbox for Failing {
    fn notices_changed(&self) -> tokio::sync::watch::Receiver<()> {
        self.inner.notices_changed()
    }
}

impl Exchange for Failing {
    fn shared(&self) -> tokio::sync::watch::Receiver<()> {
        self.inner.shared()
    }
}

impl Store for Failing {}
