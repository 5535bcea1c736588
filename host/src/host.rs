//! The embedding API: open a host, submit documents, await views.

mod admit;
mod enqueue;
mod firing;
mod intake;
mod keeping;
mod named;
mod recover;
mod rerun;
mod setup;
mod shelves;
mod submitting;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use phasm_engine::{
    plan::{Draft, Plan},
    problem::Problems,
    run::{Run, Step},
    value::Map,
};
use tokio::{runtime::Runtime, sync::broadcast};

pub use self::{
    admit::{QuotaExceeded, SubmitQuota},
    named::TriggerError,
    rerun::{Rerun, RerunError},
    setup::{HostBuilder, OpenError},
    shelves::ShelfError,
};
use crate::{
    cluster::{claimer, exchange::Exchange},
    core::{Agenda, Shared},
    dispatch::detached::Lasting,
    drive::{follow::Watch, handle::RunHandle},
    metrics::Measured,
    notify::{Endpoint, NoticeCounts},
    plugins::Plugins,
    reader,
    run::{
        lifecycle::Tiding,
        registry::{Entry, Registry},
    },
    store::{HostId, Labels, RunRow, Store, StoreError},
    tenants::tenant::Left,
};

/// How long closing waits for the engine's thread at most.
const LONGEST_CLOSE: Duration = Duration::from_secs(10);

/// Runs workflows in this process.
///
/// Guests run on threads of their own, the engine's loop on another, or where there is news for it: on the thread of the guest
/// that has just ended, or of whoever submits a run. Dropping the host
/// stops every run where it stands; a store that outlives the process keeps what was durable.
pub struct Host {
    shared: Arc<Shared>,
    /// How many bytes of each attempt's log a store keeps that is not this host's own.
    kept_log: usize,
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

/// Why a document was not submitted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The document or its parameters have problems; nothing was stored.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// `kind: CronWorkflow` starts by itself, once it is kept as a schedule.
    #[error(
        "kind CronWorkflow is a schedule: keep it as one, and it starts by itself, or whenever it is triggered"
    )]
    Cron,
    /// A quota of the tenant is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The run could not be made durable.
    #[error("the run could not be stored")]
    Store(#[from] StoreError),
}

