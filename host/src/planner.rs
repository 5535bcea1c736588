//! From a workflow file to a run: a planner holds what workflows are planned with, and no run.
//!
//! ```text
//! plugins, tenants, secrets, facts, endpoints ─▶ Planner
//! text ─ reader ─▶ Draft ─ Planner ─▶ Plan, or every problem at once
//! Plan, parameters ─ Planner ─▶ the first record of a run ─▶ a store, for any host that claims it
//! Planner, store ─▶ Host
//! ```

mod admit;
mod first_record;
mod repeat;
mod schedules;
mod submit_span;

use std::{collections::BTreeMap, num::NonZeroUsize, sync::Arc, time::Duration};

use phasm_engine::{
    event::{Facts, Requester},
    plan::{Draft, Executors, PinnedExecutor, Plan},
    problem::Problems,
    value::Map,
};
use phasm_sandbox::{Sandbox, executor::Executor};
use tokio::{runtime::Handle, sync::broadcast};

pub(crate) use self::{
    admit::{Admission, AdmissionTarget},
    repeat::RequestIdentity,
    submit_span::SubmitSpan,
};
pub use self::{
    admit::{QuotaExceeded, SubmitQuota},
    schedules::{TriggerError, TriggerReceipt, TriggerRequest},
};
use crate::{
    clock::Clock,
    journal::plan_cache::PlanCache,
    metrics::Gauges,
    notify::{Endpoint, Webhooks},
    plugins::Plugins,
    reader,
    run::lifecycle::{LifecycleFeed, RunLifecycleEvent},
    store::retention::Retention,
    store::{Component, Document, HostId, Labels, Store, StoreError},
    tenants::environment::TenantEnvironments,
    watch::spans::Tracer,
};
use phasm_artifacts::{ArtifactError, HostArtifacts};

/// Plans workflows, and makes the first record of their runs.
///
/// A planner belongs to no store: one that only submits needs nothing else, and [`Host::open`](crate::Host::open) makes a host of
/// it that runs what a store holds.
pub struct Planner {
    pub(crate) environments: Arc<TenantEnvironments>,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) clock: Clock,
    /// Plans of loaded runs, and a small LRU of others.
    pub(crate) plans: Arc<PlanCache>,
    /// The owner that first records name, and the host that is opened with this planner.
    pub(crate) host: HostId,
    pub(crate) gauges: Arc<Gauges>,
    /// Lifecycle events of the host that is opened with this planner; subscribed to before, none is missed.
    pub(crate) lifecycle: LifecycleFeed,
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    /// Absent where another executor stands in for it.
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) artifacts: HostArtifacts,
    pub(crate) context: PlanningContext,
    pub(crate) settings: HostSettings,
}

/// Settings of the host that is opened with a planner.
pub(crate) struct HostSettings {
    /// Attempts in flight at most.
    pub(crate) slots: u32,
    /// Time that a run which only waits stays in memory before it is given back to the store; absent for a host that claims nothing.
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) retention: Retention,
    /// Number of threads that drive runs; a quarter of the machine's unless set.
    pub(crate) threads: Option<NonZeroUsize>,
    /// The caller's runtime, which drives runs instead of threads of the host's own.
    pub(crate) runtime: Option<Handle>,
    /// Bytes that a store keeps of each attempt's log.
    pub(crate) log_bytes: usize,
}

/// Values that a run is planned and submitted with, besides plugins and secrets.
#[derive(Clone)]
pub(crate) struct PlanningContext {
    pub(crate) facts: Facts,
    /// A text left with each run for the host that recovers it.
    pub(crate) origin: Option<Arc<str>>,
    pub(crate) allow_missing: bool,
}

/// Idempotency key and caller of a submission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubmitOptions {
    /// The idempotency key: submissions with the same key in a namespace start one run.
    pub key: Option<Arc<str>>,
    /// The caller, as the embedding program has authenticated it; none if it is not known.
    pub by: Option<Requester>,
}

/// Why a workflow was not submitted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The workflow or its parameters have problems; nothing was stored.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// `kind: CronWorkflow` starts by its schedule, once it is saved as one.
    #[error("kind CronWorkflow is a schedule: save it as one, and it starts when it is due or triggered")]
    Cron,
    /// A quota of the tenant is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// Another run has the idempotency key, and was not submitted in the same way.
    #[error(
        "the idempotency key is used by run {run_id}: {difference}; submit with another key, or repeat the first submission as it was"
    )]
    KeyUsed {
        /// The run that has the key.
        run_id: Arc<str>,
        /// The difference between the submissions.
        difference: String,
    },
    /// A parameter names an artifact that is not there.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The run could not be made durable.
    #[error("the run could not be stored")]
    Store(#[from] StoreError),
}

impl Planner {
    /// Reads and validates a workflow file. Problems name it `name`, whose extension chooses JSON or YAML. The executors that the
    /// workflow names are read and compiled, and built where they are present as source.
    ///
    /// # Errors
    /// Every problem of the workflow at once.
    pub async fn plan(&self, name: &str, text: &str) -> Result<Arc<Plan>, Problems> {
        let of_file = |found| Problems::from(found).of_file(name);
        let tree = reader::read(name, text).map_err(of_file)?;
        self.plan_draft(Draft::read(&tree)).await.map_err(|found| found.of_file(name))
    }

