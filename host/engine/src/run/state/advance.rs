//! Consequences of a child's end for its scope: the end is counted, and children that waited for it may start.

use std::sync::Arc;

use super::{
    ChildEnd, ContainerProgress, PipelineNext, Place, ScopeIndex, State, TaskIndex, TaskRun, node_at,
    scope::{is_failure, satisfies},
};
use crate::{
    phase::Phase,
    plan::{NodeIndex, TemplateId, Verdict},
    run::MAX_TASK_RUNS,
    value::Value,
};

impl State {
    /// Returns whether an end satisfies the tasks that depend on it, and whether it is a failure that no setting tolerates.
    pub(in crate::run) fn weigh(&self, task: &TaskRun) -> (bool, bool) {
        let satisfied = satisfies(self.node(task).settings.continue_on, task.phase, task.reason)
            || task.verdict.is_some_and(Verdict::tolerates);
        (satisfied, is_failure(task.phase, task.reason) && !satisfied)
    }

    /// Counts an ended child in its scope, and lets those go that it held back.
    pub(super) fn tell_parent(&mut self, id: TaskIndex, parent: ScopeIndex) {
        let task = &self[id];
        let (satisfied, failed) = self.weigh(task);
        let child =
            ChildEnd { task: id, phase: task.phase, reason: task.reason, message: task.message.clone() };
        let scope = &mut self.tables[parent];
        scope.count(child, failed);
        let whole = scope.failures.worst().is_none();
        match scope.progress {
            ContainerProgress::Dag if satisfied => self.release_dependents(id, parent),
            ContainerProgress::Loop(_) if whole => self.release_iteration(parent),
            ContainerProgress::Pipeline(_) => self.advance_pipeline(id, parent, satisfied && whole),
            ContainerProgress::Dag | ContainerProgress::Loop(_) | ContainerProgress::Attempts => {}
        }
    }

    fn release_dependents(&mut self, id: TaskIndex, parent: ScopeIndex) {
        let plan = Arc::clone(&self.plan);
        for index in &node_at(&plan, self[id].place).dependents {
            if let Some(dependent) = self[parent].children.get(*index).copied() {
                self.release(dependent);
            }
        }
    }

    /// Takes one of the things away that hold a task run back.
    fn release(&mut self, id: TaskIndex) {
        let task = &mut self.tables[id];
        task.unmet = task.unmet.saturating_sub(1);
        if task.unmet == 0 && task.phase == Phase::Created {
            self.becomes_ready(id);
        }
    }

    /// `concurrency`: an iteration that has ended makes room for the next (R-S5).
    fn release_iteration(&mut self, parent: ScopeIndex) {
        let scope = &mut self.tables[parent];
        if let ContainerProgress::Loop(progress) = &mut scope.progress
            && let Some(next) = scope.children.get(progress.released).copied()
        {
            progress.released += 1;
            self.release(next);
        }
    }

    /// A pipeline goes on behind a task that has ended, as its rules said or in order (R-N11).
    fn advance_pipeline(&mut self, id: TaskIndex, parent: ScopeIndex, goes_on: bool) {
        let full = self.tasks().len() >= MAX_TASK_RUNS;
        let TaskRun { place, phase, verdict, unmet, .. } = self[id];
        let (Place::Entry(template, index, _), 0) = (place, unmet) else {
            // The task was never entered.
            return;
        };
        let Some(progress) = self.tables[parent].pipeline_mut() else { return };
        progress.task_ended(index, id, phase);
        if goes_on && progress.next == PipelineNext::Task(index) {
            progress.next = progress.after(index, verdict, full);
            if let PipelineNext::Task(next) = progress.next {
                self.enter_task(parent, template, next);
            }
        }
    }

    /// Enters a pipeline's task: its first run, or another if that has ended (R-N3).
    fn enter_task(&mut self, parent: ScopeIndex, template: TemplateId, index: NodeIndex) {
        let Some(progress) = self[parent].pipeline() else { return };
        let jumps = progress.jumps;
        match progress.latest.get(index).copied() {
            Some(first) if self[first].phase == Phase::Created => {
                self.count_entry(first);
                self.release(first);
            }
            Some(_) | None => {
                let next = self.add_child(parent, Place::Entry(template, index, jumps));
                self.count_entry(next);
                if let Some(latest) =
                    self.tables[parent].pipeline_mut().and_then(|progress| progress.latest.get_mut(index))
                {
                    *latest = next;
                }
            }
        }
    }

    /// Numbers a task that a pipeline enters.
    pub(super) fn count_entry(&mut self, id: TaskIndex) {
        let Some(parent) = self[id].parent else { return };
        let Some(progress) = self.tables[parent].pipeline_mut() else { return };
        progress.entries += 1;
        self.tables[id].entry = progress.entries;
    }

    /// Returns `loop.item` of an iteration; `None` for other task runs, and in loops that repeat on a condition.
    #[must_use]
    pub fn item(&self, task: &TaskRun) -> Option<&Value> {
        let (Place::Iteration(_, index), Some(scope)) = (task.place, self.scope_around(task)) else {
            return None;
        };
        match &scope.progress {
            ContainerProgress::Loop(progress) => progress.items.get(index as usize),
            ContainerProgress::Dag | ContainerProgress::Pipeline(_) | ContainerProgress::Attempts => None,
        }
    }
}
