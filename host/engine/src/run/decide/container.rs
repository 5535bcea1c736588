//! Containers: opening, hearing of children that ended, and ending (R-P4, R-S1 to R-S4).

use std::{collections::VecDeque, sync::Arc};

use super::{MOST_TASK_RUNS, Run, env::Judged, env::View, loops::Items, node_at};
use crate::{
    event::{Bindings, Clock, Event, Reason, ScopeOpened, TaskId, With},
    outcome::Outcome,
    phase::{Kind, Phase},
    plan::{Level, Node, Recovery, TemplateKind, Work},
    retry::MaxAttempts,
    run::state::{Course, Next},
};

impl Run {
    /// Every dependency is satisfied: `when` is asked, once; a container opens, a leaf stays in the queue (R-S1).
    pub(in crate::run) fn became_ready(&mut self, id: TaskId) {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id).filter(|task| task.phase == Phase::Created) else { return };
        let node = node_at(&plan, task.place);
        if task.attempt > 0 {
            // Of those that come here, only a wrapper has attempts in Created: its next one begins.
            return self.open(id);
        }
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
            Work::Container(_) | Work::Wrapper(_) => self.open(id),
        }
    }

    /// Opens a container, or begins a wrapper's next attempt.
    fn open(&mut self, task: TaskId) {
        match self.bind_container(task) {
            Ok((inputs, Items { items, cut, nulls })) => {
                self.warn_nulls(task, nulls);
                let length = items.as_ref().map_or(0, |items| items.len());
                self.emit(Event::ScopeOpened(Box::new(ScopeOpened { task, inputs, items })));
                if cut > 0 {
                    let message = format!("maxIterations cut off {cut} items; the loop runs over {length}");
                    self.warn(Some(task), "max-iterations", message);
                }
                self.opened(task);
            }
            Err(message) => self.end_without_attempt(task, Phase::Error, None, message),
        }
    }

    /// Inputs, bound once (R-R6), and what a loop runs over.
    fn bind_container(&mut self, id: TaskId) -> Result<(Bindings, Items), String> {
        let bound =
            self.task(id).filter(|task| task.attempt > 0 && !task.rebind).map(|task| task.inputs.clone());
        let inputs = match bound {
            Some(inputs) => inputs,
            None => self.bind_inputs(id)?,
        };
        let items = self.items(id, &inputs)?;
        self.room_for(self.children_at_first(id, items.items.as_deref()))?;
        Ok((inputs, items))
    }

    /// Whether the run may have so many more task runs.
    pub(in crate::run) fn room_for(&self, more: usize) -> Result<(), String> {
        if self.tasks.len().saturating_add(more) <= MOST_TASK_RUNS {
            return Ok(());
        }
        Err(format!("the run would have more than {MOST_TASK_RUNS} task runs"))
    }

    /// What follows at once from having opened: a scope without children ends, and a wrapper whose `timeout` has
    /// passed has no time for this attempt (R-T2).
    fn opened(&mut self, id: TaskId) {
        let Some(task) = self.task(id) else { return };
        let Some(scope) = task.scope.as_ref() else { return };
        if scope.open == 0 {
            return self.finalise(id);
        }
        let expired = task.clocks.timeout.is_some_and(|at| at <= self.now);
        if expired && matches!(scope.course, Course::Attempts) {
            self.close_children(id, Reason::ScopeTimeout);
            let message = "the task's timeout passed before this attempt could start";
            self.conclude(id, Outcome::timeout(message), Some(Clock::Timeout));
        }
    }

    /// Containers follow their first leaf to Ready and to Running (R-P5); a wrapper's attempt starts with it.
    pub(in crate::run) fn promote(&mut self, leaf: TaskId, to: Phase) {
        let mut parent = self.task(leaf).and_then(|task| task.parent);
        while let Some(container) = parent.and_then(|id| self.task(id)) {
            let (id, fence, kind) = (container.id, container.fence(), self.kind(container));
            if !container.phase.may_become(to, Kind::Container) {
                return;
            }
            parent = container.parent;
            self.set_phase(id, to, None, None);
            if kind == Kind::Wrapper && to == Phase::Running {
                self.emit(Event::AttemptStarted(fence));
            }
        }
    }

    /// A task run has ended: what that means to whatever it belongs to.
    pub(in crate::run) fn ended(&mut self, id: TaskId) {
        let Some(task) = self.task(id) else { return };
        if let Some(hook) = task.hook {
            return self.hook_ended(id, hook);
        }
        let Some(parent) = task.parent.and_then(|id| self.task(id)).filter(|task| !task.phase.is_terminal())
        else {
            return;
        };
        let (container, kind) = (parent.id, self.kind(parent));
        match kind {
            Kind::Wrapper => self.wrapped_ended(container, id),
            Kind::Container | Kind::Leaf => self.child_ended(container, id),
        }
    }

    /// A child has ended: its failure may end what was never dispatched (R-S3); the last one ends the container.
    fn child_ended(&mut self, container: TaskId, id: TaskId) {
        let Some(child) = self.task(id) else { return };
        let (_, failed) = self.weigh(child);
        let Some(scope) = self.task(container).and_then(|task| task.scope.as_ref()) else { return };
        let next = scope.pipeline().map(|course| course.next);
        if scope.open > 0 {
            match next {
                Some(Next::End) if !failed => self.skip_unreached(container),
                Some(Next::TooManyJumps) => self.cancel_undispatched(container),
                Some(Next::Task(_) | Next::End) | None if !failed => {}
                Some(_) | None if self.fails_fast(container) => self.cancel_undispatched(container),
                Some(_) | None => self.cancel_dependants(id),
            }
        }
        if self.task(container).and_then(|task| task.scope.as_ref()).is_some_and(|scope| scope.open == 0) {
            self.all_ended(container);
        }
    }

    /// No child is open any more: a do-while loop may go on, everything else ends.
    fn all_ended(&mut self, container: TaskId) {
        let Some(scope) = self.task(container).and_then(|task| task.scope.as_ref()) else { return };
        let may_repeat = matches!(scope.course, Course::Loop(_)) && scope.failures.worst().is_none();
        match if may_repeat { self.repeat(container) } else { Ok(false) } {
            Ok(true) => {}
            Ok(false) => self.finalise(container),
            Err(message) => self.finalise_as(container, Phase::Error, None, message.into()),
        }
    }

    fn fails_fast(&self, container: TaskId) -> bool {
        let template = self.task(container).and_then(|task| task.scope.as_ref()).map(|scope| scope.template);
        match template.and_then(|template| self.plan.kind(template)) {
            Some(TemplateKind::Dag(dag)) => dag.fail_fast,
            Some(
                TemplateKind::Task
                | TemplateKind::Wrapper(_)
                | TemplateKind::Loop(_)
                | TemplateKind::Pipeline(_),
            )
            | None => true,
        }
    }

    /// A pipeline has ended well: what it never came to is skipped (R-N3).
    fn skip_unreached(&mut self, container: TaskId) {
        for id in self.undispatched(container) {
            self.set_phase(id, Phase::Skipped, Some(Reason::NotReached), None);
        }
    }

    /// `failFast`: whatever this scope never dispatched is cancelled.
    fn cancel_undispatched(&mut self, container: TaskId) {
        for id in self.undispatched(container) {
            self.close(id, Reason::ScopeFailed, None);
        }
    }

    fn undispatched(&self, container: TaskId) -> Vec<TaskId> {
        let scope = self.task(container).and_then(|task| task.scope.as_ref());
        let children = scope.filter(|scope| scope.undispatched > 0).map(|scope| scope.children.iter());
        children.into_iter().flatten().copied().filter(|id| self.never_dispatched(*id)).collect()
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
        let Some(scope) = self.task(id).and_then(|task| task.scope.as_ref()) else { return };
        if let Some((Next::TooManyJumps, jumps)) = scope.pipeline().map(|course| (course.next, course.jumps))
        {
            let (reason, message) = match self.room_for(1) {
                Ok(()) => {
                    (Some(Reason::MaxJumps), format!("more than {jumps} jumps; maxJumps allows no more"))
                }
                Err(full) => (None, full),
            };
            return self.finalise_as(id, Phase::Error, reason, message.into());
        }
        let Some(worst) = scope.failures.worst().cloned() else {
            return self.finalise_as(id, Phase::Succeeded, None, Arc::default());
        };
        let reason = worst.reason.filter(|_| worst.phase == Phase::Cancelled);
        let name = self.task(worst.task).map(|task| self.node(task).name.clone()).unwrap_or_default();
        let separator = if worst.message.is_empty() { "" } else { ": " };
        let message = format!("task {name} ended {}{separator}{}", worst.phase, worst.message);
        self.finalise_as(id, worst.phase, reason, message.into());
    }

    /// Ends a container with the computed phase, after its conditions have seen it (R-C5; never Cancelled, R-C3).
    pub(in crate::run) fn finalise_as(
        &mut self,
        id: TaskId,
        phase: Phase,
        reason: Option<Reason>,
        message: Arc<str>,
    ) {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id) else { return };
        let node = node_at(&plan, task.place);
        let aggregated = self.aggregated(id);
        let mut judged = Judged { phase, message, aggregated, ..Judged::default() };
        judged.outputs = self.container_outputs(id, &judged);
        let overridden =
            phase != Phase::Cancelled && self.judge(id, &node.settings.phase_conditions, &mut judged);
        let reason = reason.filter(|_| !overridden);
        let with = With::Result { message: judged.message, outputs: judged.outputs };
        self.set_phase(id, judged.phase, reason, Some(with));
    }
}

fn never_runs(node: &Node) -> bool {
    matches!(&node.settings.recovery, Some(Recovery::Retry(policy)) if policy.max_attempts == MaxAttempts::Limited(0))
}
