//! The embedding API: open a host, submit workflows, await views.

mod abandon;
mod builder;
mod catalog;
mod new_run;
mod plugin_admin;
mod recover;
mod rerun;
mod schedules;

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use phasm_engine::{
    event::{Event, Requester, TaskId},
    plan::{Draft, Plan},
    problem::Problems,
    run::Run,
    time::Timestamp,
    value::Map,
};
use phasm_sandbox::fair_queue::Holder;
use tokio::{
    runtime::{Builder as RuntimeBuilder, Handle, Runtime},
    sync::{broadcast, mpsc::UnboundedSender},
};

use self::schedules::ScheduleTrigger;
pub use self::{
    builder::{HostBuilder, OpenError},
    new_run::{NewRun, RERUN_LABEL},
    plugin_admin::PluginAdminError,
    rerun::{Rerun, RerunError},
};
#[cfg(feature = "http")]
use crate::delivery::{dead_letters::DeadLetters, worker::DeliveryWorker};
use crate::{
    cluster::{
        claimer::Claimer,
        exchange::Exchange,
        maintenance::{ClockWatch, Heartbeat, Pruner},
        ownership::OwnershipCheck,
        request_reader::RequestReader,
        store_clock::StoreClockCheck,
    },
    core::{HostCore, PendingSchedules, background},
    dispatch::dispatcher::Dispatcher,
    drive::{follow::Watch, handle::RunHandle},
    journal::{LargeValues, RecoverError, outline::Outline, outline_cache::OutlineCache},
    metrics::MetricsSnapshot,
    notify::{Endpoint, NoticeCounts},
    planner::{HostSettings, Planner, SubmitError, SubmitOptions, reject_schedule},
    plugins::Plugins,
    run::{lifecycle::RunLifecycleEvent, message::Message, registry::Registry},
    store::{HostId, Memory, RunRow, Store, StoreError},
    tenants::tenant::QuotaCache,
};
use phasm_artifacts::ArtifactPlace;

/// How long closing waits for the engine's thread at most.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs workflows in this process.
///
/// Guests run on threads of their own. Drivers run on the control threads, or where there is news for them: on the guest thread
/// of an attempt that has just ended, or on the thread of a caller that submits. Dropping the host stops every run where it
/// stands; a store that outlives the process keeps all that is durable.
pub struct Host {
    shared: Arc<HostCore>,
    control: Control,
}

/// The runtime the engine's loops run on; shut down without waiting, so that a host may be dropped anywhere.
struct Control(Option<Runtime>);

impl Drop for Control {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.shared.stop();
        drop(Control(self.control.0.take()));
        self.shared.depart();
    }
}

impl Host {
    /// Begins to set up a host.
    #[must_use]
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Opens a host on a store: it runs what is submitted to it, and with [`HostBuilder::auto_claim`] what is due in the store.
    ///
    /// # Errors
    /// [`OpenError::Threads`].
    pub fn open(planner: Planner, store: Arc<dyn Store>) -> Result<Self, OpenError> {
        let log_bytes = planner.settings.log_bytes;
        let host = Self::new(planner, store, log_bytes)?;
        if host.shared.store.is_shared() {
            Exchange::begin(&host.shared);
        }
        Ok(host)
    }

    /// Opens a host on a store in memory, which no other process reads. It keeps no logs of attempts: they would take memory and
    /// nothing would ask for them.
    ///
    /// # Errors
    /// [`OpenError::Threads`].
    pub fn open_in_memory(planner: Planner) -> Result<Self, OpenError> {
        planner.artifacts.set_place(ArtifactPlace::Temporary);
        Self::new(planner, Arc::new(Memory::default()), 0)
    }

