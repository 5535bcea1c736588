//! Applying events: the only code that changes a run's state, for live and recovered runs alike (R-D1).

use std::sync::Arc;

use super::{MOST_WARNINGS, Run, node_at};
use crate::{
    event::{AttemptEnded, Event, Fence, PhaseChanged, RetryScheduled, ScopeOpened, Submitted, TaskId, With},
    outcome::Output,
    phase::{Kind, Phase},
    plan::{TemplateKind, Work},
    scope::{Ended, Scope, satisfies},
    task::{Attempt, Place, QueueKey, TaskRun, Turn},
    time::Timestamp,
    value::Map,
    wait::{Wait, WaitKind},
};

type Applied = Result<(), String>;

impl Run {
    pub(super) fn apply(&mut self, event: &Event) -> Applied {
        match event {
            Event::Submitted(submitted) => self.apply_submitted(submitted)?,
            Event::RunPhase(phase) => self.apply_run_phase(*phase),
            Event::CancelRequested => self.cancel_requested = true,
            Event::ScopeOpened(opened) => self.apply_scope_opened(opened)?,
            Event::Phase(change) => self.apply_phase(change)?,
            Event::AttemptStarted(fence) => self.apply_attempt_started(*fence)?,
            Event::AttemptEnded(ended) => self.apply_attempt_ended(ended)?,
            Event::Resumed(task, payload) => self.apply_resumed(*task, payload)?,
            Event::RetryScheduled(retry) => self.apply_retry_scheduled(*retry)?,
            Event::Warning(warning) => {
                if self.warnings.len() < MOST_WARNINGS {
                    self.warnings.push(warning.as_ref().clone());
                }
            }
            Event::TimedOut(..) | Event::TaskEnded(..) => {}
        }
        self.seq += 1;
        Ok(())
    }

    fn existing(&mut self, id: TaskId) -> Result<&mut TaskRun, String> {
        self.tasks.get_mut(id.index()).ok_or_else(|| format!("there is no task run {id}"))
    }

    fn apply_submitted(&mut self, submitted: &Submitted) -> Applied {
        if self.seq != 0 {
            return Err("a run is submitted once".to_owned());
        }
        self.id = submitted.run_id.clone();
        self.parameters = submitted.parameters.clone();
        self.facts = submitted.facts.clone();
        self.submitted_at = self.now;
        self.deadline_at = self.plan.timeout.map(|timeout| self.now.after(timeout));
        if let Some(at) = self.deadline_at {
            self.waits.insert(Wait { at, kind: WaitKind::SpecTimeout, task: TaskId::ROOT });
        }
        self.create(None, Place::Root, 0, None);
        Ok(())
    }

    fn apply_run_phase(&mut self, phase: Phase) {
        self.phase = phase;
        if phase == Phase::Running && self.started_at.is_none() {
            self.started_at = Some(self.now);
        }
        if phase.is_terminal() {
            self.finished_at = Some(self.now);
        }
    }

    /// Adds a task run; one without unmet dependencies is ready at once.
    fn create(&mut self, parent: Option<TaskId>, place: Place, unmet: u32, limit: Option<TaskId>) -> TaskId {
        let id = TaskId(u32::try_from(self.tasks.len()).unwrap_or(u32::MAX));
        let parent = parent.and_then(|id| self.task(id));
        let mut task = TaskRun::new(id, parent, place, self.now);
        task.unmet = unmet;
        task.limit = limit;
        self.progress.total += u32::from(self.kind(&task) == Kind::Leaf);
        self.tasks.push(task);
        if unmet == 0 {
            self.becomes_ready(id);
        }
        id
    }

    /// A leaf joins the queue; whether it may stay (`when`) is decided before the step ends.
    fn becomes_ready(&mut self, id: TaskId) {
        let Some(task) = self.task(id) else { return };
        if self.kind(task) == Kind::Leaf {
            self.enqueue(id, false);
        }
        self.ready.push(id);
    }

