//! A store that cannot write, or takes its time.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

use phasm::{
    Phase,
    engine::time::Timestamp,
    store::{
        Answer, AttemptLog, CatalogEntry, Census, Change, Claim, ClaimRequest, DuePlace, Encode, EntryName,
        EntryQuery, Filter, HostId, Lease, Letter, Memory, NewNotice, Pending, ReadStore, Record, Reply,
        RunRow, RunStatus, Store, StoreError,
    },
};

/// A store that does as it is told, which may be nothing.
pub(crate) struct Failing {
    pub(crate) inner: Memory,
    pub(crate) fails: AtomicBool,
    pub(crate) too_large: AtomicBool,
    /// For the first record of a run that was claimed.
    pub(crate) append_fails: AtomicBool,
    pub(crate) failed: Mutex<Option<tokio::sync::oneshot::Sender<()>>>,
    /// The next of these is done, and its answer lost.
    pub(crate) unheard: Arc<Mutex<Option<&'static str>>>,
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
            failed: Mutex::new(None),
            unheard: Arc::default(),
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
        Box::pin(async move {
            let said = answer.await?;
            let is_lost = says(&said) && unheard.lock().unwrap().take_if(|lost| *lost == call).is_some();
            if is_lost { Err(StoreError::Full { path: "lost".into() }) } else { Ok(said) }
        })
    }

    fn full<T: Send + 'static>(&self) -> Option<Pending<T>> {
        if self.too_large.swap(false, SeqCst) {
            let error = StoreError::TooLarge { run_id: "w".into(), size: 300_000_001, limit: 256 << 20 };
            return Some(Box::pin(std::future::ready(Err(error))));
        }
        if !self.fails.load(SeqCst) {
            return None;
        }
        if let Some(failed) = self.failed.lock().unwrap().take() {
            failed.send(()).unwrap();
        }
        Some(Box::pin(std::future::ready(Err(StoreError::Full { path: "full".into() }))))
    }
}

impl ReadStore for Failing {
    fn load_since(&self, run_id: &str, since: u64) -> Pending<Vec<Record<Vec<u8>>>> {
        self.inner.load_since(run_id, since)
    }
    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        self.inner.get(run_id)
    }
    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        self.inner.list(filter, limit)
    }
    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        self.inner.open_runs()
    }
    fn census(&self, now: Timestamp) -> Pending<Census> {
        self.inner.census(now)
    }
    fn namespaces(&self) -> Pending<Vec<Arc<str>>> {
        self.inner.namespaces()
    }
    fn ended(&self, namespace: &str, phase: Option<Phase>, limit: usize) -> Pending<(u64, Vec<RunRow>)> {
        self.inner.ended(namespace, phase, limit)
    }
    fn entry(&self, name: &EntryName) -> Pending<Option<CatalogEntry>> {
        self.inner.entry(name)
    }
    fn entries(&self, wanted: EntryQuery) -> Pending<Vec<CatalogEntry>> {
        self.inner.entries(wanted)
    }
    fn due_entries(&self, after: Option<DuePlace>, limit: usize) -> Pending<Vec<CatalogEntry>> {
        self.inner.due_entries(after, limit)
    }
    fn text(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        self.inner.text(digest)
    }
    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        self.inner.component(digest)
    }
    fn answer(&self, run_id: &str, letter: u64) -> Pending<Answer> {
        self.inner.answer(run_id, letter)
    }
    fn logs(&self, run_id: &str, task: Option<u32>) -> Pending<Vec<AttemptLog>> {
        self.inner.logs(run_id, task)
    }
    fn follow(&self, run_id: &str) -> tokio::sync::watch::Receiver<()> {
        self.follows.fetch_add(1, SeqCst);
        self.inner.follow(run_id)
    }
}

impl Store for Failing {
    fn append(
        &self,
        lease: &Lease,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
        replies: Vec<Reply>,
    ) -> Pending<()> {
        if lease.epoch > 1 && self.append_fails.swap(false, SeqCst) {
            return Box::pin(std::future::ready(Err(StoreError::Full { path: "full".into() })));
        }
        let mut bytes = Vec::new();
        record.body.encode(&mut bytes);
        self.largest.fetch_max(bytes.len(), SeqCst);
        let appended = self.full().unwrap_or_else(|| self.inner.append(lease, status, record, replies));
        let appended = self.unheard("append", appended, |()| true);
        match self.gate.lock().unwrap().take() {
            None => appended,
            Some(gate) => Box::pin(async move {
                gate.await.unwrap();
                appended.await
            }),
        }
    }
    fn claim(&self, wanted: ClaimRequest) -> Pending<Vec<Lease>> {
        let claimed = self.full().unwrap_or_else(|| self.inner.claim(wanted));
        self.unheard("claim", claimed, |leases| !leases.is_empty())
    }
    fn claim_run(&self, host: &HostId, run_id: &str, now: Timestamp) -> Pending<Claim> {
        self.full().unwrap_or_else(|| self.inner.claim_run(host, run_id, now))
    }
    fn release(&self, lease: &Lease, wake_at: Option<Timestamp>) -> Pending<()> {
        self.full().unwrap_or_else(|| self.inner.release(lease, wake_at))
    }
    fn next_due(&self, wanted: ClaimRequest) -> Pending<Option<Timestamp>> {
        self.inner.next_due(wanted)
    }
    fn heartbeat(&self, host: &HostId, until: Timestamp) -> Pending<()> {
        self.inner.heartbeat(host, until)
    }
    fn changed(&self) -> tokio::sync::watch::Receiver<()> {
        self.inner.changed()
    }
    fn post(&self, run_id: &str, body: Vec<u8>) -> Pending<u64> {
        self.inner.post(run_id, body)
    }
    fn mail(&self, lease: &Lease) -> Pending<Vec<Letter>> {
        self.inner.mail(lease)
    }
    fn mailed(&self, owner: Option<&HostId>) -> Pending<Vec<Arc<str>>> {
        self.inner.mailed(owner)
    }
    fn owned(&self, host: &HostId) -> Pending<Vec<Arc<str>>> {
        self.inner.owned(host)
    }
    fn reply(&self, lease: &Lease, replies: Vec<Reply>) -> Pending<()> {
        self.inner.reply(lease, replies)
    }
    fn keep_log(&self, lease: &Lease, log: AttemptLog) -> Pending<()> {
        self.inner.keep_log(lease, log)
    }
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
        self.inner.fire(lease, status, record, change)
    }
    fn remove_entry(&self, name: &EntryName) -> Pending<bool> {
        self.inner.remove_entry(name)
    }
    fn entries_changed(&self) -> tokio::sync::watch::Receiver<()> {
        self.inner.entries_changed()
    }
    fn abandon(&self, lease: &Lease, at: Timestamp, notices: Vec<NewNotice>) -> Pending<()> {
        self.inner.abandon(lease, at, notices)
    }
    fn delete(&self, run_id: &str) -> Pending<bool> {
        self.inner.delete(run_id)
    }
}