    fn new(planner: Planner, store: Arc<dyn Store>, log_bytes: usize) -> Result<Self, OpenError> {
        let planner = Arc::new(planner);
        let HostSettings { slots, idle_timeout, retention, threads, runtime, .. } = &planner.settings;
        let (control, engine) = engine_runtime(runtime.clone(), *threads)?;
        let dispatcher = dispatcher(&planner, *slots, &engine);
        let shared = Arc::new(HostCore {
            store,
            dispatcher: Arc::new(dispatcher),
            clock: planner.clock.clone(),
            environments: Arc::clone(&planner.environments),
            registry: Registry::default(),
            plans: Arc::clone(&planner.plans),
            outlines: OutlineCache::default(),
            host: planner.host.clone(),
            control: engine,
            due: Arc::default(),
            idle_timeout: *idle_timeout,
            retention: Arc::new(retention.clone()),
            closed: AtomicBool::new(false),
            clock_known: AtomicBool::new(false),
            ownership_doubt: Arc::default(),
            driven: AtomicU64::new(0),
            log_retention_bytes: log_bytes,
            lifecycle: planner.lifecycle.clone(),
            gauges: Arc::clone(&planner.gauges),
            tracer: planner.tracer.clone(),
            pending_schedules: PendingSchedules::default(),
            webhooks: Arc::clone(&planner.webhooks),
            left: QuotaCache::default(),
            planner,
        });
        let host = Self { shared, control };
        host.start_background_work();
        Ok(host)
    }

    fn start_background_work(&self) {
        let core = &self.shared;
        core.arrive();
        background::start(core, ClockWatch::new(core));
        background::start(core, StoreClockCheck);
        if let Some(lease) = core.store.lease_time() {
            background::start(core, Heartbeat::every(lease / 3));
            background::start(core, RequestReader);
        }
        if core.idle_timeout.is_some() {
            background::start(core, Claimer::new(core));
            background::start(core, OwnershipCheck);
            background::start(core, ScheduleTrigger::new(core));
            self.start_deliveries();
            if !core.retention.keeps_all() {
                background::start(core, Pruner::default());
            }
        }
    }

