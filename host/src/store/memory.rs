//! Runs kept in this process and nowhere else.

use std::{
    cmp::Reverse,
    collections::{HashMap, VecDeque},
    future::ready,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Encode, Filter, Pending, Record, RunHead, RunRow, RunStatus, Store, StoreError};

/// A store without a file: "durable" means until the process ends. Bodies are encoded only when they are loaded.
///
/// Open runs are kept whatever they hold. Of closed ones, the oldest are forgotten, row and journal, as soon as all
/// closed ones together hold more events than the limit; the one closed last always stays.
pub struct Memory {
    kept: Mutex<Kept>,
}

impl Memory {
    /// How many events of closed runs [`Memory::default`] keeps.
    pub const CLOSED_EVENTS: u64 = 1 << 20;

    /// An empty store that keeps up to `closed_events` events of closed runs.
    #[must_use]
    pub fn new(closed_events: u64) -> Self {
        Self { kept: Mutex::new(Kept { limit: closed_events, ..Kept::default() }) }
    }

    /// Every change to `Kept` is complete before anything that could panic, so a poisoned lock guards sound data.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new(Self::CLOSED_EVENTS)
    }
}

impl Store for Memory {
    fn append(&self, head: Arc<RunHead>, status: RunStatus, record: Record<Arc<dyn Encode>>) -> Pending<()> {
        let appended = self.kept().append(head, status, record);
        Box::pin(ready(appended.map(drop)))
    }

    fn load(&self, run_id: &str) -> Pending<Vec<Record<Vec<u8>>>> {
        let journal = self.kept().run(run_id).map(|run| run.journal.clone());
        let run_id = Arc::from(run_id);
        Box::pin(
            async move { Ok(journal.ok_or(StoreError::NotFound { run_id })?.iter().map(encoded).collect()) },
        )
    }

    fn get(&self, run_id: &str) -> Pending<Option<RunRow>> {
        Box::pin(ready(Ok(self.kept().run(run_id).map(|run| run.row.clone()))))
    }

    fn list(&self, filter: Filter, limit: usize) -> Pending<Vec<RunRow>> {
        let mut rows = self.kept().rows(|row| filter.fits(row));
        rows.sort_unstable_by_key(|row| Reverse(row.number));
        rows.truncate(limit);
        Box::pin(ready(Ok(rows)))
    }

    fn keep_component(&self, digest: &str, bytes: Arc<[u8]>) -> Pending<()> {
        self.kept().components.entry(digest.into()).or_insert(bytes);
        Box::pin(ready(Ok(())))
    }

    fn component(&self, digest: &str) -> Pending<Option<Arc<[u8]>>> {
        Box::pin(ready(Ok(self.kept().components.get(digest).cloned())))
    }

    fn open_runs(&self) -> Pending<Vec<RunRow>> {
        let mut rows = self.kept().rows(|row| row.status.open);
        rows.sort_unstable_by_key(|row| (Reverse(row.head.priority), row.number));
        Box::pin(ready(Ok(rows)))
    }
}

fn encoded(record: &Record<Arc<dyn Encode>>) -> Record<Vec<u8>> {
    let mut body = Vec::new();
    record.body.encode(&mut body);
    Record { first_seq: record.first_seq, events: record.events, time: record.time, body }
}

#[derive(Default)]
struct Kept {
    runs: HashMap<Arc<str>, Run>,
    last_number: u64,
    /// In the order of closing.
    closed: VecDeque<Arc<str>>,
    closed_events: u64,
    limit: u64,
    /// By digest; as many as there are plugins.
    components: HashMap<Arc<str>, Arc<[u8]>>,
}

struct Run {
    row: RunRow,
    journal: Vec<Record<Arc<dyn Encode>>>,
}

impl Kept {
    fn run(&self, run_id: &str) -> Option<&Run> {
        self.runs.get(run_id)
    }

    fn rows(&self, wanted: impl Fn(&RunRow) -> bool) -> Vec<RunRow> {
        self.runs.values().map(|run| &run.row).filter(|row| wanted(row)).cloned().collect()
    }

    /// Returns the runs forgotten over it, to be dropped once the lock is free again.
    fn append(
        &mut self,
        head: Arc<RunHead>,
        status: RunStatus,
        record: Record<Arc<dyn Encode>>,
    ) -> Result<Vec<Run>, StoreError> {
        let found = self.run(&head.run_id).map_or(0, |run| run.row.seq);
        record.check_follows(&head.run_id, found)?;
        let run_id = Arc::clone(&head.run_id);
        self.uncount_closed(&run_id);
        let run = self.runs.entry(Arc::clone(&run_id)).or_insert_with(|| {
            self.last_number += 1;
            Run { row: RunRow { number: self.last_number, head, status, seq: 0 }, journal: Vec::new() }
        });
        run.row.status = status;
        run.row.seq = record.next_seq();
        run.journal.push(record);
        if !status.open {
            self.closed_events += run.row.seq;
            self.closed.push_back(run_id);
        }
        Ok(self.forget())
    }

    /// A run that is written to after it was closed counts anew, or no longer.
    fn uncount_closed(&mut self, run_id: &str) {
        let closed = self.runs.get(run_id).filter(|run| !run.row.status.open);
        if let Some(run) = closed {
            self.closed_events -= run.row.seq;
            self.closed.retain(|closed| &**closed != run_id);
        }
    }

    fn forget(&mut self) -> Vec<Run> {
        let mut forgotten = Vec::new();
        while self.closed_events > self.limit && self.closed.len() > 1 {
            let oldest = self.closed.pop_front();
            let Some(run) = oldest.and_then(|run_id| self.runs.remove(&run_id)) else { break };
            self.closed_events -= run.row.seq;
            forgotten.push(run);
        }
        forgotten
    }
}
