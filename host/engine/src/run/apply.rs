//! Applying events: the only code that changes a run's state, for live and recovered runs alike (R-D1).

use std::sync::Arc;

use super::{MOST_WARNINGS, Run, node_at};
use crate::{
    event::{
        AttemptEnded, Event, Fence, HookFired, PhaseChanged, PolicyEvaluated, RetryScheduled, Submitted,
        TaskId, With,
    },
    outcome::Output,
    phase::{Kind, Phase},
    plan::{TemplateKind, Work},
    scope::Scope,
    task::{Attempt, HookOf, Place, QueueKey, TaskRun, Turn},
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
            Event::Repeated(container) => self.apply_repeated(*container)?,
            Event::PolicyEvaluated(evaluated) => self.apply_policy(evaluated)?,
            Event::RetryScheduled(retry) => self.apply_retry_scheduled(*retry)?,
            Event::HookFired(fired) => self.apply_hook_fired(fired)?,
            Event::Warning(warning) => {
                if self.warnings.len() < MOST_WARNINGS {
                    self.warnings.push(warning.as_ref().clone());
                }
            }
            Event::TimedOut(..) | Event::TaskEnded(..) | Event::HookFailed(_) => {}
        }
        self.seq += 1;
        Ok(())
    }

    pub(super) fn existing(&mut self, id: TaskId) -> Result<&mut TaskRun, String> {
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
            if let Some(at) = self.deadline_at {
                self.waits.remove(Wait { at, kind: WaitKind::SpecTimeout, task: TaskId::ROOT });
            }
        }
    }

    /// Adds a task run; one that nothing holds back is ready at once.
    pub(super) fn create(
        &mut self,
        parent: Option<TaskId>,
        place: Place,
        unmet: u32,
        limit: Option<TaskId>,
    ) -> TaskId {
        let id = self.next_id();
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

    /// A hook run: a leaf outside all scopes, bound already (R-S12).
    fn apply_hook_fired(&mut self, fired: &HookFired) -> Applied {
        let id = self.next_id();
        if fired.run != id {
            return Err(format!("the next task run is {id}, not {}", fired.run));
        }
        let mut task = TaskRun::new(id, None, Place::Hook(fired.hook), self.now);
        task.inputs = fired.inputs.clone();
        task.config = fired.config.clone();
        task.hook = Some(HookOf { task: fired.of, kind: fired.kind });
        self.tasks.push(task);
        self.open_hooks += 1;
        self.becomes_ready(id);
        Ok(())
    }

    /// The number of the task run that comes to be next.
    pub(super) fn next_id(&self) -> TaskId {
        TaskId(u32::try_from(self.tasks.len()).unwrap_or(u32::MAX))
    }

    /// A leaf joins the queue; whether it may stay (`when`) is decided before the step ends.
    pub(super) fn becomes_ready(&mut self, id: TaskId) {
        let Some(task) = self.task(id) else { return };
        if self.kind(task) == Kind::Leaf {
            self.enqueue(id, false);
        }
        self.ready.push(id);
    }

    /// Puts a leaf in the queue, or behind the first full `parallelism` around it.
    pub(super) fn enqueue(&mut self, id: TaskId, retry: bool) {
        let key = QueueKey { at: self.now, retry, task: id };
        if self.task(id).is_some_and(|task| task.hook.is_some()) {
            self.hook_queue.insert(key, id);
            return self.set_turn(id, Turn::Queued(key));
        }
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
        self.set_turn(id, turn);
    }

    fn set_turn(&mut self, id: TaskId, turn: Turn) {
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
                self.hook_queue.remove(&key);
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

    pub(super) fn parallelism(&self, scope: &Scope) -> Option<u32> {
        match self.plan.kind(scope.template)? {
            TemplateKind::Dag(dag) => dag.parallelism,
            TemplateKind::Task
            | TemplateKind::Wrapper(_)
            | TemplateKind::Loop(_)
            | TemplateKind::Pipeline(_) => None,
        }
    }

    pub(super) fn scope_mut(&mut self, container: TaskId) -> Option<&mut Scope> {
        self.task_mut(container)?.scope.as_deref_mut()
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
                task.rebind = false;
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
        let Some(at) = task.clocks.wake else { return self.again(id) };
        self.waits.insert(Wait { at, kind: WaitKind::RetryWake, task: id });
        self.delayed += 1;
    }

    /// The next attempt may begin: a leaf's joins the queue, a wrapper's begins before the step ends.
    fn again(&mut self, id: TaskId) {
        match self.task(id).map(|task| self.kind(task)) {
            Some(Kind::Leaf) => self.enqueue(id, true),
            Some(Kind::Container | Kind::Wrapper) | None => self.ready.push(id),
        }
    }

    /// A delay is over. This follows from time alone, so it is no event.
    pub(super) fn wake(&mut self, id: TaskId) {
        self.dequeue(id);
        self.again(id);
    }

    fn enter_ready(&mut self, id: TaskId, now: Timestamp) {
        self.dequeue(id);
        let plan = Arc::clone(&self.plan);
        // With a reason it is only passed through: nothing is dispatched.
        let Some(task) = self.task_mut(id).filter(|task| task.reason.is_none()) else { return };
        let node = node_at(&plan, task.place);
        if matches!(node.work, Work::Executor(_)) {
            begin_attempt(task);
        }
        if task.dispatched_at.is_some() {
            return;
        }
        task.dispatched_at = Some(now);
        task.clocks.timeout = node.settings.timeout.map(|length| now.after(length));
        task.clocks.deadline = node.settings.deadline.map(|policy| now.after(policy.timeout));
        let (clocks, depth) = (task.clocks, task.depth);
        let timeout_kind = match node.work {
            Work::Executor(_) | Work::Wrapper(_) => WaitKind::Timeout,
            Work::Container(_) => WaitKind::ContainerTimeout { depth },
        };
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
        let waited = self.task(id).is_some_and(|task| task.turn != Turn::Elsewhere);
        self.dequeue(id);
        if waited {
            self.offer_places(id);
        }
        self.drop_waits(id);
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task_mut(id) else { return };
        task.finished_at = Some(now);
        if let Some(attempt) = task.attempts.last_mut().filter(|a| a.finished_at.is_none()) {
            attempt.finished_at = Some(now);
            attempt.phase = task.phase;
        }
        let (is_hook, parent) = (task.hook.is_some(), task.parent);
        let is_leaf = matches!(node_at(&plan, task.place).work, Work::Executor(_));
        if is_hook {
            self.open_hooks = self.open_hooks.saturating_sub(1);
        } else {
            self.progress.done += u32::from(is_leaf);
        }
        if let Some(parent) = parent {
            self.tell_parent(id, parent);
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
        self.stop_attempt_clock(id);
        let Some(task) = self.task(id) else { return };
        let Some(policy) = self.node(task).settings.max_runtime else { return };
        let at = self.now.after(policy.timeout);
        if let Some(task) = self.task_mut(id) {
            task.clocks.max_runtime = Some(at);
        }
        self.waits.insert(Wait { at, kind: WaitKind::MaxRuntime, task: id });
    }

    pub(super) fn stop_attempt_clock(&mut self, id: TaskId) {
        if let Some(at) = self.task_mut(id).and_then(|task| task.clocks.max_runtime.take()) {
            self.waits.remove(Wait { at, kind: WaitKind::MaxRuntime, task: id });
        }
    }

    /// Keeps the counts that `parallelism` is about; freed places are offered to those that wait for them.
    fn count_in_flight(&mut self, id: TaskId, more: bool) {
        let change = |count: &mut u32| *count = if more { *count + 1 } else { count.saturating_sub(1) };
        let Some(task) = self.task(id).filter(|task| task.hook.is_none()) else { return };
        let mut limit = task.limit;
        change(&mut self.in_flight);
        while let Some(scope) = limit.and_then(|container| self.scope_mut(container)) {
            change(&mut scope.in_flight);
            limit = scope.outer_limit;
        }
        if !more {
            self.offer_places(id);
        }
    }

    /// A leaf has left its place under every `parallelism` around it, or does not take it: the next ones may.
    pub(super) fn offer_places(&mut self, leaf: TaskId) {
        let mut limit = self.task(leaf).and_then(|task| task.limit);
        while let Some(container) = limit {
            self.offer_place(container);
            limit = self.outer_limit(container);
        }
    }

    /// Lets the first leaf back into the queue that waits for a place here, and for none further inside.
    fn offer_place(&mut self, container: TaskId) {
        while let Some((key, leaf)) = self.scope_mut(container).and_then(|scope| scope.blocked.pop_first()) {
            let full = self.full_limit(leaf);
            self.put(key, full);
            let around = |limit: &TaskId| self.outer_limit(*limit);
            let is_inside = |full| std::iter::successors(around(&full), around).any(|c| c == container);
            if !full.is_some_and(is_inside) {
                return;
            }
        }
    }

    /// The next dag with a `parallelism` around one.
    fn outer_limit(&self, container: TaskId) -> Option<TaskId> {
        self.task(container)?.scope.as_ref()?.outer_limit
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

    fn apply_policy(&mut self, evaluated: &PolicyEvaluated) -> Applied {
        let task = self.existing(evaluated.fence.task)?;
        task.verdict = Some(evaluated.verdict);
        task.rebind |= !(evaluated.iter.is_empty() && evaluated.ctx.is_empty());
        let parent = task.parent;
        let members = |map: &Map| map.iter().map(|(k, v)| (k.clone(), v.clone())).collect::<Vec<_>>();
        if let Some(pipeline) = parent.and_then(|id| self.scope_mut(id)).and_then(Scope::pipeline_mut) {
            Arc::make_mut(&mut pipeline.iter).extend(members(&evaluated.iter));
        }
        Arc::make_mut(&mut self.ctx).extend(members(&evaluated.ctx));
        Ok(())
    }

    fn apply_retry_scheduled(&mut self, retry: RetryScheduled) -> Applied {
        let task = self.existing(retry.task)?;
        if retry.attempt != task.attempt + 1 {
            return Err(format!("attempt {} cannot follow attempt {}", retry.attempt, task.attempt));
        }
        task.clocks.wake = Some(retry.wake_at);
        if task.phase == Phase::Created {
            // A wrapper whose container ended before any leaf was dispatched: no edge leads where it is.
            self.enter_created(retry.task);
        }
        Ok(())
    }
}

/// Another attempt of a leaf, or of a wrapper.
pub(super) fn begin_attempt(task: &mut TaskRun) {
    task.attempt += 1;
    task.dispatch += 1;
    if task.attempts.is_empty() {
        // Most tasks have one attempt; a growing vector begins with room for four.
        task.attempts.reserve_exact(1);
    }
    task.attempts.push(Attempt {
        number: task.attempt,
        started_at: None,
        finished_at: None,
        phase: Phase::Ready,
        code: None,
        message: Arc::default(),
    });
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