impl Host {
    /// Begins to set up a host.
    #[must_use]
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// The same host, which keeps the runs submitted from now on in `store`.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn Store>) -> Self {
        let old = &*self.shared;
        self.shared = Arc::new(Shared {
            store,
            dispatcher: Arc::new(old.dispatcher.anew()),
            clock: old.clock.clone(),
            realms: Arc::clone(&old.realms),
            registry: Registry::default(),
            plans: Arc::default(),
            host: old.host.clone(),
            control: old.control.clone(),
            due: Arc::default(),
            patience: old.patience,
            retention: Arc::clone(&old.retention),
            closed: AtomicBool::new(false),
            in_doubt: AtomicBool::new(false),
            driven: AtomicU64::new(0),
            kept_log: self.kept_log,
            tidings: old.tidings.clone(),
            gauges: Arc::clone(&old.gauges),
            tracer: old.tracer.clone(),
            terms: old.terms.clone(),
            agenda: Agenda::default(),
            outlets: Arc::clone(&old.outlets),
            left: Left::default(),
            lending: Arc::default(),
        });
        self.open_store(true);
        self
    }

    /// Arrives at the store, claims what is due there, and shares attempts with its other hosts if it `has_others`.
    fn open_store(&self, has_others: bool) {
        self.shared.arrive();
        if has_others && self.shared.store.is_shared() {
            Exchange::begin(&self.shared);
        }
        let clock = || self.shared.clock.clone();
        self.shared.control.spawn(claimer::hear_of_another_time(Arc::downgrade(&self.shared), clock()));
        if let Some(lease) = self.shared.store.lease_time() {
            // Two may be lost before others take the host for gone.
            let here = claimer::say_that_it_is_there(Arc::downgrade(&self.shared), clock(), lease / 3);
            self.shared.control.spawn(here);
            self.shared.control.spawn(claimer::hear_mail(Arc::downgrade(&self.shared)));
        }
        if self.shared.patience.is_some() {
            self.shared.control.spawn(claimer::claim_what_is_due(Arc::downgrade(&self.shared)));
            self.shared.control.spawn(firing::fire_what_is_due(Arc::downgrade(&self.shared)));
            self.deliver_notices();
            if !self.shared.retention.keeps_all() {
                self.shared.control.spawn(claimer::forget_what_is_old(Arc::downgrade(&self.shared), clock()));
            }
        }
    }

    #[cfg(feature = "http")]
    fn deliver_notices(&self) {
        self.shared
            .control
            .spawn(crate::delivery::dead_letters::give_up_orphans(Arc::downgrade(&self.shared)));
        for (name, endpoint) in &self.shared.outlets.endpoints {
            // Others may have what this host lacks.
            if !endpoint.secrets.is_empty() {
                let errand =
                    crate::delivery::worker::run_errand(Arc::downgrade(&self.shared), Arc::clone(name));
                self.shared.control.spawn(errand);
            }
        }
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "without the feature nothing is posted")]
    fn deliver_notices(&self) {}

    /// What became of notices, by endpoint, since the host was opened.
    #[must_use]
    pub fn notice_counts(&self) -> BTreeMap<Arc<str>, NoticeCounts> {
        let tallies = self.shared.outlets.tallies.iter();
        tallies.map(|(name, tally)| (Arc::clone(name), tally.counts())).collect()
    }

    /// Where notices go, by name.
    #[must_use]
    pub fn endpoints(&self) -> &BTreeMap<Arc<str>, Endpoint> {
        &self.shared.outlets.endpoints
    }

    /// Reads and validates a document. `name` is what problems call it; its extension chooses JSON or YAML. The executors
    /// that it names are read and compiled, and built where they are there as source.
    ///
    /// # Errors
    /// Every problem of the document at once.
    pub async fn plan(&self, name: &str, text: &str) -> Result<Arc<Plan>, Problems> {
        let named = |found| Problems::from(found).of_file(name);
        let tree = reader::read(name, text).map_err(named)?;
        self.plan_draft(Draft::read(&tree)).await.map_err(|found| found.of_file(name))
    }

    /// [`Self::plan`] for a document that has been read.
    ///
    /// # Errors
    /// Every problem of the document at once.
    pub async fn plan_draft(&self, draft: Draft) -> Result<Arc<Plan>, Problems> {
        self.shared.plan_draft(draft).await
    }

    /// Submits a run. When this returns, the run is durable and on its way. Where runs are submitted one after the other, each when the one
    /// before has been waited for, small attempts that a run begins with are executed before that, on this thread.
    ///
    /// # Errors
    /// [`SubmitError`]; nothing was stored.
    pub async fn submit(&self, plan: &Arc<Plan>, parameters: &Map) -> Result<RunHandle, SubmitError> {
        self.submit_as(plan, parameters, None).await
    }

    /// [`Self::submit`] with what whoever submits it calls the submission: of several with one `key` in a namespace there is one
    /// run.
    ///
    /// # Errors
    /// [`SubmitError`], nothing was stored; it holds [`StoreError::Exists`] with the id of the run that has the key already.
    pub async fn submit_as(
        &self,
        plan: &Arc<Plan>,
        parameters: &Map,
        key: Option<&str>,
    ) -> Result<RunHandle, SubmitError> {
        let _admitted = self.shared.admit(&*self.shared.store, &plan.namespace).await?;
        let (entry, run, step) = self.start(plan, parameters)?;
        Ok(self.launch(&entry, run, step, key).await?)
    }

    /// [`Self::submit`], heard from the run's first event on.
    ///
    /// # Errors
    /// [`SubmitError`]; nothing was stored.
    pub async fn submit_watched(
        &self,
        plan: &Arc<Plan>,
        parameters: &Map,
    ) -> Result<(RunHandle, Watch), SubmitError> {
        let _admitted = self.shared.admit(&*self.shared.store, &plan.namespace).await?;
        let (entry, run, step) = self.start(plan, parameters)?;
        let watch = Watch::new(&self.shared, &entry, 0, false);
        Ok((self.launch(&entry, run, step, None).await?, watch))
    }

    /// A run of the store, whether this host drives it, another one does, or nobody. It is driven by being asked for something only.
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

    /// Hears a run from its event `since` on, counted from 0, whether this host drives it, another one does, or nobody.
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
    /// is nothing. It is cheaper than [`watch`](Self::watch), and than [`Watch::of`] where the host knows the run's plan.
    #[must_use]
    pub fn recorded(&self, run_id: &str, since: u64) -> Watch {
        Watch::reading(Arc::clone(&self.shared.store) as _, Arc::clone(&self.shared.plans), run_id, since)
    }

    /// Whether [`Self::submit`] would take these parameters; nothing is stored.
    ///
    /// # Errors
    /// [`SubmitError::Problems`] or [`SubmitError::Cron`].
    pub fn check(&self, plan: &Arc<Plan>, parameters: &Map) -> Result<(), SubmitError> {
        is_no_schedule(plan)?;
        Shared::bind(plan, "", parameters, &self.shared.terms.facts).map(drop)
    }

    fn start(&self, plan: &Arc<Plan>, parameters: &Map) -> Result<(Arc<Entry>, Run, Step), SubmitError> {
        is_no_schedule(plan)?;
        let plan = self.shared.plans.share(&self.shared.document(plan), plan);
        let submission = self.shared.submission(&plan, parameters, self.shared.terms.facts.clone())?;
        let (run, step) = Run::start(plan, submission, self.shared.clock.now());
        Ok((self.shared.registry.entry(run.id()), run, step))
    }

    /// Drives a new run from its first step.
    async fn launch(
        &self,
        entry: &Arc<Entry>,
        run: Run,
        step: Step,
        key: Option<&str>,
    ) -> Result<RunHandle, StoreError> {
        let lease = self.shared.first_lease(&run, key.map(Arc::from), Labels::new());
        let (shared, entry) = (Arc::clone(&self.shared), Arc::clone(entry));
        let submitting = shared.submitting(&run);
        let (unheard, lends) = shared.lending.submitted();
        let driven = async move {
            let of_new = lease.clone();
            // Whoever finds it in the store meanwhile finds it driven.
            let _alone = entry.turning.lock().await;
            let driven = shared.drive(&entry, run, step, lease, Vec::new(), lends).await;
            let handle = driven.inspect_err(|error| shared.doubt(error))?;
            shared.submitted(submitting, &of_new);
            Ok(handle.of_submitted(unheard))
        };
        // Whoever submits may leave: what is stored is driven.
        Lasting::new(&self.shared.control, driven).await
    }

    /// From now on nothing is begun: what is executed goes on, and what ends is recorded. What waits for a slot stays
    /// waiting, and letters stay unread, for whoever recovers their runs; nothing is claimed any more.
    pub fn begin_no_more(&self) {
        self.shared.dispatcher.slots.close();
    }

    /// Waits until nothing is executed.
    pub async fn nothing_executes(&self) {
        self.shared.dispatcher.slots.until_idle().await;
    }

    /// How many attempts may be in flight.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.shared.dispatcher.slots.total()
    }

    /// What this host has counted since it was opened, and how it stands, as plain values. Counting goes on whether anybody asks or not; asking
    /// takes some microseconds.
    #[must_use]
    pub fn measured(&self) -> Measured {
        self.shared.measured()
    }

    /// Hears what becomes of this host's runs from now on, also once it [has another store](Self::with_store). Whoever is some
    /// thousands behind misses the oldest.
    #[must_use]
    pub fn tidings(&self) -> broadcast::Receiver<Tiding> {
        self.shared.tidings.listen()
    }

    /// Closes the host: every run stops where it stands, and nothing of it holds the store any more when this returns.
    /// Blocks for as long as the engine's thread takes to notice; not to be called on an async thread.
    pub fn close(mut self) {
        self.shared.stop();
        if let Some(runtime) = self.control.0.take() {
            runtime.shutdown_timeout(LONGEST_CLOSE);
        }
    }

    /// Who this host is to its store.
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
    pub fn listen(&self, file: &std::path::Path) -> std::io::Result<crate::cluster::wakeup::Bell> {
        crate::cluster::wakeup::Bell::listen(file, &self.shared)
    }

    /// How many runs are in memory: those that something happens to, and those that somebody watches.
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
        self.shared.realms.common().plugins.as_ref()
    }

    /// The plugins that runs of a namespace find.
    #[must_use]
    pub fn plugins_of(&self, namespace: &Arc<str>) -> Option<&Plugins> {
        self.shared.realms.of(namespace).plugins.as_ref()
    }
}

fn is_no_schedule(plan: &Plan) -> Result<(), SubmitError> {
    if plan.cron.is_some() { Err(SubmitError::Cron) } else { Ok(()) }
}
