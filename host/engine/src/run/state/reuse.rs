//! Results that a run may take over from the run that it is a rerun of.

use std::sync::Arc;

use super::{Place, State, TaskRun, apply::ApplyResult, task::GivenResponse};
use crate::{
    event::{PastResult, Rerun, TaskId},
    phase::Phase,
    plan::{Determinism, Plan},
};

/// The run that a run is a rerun of, as far as it is known.
#[derive(Debug)]
pub(in crate::run) struct EarlierRun {
    pub(in crate::run) rerun: Arc<Rerun>,
    /// Which calls come to what they came to there, if they are bound to the same.
    pub(in crate::run) determinism: Determinism,
}

impl EarlierRun {
    pub(super) fn new(plan: &Plan, rerun: Arc<Rerun>) -> Self {
        let determinism = if rerun.results.is_empty() {
            Determinism::default()
        } else {
            Determinism::of(plan, &rerun.changed)
        };
        Self { rerun, determinism }
    }
}

impl State {
    /// Returns the result of a task run in the earlier run, if it may be taken over.
    pub(in crate::run) fn past_result(&self, task: &TaskRun) -> Option<(&EarlierRun, &PastResult)> {
        let past = self.past.as_deref()?;
        if past.rerun.results.is_empty() {
            return None;
        }
        past.rerun.results.get(self.path(task).as_str()).map(|result| (past, result))
    }

    /// Whether what is around a task run and what came before it is as it was in the earlier run.
    pub(in crate::run) fn stands_as_before(&self, task: &TaskRun, rerun: &Rerun) -> bool {
        let mut around = std::iter::successors(Some(task), |task| self.parent(task));
        around.all(|task| self.has_same_item(task, rerun) && !self.follows_another(task, rerun))
    }

    fn has_same_item(&self, task: &TaskRun, rerun: &Rerun) -> bool {
        let (Place::Iteration(_, index), Some(each)) = (task.place, self.parent(task)) else { return true };
        let past = rerun.items.get(self.path(each).as_str()).and_then(|items| items.get(index as usize));
        past == self.item(task)
    }

    /// Whether it depends on something that had succeeded there and was executed here, or skipped: what tasks leave to
    /// each other need not be inputs.
    fn follows_another(&self, task: &TaskRun, rerun: &Rerun) -> bool {
        let (Place::Dag(..), Some(scope)) = (task.place, self.scope_around(task)) else { return false };
        let before = self.node(task).dependencies.iter().filter_map(|index| scope.children.get(*index));
        before.map(|id| &self[*id]).any(|before| {
            let is_kept = before.phase == Phase::Succeeded && before.dispatched_at.is_none();
            !is_kept && rerun.results.contains_key(self.path(before).as_str())
        })
    }

    pub(super) fn apply_reused(&mut self, id: TaskId) -> ApplyResult {
        let id = self.existing(id)?;
        let task = &self[id];
        let Some((_, result)) = self.past_result(task).filter(|_| task.phase == Phase::Created) else {
            return Err(format!("task run {id} has no result of an earlier run"));
        };
        let PastResult { inputs, config, code, message, outputs, retries, resumed_by } = result.clone();
        let task = &mut self.tables[id];
        task.inputs = inputs;
        task.config = config;
        task.outputs = outputs;
        task.code = code;
        task.message = message;
        task.retries = retries;
        task.reused = true;
        if resumed_by.is_some() {
            task.callers_mut().resumed = Some(GivenResponse { by: resumed_by, at: None });
        }
        Ok(())
    }
}