    #[cfg(feature = "http")]
    fn start_deliveries(&self) {
        let core = &self.shared;
        background::start(core, DeadLetters);
        // An endpoint without secrets is one that other hosts deliver to.
        let own = core.webhooks.endpoints.iter().filter(|(_, endpoint)| !endpoint.secrets.is_empty());
        for worker in own.filter_map(|(name, _)| DeliveryWorker::new(core, name)) {
            background::start(core, worker);
        }
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "without the feature nothing is posted")]
    fn start_deliveries(&self) {}

    /// Counts of notifications by endpoint, since the host was opened.
    #[must_use]
    pub fn notice_counts(&self) -> BTreeMap<Arc<str>, NoticeCounts> {
        let tallies = self.shared.webhooks.tallies.iter();
        tallies.map(|(name, tally)| (Arc::clone(name), tally.counts())).collect()
    }

    /// Where notices go, by name.
    #[must_use]
    pub fn endpoints(&self) -> &BTreeMap<Arc<str>, Endpoint> {
        &self.shared.webhooks.endpoints
    }

    /// The planner that this host was opened with.
    #[must_use]
    pub fn planner(&self) -> &Planner {
        &self.shared.planner
    }

    /// [`Planner::plan`].
    ///
    /// # Errors
    /// Every problem of the workflow at once.
    pub async fn plan(&self, name: &str, text: &str) -> Result<Arc<Plan>, Problems> {
        self.planner().plan(name, text).await
    }

    /// [`Planner::plan_draft`].
    ///
    /// # Errors
    /// Every problem of the workflow at once.
    pub async fn plan_draft(&self, draft: Draft) -> Result<Arc<Plan>, Problems> {
        self.planner().plan_draft(draft).await
    }

    /// Submits a run. When this returns, the run is durable and on its way.
    ///
    /// # Errors
    /// [`SubmitError`]; nothing was stored.
    pub async fn submit(&self, plan: &Arc<Plan>, parameters: &Map) -> Result<RunHandle, SubmitError> {
        self.new_run(plan, parameters).await?.start().await
    }

    /// Prepares a run, to be watched from its first event on or given an idempotency key before it is
    /// [started](NewRun::start).
    ///
    /// # Errors
    /// [`SubmitError`].
    pub async fn new_run(&self, plan: &Arc<Plan>, parameters: &Map) -> Result<NewRun, SubmitError> {
        self.new_run_by(plan, parameters, None).await
    }

    /// [`Self::new_run`] for a caller, whose name is recorded with the run; `workflow.submittedBy` in expressions.
    ///
    /// # Errors
    /// [`SubmitError`].
    pub async fn new_run_by(
        &self,
        plan: &Arc<Plan>,
        parameters: &Map,
        by: Option<Requester>,
    ) -> Result<NewRun, SubmitError> {
        let planner = self.planner();
        let admission = planner.admit(&self.shared.admission_target(), &plan.namespace).await?;
        reject_schedule(plan)?;
        let (plan, submission) = planner.submission(plan, parameters, planner.context.facts.clone(), by)?;
        let (run, step) = Run::start(plan, submission, self.shared.clock.now());
        Ok(NewRun::new(&self.shared, run, step, admission))
    }

    /// Submits a run for any host that claims due runs; see [`Planner::enqueue`]. Returns its id.
    ///
    /// # Errors
    /// [`SubmitError`], nothing was stored.
    pub async fn enqueue(
        &self,
        plan: &Arc<Plan>,
        parameters: &Map,
        options: &SubmitOptions,
    ) -> Result<Arc<str>, SubmitError> {
        self.planner().enqueue_at(&self.shared.admission_target(), plan, parameters, options).await
    }

    /// Saves this host's tenants and their quotas with the store, so that processes without this configuration submit under the
    /// same quotas.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn keep_tenants(&self) -> Result<(), StoreError> {
        // Texts as keys and numbers: this cannot fail.
        let known = serde_json::to_string(&**self.shared.environments.known()).unwrap_or_default();
        self.shared.store.keep_tenants(known.into()).await?;
        self.shared.left.keep(self.shared.environments.known());
        Ok(())
    }

    /// A handle of a stored run, whichever host drives it, or none. Only a request makes this host drive it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or when the store cannot be read.
    pub async fn run(&self, run_id: &str) -> Result<RunHandle, StoreError> {
        let row = self.shared.store.get(run_id).await?;
        let row = row.ok_or_else(|| StoreError::NotFound { run_id: run_id.into() })?;
        Ok(self.run_of(&row))
    }

    /// [`Self::run`] of a row that was read.
    #[must_use]
    pub fn run_of(&self, row: &RunRow) -> RunHandle {
        RunHandle::new(&self.shared, &self.shared.registry.entry(&row.head.run_id))
    }

    /// Watches a run from its event `since` on, counted from 0, whichever host drives it, or none.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or when the store cannot be read.
    pub async fn watch(&self, run_id: &str, since: u64) -> Result<Watch, StoreError> {
        let row = self.shared.store.get(run_id).await?;
        let row = row.ok_or_else(|| StoreError::NotFound { run_id: run_id.into() })?;
        let entry = self.shared.registry.entry(&row.head.run_id);
        Ok(Watch::new(&self.shared, &entry, since, true))
    }

    /// Reads what is recorded of a run, from its event `since` on: [`Watch::known`] tells it, and that of a run which does not exist
    /// is nothing. It is cheaper than [`watch`](Self::watch), and than [`Watch::of`] where the host knows the run's plan. Its run lacks
    /// the values of task runs whose end was told.
    #[must_use]
    pub fn recorded(&self, run_id: &str, since: u64) -> Watch {
        let (store, plans) = (Arc::clone(&self.shared.store) as _, Arc::clone(&self.shared.plans));
        Watch::reading(store, plans, run_id, since).forgetful()
    }

    /// Reads a run as its store has it, without [large values](LargeValues). `each` sees the time and the events of each step, without
    /// them as well. All values of the task run `whole` are read. The parts of the journal are read in turns, which count for `holder`.
    ///
    /// # Errors
    /// [`RecoverError`] when there is no such run, or its journal cannot be read.
    pub async fn outline(
        &self,
        run_id: &str,
        whole: Option<TaskId>,
        holder: &Holder,
        each: impl FnMut(Timestamp, &[Event]),
    ) -> Result<(Run, LargeValues), RecoverError> {
        let mut outline = Outline::with_task(whole);
        outline.read_on(&self.shared.journal_source(Some(holder)), run_id, each).await?;
        outline.into_run().ok_or_else(|| StoreError::NotFound { run_id: run_id.into() }.into())
    }

    /// Drains the host: nothing begins any more, running attempts continue, and their ends are recorded. Tasks keep waiting for
    /// slots and requests stay unread, for the host that recovers their runs; no run is claimed.
    pub fn drain(&self) {
        self.shared.dispatcher.slots.close();
    }

    /// Waits until nothing is executed.
    pub async fn idle(&self) {
        self.shared.dispatcher.slots.until_idle().await;
    }

    /// How many attempts may be in flight.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.shared.dispatcher.slots.total()
    }

    /// Counts since the host was opened, and its present state, as plain values. Counting is independent of this call, which
    /// takes some microseconds.
    #[must_use]
    pub fn metrics(&self) -> MetricsSnapshot {
        self.shared.metrics()
    }

    /// Subscribes to the lifecycle events of this host's runs. A subscriber that falls thousands of events behind misses the
    /// oldest.
    #[must_use]
    pub fn lifecycle(&self) -> broadcast::Receiver<RunLifecycleEvent> {
        self.shared.lifecycle.listen()
    }

    /// Closes the host: every run stops where it stands, and nothing of it holds the store any more when this returns.
    /// Blocks for as long as the engine's thread takes to notice; not to be called on an async thread.
    pub fn close(mut self) {
        self.shared.stop();
        if let Some(runtime) = self.control.0.take() {
            runtime.shutdown_timeout(CLOSE_TIMEOUT);
        }
    }

    /// The identity of this host in its store.
    #[must_use]
    pub fn id(&self) -> &HostId {
        &self.shared.host
    }

    /// Lets other processes of this machine and user reach the runs of the store in `file`, which this process must hold: their
    /// letters are read when they ring, and they may follow runs. Until what is returned is dropped.
    ///
    /// # Errors
    /// When the socket beside the file cannot be made.
    #[cfg(all(unix, feature = "sqlite"))]
    pub fn listen(&self, file: &std::path::Path) -> std::io::Result<crate::cluster::wakeup::WakeupListener> {
        crate::cluster::wakeup::WakeupListener::listen(file, &self.shared)
    }

    /// Number of runs in memory: active ones, and those with a watcher.
    #[must_use]
    pub fn loaded(&self) -> usize {
        self.shared.registry.loaded()
    }

    /// Where this host keeps its runs.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.shared.store
    }

    /// The plugins of this host that no tenant has for itself; none when it was opened with another executor.
    #[must_use]
    pub fn plugins(&self) -> Option<&Plugins> {
        self.shared.environments.common().plugins.as_ref()
    }

    /// The plugins that runs of a namespace find.
    #[must_use]
    pub fn plugins_of(&self, namespace: &Arc<str>) -> Option<&Plugins> {
        self.shared.environments.of(namespace).plugins.as_ref()
    }
}

