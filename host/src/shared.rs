//! What all parts of a host share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use phasm_engine::time::Timestamp;
use tokio::{
    runtime::Handle,
    sync::{Notify, mpsc},
};

use crate::{
    clock::Clock,
    dispatcher::Dispatcher,
    message::Message,
    plugins::Plugins,
    registry::Registry,
    secrets::Secrets,
    store::{HostId, Store},
};

/// How long a store that failed is left alone: doubled each time, up to the last.
pub(crate) const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));

/// What all parts of a host share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) dispatcher: Arc<Dispatcher<mpsc::UnboundedSender<Message>>>,
    pub(crate) clock: Clock,
    pub(crate) secrets: Secrets,
    pub(crate) registry: Registry,
    /// Whose the runs are that are driven here.
    pub(crate) host: HostId,
    /// None where another executor stands for them.
    pub(crate) plugins: Option<Plugins>,
    /// Where runs are driven.
    pub(crate) control: Handle,
    /// Told when a run may have become due.
    pub(crate) due: Arc<Notify>,
    /// How long a run that only waits stays in memory before it is given back to the store; for ever without.
    pub(crate) patience: Option<Duration>,
    pub(crate) closed: AtomicBool,
    /// Runs driven so far: tells those apart that were submitted at one instant.
    pub(crate) driven: AtomicU64,
    /// How many bytes of each attempt's log are kept.
    pub(crate) kept_log: usize,
}

impl Shared {
    /// Tells the store that this host is there. It is queued before anything that this host writes, and durable with it.
    pub(crate) fn arrive(&self) {
        drop(self.store.heartbeat(&self.host, Timestamp(i64::MAX)));
    }

    /// Every run stands still, before the threads that drive them end.
    pub(crate) fn stop(&self) {
        self.closed.store(true, Ordering::Release);
        self.registry.stop();
    }

    /// The host drives nothing any more: whoever waits for one of its runs hears it, and others may have them.
    pub(crate) fn depart(&self) {
        self.stop();
        self.registry.close();
        drop(self.store.heartbeat(&self.host, Timestamp(0)));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}
