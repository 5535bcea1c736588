//! Schedules: saving one, and the runs that one starts.

use std::sync::Arc;

use phasm_engine::{
    event::Facts,
    plan::Plan,
    problem::{Problem, Problems},
    time::Timestamp,
    value::Map,
};

use super::{
    AdmissionTarget, Planner, RequestIdentity, SubmitError, SubmitOptions,
    first_record::{self, FirstRecord},
};
use crate::{
    catalog::{
        self, CatalogItem, FiringResult, MAX_OPEN_RUNS, MAX_TRIES, SCHEDULE_LABEL, SCHEDULED_LABEL,
        SaveError, ScheduleState, WrittenDocument, change,
    },
    store::{CatalogKind, Change, EntryName, Labels, Store, StoreError},
};

/// A request to start a run of a schedule.
#[derive(Clone, Debug)]
pub struct TriggerRequest<'a> {
    /// The schedule's namespace.
    pub namespace: &'a str,
    /// The schedule's name.
    pub name: &'a str,
    /// Values of parameters that `spec.arguments` declares; the others keep their defaults.
    pub parameters: &'a Map,
    /// The idempotency key and the caller, if there are any: a repeated trigger under a key returns the first one's run.
    pub options: SubmitOptions,
}

/// A run that a trigger has started.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerReceipt {
    /// The run.
    pub run_id: Arc<str>,
    /// False for a run that the same trigger under the same idempotency key had started before.
    pub is_new: bool,
    /// Warnings of the workflow.
    pub warnings: Vec<Problem>,
}

/// Why a schedule was not triggered, or a saved workflow not planned.
#[derive(Debug, thiserror::Error)]
pub enum TriggerError {
    /// There is none of that name, or its file cannot be read.
    #[error(transparent)]
    Saved(#[from] SaveError),
    /// Too many of its runs are open.
    #[error("{MAX_OPEN_RUNS} runs of the schedule are open; cancel some, or wait until they end")]
    Crowded,
    /// No run could be submitted.
    #[error(transparent)]
    Submit(#[from] SubmitError),
}

impl From<StoreError> for TriggerError {
    fn from(error: StoreError) -> Self {
        Self::Saved(error.into())
    }
}

impl From<Problems> for TriggerError {
    fn from(problems: Problems) -> Self {
        Self::Submit(problems.into())
    }
}

impl Planner {
    /// Saves a schedule in `store` by the name of its workflow file; see [`catalog::put_schedule`]. Every parameter that
    /// `spec.arguments` declares needs a default, as a schedule gives its runs none.
    ///
    /// # Errors
    /// [`SaveError`]; nothing was changed.
    pub async fn put_schedule(
        &self,
        store: &dyn Store,
        plan: &Arc<Plan>,
        written: WrittenDocument<'_>,
        by: Option<&str>,
    ) -> Result<CatalogItem<ScheduleState>, SaveError> {
        let now = self.clock.now();
        let facts = Facts { scheduled: Some(now), ..self.context.facts.clone() };
        let bound = first_record::bind(plan, "", &Map::new(), &facts, None);
        if let Err(SubmitError::Problems(problems)) = bound {
            return Err(problems.of_file(written.file).into());
        }
        catalog::put_schedule(store, plan, written, by, now).await
    }

    /// Starts a run of a schedule in `store` now, whether the schedule is due, paused or neither. The run counts against the
    /// schedule's `concurrencyPolicy` at its next firing. Returns once the run is durable; any host that claims due runs may run it.
    ///
    /// # Errors
    /// [`TriggerError`]; nothing was stored.
    pub async fn trigger(
        &self,
        store: &dyn Store,
        request: TriggerRequest<'_>,
    ) -> Result<TriggerReceipt, TriggerError> {
        self.trigger_at(&AdmissionTarget::of(store), request).await
    }

    pub(crate) async fn trigger_at(
        &self,
        target: &AdmissionTarget<'_>,
        request: TriggerRequest<'_>,
    ) -> Result<TriggerReceipt, TriggerError> {
        let TriggerRequest { namespace, name, parameters, options } = request;
        let shelf = CatalogKind::Schedules;
        let schedule = EntryName { shelf, namespace: namespace.into(), name: name.into() };
        let not_found = || SaveError::NotFound { shelf, namespace: namespace.into(), name: name.into() };
        let store = target.store;
        let mut tries = 0;
        loop {
            let found = catalog::schedule(store, namespace, name).await?.ok_or_else(not_found)?;
            let (draft, _) = catalog::read(store, &schedule, &found.what.document).await?;
            let plan = self.plan_draft(draft).await?;
            let _admission = self.admit(target, &plan.namespace).await?;
            if found.what.open() >= MAX_OPEN_RUNS {
                return Err(TriggerError::Crowded);
            }
            let now = self.clock.now();
            let run = self.scheduled_run(&plan, &schedule, parameters, &options, now).await?;
            let identity = options.key.as_ref().map(|_| RequestIdentity::new(&plan, &run.parameters));
            let mut state = found.what.clone();
            state.note(now, FiringResult::Triggered, Some(Arc::clone(run.id())));
            if let Some(firing) = state.firings.last_mut() {
                firing.by.clone_from(&options.by);
            }
            let change = change(schedule.clone(), found.revision, found.next, &state, None);
            match self.store_fired(target, run, change).await {
                // Another process changed the schedule meanwhile: decide again by its new revision.
                Err(StoreError::Moved { .. }) if tries < MAX_TRIES => tries += 1,
                Ok(run_id) => {
                    return Ok(TriggerReceipt { run_id, is_new: true, warnings: plan.warnings.clone() });
                }
                Err(error) => {
                    let error = RequestIdentity::explain(identity, store, error).await;
                    return if let SubmitError::Store(StoreError::Exists { run_id }) = error {
                        Ok(TriggerReceipt { run_id, is_new: false, warnings: plan.warnings.clone() })
                    } else {
                        Err(error.into())
                    };
                }
            }
        }
    }

    /// A run of a schedule, to be [stored](Self::store_fired).
    pub(crate) async fn scheduled_run(
        &self,
        plan: &Arc<Plan>,
        schedule: &EntryName,
        parameters: &Map,
        options: &SubmitOptions,
        at: Timestamp,
    ) -> Result<FirstRecord, SubmitError> {
        let facts = Facts { scheduled: Some(at), ..self.context.facts.clone() };
        let (plan, submission) = self.submission(plan, parameters, facts, options.by.clone())?;
        let labels = Labels::from([
            (SCHEDULE_LABEL.into(), Arc::clone(&schedule.name)),
            (SCHEDULED_LABEL.into(), at.to_rfc3339().into()),
        ]);
        self.first_record(&plan, submission, options.key.clone(), labels).await
    }

    /// Stores a run together with its schedule's next revision, in one write. The run is due at once for any host that claims it.
    pub(crate) async fn store_fired(
        &self,
        target: &AdmissionTarget<'_>,
        run: FirstRecord,
        change: Change,
    ) -> Result<Arc<str>, StoreError> {
        let run_id = Arc::clone(run.id());
        let begins = target.due(run.record.time).await;
        let fired = target.store.fire(&run.lease, run.status, run.record, change);
        let released = target.store.release(&run.lease, Some(begins));
        match fired.await {
            Ok(_) => {
                self.gauges.submitted();
                self.end_submit_span(run.span, &run.lease);
                target.note_release(&run_id, released.await);
            }
            Err(error) => {
                drop(released.await);
                target.doubt(&error);
                return Err(error);
            }
        }
        Ok(run_id)
    }
}
