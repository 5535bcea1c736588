//! Contract of every store, and the additional promises of a file.

mod contract;
mod crash;
mod damage;
mod documents;
mod entries;
mod files;
mod formats;
mod leaks;
mod leases;
mod letters;
mod memory;
mod model;
#[cfg(feature = "postgres")]
mod mute;
mod notices;
mod offers;
#[cfg(feature = "postgres")]
pub(super) mod postgres;
#[cfg(feature = "postgres")]
mod renewals;
#[cfg(feature = "postgres")]
pub(super) mod server;
mod writing;

use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
};

use phasm_engine::{phase::Phase, time::Timestamp};
use tempfile::TempDir;

use super::{
    Encode, Filter, HostId, Labels, Lease, Memory, Pending, ReadStore, Record, RunHead, RunStatus, Sqlite,
    SqliteReader, Store, StoreError,
};

const RUNNING: RunStatus = RunStatus { phase: Phase::Running, finished_at: None, open: true, rest: None };
const SUCCEEDED: RunStatus =
    RunStatus { phase: Phase::Succeeded, finished_at: Some(Timestamp(9)), open: false, rest: None };

fn head(run_id: &str) -> Arc<RunHead> {
    prior(run_id, 500)
}

fn prior(run_id: &str, priority: u16) -> Arc<RunHead> {
    Arc::new(RunHead {
        run_id: run_id.into(),
        workflow: "audit".into(),
        namespace: "default".into(),
        priority,
        submitted_at: Timestamp(7),
        key: None,
        labels: Labels::new(),
    })
}

/// The only host of most tests.
fn here() -> HostId {
    "here".into()
}

/// Appending under the lease of the submitting host.
trait Put: Store {
    fn put(&self, head: Arc<RunHead>, status: RunStatus, record: Record<Arc<dyn Encode>>) -> Pending<()> {
        self.append(&Lease::first(head, here()), status, record, Vec::new())
    }
}

impl<S: Store + ?Sized> Put for S {}

fn record<B>(first_seq: u64, events: u32, body: B) -> Record<B> {
    let events = NonZeroU32::new(events).unwrap();
    Record {
        first_seq,
        events,
        time: Timestamp(8),
        body,
        document: None,
        notices: Vec::new(),
        logs: Vec::new(),
        remark: None,
    }
}

fn append(store: &dyn Store, run_id: &str, first_seq: u64, body: &[u8]) -> Pending<()> {
    let body: Arc<dyn Encode> = Arc::new(body.to_vec());
    store.put(head(run_id), RUNNING, record(first_seq, 1, body))
}

async fn seqs(store: &dyn Store, run_id: &str) -> Vec<u64> {
    store.load(run_id).await.unwrap().iter().map(|record| record.first_seq).collect()
}

/// Runs `test` on a fresh store of each kind.
async fn on_each(test: impl AsyncFn(&dyn Store)) {
    test(&Memory::default()).await;
    let (_dir, store) = in_file();
    test(&store).await;
    #[cfg(feature = "postgres")]
    if let Some(server) = server::server() {
        test(&postgres::open(server)).await;
    }
}

fn in_file() -> (TempDir, Sqlite) {
    let dir = tempfile::tempdir().unwrap();
    let store = Sqlite::open(dir.path().join("runs.db")).unwrap();
    (dir, store)
}

fn conflict<T: std::fmt::Debug>(result: Result<T, StoreError>) -> (u64, u64) {
    match result {
        Err(StoreError::Conflict { expected, found, .. }) => (expected, found),
        other => panic!("a conflict was expected, not {other:?}"),
    }
}

/// A body that is encoded only once its gate is opened: holds the writer inside a transaction.
struct Gated(Mutex<Receiver<()>>);

fn gated() -> (Sender<()>, Arc<dyn Encode>) {
    let (gate, opened) = channel();
    (gate, Arc::new(Gated(Mutex::new(opened))))
}

impl Encode for Gated {
    fn encode(&self, buffer: &mut Vec<u8>) {
        self.0.lock().unwrap().recv().unwrap();
        buffer.extend_from_slice(b"gated");
    }
}
