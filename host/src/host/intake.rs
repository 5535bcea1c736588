//! From a document to a run: planned with what this host has, its parameters bound, and its first record.

use std::{num::NonZeroU32, sync::Arc};

use phasm_engine::{
    event::Facts,
    plan::{Draft, Executors, Plan, SecretRef},
    problem::Problems,
    run::{Run, Submission, SubmitEnv},
    time::Timestamp,
    value::Map,
};

use super::{SubmitError, submitting::Submitting};
use crate::{
    catalog::labels_of,
    core::Shared,
    journal::{Body, Moment},
    store::{Encode, Labels, Lease, Record, RunHead, RunStatus, Store, StoreError},
};

/// A run that is not yet kept.
pub(super) struct NewRun {
    pub(super) lease: Lease,
    pub(super) status: RunStatus,
    pub(super) record: Record<Arc<dyn Encode>>,
    pub(super) submitting: Option<Submitting>,
}

impl NewRun {
    pub(super) fn id(&self) -> &Arc<str> {
        &self.lease.head.run_id
    }

    /// When it is due.
    pub(super) fn begins(&self) -> Timestamp {
        self.record.time
    }
}

impl Shared {
    /// As [`Host::plan_draft`](super::Host::plan_draft).
    pub(super) async fn plan_draft(&self, draft: Draft) -> Result<Arc<Plan>, Problems> {
        let realm = draft.namespace().map_or(self.realms.common(), |own| self.realms.of(&own));
        let executors = match &realm.plugins {
            // Nothing is built for a document that has to be mended anyway.
            Some(plugins) if draft.is_sound() => plugins.executors(&draft.executor_types()).await,
            Some(_) | None => Executors::any(),
        };
        let endpoints = draft.namespace().map(|own| self.outlets.open_to(&own)).unwrap_or_default();
        let executors = executors.allow_missing(self.terms.allow_missing).endpoints(endpoints);
        let plan = draft.plan(&executors, &self.terms.facts.vars).map(Arc::new)?;
        // What a store keeps of it is made here, once for all its runs.
        Ok(self.plans.share(&self.document(&plan), &plan))
    }

    /// The parameters of a run.
    pub(super) fn bind(
        plan: &Arc<Plan>,
        run_id: &str,
        parameters: &Map,
        facts: &Facts,
    ) -> Result<Map, SubmitError> {
        let run_id = run_id.into();
        let view = SubmitEnv { plan, run_id: &run_id, facts };
        let bound = phasm_engine::plan::bind_arguments(plan, parameters, &view)?;
        Ok(bound.into_iter().collect())
    }

    /// What a new run of `plan` is started with.
    pub(super) fn submission(
        &self,
        plan: &Arc<Plan>,
        parameters: &Map,
        facts: Facts,
    ) -> Result<Submission, SubmitError> {
        let run_id: Arc<str> = uuid::Uuid::now_v7().to_string().into();
        let parameters = Arc::new(Self::bind(plan, &run_id, parameters, &facts)?);
        let (secrets, origin, trace) =
            (self.secrets_of(plan), self.terms.origin.clone(), self.trace(&run_id));
        Ok(Submission { run_id, parameters, facts, secrets, origin, trace })
    }

    pub(super) fn first_lease(&self, run: &Run, key: Option<Arc<str>>, more: Labels) -> Lease {
        let plan = run.plan();
        let head = RunHead {
            run_id: Arc::clone(run.id()),
            workflow: plan.name.clone(),
            namespace: plan.namespace.clone(),
            priority: plan.priority,
            submitted_at: run.now(),
            key,
            labels: labels_of(plan).into_iter().chain(more).collect(),
        };
        Lease::first(Arc::new(head), self.host.clone())
    }

    /// The first record of a run that nobody drives yet.
    pub(super) fn new_run(
        &self,
        plan: &Arc<Plan>,
        submission: Submission,
        key: Option<Arc<str>>,
        more: Labels,
    ) -> NewRun {
        let document = self.document(plan);
        let (run, step) = Run::start(Arc::clone(plan), submission, self.clock.now());
        let moments = vec![Moment { time: run.now(), events: Arc::new(step.events) }];
        let body = Body { moments, basis: Some(Arc::clone(&document.digest)) };
        let lease = self.first_lease(&run, key, more);
        let notices =
            self.outlets.hearers(&lease.head, &plan.notify).notices(&lease.head, &run, 0, &body.moments);
        let record = Record {
            first_seq: 0,
            events: body.count().unwrap_or(NonZeroU32::MIN),
            time: run.now(),
            body: Arc::new(body) as _,
            document: Some(document),
            notices,
        };
        let (status, submitting) = (RunStatus::of(&run), self.submitting(&run));
        NewRun { lease, status, record, submitting }
    }

    /// A new run is durable.
    pub(super) fn submitted(&self, submitting: Option<Submitting>, lease: &Lease) {
        if let Some(submitting) = submitting {
            submitting.done(&lease.head, self.clock.now());
        }
    }

    /// Says what came of giving a new run back, which is due for whoever claims it.
    pub(super) fn given_back(run_id: &str, released: Result<(), StoreError>) {
        match released {
            // Somebody drives it already, or will once this host is known to be gone.
            Ok(()) | Err(StoreError::Fenced { .. }) => {}
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "run {run_id} begins only when this host is gone"
            ),
        }
    }

    /// The secrets that the plan names and this host has.
    fn secrets_of(&self, plan: &Plan) -> Vec<SecretRef> {
        let secrets = &self.realms.of(&plan.namespace).secrets;
        let has = |secret: &SecretRef| secrets.get(secret).is_some();
        plan.secrets().into_iter().filter(has).collect()
    }

    /// Submits a run that nobody drives yet.
    pub(super) async fn enqueue_in(
        &self,
        store: &dyn Store,
        plan: &Arc<Plan>,
        parameters: &Map,
        key: Option<&str>,
    ) -> Result<Arc<str>, SubmitError> {
        if plan.cron.is_some() {
            return Err(SubmitError::Cron);
        }
        let _admitted = self.admit(store, &plan.namespace).await?;
        let submission = self.submission(plan, parameters, self.terms.facts.clone())?;
        let new = self.new_run(plan, submission, key.map(Arc::from), Labels::new());
        let (run_id, begins) = (Arc::clone(new.id()), new.begins());
        let appended = store.append(&new.lease, new.status, new.record, Vec::new());
        let released = store.release(&new.lease, Some(begins));
        appended.await?;
        self.gauges.submitted();
        self.submitted(new.submitting, &new.lease);
        Self::given_back(&run_id, released.await);
        Ok(run_id)
    }
}
