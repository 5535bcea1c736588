//! Requests of an attempt that are in progress, and the line that each leaves in the log.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering::Relaxed},
    time::{Instant, SystemTime},
};

use super::{budget::Transfer, target::Target};
use crate::{
    executor::{HostCall, Level},
    trace::TraceContext,
    transcript::Transcript,
};

/// Reason that the log gives for a request that its guest dropped.
pub(super) const GIVEN_UP: &str = "given up";

/// Requests in progress, by number. Those that an attempt leaves behind are logged when it ends, and nothing is logged after
/// that.
#[derive(Default)]
pub(super) struct RequestLog(Mutex<BTreeMap<u32, Entry>>);

/// One request in progress.
pub(super) struct Entry {
    target: Target,
    started: Instant,
    started_at: SystemTime,
    status: Option<u16>,
    transfer: Arc<Transfer>,
}

impl RequestLog {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a request that starts now.
    pub(super) fn insert(&self, number: u32, target: &Target, transfer: &Arc<Transfer>) {
        let entry = Entry {
            target: target.clone(),
            started: Instant::now(),
            started_at: SystemTime::now(),
            status: None,
            transfer: Arc::clone(transfer),
        };
        self.lock().insert(number, entry);
    }

    /// Notes the status of the response.
    pub(super) fn set_status(&self, number: u32, status: u16) {
        if let Some(entry) = self.lock().get_mut(&number) {
            entry.status = Some(status);
        }
    }

    /// Removes a request, once.
    pub(super) fn remove(&self, number: u32) -> Option<Entry> {
        self.lock().remove(&number)
    }

    /// Removes the requests that are still in progress when the attempt is over.
    pub(super) fn take_all(&self) -> BTreeMap<u32, Entry> {
        std::mem::take(&mut *self.lock())
    }
}

impl Entry {
    /// Writes to the attempt's log and to its trace, in `span`, how the request ended; `why` says why it failed, if it did.
    pub(super) fn report(
        self,
        transcript: &Transcript,
        span: impl FnOnce() -> TraceContext,
        why: Option<&str>,
    ) {
        let level = if why.is_some() { Level::Warn } else { Level::Info };
        transcript.note(level, &self.line(why));
        let Self { target, started, started_at, status, transfer } = self;
        transcript.called(|| HostCall {
            span: span(),
            url: target.url(),
            method: target.method,
            since: started_at,
            until: started_at + started.elapsed(),
            status,
            moved: (transfer.sent.load(Relaxed), transfer.received.load(Relaxed)),
            failed: why.map(ToOwned::to_owned),
        });
    }

    fn line(&self, why: Option<&str>) -> String {
        let Self { target, started, status, transfer, .. } = self;
        let shown = target.shown();
        let status = status.map(|status| format!(" {status}")).unwrap_or_default();
        let why = why.map(|why| format!(", {why}")).unwrap_or_default();
        let sent = transfer.sent.load(Relaxed);
        let received = transfer.received.load(Relaxed);
        let took = started.elapsed().as_millis();
        format!("{shown}{status}{why}, sent {sent} bytes, received {received} bytes, {took} ms")
    }
}
