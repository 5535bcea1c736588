//! Applying changes of phase: what each phase means to a task run and to what surrounds it.

use std::sync::Arc;

use super::{
    Run,
    apply::{Applied, begin_attempt, merge_outputs},
    node_at,
};
use crate::{
    event::{PhaseChanged, TaskId, With},
    phase::Phase,
    plan::Work,
    run::state::task::{TaskRun, Turn},
    run::state::wait::{Wait, WaitKind},
    time::Timestamp,
};

impl Run {
    pub(in crate::run) fn apply_phase(&mut self, change: &PhaseChanged) -> Applied {
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
    pub(in crate::run) fn enter_created(&mut self, id: TaskId) {
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
}