    /// Puts a leaf in the queue, or behind the first full `parallelism` around it.
    pub(super) fn enqueue(&mut self, id: TaskId, retry: bool) {
        let key = QueueKey { at: self.now, retry, task: id };
        let full = self.full_limit(id);
        self.put(key, full);
    }

    pub(super) fn put(&mut self, key: QueueKey, full: Option<TaskId>) {
        let id = key.task;
        let turn = match full {
            None => {
                self.queue.insert(key, id);
                Turn::Queued(key)
            }
            Some(container) => {
                if let Some(scope) = self.scope_mut(container) {
                    scope.blocked.insert(key, id);
                }
                Turn::Blocked(key, container)
            }
        };
        if let Some(task) = self.task_mut(id) {
            task.turn = turn;
        }
    }

    /// Takes a leaf out of whatever it waits in: a delay, the queue, a full `parallelism`.
    pub(super) fn dequeue(&mut self, id: TaskId) {
        let Some(task) = self.task_mut(id) else { return };
        let (wake, turn) = (task.clocks.wake.take(), std::mem::replace(&mut task.turn, Turn::Elsewhere));
        if let Some(at) = wake {
            self.waits.remove(Wait { at, kind: WaitKind::RetryWake, task: id });
            self.delayed = self.delayed.saturating_sub(1);
        }
        match turn {
            Turn::Elsewhere => {}
            Turn::Queued(key) => {
                self.queue.remove(&key);
            }
            Turn::Blocked(key, container) => {
                if let Some(scope) = self.scope_mut(container) {
                    scope.blocked.remove(&key);
                }
            }
        }
    }

    /// The innermost enclosing dag whose `parallelism` is used up.
    pub(super) fn full_limit(&self, id: TaskId) -> Option<TaskId> {
        let mut limit = self.task(id)?.limit;
        while let Some(container) = limit {
            let scope = self.task(container)?.scope.as_ref()?;
            if self.parallelism(scope).is_some_and(|most| scope.in_flight >= most) {
                return Some(container);
            }
            limit = scope.outer_limit;
        }
        None
    }

    fn parallelism(&self, scope: &Scope) -> Option<u32> {
        match &self.plan.templates.get(scope.template)?.kind {
            TemplateKind::Dag(dag) => dag.parallelism,
            TemplateKind::Task | TemplateKind::Loop(_) | TemplateKind::Pipeline(_) => None,
        }
    }

    fn scope_mut(&mut self, container: TaskId) -> Option<&mut Scope> {
        self.task_mut(container)?.scope.as_deref_mut()
    }

    fn apply_scope_opened(&mut self, opened: &ScopeOpened) -> Applied {
        let plan = Arc::clone(&self.plan);
        let container = self.existing(opened.task)?;
        let (Work::Container(template) | Work::Wrapper { container: template, .. }) =
            node_at(&plan, container.place).work
        else {
            return Err(format!("task run {} is not a container", opened.task));
        };
        let outer_limit = container.limit;
        container.inputs = opened.inputs.clone();
        let Some(TemplateKind::Dag(dag)) = plan.templates.get(template).map(|t| &t.kind) else {
            return Err(format!("the template of task run {} cannot be opened", opened.task));
        };
        container.scope = Some(Box::new(Scope::new(template, outer_limit)));
        let limit = if dag.parallelism.is_some() { Some(opened.task) } else { outer_limit };
        let first = self.tasks.len();
        self.tasks.reserve(dag.nodes.len());
        let children: Vec<TaskId> = (first..first + dag.nodes.len())
            .map(|id| TaskId(u32::try_from(id).unwrap_or(u32::MAX)))
            .collect();
        if let Some(scope) = self.scope_mut(opened.task) {
            scope.open = u32::try_from(children.len()).unwrap_or(u32::MAX);
            scope.undispatched = scope.open;
            scope.children = children;
        }
        for (index, node) in dag.nodes.iter().enumerate() {
            let unmet = u32::try_from(node.dependencies.len()).unwrap_or(u32::MAX);
            self.create(Some(opened.task), Place::Dag(template, index), unmet, limit);
        }
        Ok(())
    }