/// The dispatcher of a host: as many slots as wanted, and no more than the sandbox has room for.
fn dispatcher(planner: &Planner, wanted: u32, engine: &Handle) -> Dispatcher<UnboundedSender<Message>> {
    let sandbox = planner.sandbox.as_ref();
    let (guests, room) = match sandbox {
        Some(sandbox) => (sandbox.guest_runtime().clone(), sandbox.slots()),
        None => (engine.clone(), u32::MAX),
    };
    Dispatcher::new(
        wanted.min(room),
        planner.environments.rules(),
        Arc::clone(&planner.executor),
        guests,
        engine.clone(),
        planner.clock.clone(),
    )
    .with_sandbox(sandbox)
    .with_metrics(&planner.gauges)
}

/// The runtime that drives runs: the caller's, or threads of the host's own.
fn engine_runtime(
    runtime: Option<Handle>,
    threads: Option<NonZeroUsize>,
) -> Result<(Control, Handle), OpenError> {
    if let Some(runtime) = runtime {
        return Ok((Control(None), runtime));
    }
    // Most of the machine's threads are the guests'.
    let quarter = || std::thread::available_parallelism().map_or(1, |threads| (threads.get() / 4).max(1));
    let own = RuntimeBuilder::new_multi_thread()
        .worker_threads(threads.map_or_else(quarter, NonZeroUsize::get))
        .thread_name("phasm-engine")
        .enable_all()
        .build()
        .map_err(OpenError::Threads)?;
    let engine = own.handle().clone();
    Ok((Control(Some(own)), engine))
}
