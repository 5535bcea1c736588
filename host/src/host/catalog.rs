//! Workflows and schedules that are saved by name in a host's store.

use std::sync::Arc;

use phasm_engine::{plan::Plan, time::Timestamp};

use super::Host;
use crate::{
    catalog::{
        self, CatalogItem, SaveError, SavedWorkflow, ScheduleState, Version, WrittenDocument, saved_text,
    },
    planner::{TriggerError, TriggerReceipt, TriggerRequest},
    store::CatalogKind,
};

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
    ) -> Result<CatalogItem<SavedWorkflow>, SaveError> {
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
            shelf: CatalogKind::Workflows,
            namespace: namespace.into(),
            name: name.into(),
        };
        let found = catalog::saved_workflow(store, namespace, name).await?.ok_or_else(none)?;
        let Version { digest, file, .. } = found.what.version(version).ok_or_else(none)?;
        let text = saved_text(store, digest).await?.ok_or_else(none)?;
        Ok(self.plan(file, &text).await?)
    }

    /// Saves a schedule by the name of its workflow; [`catalog::put_schedule`] in this host's store. Every parameter in
    /// `spec.arguments` needs a default, as a schedule gives its runs none.
    ///
    /// # Errors
    /// [`SaveError`]; nothing was changed.
    pub async fn put_schedule(
        &self,
        plan: &Arc<Plan>,
        written: WrittenDocument<'_>,
        by: Option<&str>,
    ) -> Result<CatalogItem<ScheduleState>, SaveError> {
        self.planner().put_schedule(&*self.shared.store, plan, written, by).await
    }

    /// Starts a run of a schedule now; [`Planner::trigger`](crate::Planner::trigger) in this host's store.
    ///
    /// # Errors
    /// [`TriggerError`]; nothing was stored.
    pub async fn trigger(&self, request: TriggerRequest<'_>) -> Result<TriggerReceipt, TriggerError> {
        let target = self.shared.admission_target();
        let triggered = self.planner().trigger_at(&target, request).await;
        self.shared.due.notify_one();
        triggered
    }

    /// Has a schedule pause; [`catalog::suspend_schedule`] in this host's store.
    ///
    /// # Errors
    /// [`SaveError::NotFound`], or when the store fails.
    pub async fn suspend_schedule(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<CatalogItem<ScheduleState>, SaveError> {
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
    ) -> Result<CatalogItem<ScheduleState>, SaveError> {
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
