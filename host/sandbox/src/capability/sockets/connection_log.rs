//! Connections of an attempt that are open, and the line that each leaves in the log.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use crate::{executor::Level, transcript::Transcript};

/// Open connections, by number. Those that an attempt leaves behind are logged when it ends, and nothing is logged after that.
#[derive(Default)]
pub(super) struct ConnectionLog(Mutex<BTreeMap<u64, Entry>>);

/// Bytes that one connection transfers.
#[derive(Default)]
pub(super) struct Transfer {
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
}

struct Entry {
    /// Name or address, and port.
    shown: String,
    started: Instant,
    transfer: Arc<Transfer>,
}

impl ConnectionLog {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a connection that starts now.
    pub(super) fn insert(&self, number: u64, shown: String, transfer: &Arc<Transfer>) {
        let entry = Entry { shown, started: Instant::now(), transfer: Arc::clone(transfer) };
        self.lock().insert(number, entry);
    }

    /// Logs that a connection is over, once.
    pub(super) fn end(&self, number: u64, why: Option<&str>, transcript: &Transcript) {
        let ended = self.lock().remove(&number);
        if let Some(entry) = ended {
            entry.report(why, transcript);
        }
    }

    /// Logs the connections that are still open when the attempt is over.
    pub(super) fn end_all(&self, transcript: &Transcript) {
        let open = std::mem::take(&mut *self.lock());
        open.into_values().for_each(|entry| entry.report(None, transcript));
    }
}

impl Entry {
    fn report(self, why: Option<&str>, transcript: &Transcript) {
        let Self { shown, started, transfer } = self;
        let why = why.map(|why| format!(", {why}")).unwrap_or_default();
        let (sent, received) = (transfer.sent.load(Relaxed), transfer.received.load(Relaxed));
        let took = started.elapsed().as_millis();
        let line = format!("TCP {shown}{why}, sent {sent} bytes, received {received} bytes, {took} ms");
        transcript.note(Level::Info, &line);
    }
}
