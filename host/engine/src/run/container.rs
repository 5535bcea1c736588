//! Containers: opening, hearing of children that ended, and ending (R-P4, R-S1 to R-S4).

use std::{collections::VecDeque, sync::Arc};

use super::{Run, env::Judged, env::View, node_at};
use crate::{
    event::{Event, Reason, ScopeOpened, TaskId, With},
    phase::{Kind, Phase},
    plan::{Level, Node, Recovery, TemplateKind, Work},
    retry::MaxAttempts,
    scope::{is_failure, tolerates},
};

impl Run {
    /// Every dependency is satisfied: `when` is asked, once; a container opens, a leaf stays in the queue (R-S1).
    pub(super) fn became_ready(&mut self, id: TaskId) {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id).filter(|task| task.phase == Phase::Created) else { return };
        let node = node_at(&plan, task.place);
        if let Some(when) = &node.when {
            match when.test(&View::new(self, task, Level::Node)) {
                Ok(true) => {}
                Ok(false) => return self.set_phase(id, Phase::Skipped, Some(Reason::When), None),
                Err(error) => {
                    return self.end_without_attempt(id, Phase::Error, None, format!("when: {error}"));
                }
            }
        }
        if never_runs(node) {
            return self.set_phase(id, Phase::Skipped, Some(Reason::MaxAttempts0), None);
        }
        match &node.work {
            Work::Executor(_) => {}
            Work::Container(_) | Work::Wrapper { .. } => self.open(id),
        }
    }

    fn open(&mut self, task: TaskId) {
        match self.bind_inputs(task) {
            Ok(inputs) => self.emit(Event::ScopeOpened(Box::new(ScopeOpened { task, inputs }))),
            Err(message) => self.end_without_attempt(task, Phase::Error, None, message),
        }
    }

    /// Containers follow their first leaf to Ready and to Running (R-P5).
    pub(super) fn promote(&mut self, leaf: TaskId, to: Phase) {
        let mut parent = self.task(leaf).and_then(|task| task.parent);
        while let Some(container) = parent.and_then(|id| self.task(id)) {
            let id = container.id;
            if !container.phase.may_become(to, Kind::Container) {
                return;
            }
            parent = container.parent;
            self.set_phase(id, to, None, None);
        }
    }

    /// A child has ended: its failure may end what was never dispatched (R-S3); the last one ends the container.
    pub(super) fn child_ended(&mut self, id: TaskId) {
        let Some(child) = self.task(id) else { return };
        let Some(parent) = child.parent else { return };
        let tolerance = self.node(child).settings.continue_on;
        let failed =
            is_failure(child.phase, child.reason) && !tolerates(tolerance, child.phase, child.reason);
        let Some(container) = self.task(parent).filter(|task| !task.phase.is_terminal()) else { return };
        let Some(scope) = container.scope.as_ref() else { return };
        if failed && scope.open > 0 {
            if self.fails_fast(parent) {
                self.cancel_undispatched(parent);
            } else {
                self.cancel_dependants(id);
            }
        }
        let over =
            self.task(parent).and_then(|task| task.scope.as_ref()).is_some_and(|scope| scope.open == 0);
        if over && self.task(parent).is_some_and(|task| !task.phase.is_terminal()) {
            self.finalise(parent);
        }
    }

    fn fails_fast(&self, container: TaskId) -> bool {
        let template = self.task(container).and_then(|task| task.scope.as_ref()).map(|scope| scope.template);
        match template.and_then(|t| self.plan.templates.get(t)).map(|t| &t.kind) {
            Some(TemplateKind::Dag(dag)) => dag.fail_fast,
            Some(TemplateKind::Task | TemplateKind::Loop(_) | TemplateKind::Pipeline(_)) | None => true,
        }
    }

    /// `failFast`: whatever this scope never dispatched is cancelled.
    fn cancel_undispatched(&mut self, container: TaskId) {
        let Some(scope) = self.task(container).and_then(|task| task.scope.as_ref()) else { return };
        if scope.undispatched == 0 {
            return;
        }
        let waiting: Vec<TaskId> =
            scope.children.iter().copied().filter(|id| self.never_dispatched(*id)).collect();
        for id in waiting {
            self.close(id, Reason::ScopeFailed, None);
        }
    }

    /// `failFast: false`: only those that could never run any more are cancelled, at once.
    fn cancel_dependants(&mut self, id: TaskId) {
        let plan = Arc::clone(&self.plan);
        let mut lost = VecDeque::from([id]);
        while let Some(task) = lost.pop_front().and_then(|id| self.task(id)) {
            let Some(scope) = task.parent.and_then(|p| self.task(p)).and_then(|p| p.scope.as_ref()) else {
                return;
            };
            let dependents = &node_at(&plan, task.place).dependents;
            let dependents: Vec<TaskId> =
                dependents.iter().filter_map(|index| scope.children.get(*index).copied()).collect();
            for dependent in dependents {
                if self.never_dispatched(dependent) {
                    self.close(dependent, Reason::ScopeFailed, None);
                    lost.push_back(dependent);
                }
            }
        }
    }

    fn never_dispatched(&self, id: TaskId) -> bool {
        self.task(id).is_some_and(|task| task.phase == Phase::Created && task.dispatched_at.is_none())
    }

    /// All children have ended: the container's phase follows (R-S4).
    fn finalise(&mut self, id: TaskId) {
        let worst =
            self.task(id).and_then(|task| task.scope.as_ref()).and_then(|s| s.failures.worst().cloned());
        let Some(worst) = worst else { return self.finalise_as(id, Phase::Succeeded, None, "".into()) };
        let reason = worst.reason.filter(|_| worst.phase == Phase::Cancelled);
        let name = self.task(worst.task).map(|task| self.node(task).name.clone()).unwrap_or_default();
        let separator = if worst.message.is_empty() { "" } else { ": " };
        let message = format!("task {name} ended {}{separator}{}", worst.phase, worst.message);
        self.finalise_as(id, worst.phase, reason, message.into());
    }

    /// Ends a container with the computed phase, after its conditions have seen it (R-C5).
    pub(super) fn finalise_as(
        &mut self,
        id: TaskId,
        phase: Phase,
        reason: Option<Reason>,
        message: Arc<str>,
    ) {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id) else { return };
        let node = node_at(&plan, task.place);
        let outputs = self.container_outputs(id);
        let mut judged = Judged { phase, code: None, message, outputs, retries: 0 };
        let overridden = self.judge(id, &node.settings.phase_conditions, &mut judged);
        let reason = reason.filter(|_| !overridden);
        let with = With::Result { message: judged.message, outputs: judged.outputs };
        self.set_phase(id, judged.phase, reason, Some(with));
    }
}

fn never_runs(node: &Node) -> bool {
    matches!(&node.settings.recovery, Some(Recovery::Retry(policy)) if policy.max_attempts == MaxAttempts::Limited(0))
}
