//! Documents that are kept by name: workflows, and schedules.

use std::sync::Arc;

use phasm_engine::{event::Facts, plan::Plan, problem::Problems, time::Timestamp, value::Map};

use super::{Host, SubmitError};
use crate::{
    catalog::{
        self, Fired, MOST_OPEN, SaveError, Saved, SavedWorkflow, ScheduleState, TRIES, Version,
        WrittenDocument, change, saved_text,
    },
    core::Shared,
    store::{EntryName, Shelf, Store, StoreError},
};

/// Why a schedule was not triggered, or a saved workflow not planned.
#[derive(Debug, thiserror::Error)]
pub enum TriggerError {
    /// There is none of that name, or its document cannot be read.
    #[error(transparent)]
    Saved(#[from] SaveError),
    /// Too many of its runs are open.
    #[error("{MOST_OPEN} runs of the schedule are open; cancel some, or wait until they end")]
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

impl Host {
    /// Keeps a workflow by its name; [`catalog::save_workflow`] in this host's store.
    ///
    /// # Errors
    /// [`SaveError`]; nothing was changed.
    pub async fn save_workflow(
        &self,
        plan: &Arc<Plan>,
        written: WrittenDocument<'_>,
        by: Option<&str>,
    ) -> Result<Saved<SavedWorkflow>, SaveError> {
        catalog::save_workflow(&*self.shared.store, plan, written, by, self.shared.clock.now()).await
    }

    /// The workflow of that name, planned, to be [submitted](Self::submit): the version that the beginning of a digest means, or the last.
    ///
    /// # Errors
    /// [`SaveError::NotFound`] if there is none; its problems, where it cannot be planned any more.
    pub async fn saved_plan(
        &self,
        namespace: &str,
        name: &str,
        version: Option<&str>,
    ) -> Result<Arc<Plan>, TriggerError> {
        let store = &*self.shared.store;
        let none = || SaveError::NotFound {
            shelf: Shelf::Workflows,
            namespace: namespace.into(),
            name: name.into(),
        };
        let found = catalog::saved_workflow(store, namespace, name).await?.ok_or_else(none)?;
        let Version { digest, file, .. } = found.what.version(version).ok_or_else(none)?;
        let text = saved_text(store, digest).await?.ok_or_else(none)?;
        Ok(self.plan(file, &text).await?)
    }

    /// Keeps a schedule by the name of its document; [`catalog::put_schedule`] in this host's store. What `spec.arguments` declares needs
    /// defaults, as nobody gives its runs anything.
    ///
    /// # Errors
    /// [`SaveError`]; nothing was changed.
    pub async fn put_schedule(
        &self,
        plan: &Arc<Plan>,
        written: WrittenDocument<'_>,
        by: Option<&str>,
    ) -> Result<Saved<ScheduleState>, SaveError> {
        self.put_schedule_in(&*self.shared.store, plan, written, by).await
    }

    /// [`Self::put_schedule`] into another store, as that of a file which another process holds.
    ///
    /// # Errors
    /// As [`Self::put_schedule`].
    pub async fn put_schedule_in(
        &self,
        store: &dyn Store,
        plan: &Arc<Plan>,
        written: WrittenDocument<'_>,
        by: Option<&str>,
    ) -> Result<Saved<ScheduleState>, SaveError> {
        let now = self.shared.clock.now();
        let facts = Facts { scheduled: Some(now), ..self.shared.terms.facts.clone() };
        let bound = Shared::bind(plan, "", &Map::new(), &facts);
        if let Err(SubmitError::Problems(problems)) = bound {
            return Err(problems.of_file(written.file).into());
        }
        catalog::put_schedule(store, plan, written, by, now).await
    }

    /// Has a schedule start a run now, whatever it says and whether it pauses or not, with parameters of its `spec.arguments`. It counts as
    /// one of the schedule's: what may run beside what is decided at the next instant. Its id is returned once it is durable.
    ///
    /// # Errors
    /// [`TriggerError`]; nothing was stored.
    pub async fn trigger(
        &self,
        namespace: &str,
        name: &str,
        parameters: &Map,
    ) -> Result<Arc<str>, TriggerError> {
        self.trigger_in(&*self.shared.store, namespace, name, parameters).await
    }

    /// [`Self::trigger`] in another store, as that of a file which another process holds and drives.
    ///
    /// # Errors
    /// As [`Self::trigger`].
    pub async fn trigger_in(
        &self,
        store: &dyn Store,
        namespace: &str,
        name: &str,
        parameters: &Map,
    ) -> Result<Arc<str>, TriggerError> {
        let shelf = Shelf::Schedules;
        let key = EntryName { shelf, namespace: namespace.into(), name: name.into() };
        let none = || SaveError::NotFound { shelf, namespace: namespace.into(), name: name.into() };
        let mut tries = 0;
        loop {
            let found: Saved<ScheduleState> =
                catalog::schedule(store, namespace, name).await?.ok_or_else(none)?;
            let (draft, _) = catalog::read(store, &key, &found.what.document).await?;
            let plan = self.shared.plan_draft(draft).await?;
            let _admitted = self.shared.admit(store, &plan.namespace).await?;
            if found.what.open() >= MOST_OPEN {
                return Err(TriggerError::Crowded);
            }
            let now = self.shared.clock.now();
            let new = self.shared.scheduled_run(&plan, &key, parameters, now)?;
            let mut state = found.what.clone();
            state.note(now, Fired::Triggered, Some(Arc::clone(new.id())));
            let change = change(key.clone(), found.revision, found.next, &state, None);
            match self.shared.keep_fired(store, new, change).await {
                Err(StoreError::Moved { .. }) if tries < TRIES => tries += 1,
                kept => {
                    self.shared.due.notify_one();
                    return Ok(kept?);
                }
            }
        }
    }

    /// Has a schedule pause; [`catalog::suspend_schedule`] in this host's store.
    ///
    /// # Errors
    /// [`SaveError::NotFound`], or when the store fails.
    pub async fn suspend_schedule(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Saved<ScheduleState>, SaveError> {
        catalog::suspend_schedule(&*self.shared.store, namespace, name).await
    }

    /// Has a schedule go on; [`catalog::resume_schedule`] in this host's store.
    ///
    /// # Errors
    /// [`SaveError::NotFound`], or when the store fails.
    pub async fn resume_schedule(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Saved<ScheduleState>, SaveError> {
        catalog::resume_schedule(&*self.shared.store, namespace, name, self.shared.clock.now()).await
    }

    /// The next instants of a schedule; [`catalog::next_instants`] in this host's store.
    ///
    /// # Errors
    /// [`SaveError::NotFound`], or when the store cannot be read.
    pub async fn next_instants(
        &self,
        namespace: &str,
        name: &str,
        count: usize,
    ) -> Result<Vec<Timestamp>, SaveError> {
        catalog::next_instants(&*self.shared.store, namespace, name, self.shared.clock.now(), count).await
    }
}