    fn apply_phase(&mut self, change: &PhaseChanged) -> Applied {
        let PhaseChanged { task: id, from, to, reason, ref with } = *change;
        let task = self.task(id).ok_or_else(|| format!("there is no task run {id}"))?;
        if task.phase != from || !from.may_become(to, self.kind(task)) {
            return Err(format!("task run {id} is {}, and goes from {from} to {to} never", task.phase));
        }
        let was_in_flight = task.in_flight();
        let now = self.now;
        let task = self.existing(id)?;
        task.phase = to;
        task.reason = reason;
        match with.as_deref() {
            Some(With::Bound { inputs, config }) => {
                task.inputs = inputs.clone();
                task.config = config.clone();
            }
            Some(With::Partial { message, outputs }) => {
                task.message = message.clone();
                merge_outputs(&mut task.outputs, outputs.iter().cloned());
            }
            Some(With::Result { message, outputs }) => {
                task.message = message.clone();
                task.outputs = outputs.clone();
            }
            None => {}
        }
        if from == Phase::Created {
            self.count_first_dispatch(id);
        }
        if from == Phase::Suspended {
            self.suspended = self.suspended.saturating_sub(1);
        }
        self.enter(id, from, to, now);
        let is_in_flight = self.task(id).is_some_and(TaskRun::in_flight);
        if was_in_flight != is_in_flight {
            self.count_in_flight(id, is_in_flight);
        }
        Ok(())
    }

    /// Leaving Created for the first time, by a dispatch or without one.
    fn count_first_dispatch(&mut self, id: TaskId) {
        let Some(task) = self.task(id).filter(|task| task.dispatched_at.is_none()) else { return };
        if let Some(scope) = task.parent.and_then(|parent| self.scope_mut(parent)) {
            scope.undispatched = scope.undispatched.saturating_sub(1);
        }
    }

    fn enter(&mut self, id: TaskId, from: Phase, to: Phase, now: Timestamp) {
        match to {
            Phase::Created => self.enter_created(id),
            Phase::Ready => self.enter_ready(id, now),
            Phase::Running => self.enter_running(id, from, now),
            Phase::Suspended => self.enter_suspended(id, now),
            Phase::Succeeded
            | Phase::Failed
            | Phase::Error
            | Phase::Timeout
            | Phase::Skipped
            | Phase::Cancelled => self.enter_terminal(id, now),
        }
    }

    /// A retry: what the attempt left behind is dropped (R-R6); it waits for its delay or joins the queue.
    fn enter_created(&mut self, id: TaskId) {
        self.stop_attempt_clock(id);
        let now = self.now;
        let Some(task) = self.task_mut(id) else { return };
        task.outputs = Arc::default();
        task.payload = Arc::default();
        task.resumed = false;
        task.clocks.wake = task.clocks.wake.filter(|at| *at > now);
        let Some(at) = task.clocks.wake else { return self.enqueue(id, true) };
        self.waits.insert(Wait { at, kind: WaitKind::RetryWake, task: id });
        self.delayed += 1;
    }

    /// A delay is over. This follows from time alone, so it is no event.
    pub(super) fn wake(&mut self, id: TaskId) {
        self.dequeue(id);
        self.enqueue(id, true);
    }

