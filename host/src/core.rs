//! The parts of a host that all others share.

pub(crate) mod background;
pub(crate) mod detached;

use std::{
    collections::BTreeSet,
    mem,
    sync::{
        Arc, Mutex, PoisonError,
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
    catalog::SCHEDULE_LABEL,
    clock::Clock,
    dispatch::dispatcher::Dispatcher,
    journal::{outline::JournalSource, outline_cache::OutlineCache, plan_cache::PlanCache},
    metrics::{Gauges, MetricsSnapshot},
    notify::Webhooks,
    planner::{AdmissionTarget, Planner},
    run::{lifecycle::LifecycleFeed, message::Message, ownership_doubt::OwnershipDoubt, registry::Registry},
    store::retention::Retention,
    store::{CatalogKind, EntryName, HostId, RunHead, Store},
    tenants::{environment::TenantEnvironments, tenant::QuotaCache},
    watch::spans::Tracer,
};
use phasm_sandbox::{Sandbox, fair_queue::Holder};

/// The parts of a host that all others share.
pub(crate) struct HostCore {
    pub(crate) planner: Arc<Planner>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) dispatcher: Arc<Dispatcher<mpsc::UnboundedSender<Message>>>,
    pub(crate) clock: Clock,
    /// Environments of the tenants' runs.
    pub(crate) environments: Arc<TenantEnvironments>,
    pub(crate) registry: Registry,
    /// Plans of loaded runs, and a small LRU of others.
    pub(crate) plans: Arc<PlanCache>,
    /// Runs that are not loaded and were looked at last.
    pub(crate) outlines: OutlineCache,
    /// The owner of the runs that are driven here.
    pub(crate) host: HostId,
    /// Where runs are driven.
    pub(crate) control: Handle,
    /// Told when a run may have become due.
    pub(crate) due: Arc<Notify>,
    /// How long a run that only waits stays in memory before it is given back to the store; for ever without.
    pub(crate) idle_timeout: Option<Duration>,
    /// Which runs that have ended are deleted where what is due is claimed.
    pub(crate) retention: Arc<Retention>,
    pub(crate) closed: AtomicBool,
    /// Whether the wall clock was compared with the store's, if that has one. Nothing that goes by the wall clock is begun before.
    pub(crate) clock_known: AtomicBool,
    /// Raised when this host may own runs that it does not know.
    pub(crate) ownership_doubt: Arc<OwnershipDoubt>,
    /// Runs driven so far: tells those apart that were submitted at one instant.
    pub(crate) driven: AtomicU64,
    /// How many bytes of each attempt's log are kept.
    pub(crate) log_retention_bytes: usize,
    pub(crate) lifecycle: LifecycleFeed,
    pub(crate) gauges: Arc<Gauges>,
    /// Receives spans, if runs are traced.
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    pub(crate) pending_schedules: PendingSchedules,
    /// Webhook endpoints.
    pub(crate) webhooks: Arc<Webhooks>,
    /// Cache of the quotas that are saved with the store.
    pub(crate) left: QuotaCache,
}

/// Schedules that are to be looked at, whether they are due or not.
#[derive(Default)]
pub(crate) struct PendingSchedules {
    /// Told when there may be something to do.
    pub(crate) news: Arc<Notify>,
    /// Schedules of which a run has ended.
    ended: Mutex<BTreeSet<EntryName>>,
}

impl PendingSchedules {
    pub(crate) fn add(&self, schedule: EntryName) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).insert(schedule);
        self.news.notify_one();
    }

    pub(crate) fn take(&self) -> BTreeSet<EntryName> {
        mem::take(&mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl HostCore {
    /// Tells the store that this host is there. It is queued before anything that this host writes, and durable with it.
    pub(crate) fn arrive(&self) {
        self.store.heartbeat(&self.host, Timestamp(i64::MAX)).detach();
    }

    /// Where outlines of runs are read.
    pub(crate) fn journal_source<'s>(&'s self, holder: Option<&'s Holder>) -> JournalSource<'s> {
        JournalSource { store: &*self.store, plans: &self.plans, turns: self.outlines.turns(), holder }
    }

    /// Every run stands still, before the threads that drive them end.
    pub(crate) fn stop(&self) {
        self.closed.store(true, Ordering::Release);
        self.registry.stop();
    }

    /// Marks the host as gone: callers that wait for one of its runs learn it, and other hosts may claim its runs.
    pub(crate) fn depart(&self) {
        self.stop();
        self.registry.close();
        self.store.heartbeat(&self.host, Timestamp(0)).detach();
    }

    pub(crate) fn metrics(&self) -> MetricsSnapshot {
        MetricsSnapshot {
            slots: self.dispatcher.slots.usage(),
            written: self.store.written(),
            sandbox: self.dispatcher.sandbox().map(Sandbox::occupancy),
            ..self.gauges.metrics()
        }
    }

    /// Whether anything may still be begun here.
    pub(crate) fn begins(&self) -> bool {
        !self.is_closed() && !self.dispatcher.slots.is_closed()
    }

    /// Admission of runs to this host's store.
    pub(crate) fn admission_target(&self) -> AdmissionTarget<'_> {
        AdmissionTarget {
            store: &*self.store,
            saved_quotas: Some(&self.left),
            slots: Some(&self.dispatcher.slots),
            ownership_doubt: Some(&self.ownership_doubt),
        }
    }

    /// A run has ended here: the schedule that has fired it looks at that.
    pub(crate) fn tell_schedule(&self, head: &RunHead) {
        if self.idle_timeout.is_none() {
            return;
        }
        if let Some(name) = head.labels.get(SCHEDULE_LABEL) {
            let (namespace, name) = (Arc::clone(&head.namespace), Arc::clone(name));
            self.pending_schedules.add(EntryName { shelf: CatalogKind::Schedules, namespace, name });
        }
    }

    /// Notes that the wall clock was compared with the store's.
    pub(crate) fn know_clock(&self) {
        if !self.clock_known.swap(true, Ordering::AcqRel) {
            self.due.notify_one();
            self.pending_schedules.news.notify_one();
        }
    }

    pub(crate) fn knows_clock(&self) -> bool {
        self.clock_known.load(Ordering::Acquire)
    }

    /// Wakes everything that waits for a time of day, after the wall clock was set.
    pub(crate) fn wake_clocks(&self) {
        self.registry.tell_all(|| Message::Tick);
        self.due.notify_one();
        self.pending_schedules.news.notify_one();
        self.webhooks.news.send_replace(());
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}