    /// [`Self::plan`] for a workflow that has been read.
    ///
    /// # Errors
    /// Every problem of the workflow at once.
    pub async fn plan_draft(&self, draft: Draft) -> Result<Arc<Plan>, Problems> {
        let environment =
            draft.namespace().map_or(self.environments.common(), |own| self.environments.of(&own));
        let executors = match &environment.plugins {
            // Nothing is built for a workflow that has to be fixed first.
            Some(plugins) if draft.is_sound() => plugins.executors(&draft.executor_types()).await,
            Some(_) | None => Executors::any(),
        };
        let endpoints = draft.namespace().map(|own| self.webhooks.open_to(&own)).unwrap_or_default();
        let executors = executors.allow_missing(self.context.allow_missing).endpoints(endpoints);
        let plan = draft.plan(&executors, &self.context.facts.vars).map(Arc::new)?;
        // The stored form is made here, once for all runs of the plan.
        Ok(self.shared(&plan))
    }

    /// Checks that a run of `plan` would accept these parameters; nothing is stored.
    ///
    /// # Errors
    /// [`SubmitError::Problems`] or [`SubmitError::Cron`].
    pub fn check(&self, plan: &Arc<Plan>, parameters: &Map) -> Result<(), SubmitError> {
        reject_schedule(plan)?;
        first_record::bind(plan, "", parameters, &self.context.facts, None).map(drop)
    }

    /// Submits a run to `store` without running it: when this returns, the run is durable, and due for any host that claims due
    /// runs. Returns its id. Submissions with the same key in a namespace start one run.
    ///
    /// # Errors
    /// [`SubmitError`], nothing was stored; it holds [`StoreError::Exists`] with the id of the run that has the key already.
    pub async fn enqueue(
        &self,
        store: &dyn Store,
        plan: &Arc<Plan>,
        parameters: &Map,
        options: &SubmitOptions,
    ) -> Result<Arc<str>, SubmitError> {
        self.enqueue_at(&AdmissionTarget::of(store), plan, parameters, options).await
    }

    pub(crate) async fn enqueue_at(
        &self,
        target: &AdmissionTarget<'_>,
        plan: &Arc<Plan>,
        parameters: &Map,
        options: &SubmitOptions,
    ) -> Result<Arc<str>, SubmitError> {
        reject_schedule(plan)?;
        let _admission = self.admit(target, &plan.namespace).await?;
        let (plan, submission) =
            self.submission(plan, parameters, self.context.facts.clone(), options.by.clone())?;
        let first = self.first_record(&plan, submission, options.key.clone(), Labels::new()).await?;
        let identity = options.key.as_ref().map(|_| RequestIdentity::new(&plan, &first.parameters));
        let run_id = Arc::clone(first.id());
        let begins = target.due(first.record.time).await;
        let appended = target.store.append(&first.lease, first.status, first.record, Vec::new());
        let released = target.store.release(&first.lease, Some(begins));
        if let Err(error) = appended.await {
            target.doubt(&error);
            return Err(RequestIdentity::explain(identity, target.store, error).await);
        }
        self.gauges.submitted();
        self.end_submit_span(first.span, &first.lease);
        target.note_release(&run_id, released.await);
        Ok(run_id)
    }

    /// The plan that runs with the same document and settings share.
    fn shared(&self, plan: &Arc<Plan>) -> Arc<Plan> {
        self.plans.share(&self.document(plan), plan)
    }

    /// The stored form of a plan, with the components that its runs are pinned to.
    pub(crate) fn document(&self, plan: &Arc<Plan>) -> Arc<Document> {
        self.plans.document(plan, || {
            let Some(plugins) = &self.environments.of(&plan.namespace).plugins else { return Vec::new() };
            let component = |pinned: &PinnedExecutor| {
                Some(Component { digest: pinned.digest.clone()?, bytes: plugins.component(pinned)? })
            };
            plan.executors.values().filter_map(component).collect()
        })
    }

    /// The shared plugins, which every namespace without plugins of its own uses; absent where another executor stands in for
    /// them.
    #[must_use]
    pub fn plugins(&self) -> Option<&Plugins> {
        self.environments.common().plugins.as_ref()
    }

    /// The plugins that runs of a namespace use.
    #[must_use]
    pub fn plugins_of(&self, namespace: &Arc<str>) -> Option<&Plugins> {
        self.environments.of(namespace).plugins.as_ref()
    }

    /// Subscribes to the lifecycle events of runs on the host that is opened with this planner. A subscriber that falls thousands of
    /// events behind misses the oldest.
    #[must_use]
    pub fn lifecycle(&self) -> broadcast::Receiver<RunLifecycleEvent> {
        self.lifecycle.listen()
    }

    /// Returns the artifacts of the runs that are submitted with this planner.
    #[must_use]
    pub fn artifacts(&self) -> &HostArtifacts {
        &self.artifacts
    }

    /// Webhook endpoints by name.
    #[must_use]
    pub fn endpoints(&self) -> &BTreeMap<Arc<str>, Endpoint> {
        &self.webhooks.endpoints
    }
}

/// # Errors
/// [`SubmitError::Cron`] for a schedule.
pub(crate) fn reject_schedule(plan: &Plan) -> Result<(), SubmitError> {
    if plan.cron.is_some() { Err(SubmitError::Cron) } else { Ok(()) }
}