    fn enter_ready(&mut self, id: TaskId, now: Timestamp) {
        self.dequeue(id);
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task_mut(id) else { return };
        let node = node_at(&plan, task.place);
        let leaf = matches!(node.work, Work::Executor(_));
        if leaf {
            task.attempt += 1;
            task.dispatch += 1;
            task.attempts.push(Attempt {
                number: task.attempt,
                started_at: None,
                finished_at: None,
                phase: Phase::Ready,
                code: None,
                message: "".into(),
            });
        }
        if task.dispatched_at.is_some() {
            return;
        }
        task.dispatched_at = Some(now);
        task.clocks.timeout = node.settings.timeout.map(|length| now.after(length));
        task.clocks.deadline = node.settings.deadline.map(|policy| now.after(policy.timeout));
        let (clocks, depth) = (task.clocks, task.depth);
        let timeout_kind = if leaf { WaitKind::Timeout } else { WaitKind::ContainerTimeout { depth } };
        for (at, kind) in [(clocks.timeout, timeout_kind), (clocks.deadline, WaitKind::Deadline)] {
            if let Some(at) = at {
                self.waits.insert(Wait { at, kind, task: id });
            }
        }
    }

    fn enter_running(&mut self, id: TaskId, from: Phase, now: Timestamp) {
        let Some(task) = self.task_mut(id) else { return };
        task.started_at.get_or_insert(now);
        if from == Phase::Suspended {
            task.dispatch += 1;
            task.resumed = true;
            if let Some(attempt) = task.attempts.last_mut() {
                attempt.phase = Phase::Running;
            }
            self.start_attempt_clock(id);
        }
    }

    fn enter_suspended(&mut self, id: TaskId, now: Timestamp) {
        self.stop_attempt_clock(id);
        self.suspended += 1;
        let Some(task) = self.task_mut(id) else { return };
        task.suspended_at = Some(now);
        task.code = Some(crate::outcome::code::SUSPENDED);
        if let Some(attempt) = task.attempts.last_mut() {
            attempt.phase = Phase::Suspended;
            attempt.code = task.code;
            attempt.message = task.message.clone();
        }
    }

    fn enter_terminal(&mut self, id: TaskId, now: Timestamp) {
        self.dequeue(id);
        self.drop_waits(id);
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task_mut(id) else { return };
        task.finished_at = Some(now);
        if let Some(attempt) = task.attempts.last_mut().filter(|a| a.finished_at.is_none()) {
            attempt.finished_at = Some(now);
            attempt.phase = task.phase;
        }
        let node = node_at(&plan, task.place);
        self.progress.done += u32::from(matches!(node.work, Work::Executor(_)));
        self.tell_parent(id);
    }

    /// Counts an ended child in its container, and down the dependencies it satisfies.
    fn tell_parent(&mut self, id: TaskId) {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id) else { return };
        let Some(parent) = task.parent else { return };
        let node = node_at(&plan, task.place);
        let tolerance = node.settings.continue_on;
        let satisfied = satisfies(tolerance, task.phase, task.reason);
        let child = Ended { task: id, phase: task.phase, reason: task.reason, message: task.message.clone() };
        let Some(scope) = self.scope_mut(parent) else { return };
        scope.count(child, tolerance);
        if !satisfied {
            return;
        }
        let waiting: Vec<TaskId> =
            node.dependents.iter().filter_map(|index| scope.children.get(*index).copied()).collect();
        for dependent in waiting {
            let Some(task) = self.task_mut(dependent) else { continue };
            task.unmet = task.unmet.saturating_sub(1);
            if task.unmet == 0 && task.phase == Phase::Created {
                self.becomes_ready(dependent);
            }
        }
    }

    fn drop_waits(&mut self, id: TaskId) {
        self.stop_attempt_clock(id);
        let Some(task) = self.task(id) else { return };
        let (clocks, depth) = (task.clocks, task.depth);
        let waits = [
            (clocks.timeout, WaitKind::Timeout),
            (clocks.timeout, WaitKind::ContainerTimeout { depth }),
            (clocks.deadline, WaitKind::Deadline),
        ];
        for (at, kind) in waits {
            if let Some(at) = at {
                self.waits.remove(Wait { at, kind, task: id });
            }
        }
    }

    fn start_attempt_clock(&mut self, id: TaskId) {
        let Some(task) = self.task(id) else { return };
        let Some(policy) = self.node(task).settings.max_runtime else { return };
        let at = self.now.after(policy.timeout);
        if let Some(task) = self.task_mut(id) {
            task.clocks.max_runtime = Some(at);
        }
        self.waits.insert(Wait { at, kind: WaitKind::MaxRuntime, task: id });
    }

    fn stop_attempt_clock(&mut self, id: TaskId) {
        if let Some(at) = self.task_mut(id).and_then(|task| task.clocks.max_runtime.take()) {
            self.waits.remove(Wait { at, kind: WaitKind::MaxRuntime, task: id });
        }
    }

    /// Keeps the counts that `parallelism` is about; a freed place lets the first blocked leaf back into the queue.
    fn count_in_flight(&mut self, id: TaskId, more: bool) {
        let change = |count: &mut u32| *count = if more { *count + 1 } else { count.saturating_sub(1) };
        change(&mut self.in_flight);
        let mut limit = self.task(id).and_then(|task| task.limit);
        while let Some(container) = limit {
            let Some(scope) = self.scope_mut(container) else { return };
            change(&mut scope.in_flight);
            limit = scope.outer_limit;
            let freed = if more { None } else { scope.blocked.pop_first() };
            if let Some((key, leaf)) = freed {
                let full = self.full_limit(leaf);
                self.put(key, full);
            }
        }
    }

    fn apply_attempt_started(&mut self, fence: Fence) -> Applied {
        let now = self.now;
        let task = self.existing(fence.task)?;
        if task.fence() != fence {
            return Err(format!("{fence:?} is not the current dispatch"));
        }
        if let Some(attempt) = task.attempts.last_mut() {
            attempt.phase = Phase::Running;
            attempt.started_at.get_or_insert(now);
        }
        self.start_attempt_clock(fence.task);
        Ok(())
    }

    fn apply_attempt_ended(&mut self, ended: &AttemptEnded) -> Applied {
        self.stop_attempt_clock(ended.fence.task);
        let now = self.now;
        let task = self.existing(ended.fence.task)?;
        if task.fence() != ended.fence {
            return Err(format!("{:?} is not the current dispatch", ended.fence));
        }
        task.code = Some(ended.code);
        task.message = ended.message.clone();
        task.outputs = ended.outputs.clone();
        if let Some(attempt) = task.attempts.last_mut() {
            attempt.finished_at = Some(now);
            attempt.phase = ended.phase;
            attempt.code = Some(ended.code);
            attempt.message = ended.message.clone();
        }
        Ok(())
    }

    fn apply_resumed(&mut self, id: TaskId, payload: &Arc<Map>) -> Applied {
        let task = self.existing(id)?;
        let named = payload.iter().map(|(name, value)| Output { name: name.clone(), value: value.clone() });
        merge_outputs(&mut task.outputs, named);
        Arc::make_mut(&mut task.payload).extend(payload.iter().map(|(k, v)| (k.clone(), v.clone())));
        Ok(())
    }

    fn apply_retry_scheduled(&mut self, retry: RetryScheduled) -> Applied {
        let task = self.existing(retry.task)?;
        if retry.attempt != task.attempt + 1 {
            return Err(format!("attempt {} cannot follow attempt {}", retry.attempt, task.attempt));
        }
        task.clocks.wake = Some(retry.wake_at);
        Ok(())
    }
}

/// Last writer wins per name; names keep the place of their first writer (R-S9).
pub(super) fn merge_outputs(outputs: &mut Arc<Vec<Output>>, more: impl IntoIterator<Item = Output>) {
    let outputs = Arc::make_mut(outputs);
    let mut position: std::collections::BTreeMap<Arc<str>, usize> =
        outputs.iter().enumerate().map(|(i, o)| (o.name.clone(), i)).collect();
    for output in more {
        match position.get(&output.name).and_then(|i| outputs.get_mut(*i)) {
            Some(known) => known.value = output.value,
            None => {
                position.insert(output.name.clone(), outputs.len());
                outputs.push(output);
            }
        }
    }
}
